"""The estimator's promises, measured: new tasks on frequency, the cost of adding and predicting.

Frequency as in the paper, a third of the tasks held out in turn: the error of `add_task` against
training on all tasks, and how many test rows the 95% intervals cover. Then the seconds of one
core for 1,000 new tasks of 50 rows, for one of them alone, for a million predictions, and for a
fit and a predict of a million rows with 10,000 tasks, with the most memory that the process ever
held.
Seconds are processor time on one thread, so that other work on the machine does not count.
"""

from __future__ import annotations

import resource
import sys
from copy import copy
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from benchmarks.shared import (
    GROUPS,
    TASKS,
    frequency,
    of_tasks,
    options,
    papers_frequency,
    seconds,
    split_tasks,
)
from learned_context.estimator import LearnedContextRegressor
from learned_context.metrics import rmse
from learned_context.rows import Rows
from pipeline.files import write_json

COUNTS = (5, 20, 100, 120)
NEW_TASKS, NEW_ROWS, PREDICTIONS = 1000, 50, 1_000_000
LARGE_ROWS, LARGE_TASKS = 1_000_000, 10_000


def hold_out(train: Rows, test: Rows) -> tuple[list[dict[str, float]], LearnedContextRegressor]:
    """Every group held out in turn; errors and coverage by the number of rows added."""
    full = LearnedContextRegressor(random_state=0, device="cpu").fit(train.x, train.y, train.task)
    cells: dict[int, list[tuple[float, ...]]] = {count: [] for count in COUNTS}
    for group in range(GROUPS):
        base, held_out = split_tasks(group)
        of_base, of_held_out = of_tasks(train, base), of_tasks(test, held_out)
        fitted = LearnedContextRegressor(random_state=0, device="cpu")
        fitted.fit(of_base.x, of_base.y, of_base.task)
        x, y, task = of_held_out.x, of_held_out.y, of_held_out.task
        for count in COUNTS:
            new = of_tasks(train, held_out, count)
            estimator = copy(fitted).add_tasks(new.x, new.y, new.task)
            low, high = estimator.predict_interval(x, task)
            model = estimator.model_
            weights = model.ensemble.posteriors[model.main].weights[:, len(base) :]
            modes = (weights > 0.01).sum(axis=2)
            added, trained = estimator.predict(x, task), full.predict(x, task)
            covered = ((low <= y) & (y <= high)).mean()
            errors = np.mean((added - y) ** 2), np.mean((trained - y) ** 2)
            cells[count].append((*errors, covered, modes.mean()))
    found = []
    for count, groups in cells.items():
        added, trained, covered, modes = np.mean(groups, axis=0)
        found.append(
            {
                "rows": count,
                "rmse": float(np.sqrt(added)),
                "rmse_of_full_training": float(np.sqrt(trained)),
                "ratio": float(np.sqrt(added / trained)),
                "coverage_of_95": float(covered),
                "modes_of_a_task": float(modes),
            }
        )
    return found, full


def speed(full: LearnedContextRegressor, random: np.random.Generator) -> dict[str, float]:
    omega = random.uniform(0.5, 4, NEW_TASKS)
    new = frequency(omega, NEW_ROWS, random)
    x, y, task = new.x, new.y, new.task + TASKS
    batch = seconds(lambda: copy(full).add_tasks(x, y, task))
    one = copy(full)
    alone = seconds(
        lambda: [
            one.add_task(TASKS + j, x[task == TASKS + j], y[task == TASKS + j]) for j in range(20)
        ]
    )
    many, labels = random.uniform(size=(PREDICTIONS, 1)), random.integers(0, TASKS, PREDICTIONS)
    return {
        "add_1000_tasks_of_50_rows": batch,
        "add_one_task_of_50_rows": alone / 20,
        "predict_1000000_rows": seconds(lambda: full.predict(many, labels)),
        "predict_1000000_rows_with_std": seconds(
            lambda: full.predict(many, labels, return_std=True)
        ),
    }


def large(random: np.random.Generator) -> dict[str, float]:
    omega = random.uniform(0.5, 4, LARGE_TASKS)
    rows = frequency(omega, LARGE_ROWS // LARGE_TASKS, random)
    estimator = LearnedContextRegressor(random_state=0, device="cpu")
    spent = seconds(lambda: estimator.fit(rows.x, rows.y, rows.task))
    return {
        "seconds": spent,
        "seconds_of_predict": seconds(lambda: estimator.predict(rows.x, rows.task)),
        "networks": sum(voice.members for voice in estimator.model_.ensemble.voices),
        "rmse_in_training": rmse(rows.y, estimator.predict(rows.x, rows.task)),
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def main() -> None:
    arguments = options(__doc__, "estimator.json").parse_args()
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    train, test = papers_frequency(random)
    new_tasks, full = hold_out(train, test)
    print("rows of a new task   RMSE   / full training   95% intervals cover   modes")
    for cell in new_tasks:
        print(
            f"{cell['rows']:18.0f}  {cell['rmse']:.4f}  {cell['ratio']:15.3f}"
            f"  {cell['coverage_of_95']:20.1%}  {cell['modes_of_a_task']:6.1f}"
        )
    report: dict[str, Any] = {"new_tasks": new_tasks, "seconds": speed(full, random)}
    for name, value in report["seconds"].items():
        print(f"{name}: {value:.3f} s")
    report["large_fit"] = large(random)
    for name, value in report["large_fit"].items():
        print(f"fit of {LARGE_ROWS} rows, {LARGE_TASKS} tasks: {name} {value:.4g}")
    write_json(arguments.output, report)


if __name__ == "__main__":
    main()
