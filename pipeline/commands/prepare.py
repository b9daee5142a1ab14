"""prepare <dataset>: from raw files to one table with every split, and a small JSON about it."""

from __future__ import annotations

import argparse
import hashlib
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from learned_context.files import replacing
from pipeline import checked, settings
from pipeline.datasets import own, registry, sources, splits
from pipeline.datasets.table import TaskTable
from pipeline.files import Files, sha256
from pipeline.tables.description import (
    FeatureDescription,
    TableDescription,
    TableRows,
    TaskDescription,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help="a dataset of params.yaml")


def run(arguments: argparse.Namespace) -> None:
    files, dataset = Files(), arguments.dataset
    chosen = settings.load(files)
    keys, seeds = chosen.dataset(dataset), chosen.table_seeds(dataset)
    origin: dict[str, Any] = {"edition": keys.edition, "comparable": True, "differs": "", "raw": {}}
    if dataset in registry.GENERATED:
        table: TaskTable = registry.module(dataset).generate(keys, seeds["data"])
    else:
        edition = sources.load(files.sources).edition(dataset, keys.edition)
        paths = [files.raw(dataset, keys.edition) / source.name for source in edition.files]
        table = (
            own.parse(keys, *paths)
            if keys.is_own
            else registry.parse(dataset, keys.edition, edition, paths)
        )
        origin |= {"comparable": edition.comparable, "differs": edition.differs}
        origin["raw"] = {path.name: sha256(path) for path in paths}
    names = [feature.name for feature in table.features]
    rule = own.split_rule(keys) if keys.is_own else registry.split_rule(dataset, keys.split)
    if rule == splits.Given(without_leak=True):
        origin |= {"comparable": False, "differs": f"{origin['differs']} Clean split.".strip()}
    frame = splits.split(table.frame, names, rule, seeds["split"], dataset)
    if keys.is_own:
        own.check_split(f"params.yaml: dataset.{dataset}", table, frame)
    info = TableDescription(
        dataset=dataset,
        **origin,
        split=keys.split or type(rule).__name__,
        keys=keys.model_dump(mode="json", exclude_none=True),
        seeds=seeds,
        **describe(table, frame),
        content_sha256=content_digest(frame),
    )
    with replacing(files.table(dataset)) as temporary:
        pa.parquet.write_table(to_arrow(frame), temporary, compression="zstd", version="2.6")
    checked.write(files.table_info(dataset), info)
    counts = info.rows
    print(f"{files.table(dataset)}: {counts.train} training and {counts.test} test rows")


def describe(table: TaskTable, frame: pd.DataFrame) -> dict[str, Any]:
    """What later stages and readers want to know without opening the table."""
    is_train = frame["part"] == "train"
    counts = pd.crosstab(frame["task"], is_train).reindex(columns=[True, False], fill_value=0)
    return {
        "features": [
            FeatureDescription(
                name=feature.name,
                kind=feature.kind,
                unit=feature.unit,
                categories=sorted(frame[feature.name].unique(), key=_numbers_by_value)
                if feature.kind == "category"
                else None,
            )
            for feature in table.features
        ],
        "target": table.target,
        "unit": table.unit,
        "std": float(np.std(frame["target"].to_numpy())),
        "rows": TableRows(
            train=int(is_train.sum()),
            test=int((~is_train).sum()),
            leaked=int(frame["leaked"].sum()),
        ),
        "task": table.task,
        "tasks": {
            name: TaskDescription(train=train, test=test, **table.tasks.get(name, {}))
            for name, train, test in counts.sort_index().itertuples(name=None)
        },
    }


def _numbers_by_value(level: str) -> tuple[int, str]:
    return (int(level), "") if level.isdecimal() else (0, level)


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Text as dictionaries; no metadata, so that equal tables are equal to the byte."""
    columns = {
        name: pa.array(column.astype(str), pa.string()).dictionary_encode()
        if _is_text(column)
        else pa.array(column.to_numpy())
        for name, column in frame.items()
    }
    return pa.table(columns)


def content_digest(frame: pd.DataFrame) -> str:
    """The hash of the values, whatever the parquet library's version makes of them."""
    total = hashlib.sha256()
    for name, column in frame.items():
        total.update(f"{name}\0{len(column)}\0".encode())
        if _is_text(column):
            total.update("\0".join(column.astype(str)).encode())
        else:
            values = column.to_numpy()
            total.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()


def _is_text(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
