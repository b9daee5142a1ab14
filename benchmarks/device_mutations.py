"""Make one mistake about devices at a time: do the tests on the simulated device notice?

Each mistake is written into a copy of the code, where the tests of `TESTS` run. The report counts
those that were noticed and names the others.
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
TESTS = ("tests/models/test_devices.py", "tests/learned_context/test_devices.py")


@dataclass(frozen=True)
class Mistake:
    what: str
    path: str
    before: str
    after: str


MISTAKES = (
    Mistake(
        "task numbers stay on the CPU",
        "learned_context/training/data.py",
        "torch.from_numpy(np.ascontiguousarray(rows.task)).to(device)",
        "torch.from_numpy(np.ascontiguousarray(rows.task))",
    ),
    Mistake(
        "targets stay on the CPU",
        "learned_context/training/data.py",
        "torch.from_numpy(scaler.y(rows.y)).to(device)",
        "torch.from_numpy(scaler.y(rows.y))",
    ),
    Mistake(
        "initial weights stay on the CPU",
        "learned_context/networks/network.py",
        "return network.to(device)",
        "return network",
    ),
    Mistake(
        "the order of the rows is on the CPU",
        "learned_context/training/epoch.py",
        "torch.empty(*lead, rows, dtype=torch.int64, device=flat.device)",
        "torch.empty(*lead, rows, dtype=torch.int64)",
    ),
    Mistake(
        "the rates are on the CPU",
        "learned_context/training/epoch.py",
        "self.numbers = flat.new_empty(",
        "self.numbers = torch.empty(",
    ),
    Mistake(
        "a buffer of the gradient is on the CPU",
        "learned_context/training/gradient.py",
        "ones=flat.new_ones(rows)",
        "ones=torch.ones(rows)",
    ),
    Mistake(
        "the places of sorted rows are on the CPU",
        "learned_context/networks/task_rows.py",
        "(within + member * sizes[batch]).flatten().to(device)",
        "(within + member * sizes[batch]).flatten()",
    ),
    Mistake(
        "task sums without an order",
        "learned_context/networks/task_rows.py",
        'if table.device.type != "cpu":',
        "if False:",
    ),
    Mistake(
        "batches in small chunks on every device",
        "learned_context/training/gradient.py",
        'CHUNK_ROWS if network.flat.device.type == "cpu" else batch_rows',
        "CHUNK_ROWS",
    ),
    Mistake(
        "the loss is read in every step",
        "learned_context/training/epoch.py",
        "        return squared\n",
        "        squared.cpu()\n        return squared\n",
    ),
    Mistake(
        "the host waits for the rates",
        "learned_context/training/epoch.py",
        "self.numbers.copy_(self._host_numbers, non_blocking=True)",
        "self.numbers.copy_(self._host_numbers)",
    ),
    Mistake(
        "the order of the rows is drawn on the device",
        "learned_context/training/trainer.py",
        "torch.randperm(len(self.training.data), generator=self.generator)",
        "torch.randperm(len(self.training.data), device=self.network.flat.device)",
    ),
    Mistake(
        "dropout's masks stay on the CPU",
        "learned_context/training/dropout.py",
        "byte.to(self._like.device).to(self._like.dtype)",
        "byte.to(self._like.dtype)",
    ),
    Mistake(
        "a network is loaded onto the CPU",
        "learned_context/training/storage.py",
        'loaded.network.to(device or torch.device("cpu"))',
        "loaded.network",
    ),
    Mistake(
        "predictions on the CPU's rows",
        "learned_context/training/trainer.py",
        "tensors = Tensors.of(rows, self.scaler, device)",
        'tensors = Tensors.of(rows, self.scaler, torch.device("cpu"))',
    ),
    Mistake(
        "candidates of new tasks stay on the CPU",
        "learned_context/new_tasks/objective.py",
        "torch.tensor(beta, dtype=self._y.dtype, device=self.device)",
        "torch.tensor(beta, dtype=self._y.dtype)",
    ),
    Mistake(
        "the rows of a block are numbered on the CPU",
        "learned_context/new_tasks/objective.py",
        "torch.arange(start, min(start + most, largest), device=self.device)",
        "torch.arange(start, min(start + most, largest))",
    ),
    Mistake(
        "every block of new tasks is downloaded",
        "learned_context/new_tasks/objective.py",
        "            error = (y - output).double() * used\n",
        "            error = (y - output).double() * used\n            error.cpu()\n",
    ),
    Mistake(
        "a posterior's mean stays on the CPU",
        "learned_context/new_tasks/laplace.py",
        ".to(x.device, x.dtype)",
        ".to(x.dtype)",
    ),
    Mistake(
        "products in low precision on the CPU too",
        "learned_context/training/devices.py",
        '    if device.type != "cpu":\n        torch.set_float32',
        "    if True:\n        torch.set_float32",
    ),
    Mistake(
        "a pickled network stays on its device",
        "learned_context/networks/network.py",
        "return Network, (self.shape, self.flat.cpu())",
        "return Network, (self.shape, self.flat)",
    ),
    Mistake(
        "a replayed pass keeps the first epoch's rates",
        "learned_context/training/epoch.py",
        "enumerate(self.numbers.unbind(0))",
        "enumerate(self._host_numbers.clone().to(self.numbers.device).unbind(0))",
    ),
    Mistake(
        "held-out tasks on the CPU's rows",
        "pipeline/models/held_out.py",
        "Tensors.of(own, self.trained.scaler, device)",
        "Tensors.of(own, self.trained.scaler, self.trained.network.flat.cpu().device)",
    ),
    Mistake(
        "the parameters of held-out tasks stay on the CPU",
        "pipeline/models/held_out.py",
        "network.flat.new_tensor(beta)",
        "__import__('torch').from_numpy(beta).float()",
    ),
    Mistake(
        "the inputs of a figure's curves stay on the CPU",
        "pipeline/models/illustrations.py",
        "torch.from_numpy(scaler.x(x)).to(device)",
        "torch.from_numpy(scaler.x(x))",
    ),
    Mistake(
        "a figure's unit vectors are on the CPU",
        "pipeline/models/illustrations.py",
        "torch.eye(trained.network.shape.task_dim, device=trained.network.flat.device)",
        "torch.eye(trained.network.shape.task_dim)",
    ),
    Mistake(
        "the estimator's inputs stay on the CPU",
        "learned_context/estimator/regressor.py",
        "torch.from_numpy(scaled).to(self.model_.device)",
        "torch.from_numpy(scaled)",
    ),
    Mistake(
        "the estimator's new rows stay on the CPU",
        "learned_context/estimator/new_tasks.py",
        "torch.from_numpy(scaled_y).to(device)",
        "torch.from_numpy(scaled_y)",
    ),
    Mistake(
        "an unpickled estimator stays on the CPU",
        "learned_context/estimator/regressor.py",
        "self.model_ = self.model_.to(settings.device(self.device))",
        "settings.device(self.device)",
    ),
    Mistake(
        "the estimator trains on the CPU",
        "learned_context/estimator/fitting.py",
        "Part.of(rows, tasks, self.indicators, self.device)",
        "Part.of(rows, tasks, self.indicators, __import__('torch').device('cpu'))",
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
        path = copy / mistake.path
        source = path.read_text(encoding="utf-8")
        if source.count(mistake.before) != 1:
            raise SystemExit(f"{mistake.path}: {mistake.before!r} is not there exactly once")
        path.write_text(source.replace(mistake.before, mistake.after), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS]
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
