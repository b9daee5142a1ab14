"""Which rows belong to a fraction, a validation part or a share: read from the table's orders.

Nothing is drawn here: `datasets.splits` gave every row its place in each random order.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

GROUPS = 3
"""Task groups of the hold-out study."""
ORDERS = ("size", "validation", "holdout")
"""The table's random orders of each task's training rows; column `<name>_order`."""


def rank_in_task(task: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The position of each row's value among the values of its task; equal values share it."""
    by_task = np.lexsort((value, task))
    task, value = task[by_task], value[by_task]
    new_task = np.diff(task, prepend=-1) != 0
    new_value = new_task | (np.diff(value, prepend=np.nan) != 0)
    place = np.cumsum(new_value) - 1
    rank = np.empty(len(task), dtype=np.int64)
    rank[by_task] = place - np.maximum.accumulate(np.where(new_task, place, 0))
    return rank


def within(order: np.ndarray, counts: np.ndarray, share: float) -> np.ndarray:
    """Which rows belong to a share of each task: max(1, round(share n)) of its n rows.

    `order` is the row's place in its task (-1: never), `counts` the number of the task's
    rows. A smaller share's rows are among a larger one's.
    """
    limits = np.maximum(1, np.floor(share * counts + 0.5))
    return (order >= 0) & (order < limits)


def counts_per_row(frame: pd.DataFrame, mask: np.ndarray) -> np.ndarray:
    """For every row, how many of its task's rows are in the mask."""
    task = pd.factorize(frame["task"])[0]
    return np.bincount(task[mask], minlength=task.max() + 1)[task]


def fraction_mask(frame: pd.DataFrame, fraction: float) -> np.ndarray:
    """The training rows that a study on a fraction of the data sees."""
    train = (frame["part"] == "train").to_numpy()
    return within(frame["size_order"].to_numpy(), counts_per_row(frame, train), fraction)


def validation_mask(frame: pd.DataFrame, fraction: float, share: float) -> np.ndarray:
    """Validation rows: round(share n) of the n rows that a fraction has of a task, at most n - 1.

    Rows that share a place in the order (the quarters of a year) are counted as one and stay
    together. Where no task has rows enough for a validation row (two rows and a fifth, say),
    every k-th row of the table is one, k being the nearest to 1 / share.
    """
    rows = fraction_mask(frame, fraction)
    task = pd.factorize(frame["task"])[0][rows]
    rank = rank_in_task(task, frame["validation_order"].to_numpy()[rows])
    counts = np.zeros(task.max() + 1, dtype=np.int64)
    np.maximum.at(counts, task, rank + 1)
    limits = np.minimum(np.floor(share * counts + 0.5), counts - 1)
    mask = np.zeros(len(frame), dtype=bool)
    mask[rows] = rank < limits[task]
    if not mask.any():
        step = max(2, round(1 / share))
        mask[np.flatnonzero(rows)[step - 1 :: step]] = True
    return mask
