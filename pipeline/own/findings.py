"""What there is to say of a file before it becomes a dataset, one sentence a finding."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pipeline.datasets import own, own_file
from pipeline.datasets.own import listed
from pipeline.datasets.table import TaskTable
from pipeline.settings import DatasetKeys

LEAKING = 0.999
LARGEST_EXACT = 2**53
"""A float64 rounds larger whole numbers."""


def describe(
    raw: pd.DataFrame, typed: pd.DataFrame, table: TaskTable, split: pd.DataFrame, keys: DatasetKeys
) -> list[str]:
    """`raw` is the file, `typed` its columns, `table` the complete rows, `split` their parts."""
    return [
        *_layout(raw, keys),
        *_rows(typed, table, split, keys),
        *_kinds(table),
        *_suspects(table),
    ]


def _layout(raw: pd.DataFrame, keys: DatasetKeys) -> Iterator[str]:
    for number in raw.attrs.get("unnamed", ()):
        yield f"column {number} has no name, and is left out"
    if (delimiter := raw.attrs.get("delimiter", ",")) != ",":
        yield f"cells are separated by {'tabs' if delimiter == chr(9) else repr(delimiter)}"
    assert keys.target is not None and keys.features is not None
    commas = [
        name
        for name in (keys.target, *keys.features)
        if not pd.api.types.is_numeric_dtype(raw[name]) and own_file.has_decimal_commas(raw[name])
    ]
    if commas and delimiter != ",":
        yield f"decimal commas, read as decimal points: {listed(commas)}"
    elif commas:
        yield (
            f"warning: {listed(commas)}: numbers with decimal commas are taken as categories; "
            "save the file with decimal points, or with semicolons between the cells"
        )


def _rows(
    typed: pd.DataFrame, table: TaskTable, split: pd.DataFrame, keys: DatasetKeys
) -> Iterator[str]:
    sizes = table.frame["task"].value_counts()
    part = split["part"].value_counts()
    yield (
        f"{len(sizes)} tasks ({table.task}) of {sizes.min()} to {sizes.max()} rows: "
        f"{part['train']} rows for training, {part['test']} for testing"
    )
    if sentence := own.left_out(typed, keys):
        yield sentence
        lost = typed["task"].nunique() - len(sizes)
        if lost:
            yield f"tasks left out with them, without a complete row: {lost}"
    single = int((sizes == 1).sum())
    if single:
        yield f"tasks with a single row, which is for training: {single}"
    leaked = int(split["leaked"].sum())
    if leaked:
        yield f"training rows that are in the test part too, equal in all columns: {leaked}"


def _kinds(table: TaskTable) -> Iterator[str]:
    numbers = [feature.name for feature in table.features if feature.kind == "number"]
    texts = [
        f"{feature.name} ({table.frame[feature.name].nunique()} levels)"
        for feature in table.features
        if feature.kind == "category"
    ]
    if numbers:
        yield f"numbers: {listed(numbers)}"
    if texts:
        yield (
            f"text, taken as categories: {listed(texts)}; one column a level in the linear "
            "models, in the networks as `categories` in params.yaml says"
        )


def _suspects(table: TaskTable) -> Iterator[str]:
    frame = table.frame
    names = [feature.name for feature in table.features]
    constant = [name for name in names if frame[name].nunique() == 1]
    if constant:
        yield f"warning: constant, and so of no use: {listed(constant)}"
    for feature in table.features:
        if feature.kind == "number" and frame[feature.name].abs().max() > LARGEST_EXACT:
            yield f"warning: {feature.name} has numbers above 2**53, which are rounded"
        if feature.kind == "number" and feature.name not in constant:
            rank = abs(frame[feature.name].corr(frame["target"], method="spearman"))
            if rank > LEAKING:
                yield (
                    f"warning: {feature.name} rises or falls with {table.target} almost without "
                    f"exception (rank correlation {rank:.4f}): is it computed from it? "
                    "--features leaves it out"
                )
    for name in names:
        if _same_partition(frame[name], frame["task"]):
            yield (
                f"warning: {name} is another name of the task ({table.task}), one value each: "
                "models that must not know the task would know it"
            )


def _same_partition(one: pd.Series, other: pd.Series) -> bool:
    pairs = len(pd.DataFrame({"one": one, "other": other}).drop_duplicates())
    return pairs == one.nunique() == other.nunique()
