"""Which six columns of Bike sharing? The paper does not name them, and the networks depend on them.

The study takes the hour, whether it is a working day, the weather situation, the temperature, the
humidity and the wind. Here every set that has one other column of the file instead of one of these
(the hour stays) takes part on the same rows. The linear models' errors over many splits say how
likely the paper's are with each set; the networks of the study are trained with its settings on its
own split. Where the sets that the linear errors allow give networks of very different errors, a
difference from the paper's network says little.

What is in the output file is not computed again, so a run can be stopped and started at any time,
and a clone without data prints what is recorded. Errors of other rows, and of networks with other
settings, are not kept.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.draws import raw_table
from benchmarks.inflation_splits import summary
from benchmarks.linear_draws import LINEAR, errors
from benchmarks.paper_budget import CaseTraining, as_json, data_of, raw_of, study_setting
from benchmarks.shared import options, run_main
from learned_context import metrics
from learned_context.columns import Encoding
from learned_context.errors import UserError
from learned_context.training.trainer import train
from pipeline import settings
from pipeline.commands.prepare import describe
from pipeline.datasets import registry, sources, splits
from pipeline.datasets.bike_sharing import FEATURES
from pipeline.datasets.table import Feature, TaskTable
from pipeline.files import Files, read_json, write_json
from pipeline.reporting.paper import load_paper
from pipeline.tables.description import TableDescription
from pipeline.tables.prepared import Prepared

DATASET = "bike_sharing"
NETWORKS = ("lc", "cs", "ll", "fs")
OTHERS = (
    Feature("season", "category"),
    Feature("holiday", "category"),
    Feature("weekday", "category"),
    Feature("atemp", unit="50 °C"),
)
"""The file's columns that are neither the study's, nor the task's, nor parts of the target."""


def with_other_columns(table: TaskTable, path: Path) -> TaskTable:
    """The study's table with the other columns of its file, whose rows are in the same order."""
    names = [feature.name for feature in OTHERS]
    raw = pd.read_csv(path, usecols=[*names, "cnt"])
    if not np.array_equal(raw["cnt"], table.frame["target"]):
        raise UserError(f"{path}: its rows are not those of the study's table, in their order")
    raw.index = table.frame.index
    columns = {
        feature.name: raw[feature.name].astype(str if feature.kind == "category" else float)
        for feature in OTHERS
    }
    return replace(table, frame=table.frame.assign(**columns), features=(*FEATURES, *OTHERS))


def sets() -> Iterator[tuple[Feature, ...]]:
    """The study's columns, then every set that differs from them by one; the hour stays."""
    yield FEATURES
    for place in range(1, len(FEATURES)):
        for other in OTHERS:
            yield (*FEATURES[:place], other, *FEATURES[place + 1 :])


def tables_of(table: TaskTable, seed: int) -> dict[tuple[str, ...], Prepared]:
    """By columns: the tables of one split, the study's for its seed, which all sets share."""
    study = columns_of(FEATURES)
    frame = splits.split(table.frame, study, registry.split_rule(DATASET, None), seed, DATASET)
    # A split sorts the rows and leaves out the other columns: they are sorted in the same way.
    names = ["task", *study, "target"]
    ordered = table.frame.sort_values(names, kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(ordered[names], frame[names])
    frame = frame.assign(**{name: ordered[name] for name in columns_of(OTHERS)})
    return {
        columns_of(features): Prepared(
            frame,
            TableDescription.model_construct(**describe(replace(table, features=features), frame)),
        )
        for features in sets()
    }


def columns_of(features: Sequence[Feature]) -> tuple[str, ...]:
    return tuple(feature.name for feature in features)


def network_error(
    table: Prepared, model: str, training: CaseTraining, categories: Encoding
) -> float:
    rows = table.encode(table.frame, categories)
    known, test = rows.take(table.train_rows()), rows.take(table.test_rows())
    trained = train(known, len(table.tasks), model, training.hyper, training.plan, training.seed)
    return metrics.rmse(test.y, trained.predict(test))


@dataclass(frozen=True)
class Measurement:
    """What is measured of every set of columns."""

    tables: Callable[[int], dict[tuple[str, ...], Prepared]]
    """Of a seed, by columns."""
    linear_splits: int
    trainings: dict[str, CaseTraining]
    study_seed: int
    """Of the study's split, on which networks are trained."""
    categories: Encoding

    def complete(self, record: dict[str, Any]) -> None:
        """Add what is missing in the record of one set of columns."""
        columns = tuple(record["columns"])
        while len(record["errors"]["lr"]) < self.linear_splits:
            seed = len(record["errors"]["lr"])
            for model, error in errors(self.tables(seed)[columns]).items():
                record["errors"][model].append(error)
        for model, training in self.trainings.items():
            if model not in record["networks"]:
                table = self.tables(self.study_seed)[columns]
                record["networks"][model] = network_error(table, model, training, self.categories)


def empty_record(columns: tuple[str, ...]) -> dict[str, Any]:
    return {"columns": list(columns), "errors": {m: [] for m in LINEAR}, "networks": {}}


def kept_records(path: Path, state: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """By columns: linear errors of the same raw rows; those of networks if all else is the same."""
    content = read_json(path) if path.exists() else {"sets": [], "state": {}}
    if content["state"].get("raw") != state["raw"]:
        return {}
    records = {tuple(record["columns"]): record for record in content["sets"]}
    if content["state"] != state:
        for record in records.values():
            record["networks"] = {}
    return records


def main() -> None:
    parser = options(__doc__, "bike_columns.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where raw files are")
    parser.add_argument("--splits", type=int, default=20, help="for the linear models")
    arguments = parser.parse_args()
    if arguments.splits < 2:
        raise UserError(
            f"--splits: {arguments.splits} is too few for a standard deviation; valid: 2 or more"
        )
    files = Files(arguments.project.resolve())
    chosen, paper = settings.load(files), load_paper(files)
    printed = {m: paper.value("base", DATASET, m) or math.nan for m in (*LINEAR, *NETWORKS)}
    trainings = {model: study_setting(files, DATASET, model) for model in NETWORKS}
    state = {
        "raw": raw_of(files, DATASET),
        "data": data_of(files, DATASET),
        "settings": {model: as_json(training) for model, training in trainings.items()},
    }

    @cache
    def table() -> TaskTable:
        edition = chosen.dataset(DATASET).edition
        (source,) = sources.load(files.sources).edition(DATASET, edition).files
        path = files.raw(DATASET, edition) / source.name
        return with_other_columns(raw_table(files, DATASET), path)

    measurement = Measurement(
        cache(lambda seed: tables_of(table(), seed)),
        arguments.splits,
        trainings,
        chosen.table_seeds(DATASET)["split"],
        chosen.params.categories,
    )
    records = kept_records(arguments.output, state)
    wanted = [columns_of(features) for features in sets()]
    for columns in wanted:
        record = records.setdefault(columns, empty_record(columns))
        measurement.complete(record)
        record["linear"] = {m: summary(record["errors"][m], printed[m]) for m in LINEAR}
        complete = [records[one] for one in wanted if records.get(one, {}).get("networks")]
        write_json(arguments.output, {"paper": printed, "state": state, "sets": complete})
        far = max(abs(line["deviations"]) for line in record["linear"].values())
        ratios = {model: error / printed[model] for model, error in record["networks"].items()}
        print(
            f"{' '.join(columns)}: the paper's linear errors are at most {far:.1f} deviations "
            "away; of its errors, "
            + ", ".join(f"{model} {ratio:.2f}" for model, ratio in ratios.items()),
            flush=True,
        )


if __name__ == "__main__":
    run_main(main)
