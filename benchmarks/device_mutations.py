"""Make one mistake about devices at a time: do the tests on the simulated device notice?

Each mistake is written into a copy of the code, where the tests of `TESTS` run. The report counts
those that were noticed and names the others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import ROOT, options
from pipeline.files import write_json

TESTS = ("tests/models/test_devices.py", "tests/learned_context/test_devices.py")


MISTAKES: dict[str, dict[str, tuple[str, str]]] = {
    "learned_context/training/data.py": {
        "task numbers stay on the CPU": (
            "torch.from_numpy(np.ascontiguousarray(rows.task)).to(device)",
            "torch.from_numpy(np.ascontiguousarray(rows.task))",
        ),
        "targets stay on the CPU": (
            "torch.from_numpy(scaler.y(rows.y)).to(device)",
            "torch.from_numpy(scaler.y(rows.y))",
        ),
    },
    "learned_context/networks/network.py": {
        "initial weights stay on the CPU": ("return network.to(device)", "return network"),
        "a pickled network stays on its device": (
            "return Network, (self.shape, self.flat.cpu())",
            "return Network, (self.shape, self.flat)",
        ),
    },
    "learned_context/training/epoch.py": {
        "the order of the rows is on the CPU": (
            "torch.empty(*lead, rows, dtype=torch.int64, device=flat.device)",
            "torch.empty(*lead, rows, dtype=torch.int64)",
        ),
        "the rates are on the CPU": (
            "self.numbers = flat.new_empty(",
            "self.numbers = torch.empty(",
        ),
        "the loss is read in every step": (
            "        return squared\n",
            "        squared.cpu()\n        return squared\n",
        ),
        "the host waits for the rates": (
            "self.numbers.copy_(self._host_numbers, non_blocking=True)",
            "self.numbers.copy_(self._host_numbers)",
        ),
        "a replayed pass keeps the first epoch's rates": (
            "enumerate(self.numbers.unbind(0))",
            "enumerate(self._host_numbers.clone().to(self.numbers.device).unbind(0))",
        ),
    },
    "learned_context/training/gradient.py": {
        "a buffer of the gradient is on the CPU": (
            "ones=flat.new_ones(rows)",
            "ones=torch.ones(rows)",
        ),
        "batches in small chunks on every device": (
            'CHUNK_ROWS if network.flat.device.type == "cpu" else batch_rows',
            "CHUNK_ROWS",
        ),
    },
    "learned_context/networks/task_rows.py": {
        "the places of sorted rows are on the CPU": (
            "(within + member * sizes[batch]).flatten().to(device)",
            "(within + member * sizes[batch]).flatten()",
        ),
        "task sums without an order": ('if table.device.type != "cpu":', "if False:"),
    },
    "learned_context/training/trainer.py": {
        "the order of the rows is drawn on the device": (
            "torch.randperm(len(self.training.data), generator=self.generator)",
            "torch.randperm(len(self.training.data), device=self.network.flat.device)",
        ),
        "predictions on the CPU's rows": (
            "tensors = Tensors.of(rows, self.scaler, device)",
            'tensors = Tensors.of(rows, self.scaler, torch.device("cpu"))',
        ),
    },
    "learned_context/training/dropout.py": {
        "dropout's masks stay on the CPU": (
            "byte.to(self._like.device).to(self._like.dtype)",
            "byte.to(self._like.dtype)",
        ),
    },
    "learned_context/training/storage.py": {
        "a network is loaded onto the CPU": (
            'loaded.network.to(device or torch.device("cpu"))',
            "loaded.network",
        ),
    },
    "learned_context/new_tasks/objective.py": {
        "candidates of new tasks stay on the CPU": (
            "torch.tensor(beta, dtype=self._y.dtype, device=self.device)",
            "torch.tensor(beta, dtype=self._y.dtype)",
        ),
        "the rows of a block are numbered on the CPU": (
            "torch.arange(start, min(start + most, largest), device=self.device)",
            "torch.arange(start, min(start + most, largest))",
        ),
        "every block of new tasks is downloaded": (
            "            error = (y - output).double() * used\n",
            "            error = (y - output).double() * used\n            error.cpu()\n",
        ),
    },
    "learned_context/new_tasks/laplace.py": {
        "a posterior's mean stays on the CPU": (".to(x.device, x.dtype)", ".to(x.dtype)"),
    },
    "learned_context/training/devices.py": {
        "products in low precision on the CPU too": (
            '    if device.type != "cpu":\n        torch.set_float32',
            "    if True:\n        torch.set_float32",
        ),
    },
    "pipeline/models/held_out.py": {
        "held-out tasks on the CPU's rows": (
            "Tensors.of(own, self.trained.scaler, device)",
            "Tensors.of(own, self.trained.scaler, self.trained.network.flat.cpu().device)",
        ),
        "the parameters of held-out tasks stay on the CPU": (
            "network.flat.new_tensor(beta)",
            "__import__('torch').from_numpy(beta).float()",
        ),
    },
    "pipeline/models/illustrations.py": {
        "the inputs of a figure's curves stay on the CPU": (
            "torch.from_numpy(scaler.x(x)).to(device)",
            "torch.from_numpy(scaler.x(x))",
        ),
        "a figure's unit vectors are on the CPU": (
            "torch.eye(trained.network.shape.task_dim, device=trained.network.flat.device)",
            "torch.eye(trained.network.shape.task_dim)",
        ),
    },
    "learned_context/estimator/regressor.py": {
        "the estimator's inputs stay on the CPU": (
            "torch.from_numpy(scaled).to(self.model_.device)",
            "torch.from_numpy(scaled)",
        ),
        "an unpickled estimator stays on the CPU": (
            "self.model_ = self.model_.to(settings.device(self.device))",
            "settings.device(self.device)",
        ),
    },
    "learned_context/estimator/new_tasks.py": {
        "the estimator's new rows stay on the CPU": (
            "torch.from_numpy(scaled_y).to(device)",
            "torch.from_numpy(scaled_y)",
        ),
    },
    "learned_context/estimator/fitting.py": {
        "the estimator trains on the CPU": (
            "Part.of(rows, tasks, self.indicators, self.device)",
            "Part.of(rows, tasks, self.indicators, __import__('torch').device('cpu'))",
        ),
    },
}
"""By file: what goes wrong when the first text is replaced by the second."""


def is_noticed(folder: Path, path: str = "", before: str = "", after: str = "") -> bool:
    """Whether the tests fail in a copy with this mistake, or with none."""
    copy = folder / "project"
    shutil.rmtree(copy, ignore_errors=True)
    for name in ("learned_context", "tests", "pipeline"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    shutil.copy(ROOT / "pyproject.toml", copy)
    if path:
        source = (copy / path).read_text(encoding="utf-8")
        if source.count(before) != 1:
            raise SystemExit(f"{path}: {before!r} is not there exactly once")
        (copy / path).write_text(source.replace(before, after), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, cwd=copy, capture_output=True, env=environment).returncode != 0


def main() -> int:
    arguments = options(__doc__, "device_mutations.json").parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as name:
        if is_noticed(Path(name)):
            print("the tests fail without any mistake", file=sys.stderr)
            return 1
        for path, mistakes in MISTAKES.items():
            for what, (before, after) in mistakes.items():
                noticed = is_noticed(Path(name), path, before, after)
                print(f"{'noticed' if noticed else 'MISSED '}: {what}", flush=True)
                if not noticed:
                    missed.append({"what": what, "path": path, "before": before, "after": after})
    total = sum(map(len, MISTAKES.values()))
    print(f"{total - len(missed)} of {total} mistakes were noticed")
    write_json(
        arguments.output, {"mistakes": total, "noticed": total - len(missed), "missed": missed}
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
