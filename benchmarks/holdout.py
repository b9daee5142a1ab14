"""The hold-out fit: batched Gauss-Newton against the paper's LIPO, on the same objective.

Frequency data, a third of the tasks held out in turn, 2, 4 and 8 task parameters, seven shares
of the held-out tasks' rows: seconds, objectives and test errors of both estimators. And how many
test rows the 95% intervals cover, by one Gaussian and by a mixture. All of it takes LIPO half
an hour; `--tasks 10` takes ten tasks of every group. Everything runs on one thread.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from benchmarks.shared import (
    GROUPS,
    TASKS,
    TRAIN_ROWS,
    of_tasks,
    options,
    papers_frequency,
    split_tasks,
)
from learned_context.metrics import rmse
from learned_context.new_tasks import gauss_newton, laplace
from learned_context.new_tasks.gauss_newton import Effort
from learned_context.rows import Rows
from learned_context.training.trainer import Hyperparameters, Plan, train
from pipeline.files import write_json
from pipeline.models.held_out import HeldOut

DIMENSIONS = (2, 4, 8)
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
COVERAGE_ROWS = (5, 20, 100)
NO_WORSE = 0.1
PLAN = Plan(60, 30, window_min=5)


def hold_out(
    group: int, dimension: int, limit: int | None, train_rows: Rows, test_rows: Rows
) -> HeldOut:
    """Train on the other groups; s^2 is their test error variance."""
    base, held_out = split_tasks(group)
    hyper = Hyperparameters(0.05, 64, 0.0, 0.0, dimension)
    trained = train(of_tasks(train_rows, base), TASKS, "lc", hyper, PLAN, seed=1)
    test = of_tasks(test_rows, base)
    noise = (rmse(test.y, trained.predict(test)) / trained.scaler.y_std) ** 2
    return HeldOut(trained, base, held_out[:limit], noise)


def compare(held: HeldOut, rows: Rows, test: Rows, evaluations: int) -> dict[str, Any]:
    ours = held.by_gauss_newton(rows, test, Effort())
    theirs = held.by_lipo(rows, test, evaluations, seed=0)
    return {
        "seconds": (ours.seconds, theirs.seconds),
        "difference": (ours.objective - theirs.objective).tolist(),
        "squared_error": (ours.rmse**2, theirs.rmse**2),
    }


def covered(held: HeldOut, rows: Rows, test: Rows) -> dict[str, float]:
    """The share of test rows inside their 95% intervals."""
    fit = gauss_newton.fit(held.problem(rows), held.base)
    scaler, network = held.trained.scaler, held.trained.network
    x, y = torch.from_numpy(scaler.x(test.x)), scaler.y(test.y)
    task = np.searchsorted(held.tasks, test.task)
    shares = {}
    for name, posterior in (("single", laplace.single(fit)), ("mixture", laplace.mixture(fit))):
        low, high = laplace.predict(network, posterior, x, task, held.noise).interval(0.95)
        shares[name] = float(((low <= y) & (y <= high)).mean())
    return shares


def summary(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Of cells with the same number of tasks and test rows, as those of the groups nearly are."""
    difference = np.concatenate([cell["difference"] for cell in cells])
    ours, theirs = np.sum([cell["seconds"] for cell in cells], axis=0)
    errors = np.sqrt(np.mean([cell["squared_error"] for cell in cells], axis=0))
    return {
        "fits": len(difference),
        "gauss_newton_seconds": float(ours),
        "lipo_seconds": float(theirs),
        "times_as_fast": float(theirs / ours),
        "share_no_worse": float((difference <= NO_WORSE).mean()),
        "median_difference": float(np.median(difference)),
        "gauss_newton_rmse": float(errors[0]),
        "lipo_rmse": float(errors[1]),
    }


def main() -> None:
    parser = options(__doc__, "holdout.json")
    parser.add_argument("--tasks", type=int, help="of every group; all by default")
    parser.add_argument("--evaluations", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train_rows, test_rows = papers_frequency(np.random.default_rng(0))
    cells: dict[tuple[int, float], list[dict[str, Any]]] = {}
    coverage: dict[tuple[int, int], list[dict[str, float]]] = {}
    for dimension in DIMENSIONS:
        for group in range(GROUPS):
            held = hold_out(group, dimension, arguments.tasks, train_rows, test_rows)
            test = of_tasks(test_rows, held.tasks)
            for share in SHARES:
                rows = of_tasks(train_rows, held.tasks, max(1, round(share * TRAIN_ROWS)))
                found = compare(held, rows, test, arguments.evaluations)
                cells.setdefault((dimension, share), []).append(found)
            for count in COVERAGE_ROWS:
                rows = of_tasks(train_rows, held.tasks, count)
                coverage.setdefault((dimension, count), []).append(covered(held, rows, test))

    report: dict[str, Any] = {"evaluations": arguments.evaluations, "fits": [], "coverage": []}
    print("d_beta share   times  no worse  median diff.   RMSE  (lipo)")
    for (dimension, share), group_cells in cells.items():
        entry = {"task_dim": dimension, "share": share, **summary(group_cells)}
        report["fits"].append(entry)
        print(f"{dimension:6d} {share:5.2f} {line(entry)}")
    report["task_dims"] = []
    for dimension in DIMENSIONS:
        own = [cell for share in SHARES for cell in cells[dimension, share]]
        report["task_dims"].append({"task_dim": dimension, **summary(own)})
        print(f"{dimension:6d}   all {line(report['task_dims'][-1])}")
    report["all"] = summary([cell for own in cells.values() for cell in own])
    print(f"   all   all {line(report['all'])}")
    for (dimension, count), shares in coverage.items():
        means = {name: float(np.mean([s[name] for s in shares])) for name in shares[0]}
        report["coverage"].append({"task_dim": dimension, "rows": count, **means})
        print(
            f"95% intervals, d_beta {dimension}, {count} rows: one Gaussian covers "
            f"{means['single']:.1%}, the mixture {means['mixture']:.1%}"
        )
    write_json(arguments.output, report)


def line(entry: dict[str, float]) -> str:
    return (
        f"{entry['times_as_fast']:7.1f} {entry['share_no_worse']:9.1%} "
        f"{entry['median_difference']:13.2f} {entry['gauss_newton_rmse']:6.3f} "
        f"({entry['lipo_rmse']:.3f})"
    )


if __name__ == "__main__":
    main()
