"""What several benchmarks share: their options, a stopwatch, and data that hold tasks out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from learned_context.errors import UserError
from learned_context.rows import Rows

Case = TypeVar("Case")

ROOT = Path(__file__).resolve().parents[1]
REPORTS = Path("results/benchmarks")
TASKS, GROUPS, TRAIN_ROWS, TEST_ROWS = 250, 3, 120, 100
"""The paper's Frequency: its tasks, of which one group at a time is held out, and rows a task."""


def options(doc: str | None, output: str) -> argparse.ArgumentParser:
    """Of a script with this docstring, whose report is this file."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=REPORTS / output)
    return parser


def run_main(main: Callable[[], None]) -> None:
    """A script's main function; a mistake of the user's is one line and no traceback."""
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")


def chosen(cases: Mapping[str, Case], names: Collection[str] | None) -> dict[str, Case]:
    """The cases of these names, or all; a name that no case has is refused."""
    if unknown := sorted(set(names or ()) - set(cases)):
        raise UserError(f"--only: no case {', '.join(unknown)}; valid: {', '.join(cases)}")
    return {name: case for name, case in cases.items() if not names or name in names}


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    started = clock()
    run()
    return clock() - started


def frequency(omega: np.ndarray, rows: int, random: np.random.Generator) -> Rows:
    """As many rows of every wave; they are grouped by task."""
    x = random.uniform(size=(len(omega), rows))
    y = 0.5 * np.sin(2 * np.pi * omega[:, None] * x) + 0.5 + random.normal(0, 0.1, x.shape)
    return Rows(x.reshape(-1, 1), np.repeat(np.arange(len(omega)), rows), y.ravel())


def papers_frequency(random: np.random.Generator) -> tuple[Rows, Rows]:
    """Training and test rows."""
    omega = random.uniform(0.5, 4, TASKS)
    return frequency(omega, TRAIN_ROWS, random), frequency(omega, TEST_ROWS, random)


def split_tasks(group: int) -> tuple[np.ndarray, np.ndarray]:
    """The tasks of the other groups, and those of the group that is held out."""
    numbers = np.arange(TASKS)
    return numbers[numbers % GROUPS != group], numbers[numbers % GROUPS == group]


def of_tasks(rows: Rows, tasks: np.ndarray, first: int | None = None) -> Rows:
    """The rows of some tasks, or the `first` of each."""
    place = np.arange(len(rows)) % np.count_nonzero(rows.task == rows.task[0])
    wanted = np.isin(rows.task, tasks) & (place < (first or len(rows)))
    return rows.take(np.flatnonzero(wanted))
