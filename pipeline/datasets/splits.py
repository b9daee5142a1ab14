"""Every random draw on a table's rows, made once: later stages read and never draw again.

A draw depends on the seed, the dataset and the draw's purpose, and on the rows as a set: the
rows are first brought into one order, so that the order in the raw file does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from learned_context.errors import UserError
from pipeline.tables.selection import GROUPS, ORDERS, rank_in_task


@dataclass(frozen=True)
class TaskShare:
    """Of each task's n rows, ceil(train n) are for training."""

    train: float


@dataclass(frozen=True)
class RowShare:
    """Of all n rows, test n (rounded) are for testing, whatever their task."""

    test: float


@dataclass(frozen=True)
class WholeBlocks:
    """A task's rows fall into blocks of neighbours, such as the quarters of a year.

    In each task with `at_least` blocks or more, `test` whole blocks are for testing. The
    validation rows of a search are whole blocks as well, so that it scores what the test does.
    """

    feature: str
    length: float
    test: int
    at_least: int


@dataclass(frozen=True)
class Given:
    """The rows come with their part: an official split, or generated rows."""

    without_leak: bool = False
    """Leave out the training rows that the test part holds."""


Rule = TaskShare | RowShare | WholeBlocks | Given


def generator(seed: int, purpose: str, dataset: str) -> np.random.Generator:
    """A stream of its own for each purpose, so that no draw changes another."""
    name = hashlib.sha256(f"{purpose}/{dataset}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(name[:16], "big")])


def canonical(frame: pd.DataFrame, features: Sequence[str]) -> pd.DataFrame:
    """Task, features, target and, where given, part, in an order that the values alone fix."""
    columns = ["task", *features, "target", *(["part"] if "part" in frame else [])]
    return frame[columns].sort_values(columns, kind="stable", ignore_index=True)


def split(
    frame: pd.DataFrame, features: Sequence[str], rule: Rule, seed: int, dataset: str
) -> pd.DataFrame:
    """The table with its parts, its random orders, its task groups and its leak."""
    frame = canonical(frame, features)
    if isinstance(rule, Given) and rule.without_leak:
        frame = without_leak(frame, features).reset_index(drop=True)
    frame["part"] = _parts(frame, rule, generator(seed, "part", dataset))
    frame["leaked"] = leaked(frame, features)
    task = pd.factorize(frame["task"])[0]
    train = (frame["part"] == "train").to_numpy()
    for name in ORDERS:
        draw = generator(seed, name, dataset).random(len(frame))
        if name == "validation" and isinstance(rule, WholeBlocks):
            draw = draw[_first_rows(frame, rule)]  # a block's rows share their place
        order = np.full(len(frame), -1, dtype=np.int32)
        order[train] = rank_in_task(task[train], draw[train])
        frame[f"{name}_order"] = order
    tasks = task.max() + 1
    place = generator(seed, "group", dataset).permutation(tasks)
    frame["group"] = (place % GROUPS).astype(np.int8)[task]
    return frame


def _parts(frame: pd.DataFrame, rule: Rule, random: np.random.Generator) -> np.ndarray:
    if isinstance(rule, Given):
        return frame["part"].to_numpy(dtype=object)
    draw = random.random(len(frame))
    task = pd.factorize(frame["task"])[0]
    if isinstance(rule, RowShare):
        test_rows = int(np.floor(len(frame) * rule.test + 0.5))
        train = rank_in_task(np.zeros(len(frame), dtype=int), draw) >= test_rows
    elif isinstance(rule, WholeBlocks):
        place = rank_in_task(task, draw[_first_rows(frame, rule)])
        blocks = np.zeros(task.max() + 1, dtype=int)
        np.maximum.at(blocks, task, place + 1)
        train = (place >= rule.test) | (blocks < rule.at_least)[task]
        if train.all():
            raise UserError(
                f"no task has the {rule.at_least} blocks of {rule.length:g} {rule.feature} that "
                "its test rows are drawn from; choose another split, or a whole edition"
            )
    else:
        # A product such as 0.8 * 35 may lie a rounding error above the whole number it means.
        limits = np.ceil(np.bincount(task) * rule.train - 1e-9)
        train = rank_in_task(task, draw) < limits[task]
    return np.where(train, "train", "test").astype(object)


def _first_rows(frame: pd.DataFrame, rule: WholeBlocks) -> np.ndarray:
    """For every row, the position of the first row of its task's block."""
    block = np.floor(frame[rule.feature].to_numpy() / rule.length)
    rows = pd.Series(np.arange(len(frame)))
    return rows.groupby([frame["task"], block]).transform("min").to_numpy()


def leaked(frame: pd.DataFrame, features: Sequence[str]) -> np.ndarray:
    """Training rows that stand in the test part: equal task and features, and equal target.

    Targets that differ by a millionth of their standard deviation count as equal: copies of
    a published file differ by as much in their last digit.
    """
    tolerance = 1e-6 * float(frame["target"].std(ddof=0))
    keys = pd.DataFrame(
        {
            "inputs": pd.util.hash_pandas_object(frame[["task", *features]], index=False),
            "target": frame["target"],
            "row": np.arange(len(frame)),
        }
    ).sort_values("target", kind="stable")
    test = (frame["part"] == "test").to_numpy()[keys["row"]]
    # The nearest answer alone: coarse features have millions of pairs of equal inputs.
    nearest = pd.merge_asof(
        keys[~test],
        keys[test],
        on="target",
        by="inputs",
        direction="nearest",
        tolerance=tolerance,  # type: ignore[arg-type]  # the stubs know times alone
        suffixes=("", "_test"),
    )
    found = nearest.loc[nearest["row_test"].notna(), "row"]
    mask = np.zeros(len(frame), dtype=bool)
    mask[found.to_numpy()] = True
    return mask


def without_leak(frame: pd.DataFrame, features: Sequence[str]) -> pd.DataFrame:
    """The clean split: training rows that the test part holds are left out."""
    return frame[~leaked(frame, features)]
