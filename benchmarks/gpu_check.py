"""Try a GPU: does it give the CPU's answers, and how fast is it? `make gpu-check`

Correctness: for every architecture the training on the GPU is compared with the CPU's, repeated
(it must give the same bits), and done without the captured graph (the same bits again); members,
new tasks, predictions and the estimator are compared too. Speed: steps a second of the paper's
batch of 15,000 rows at several widths, with and without the graph, in both precisions. From
these, the hours of the `paper` profile. The report is one JSON file that you can send with an
issue. It is written even if something fails, with the error in place of the answer.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from benchmarks.shared import seconds
from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor
from learned_context.networks.registry import ARCHITECTURES
from learned_context.new_tasks import gauss_newton
from learned_context.new_tasks.gauss_newton import Effort
from learned_context.new_tasks.objective import Prior, Problem
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training.data import Tensors
from learned_context.training.devices import choose_device, device_name
from learned_context.training.plan import PAPER, Hyperparameters, Options, Plan
from learned_context.training.trainer import Trained, Training
from pipeline.commands.costs import gpu_hours
from pipeline.files import write_json
from pipeline.studies.plumbing.costs import Speed

CPU = torch.device("cpu")
HYPER = Hyperparameters(0.02, 32, 1e-6, 1e-6, 4)
PLAN = Plan(epochs=20, batches=4)
CLOSE = 1e-3
"""Relative difference of the losses that another order of summation may make."""
NEAR = 0.02
"""Difference of the predictions, relative to their deviation."""
ESTIMATOR: dict[str, Any] = {
    "kind": "lc",
    "width": 32,
    "task_dim": 4,
    "epochs": 20,
    "members": 2,
    "random_state": 1,
}
Answer = bool | str
"""Whether a check passed, or the error that ended it."""
BATCH, FEATURES, TASKS = 15_000, 4, 250
WIDTHS = (50, 250, 500)
NEEDED = "This check is for a machine with an NVIDIA GPU and a torch that is built for CUDA."


def waves(rows: int, features: int, tasks: int) -> Rows:
    random = np.random.default_rng(0)
    task = random.integers(0, tasks, rows)
    x = random.normal(size=(rows, features))
    return Rows(x, task, np.sin(x.sum(1) * (1 + task / tasks)) + 0.1 * random.normal(size=rows))


def training(
    rows: Rows,
    kind: str,
    device: torch.device,
    capture: bool = True,
    options: Options = PAPER,
) -> Training:
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, device)
    tasks = int(rows.task.max()) + 1
    return Training(data, scaler, tasks, kind, HYPER, PLAN, options, capture=capture)


class Checks:
    """Of one architecture: what the device gives, and what the CPU gives."""

    def __init__(self, kind: str, rows: Rows, device: torch.device) -> None:
        self.kind, self.rows, self.device = kind, rows, device
        self.here = training(rows, kind, CPU).single(1)

    @cached_property
    def there(self) -> Trained:
        return self._trained()

    def _trained(self, capture: bool = True) -> Trained:
        return training(self.rows, self.kind, self.device, capture).single(1)

    def answers(self) -> dict[str, Answer]:
        checks = {
            "the CPU's losses": self.losses,
            "the CPU's losses with AdamW": self.losses_with_adamw,
            "the CPU's predictions": self.predictions,
            "the same bits again": lambda: same(self.there, self._trained()),
            "the same bits without the graph": lambda: same(self.there, self._trained(False)),
            "members as alone": self.members,
        }
        if ARCHITECTURES[self.kind].has_task_parameters:
            checks["the CPU's new tasks"] = self.new_tasks
        return {name: answer(check) for name, check in checks.items()}

    def losses(self) -> bool:
        return close(self.here.losses, self.there.losses)

    def losses_with_adamw(self) -> bool:
        here, there = (
            training(self.rows, self.kind, device, options=Options("adamw")).single(1)
            for device in (CPU, self.device)
        )
        return close(here.losses, there.losses)

    def predictions(self) -> bool:
        return near(self.here.predict(self.rows), self.there.predict(self.rows))

    def members(self) -> bool:
        several = training(self.rows, self.kind, self.device).members([1, 2])
        return close(several[0].losses, self.there.losses)

    def new_tasks(self) -> bool:
        ends = []
        for where in (CPU, self.device):
            network = self.here.network.to(where)
            tensors = Tensors.of(self.rows, self.here.scaler, where)
            problem = Problem(network, tensors, network.tasks, 0.05, Prior.of_network(network))
            base = network.task_parameters.double().cpu().numpy()
            ends.append(gauss_newton.fit(problem, base, Effort(candidates=32, starts=3)).objective)
        return close(ends[0], ends[1], 0.01)


def correctness(device: torch.device) -> dict[str, dict[str, Answer]]:
    rows = waves(2000, 3, 20)
    found = {kind: Checks(kind, rows, device).answers() for kind in ARCHITECTURES}
    found["estimator"] = {"the CPU's predictions": answer(lambda: estimator(rows, device))}
    return found


def estimator(rows: Rows, device: torch.device) -> bool:
    """Its members train in several threads of one process."""
    here, there = (
        LearnedContextRegressor(**ESTIMATOR, device=str(where)).fit(rows.x, rows.y, rows.task)
        for where in (CPU, device)
    )
    return near(here.predict(rows.x, rows.task), there.predict(rows.x, rows.task))


def answer(check: Callable[[], bool]) -> Answer:
    """A path that nobody has tried on a GPU may end with any error: the report has it."""
    try:
        return check()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def close(here: Any, there: Any, tolerance: float = CLOSE) -> bool:
    here, there = np.asarray(here), np.asarray(there)
    return here.shape == there.shape and bool(np.allclose(there, here, rtol=tolerance, atol=1e-6))


def near(here: Any, there: Any) -> bool:
    """Predictions may pass through zero: their differences are compared with their spread."""
    return bool(np.sqrt(np.mean(np.square(there - here))) < NEAR * np.std(here))


def same(one: Trained, other: Trained) -> bool:
    return torch.equal(one.network.flat, other.network.flat)


def step_seconds(
    device: torch.device, width: int, batch: int, precision: str, capture: bool, steps: int
) -> float:
    """Of a step when the first epochs have warmed everything up: two lengths are compared."""
    rows = waves(2 * batch, FEATURES, TASKS)
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, device)
    hyper = Hyperparameters(1e-6, width, 1e-8, 1e-8, 8)

    def run(epochs: int) -> Callable[[], object]:
        plan = Plan(epochs, 2, precision=precision)  # type: ignore[arg-type]
        return lambda: Training(data, scaler, TASKS, "lc", hyper, plan, capture=capture).single(1)

    epochs = max(2, steps // 2)
    seconds(run(2))
    short, long = (seconds(run(n), time.perf_counter) for n in (2, 2 + epochs))
    return max(long - short, 1e-9) / (2 * epochs)


def speeds(device: torch.device, batch: int, steps: int) -> list[dict[str, Any]]:
    found = []
    for width, precision, capture in product(WIDTHS, ("highest", "high"), (True, False)):
        case = {"width": width, "precision": precision, "graph": capture}
        try:
            taken = step_seconds(device, width, batch, precision, capture, steps)
            found.append({**case, "steps_a_second": round(1 / taken, 2)})
        except Exception as error:  # as in `answer`
            found.append({**case, "error": f"{type(error).__name__}: {error}"})
        print(found[-1], flush=True)
    return found


def measured_speed(found: list[dict[str, Any]], batch: int) -> Speed | None:
    """The cost model's numbers: products at the widest, the rest of a step at the narrowest."""
    taken = {
        case["width"]: 1 / case["steps_a_second"]
        for case in found
        if case["precision"] == "high" and case["graph"] and case.get("steps_a_second")
    }
    if not {WIDTHS[0], WIDTHS[-1]} <= taken.keys():
        return None
    products = 3 * 2 * 4 * WIDTHS[-1] ** 2 * batch
    step = taken[WIDTHS[0]]
    return Speed(products=products / max(taken[WIDTHS[-1]] - step, 1e-9), step=step)


def report(device: torch.device, batch: int = BATCH, steps: int = 200) -> dict[str, Any]:
    checks = correctness(device)
    for kind, own in checks.items():
        for name, passed in own.items():
            print(f"{verdict(passed)}: {kind}: {name}", flush=True)
    found = speeds(device, batch, steps)
    speed = measured_speed(found, batch)
    hours = gpu_hours(Path.cwd(), "paper", speed) if speed else {}
    return {
        "device": device_name(device),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "correct": all(passed is True for own in checks.values() for passed in own.values()),
        "checks": checks,
        "batch_rows": batch,
        "speeds": found,
        "paper_profile_hours": {name: round(study.hours, 3) for name, study in hours.items()},
        "paper_profile_total": round(sum(one.hours for one in hours.values()), 2) or None,
    }


def verdict(passed: Answer) -> str:
    if isinstance(passed, str):
        return f"ERROR ({passed})"
    return "ok" if passed else "WRONG"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or, to try this, cpu")
    parser.add_argument("--steps", type=int, default=200, help="timed steps (%(default)s)")
    parser.add_argument("--batch", type=int, default=BATCH, help="rows of a step (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("gpu_check.json"))
    arguments = parser.parse_args()
    try:
        device = choose_device(arguments.device)
    except UserError as error:
        print(f"{error}. {NEEDED}", file=sys.stderr)
        return 2
    found = report(device, arguments.batch, arguments.steps)
    write_json(arguments.output, found)
    hours = found["paper_profile_total"]
    print(
        f"{'Correct' if found['correct'] else 'WRONG'} on {found['device']}; "
        + (f"the paper profile would take {hours} GPU hours." if hours else "no speeds.")
        + f" {arguments.output} has it all."
    )
    return 0 if found["correct"] else 1


if __name__ == "__main__":
    sys.exit(main())
