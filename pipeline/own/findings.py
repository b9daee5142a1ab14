"""What there is to say of a file before it becomes a dataset, one sentence a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from pipeline.datasets.table import Table

SHOWN = 8
"""How many names a sentence lists."""
LEAKING = 0.999


def describe(typed: pd.DataFrame, table: Table, split: pd.DataFrame) -> list[str]:
    """`typed` has all rows of the file, `table` the complete ones, `split` those with parts."""
    return [*_rows(typed, table, split), *_kinds(table), *_suspects(table)]


def _rows(typed: pd.DataFrame, table: Table, split: pd.DataFrame) -> Iterator[str]:
    sizes = table.frame["task"].value_counts()
    part = split["part"].value_counts()
    yield (
        f"{len(sizes)} tasks ({table.task}) of {sizes.min()} to {sizes.max()} rows: "
        f"{part['train']} rows for training, {part['test']} for testing"
    )
    lacking = typed.isna().sum()
    if lacking.any():
        names = {"task": table.task, "target": table.target}
        columns = [f"{names.get(str(n), n)} {count}" for n, count in lacking.items() if count]
        yield (
            f"rows left out, because a value is missing: {len(typed) - len(table.frame)} "
            f"({listed(columns)})"
        )
        lost = typed["task"].nunique() - len(sizes)
        if lost:
            yield f"tasks left out with them, without a complete row: {lost}"
    single = int((sizes == 1).sum())
    if single:
        yield f"tasks with a single row, which is for training: {single}"
    leaked = int(split["leaked"].sum())
    if leaked:
        yield f"training rows that stand in the test part too, equal in all columns: {leaked}"


def _kinds(table: Table) -> Iterator[str]:
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


def _suspects(table: Table) -> Iterator[str]:
    frame = table.frame
    names = [feature.name for feature in table.features]
    constant = [name for name in names if frame[name].nunique() == 1]
    if constant:
        yield f"warning: constant, and so of no use: {listed(constant)}"
    for feature in table.features:
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
                "models that shall not know the task would"
            )


def _same_partition(one: pd.Series, other: pd.Series) -> bool:
    pairs = len(pd.DataFrame({"one": one, "other": other}).drop_duplicates())
    return pairs == one.nunique() == other.nunique()


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
