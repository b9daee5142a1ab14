"""Which six columns of Bike sharing? The paper does not name them, and the networks depend on them.

The study takes the hour, whether it is a working day, the weather situation, the temperature, the
humidity and the wind. Here every set that has one other column of the file instead of one of these
(the hour stays) takes part on the same rows. The linear models' errors over many splits say how
likely the paper's are with each set; the networks of the study are trained with its settings on its
own split. Where the sets that the linear errors allow give networks of very different errors, a
difference from the paper's network says little.

What is in the output file is not computed again, so a run can be stopped and started at any time,
and a clone without data prints what is recorded. Errors of networks with other settings or rows are
not kept.
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
from benchmarks.paper_budget import CaseTraining, as_json, data_of, study_setting
from benchmarks.shared import options
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


def prepared(table: TaskTable, seed: int) -> dict[tuple[str, ...], Prepared]:
    """One split of the rows, the study's for its seed, which all sets of columns share."""
    own = columns_of(FEATURES)
    frame = splits.split(table.frame, own, registry.split_rule(DATASET, None), seed, DATASET)
    # The split brings the rows into this order, and leaves out the other columns.
    ordered = table.frame.sort_values(["task", *own, "target"], kind="stable", ignore_index=True)
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


def network_error(table: Prepared, model: str, made: CaseTraining, categories: Encoding) -> float:
    rows = table.encode(table.frame, categories)
    known, test = rows.take(table.train_rows()), rows.take(table.test_rows())
    trained = train(known, len(table.tasks), model, made.hyper, made.plan, made.seed)
    return metrics.rmse(test.y, trained.predict(test))


Split = Callable[[int], dict[tuple[str, ...], Prepared]]
"""The tables of a seed, by their columns."""


@dataclass(frozen=True)
class Wanted:
    """What is measured of every set of columns."""

    linear_splits: int
    trainings: dict[str, CaseTraining]
    own_seed: int
    """Of the study's split, on which networks are trained."""
    categories: Encoding

    def fill(self, one: dict[str, Any], split: Split) -> None:
        """What is missing in the record of one set of columns."""
        columns = tuple(one["columns"])
        while len(one["errors"]["lr"]) < self.linear_splits:
            for model, error in errors(split(len(one["errors"]["lr"]))[columns]).items():
                one["errors"][model].append(error)
        for model, made in self.trainings.items():
            if model not in one["networks"]:
                table = split(self.own_seed)[columns]
                one["networks"][model] = network_error(table, model, made, self.categories)


def kept(path: Path, state: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """By columns: what the file holds; errors of networks only if they are of the same state."""
    content = read_json(path) if path.exists() else {"sets": []}
    found = {tuple(one["columns"]): one for one in content["sets"]}
    if content.get("state") != state:
        for one in found.values():
            one["networks"] = {}
    return found


def main() -> None:
    parser = options(__doc__, "bike_columns.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where raw files are")
    parser.add_argument("--splits", type=int, default=20, help="for the linear models")
    arguments = parser.parse_args()
    files = Files(arguments.project.resolve())
    chosen, paper = settings.load(files), load_paper(files)
    printed = {m: paper.value("base", DATASET, m) or math.nan for m in (*LINEAR, *NETWORKS)}
    trainings = {model: study_setting(files, DATASET, model) for model in NETWORKS}
    own_seed = chosen.table_seeds(DATASET)["split"]
    wanted = Wanted(arguments.splits, trainings, own_seed, chosen.params.categories)
    state = {
        "data": data_of(files, DATASET),
        "settings": {model: as_json(made) for model, made in trainings.items()},
    }
    found = kept(arguments.output, state)

    @cache
    def table() -> TaskTable:
        edition = chosen.dataset(DATASET).edition
        (source,) = sources.load(files.sources).edition(DATASET, edition).files
        path = files.raw(DATASET, edition) / source.name
        return with_other_columns(raw_table(files, DATASET), path)

    split = cache(lambda seed: prepared(table(), seed))
    for columns in map(columns_of, sets()):
        empty = {"columns": list(columns), "errors": {m: [] for m in LINEAR}, "networks": {}}
        one = found.setdefault(columns, empty)
        wanted.fill(one, split)
        one["linear"] = {m: summary(one["errors"][m], printed[m]) for m in LINEAR}
        done = [found[columns] for columns in map(columns_of, sets()) if columns in found]
        write_json(arguments.output, {"paper": printed, "state": state, "sets": done})
        far = max(abs(line["deviations"]) for line in one["linear"].values())
        print(
            f"{' '.join(columns)}: the paper's linear errors are at most {far:.1f} deviations "
            "away; of its errors, "
            + ", ".join(f"{m} {error / printed[m]:.2f}" for m, error in one["networks"].items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
