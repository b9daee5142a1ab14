"""Try a GPU: does it give the CPU's answers, and how fast is it? `make gpu-check`

Correctness: for every architecture the training on the GPU is compared with the CPU's, repeated
(it must give the same bits), and done without the captured graph (the same bits again); members,
new tasks and predictions are compared too. Speed: steps a second of the paper's batch of 15,000
rows at several widths, with and without the graph, in both precisions. From these, the hours of
the `paper` profile. The report is one JSON file that you can send with an issue.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from learned_context.errors import UserError
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
BATCH, FEATURES, TASKS = 15_000, 4, 250
WIDTHS = (50, 250, 500)


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


def correctness(device: torch.device) -> dict[str, dict[str, bool]]:
    rows = waves(2000, 3, 20)
    found = {}
    for kind in ARCHITECTURES:
        here = training(rows, kind, CPU).single(1)
        there, again = (training(rows, kind, device).single(1) for _ in range(2))
        plain = training(rows, kind, device, capture=False).single(1)
        members = training(rows, kind, device).members([1, 2])
        adamw = [training(rows, kind, d, options=Options("adamw")).single(1) for d in (CPU, device)]
        found[kind] = {
            "the CPU's losses": close(here.losses, there.losses),
            "the CPU's losses with AdamW": close(adamw[0].losses, adamw[1].losses),
            "the CPU's predictions": close(here.predict(rows), there.predict(rows), 0.05),
            "the same bits again": same(there, again),
            "the same bits without the graph": same(there, plain),
            "members as alone": close(members[0].losses, there.losses),
        }
        if ARCHITECTURES[kind].has_task_parameters:
            found[kind]["the CPU's new tasks"] = new_tasks(here, rows, device)
    return found


def new_tasks(here: Trained, rows: Rows, device: torch.device) -> bool:
    ends = []
    for where in (CPU, device):
        network = here.network.to(where)
        tensors = Tensors.of(rows, here.scaler, where)
        problem = Problem(network, tensors, network.tasks, 0.05, Prior.of_network(network))
        base = network.task_parameters.double().cpu().numpy()
        ends.append(gauss_newton.fit(problem, base, Effort(candidates=32, starts=3)).objective)
    return close(ends[0], ends[1], 0.01)


def close(here: Any, there: Any, tolerance: float = CLOSE) -> bool:
    here, there = np.asarray(here), np.asarray(there)
    return here.shape == there.shape and bool(np.allclose(there, here, rtol=tolerance, atol=1e-6))


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
    short, long = seconds(run(2)), seconds(run(2 + epochs))
    return max(long - short, 1e-9) / (2 * epochs)


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def speeds(device: torch.device, batch: int, steps: int) -> list[dict[str, Any]]:
    found = []
    for width in WIDTHS:
        for precision in ("highest", "high"):
            for capture in (True, False):
                taken = step_seconds(device, width, batch, precision, capture, steps)
                found.append(
                    {
                        "width": width,
                        "precision": precision,
                        "graph": capture,
                        "steps_a_second": round(1 / taken, 2),
                    }
                )
                print(found[-1], flush=True)
    return found


def measured_speed(found: list[dict[str, Any]], batch: int) -> Speed:
    """The cost model's numbers: products at the widest, the rest of a step at the narrowest."""

    def taken(width: int) -> float:
        own = [e for e in found if e["width"] == width and e["precision"] == "high" and e["graph"]]
        return 1 / float(own[0]["steps_a_second"])

    products = 3 * 2 * 4 * WIDTHS[-1] ** 2 * batch
    step = taken(WIDTHS[0])
    return Speed(products=products / max(taken(WIDTHS[-1]) - step, 1e-9), step=step)


def report(device: torch.device, batch: int = BATCH, steps: int = 200) -> dict[str, Any]:
    checks = correctness(device)
    for kind, own in checks.items():
        for name, passed in own.items():
            print(f"{'ok' if passed else 'WRONG'}: {kind}: {name}", flush=True)
    found = speeds(device, batch, steps)
    hours = gpu_hours(Path.cwd(), "paper", measured_speed(found, batch))
    return {
        "device": device_name(device),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "correct": all(passed for own in checks.values() for passed in own.values()),
        "checks": checks,
        "batch_rows": batch,
        "speeds": found,
        "paper_profile_hours": {name: round(study.hours, 3) for name, study in hours.items()},
        "paper_profile_total": round(sum(study.hours for study in hours.values()), 2),
    }


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
        print(error, file=sys.stderr)
        return 2
    found = report(device, arguments.batch, arguments.steps)
    write_json(arguments.output, found)
    print(
        f"{'Correct' if found['correct'] else 'WRONG'} on {found['device']}; the paper profile "
        f"would take {found['paper_profile_total']} GPU hours. {arguments.output} has it all."
    )
    return 0 if found["correct"] else 1


if __name__ == "__main__":
    sys.exit(main())
