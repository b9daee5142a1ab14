"""A dataset of your own: the columns that params.yaml names, as a table.

Rows with a missing value are left out. A feature is a number if all its values are; any other
is a category.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from learned_context.errors import UserError
from pipeline.datasets import own_file
from pipeline.datasets.reading import place
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable
from pipeline.settings import DatasetKeys
from pipeline.tables.selection import GROUPS, ORDERS

Floats = NDArray[np.float64]
SHOWN = 8
"""How many names a sentence lists."""
RESERVED = ("task", "target", "part", "leaked", "group", *(f"{name}_order" for name in ORDERS))
"""Names of the table's columns that no feature can have."""
MOST_LEVELS = 100
"""A text with more levels is a name or a date. Every level is a column of the linear models."""
EXACT = 1e-12
"""The share of the target's variance below which there is no error to be measured."""
LARGEST = 1e100
"""The square of a larger number is infinite."""


def parse(keys: DatasetKeys, path: Path) -> TaskTable:
    return to_table(path, typed(path, own_file.read(path), keys), keys)


def split_rule(keys: DatasetKeys) -> TaskShare:
    assert keys.train_share is not None  # the settings' check
    return TaskShare(train=keys.train_share)


def typed(path: Path, raw: pd.DataFrame, keys: DatasetKeys) -> pd.DataFrame:
    """All rows: the columns task, one for each feature, and target; missing values are there."""
    assert keys.task is not None and keys.target is not None and keys.features is not None
    _check_names(path, list(raw.columns), keys.task, keys.target, keys.features)
    columns = {"task": own_file.as_text(path, raw, keys.task)}
    for name in keys.features:
        columns[name] = _feature(path, raw, name)
    columns["target"], wrong = own_file.as_numbers(path, raw, keys.target)
    if len(wrong):
        point = ", with a decimal point" if "," in str(raw[keys.target].iloc[wrong[0]]) else ""
        raise UserError(
            f"{path}: {_quoted(raw, keys.target, wrong[0])}: not a number; correct it{point}, or "
            "leave it empty and the row is left out"
        )
    frame = pd.DataFrame(columns)
    numbers = frame.select_dtypes("float64")
    for name in map(str, numbers):
        large = np.flatnonzero(numbers[name].abs() > LARGEST)
        if len(large):
            column = keys.target if name == "target" else name
            raise UserError(
                f"{path}: {_quoted(raw, column, large[0])}: numbers up to {LARGEST:g} are needed"
            )
    return frame


def _check_names(
    path: Path, columns: list[str], task: str, target: str, features: tuple[str, ...]
) -> None:
    for name in (task, target, *features):
        if name not in columns:
            raise UserError(f"{path}: no column {name!r}; there are {', '.join(columns)}")
    used = [task, target, *features]
    for name in used:
        if used.count(name) > 1:
            raise UserError(
                f"{path}: column {name!r} is named twice; task, target and features differ"
            )
    for name in features:
        if name in RESERVED:
            raise UserError(
                f"{path}: column {name!r} cannot be a feature, the prepared table has a column "
                "of this name; rename it in the file"
            )


def _feature(path: Path, raw: pd.DataFrame, name: str) -> pd.Series:
    numbers, wrong = own_file.as_numbers(path, raw, name)
    if not len(wrong):
        return numbers
    text = own_file.as_text(path, raw, name)
    levels = text.nunique()
    if levels > MOST_LEVELS:
        raise UserError(
            f"{path}: column {name!r} is text ({_quoted(raw, name, wrong[0])}) with {levels} "
            f"different values, and a category has at most {MOST_LEVELS}; leave it out of the "
            "features, or make it numbers"
        )
    return text


def _quoted(raw: pd.DataFrame, column: str, position: int) -> str:
    return f"{place(raw, position)}: {column} is {str(raw[column].iloc[position])!r}"


def to_table(path: Path, frame: pd.DataFrame, keys: DatasetKeys) -> TaskTable:
    """The complete rows, if they are enough to be a study's."""
    assert keys.task is not None and keys.target is not None and keys.features is not None
    complete = frame.dropna()
    if complete.empty:
        worst = frame.isna().sum().idxmax()
        raise UserError(
            f"{path}: no row has a value in every column; {worst!r} lacks the most, leave it out"
            f"{_of_rows_left_out(frame, keys)}"
        )
    tasks = complete["task"].nunique()
    if tasks < GROUPS:
        raise UserError(
            f"{path}: {tasks} tasks in column {keys.task!r}; at least {GROUPS} are needed, "
            "the hold-out study divides them into three groups"
            f"{_of_rows_left_out(frame, keys)}"
        )
    features = tuple(
        Feature(name, "number" if frame[name].dtype == "float64" else "category")
        for name in keys.features
    )
    return TaskTable(complete, features, keys.target, unit="", task=keys.task)


def left_out(frame: pd.DataFrame, keys: DatasetKeys) -> str:
    """How many rows lack a value, and in which columns; empty if none does."""
    lacking = frame.isna().sum()
    if not lacking.any():
        return ""
    names = {"task": keys.task, "target": keys.target}
    columns = [f"{names.get(str(name), name)} {n}" for name, n in lacking.items() if n]
    return (
        f"rows left out, because a value is missing: {int(frame.isna().any(axis=1).sum())} "
        f"({listed(columns)})"
    )


def _of_rows_left_out(frame: pd.DataFrame, keys: DatasetKeys) -> str:
    sentence = left_out(frame, keys)
    return sentence and f"; {sentence}"


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def check_split(where: object, table: TaskTable, frame: pd.DataFrame) -> None:
    """The smallest parts that every study can do with."""
    train, test = (frame[frame["part"] == part] for part in ("train", "test"))
    if test["group"].nunique() < GROUPS:
        raise UserError(
            f"{where}: {len(test)} of {len(frame)} rows are for testing, and one of the hold-out "
            "study's three groups of tasks has none; more rows a task or a lower train_share "
            "is needed"
        )
    if not np.std(train["target"]) > 0:
        raise UserError(f"{where}: {table.target} has one value in all training rows")
    x = _encoded(train, table, frame)
    if len(train) <= x.shape[1] + 1:
        raise UserError(
            f"{where}: {len(train)} training rows for {x.shape[1]} columns, a column for every "
            "level of a category; more rows or fewer features are needed"
        )
    y = _standardised(train["target"].to_numpy())
    for feature in table.features:
        if feature.kind == "number" and _gives(_standardised(train[[feature.name]]), y):
            raise UserError(
                f"{where}: {feature.name} is perfectly correlated with {table.target}: it is "
                "computed from it; leave it out of the features"
            )
    if _gives(x, y):
        raise UserError(
            f"{where}: {table.target} is a sum of the features, exactly: there is nothing to "
            "learn; leave out those that are computed from it"
        )


def _encoded(rows: pd.DataFrame, table: TaskTable, frame: pd.DataFrame) -> Floats:
    """The columns of the linear models: one for every level of a category in all rows."""
    columns = [
        rows[feature.name].to_numpy(dtype=np.float64)[:, None]
        if feature.kind == "number"
        else rows[feature.name].to_numpy()[:, None] == frame[feature.name].unique()[None, :]
        for feature in table.features
    ]
    return _standardised(np.concatenate(columns, axis=1, dtype=np.float64))


def _standardised(values: Any) -> Floats:
    """With mean 0 and deviation 1; a constant becomes zeros."""
    centred = np.asarray(values, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    std = centred.std(axis=0)
    return np.asarray(centred / np.where(std > 0, std, 1.0))


def _gives(x: Floats, y: Floats) -> bool:
    """Whether the least squares of y on x leave nothing."""
    coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
    return float(np.mean((y - x @ coefficients) ** 2)) < EXACT
