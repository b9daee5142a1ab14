"""Make one mistake about devices at a time: do the tests on the simulated device notice?

Each mistake is written into a copy of the library, where `tests/learned_context/test_devices.py`
runs. The report counts those that were noticed and names the others.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/learned_context/test_devices.py"


@dataclass(frozen=True)
class Mistake:
    what: str
    path: str
    before: str
    after: str


MISTAKES = (
    Mistake(
        "task numbers stay on the CPU",
        "training/data.py",
        "torch.from_numpy(np.ascontiguousarray(rows.task)).to(device)",
        "torch.from_numpy(np.ascontiguousarray(rows.task))",
    ),
    Mistake(
        "targets stay on the CPU",
        "training/data.py",
        "torch.from_numpy(scaler.y(rows.y)).to(device)",
        "torch.from_numpy(scaler.y(rows.y))",
    ),
    Mistake(
        "initial weights stay on the CPU",
        "networks/network.py",
        "return network.to(device)",
        "return network",
    ),
    Mistake(
        "the order of the rows is on the CPU",
        "training/epoch.py",
        "torch.empty(*lead, rows, dtype=torch.int64, device=flat.device)",
        "torch.empty(*lead, rows, dtype=torch.int64)",
    ),
    Mistake(
        "the rates are on the CPU",
        "training/epoch.py",
        "self.numbers = flat.new_empty(",
        "self.numbers = torch.empty(",
    ),
    Mistake(
        "a buffer of the gradient is on the CPU",
        "training/gradient.py",
        "ones=flat.new_ones(rows)",
        "ones=torch.ones(rows)",
    ),
    Mistake(
        "the places of sorted rows are on the CPU",
        "networks/task_rows.py",
        "(within + member * sizes[batch]).flatten().to(device)",
        "(within + member * sizes[batch]).flatten()",
    ),
    Mistake(
        "task sums without an order",
        "networks/task_rows.py",
        'if table.device.type != "cpu":',
        "if False:",
    ),
    Mistake(
        "batches in small chunks on every device",
        "training/gradient.py",
        'CHUNK_ROWS if network.flat.device.type == "cpu" else batch_rows',
        "CHUNK_ROWS",
    ),
    Mistake(
        "the loss is read in every step",
        "training/epoch.py",
        "        return squared\n",
        "        squared.cpu()\n        return squared\n",
    ),
    Mistake(
        "the host waits for the rates",
        "training/epoch.py",
        "self.numbers.copy_(self._host_numbers, non_blocking=True)",
        "self.numbers.copy_(self._host_numbers)",
    ),
    Mistake(
        "the order of the rows is drawn on the device",
        "training/trainer.py",
        "torch.randperm(len(self.training.data), generator=self.generator)",
        "torch.randperm(len(self.training.data), device=self.network.flat.device)",
    ),
    Mistake(
        "dropout's masks stay on the CPU",
        "training/dropout.py",
        "byte.to(self._like.device).to(self._like.dtype)",
        "byte.to(self._like.dtype)",
    ),
    Mistake(
        "a network is loaded onto the CPU",
        "training/storage.py",
        'loaded.network.to(device or torch.device("cpu"))',
        "loaded.network",
    ),
    Mistake(
        "predictions on the CPU's rows",
        "training/trainer.py",
        "tensors = Tensors.of(rows, self.scaler, device)",
        'tensors = Tensors.of(rows, self.scaler, torch.device("cpu"))',
    ),
    Mistake(
        "candidates of new tasks stay on the CPU",
        "new_tasks/objective.py",
        "torch.tensor(beta, dtype=self._y.dtype, device=self.device)",
        "torch.tensor(beta, dtype=self._y.dtype)",
    ),
    Mistake(
        "the rows of a block are numbered on the CPU",
        "new_tasks/objective.py",
        "torch.arange(start, min(start + most, largest), device=self.device)",
        "torch.arange(start, min(start + most, largest))",
    ),
    Mistake(
        "every block of new tasks is downloaded",
        "new_tasks/objective.py",
        "            error = (y - output).double() * used\n",
        "            error = (y - output).double() * used\n            error.cpu()\n",
    ),
    Mistake(
        "a posterior's mean stays on the CPU",
        "new_tasks/laplace.py",
        ".to(x.device, x.dtype)",
        ".to(x.dtype)",
    ),
    Mistake(
        "products in low precision on the CPU too",
        "training/devices.py",
        '    if device.type != "cpu":\n        torch.set_float32',
        "    if True:\n        torch.set_float32",
    ),
    Mistake(
        "a pickled network stays on its device",
        "networks/network.py",
        "return Network, (self.shape, self.flat.cpu())",
        "return Network, (self.shape, self.flat)",
    ),
    Mistake(
        "a replayed pass keeps the first epoch's rates",
        "training/epoch.py",
        "enumerate(self.numbers.unbind(0))",
        "enumerate(self._host_numbers.clone().to(self.numbers.device).unbind(0))",
    ),
)


def is_noticed(mistake: Mistake | None, folder: Path) -> bool:
    copy = folder / "project"
    shutil.rmtree(copy, ignore_errors=True)
    skipped = shutil.ignore_patterns("__pycache__")
    for name in ("learned_context", "tests", "pipeline"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    shutil.copy(ROOT / "pyproject.toml", copy)
    if mistake:
        path = copy / "learned_context" / mistake.path
        source = path.read_text(encoding="utf-8")
        if source.count(mistake.before) != 1:
            raise SystemExit(f"{mistake.path}: {mistake.before!r} is not there exactly once")
        path.write_text(source.replace(mistake.before, mistake.after), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", TESTS]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=copy, capture_output=True, env=environment)
    return done.returncode != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=Path("results/benchmarks/device_mutations.json")
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if is_noticed(None, folder):
            print("the tests fail without any mistake", file=sys.stderr)
            return 1
        missed = []
        for mistake in MISTAKES:
            noticed = is_noticed(mistake, folder)
            print(f"{'noticed' if noticed else 'MISSED '}: {mistake.what}", flush=True)
            if not noticed:
                missed.append(asdict(mistake))
    noticed_count = len(MISTAKES) - len(missed)
    print(f"{noticed_count} of {len(MISTAKES)} mistakes were noticed")
    write_json(
        arguments.output, {"mistakes": len(MISTAKES), "noticed": noticed_count, "missed": missed}
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
