"""The paper's frequency data at any size, for benchmarks that hold tasks out."""

from __future__ import annotations

import numpy as np

from learned_context.rows import Rows


def frequency(omega: np.ndarray, rows: int, random: np.random.Generator) -> Rows:
    """As many rows of every wave; they are grouped by task."""
    x = random.uniform(size=(len(omega), rows))
    y = 0.5 * np.sin(2 * np.pi * omega[:, None] * x) + 0.5 + random.normal(0, 0.1, x.shape)
    return Rows(x.reshape(-1, 1), np.repeat(np.arange(len(omega)), rows), y.ravel())


def of_tasks(rows: Rows, tasks: np.ndarray, first: int | None = None) -> Rows:
    """The rows of some tasks, or the `first` of each."""
    place = np.arange(len(rows)) % np.count_nonzero(rows.task == rows.task[0])
    wanted = np.isin(rows.task, tasks) & (place < (first or len(rows)))
    return rows.take(np.flatnonzero(wanted))
