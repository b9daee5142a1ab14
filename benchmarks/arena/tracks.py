"""Which rows are training and test rows, in both tracks. Pure functions of labels and a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

SPLITS = 5
TEST_SHARE = 0.2
HELD_OUT_SHARE = 1 / 3
MOST_HELD_OUT = 40
ARRIVING = (1, 2, 5, 10)
"""Rows with which a new task arrives."""


def random_ranks(task: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Of every row, its place (from 0) in a random order of its task's rows."""
    draw = pd.Series(random.random(len(task)))
    return draw.groupby(task).rank(method="first").to_numpy().astype(int) - 1


def task_sizes(task: np.ndarray) -> np.ndarray:
    """Of every row, the number of its task's rows."""
    return pd.Series(task).groupby(task).transform("size").to_numpy()


@dataclass(frozen=True)
class KnownTasks:
    """Track 1: row numbers."""

    train: np.ndarray
    test: np.ndarray


def known_tasks(task: np.ndarray, split: int) -> KnownTasks:
    """A fifth of every task's rows, rounded, are test rows: a task of one or two rows has none."""
    rank = random_ranks(task, np.random.default_rng([1, split]))
    test = rank < np.floor(task_sizes(task) * TEST_SHARE + 0.5)
    return KnownTasks(np.flatnonzero(~test), np.flatnonzero(test))


@dataclass(frozen=True)
class ArrivingTasks:
    """Track 2: row numbers. `arriving[k]` are k rows of each new task, `test[k]` all its other
    rows. A new task with k rows or fewer is in neither."""

    base: np.ndarray
    arriving: dict[int, np.ndarray]
    test: dict[int, np.ndarray]


def new_tasks(task: np.ndarray, split: int) -> ArrivingTasks:
    """A third of the tasks, at most 40, are new; tasks of one row cannot be.

    Rows arrive in one random order: the two rows of a task are the one row and another. A number
    of rows k is left out if fewer than half of the new tasks have more than k rows.
    """
    random = np.random.default_rng([2, split])
    sizes = task_sizes(task)
    candidates = np.unique(task[sizes > 1])
    count = min(MOST_HELD_OUT, int(len(np.unique(task)) * HELD_OUT_SHARE), len(candidates))
    new = np.isin(task, random.choice(candidates, size=count, replace=False))
    rank = random_ranks(task, random)
    arriving, test = {}, {}
    for rows in ARRIVING:
        able = new & (sizes > rows)
        if 2 * len(np.unique(task[able])) >= count:
            arriving[rows] = np.flatnonzero(able & (rank < rows))
            test[rows] = np.flatnonzero(able & (rank >= rows))
    return ArrivingTasks(np.flatnonzero(~new), arriving, test)
