"""Other draws of the rows: how far does an error move by luck alone?

The paper's split, and for the synthetic datasets its data, are other draws than ours. Each case of
`benchmarks/paper_budget.py` (the numbers that are far from the paper's), and each network with task
parameters whose error on all rows is above the paper's, is trained on more draws, with the
settings, the budget and the seed of the study; only the rows differ. A number of the paper's that
lies among the errors of such draws needs no other explanation.

Sarcos has an official split and is left out. A draw that is in the output file, of the same
settings and the same error in the study, is not made again, so a run can be stopped and started at
any time, and a clone without data prints what is recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.paper_budget import Case, CaseTraining, as_json, cases, read_cases, study_setting
from benchmarks.shared import chosen, options, run_main
from learned_context import metrics
from learned_context.networks.registry import ARCHITECTURES, architecture
from learned_context.training.trainer import train
from pipeline import settings
from pipeline.commands.prepare import describe
from pipeline.datasets import registry, sources, splits
from pipeline.datasets.table import TaskTable
from pipeline.files import Files, write_json
from pipeline.reporting.checking import check
from pipeline.reporting.results import Results
from pipeline.tables.description import TableDescription
from pipeline.tables.prepared import Prepared


def raw_table(files: Files, dataset: str) -> TaskTable:
    """The rows of the raw files, before any split."""
    keys = settings.load(files).dataset(dataset)
    edition = sources.load(files.sources).edition(dataset, keys.edition)
    paths = [files.raw(dataset, keys.edition) / one.name for one in edition.files]
    return registry.parse(dataset, keys.edition, edition, paths)


def split_table(table: TaskTable, dataset: str, rule: splits.Rule, seed: int) -> Prepared:
    features = [feature.name for feature in table.features]
    frame = splits.split(table.frame, features, rule, seed, dataset)
    return Prepared(frame, TableDescription.model_construct(**describe(table, frame)))


class Source:
    """A dataset's rows before they are split; a generated one has other rows in each draw."""

    def __init__(self, files: Files, dataset: str) -> None:
        self.dataset, self.settings = dataset, settings.load(files)
        self.keys = self.settings.dataset(dataset)
        self.rule = registry.split_rule(dataset, self.keys.split)
        self._files = files

    @cached_property
    def _table(self) -> TaskTable:
        return raw_table(self._files, self.dataset)

    @property
    def can_be_drawn(self) -> bool:
        return self.dataset in registry.GENERATED or not isinstance(self.rule, splits.Given)

    def draw(self, number: int) -> Prepared:
        """The study's own draw has the number 0."""
        seeds = self.settings.table_seeds(self.dataset)
        table: TaskTable = (
            registry.module(self.dataset).generate(self.keys, seeds["data"] + number)
            if self.dataset in registry.GENERATED
            else self._table
        )
        return split_table(table, self.dataset, self.rule, seeds["split"] + number)

    def error(self, number: int, case: Case, made: CaseTraining) -> float:
        """In the unit in which the paper prints it."""
        prepared = self.draw(number)
        rows = prepared.encode(prepared.frame, self.settings.params.categories)
        known = rows.take(prepared.train_rows(case.fraction))
        test = rows.take(prepared.test_rows())
        trained = train(known, len(prepared.tasks), case.model, made.hyper, made.plan, made.seed)
        error = metrics.rmse(test.y, trained.predict(test))
        return error if case.unit == "rmse" else error / prepared.info.std


def drawn_cases(results: Results) -> dict[str, Case]:
    """By name: the numbers far from the paper's, and the errors on all rows above it."""
    above = [
        Case(number.row, number.column, 1.0, number.paper, number.ours)
        for number in check(results).numbers
        if number.table == "base" and number.comparable
        if number.column in ARCHITECTURES and architecture(number.column).has_task_parameters
        if number.ours is not None and number.ours > number.paper
    ]
    return {case.name: case for case in [*cases(results), *above]}


def summary(case: Case, errors: Sequence[float]) -> dict[str, Any]:
    return {
        **asdict(case),
        "mean": float(np.mean(errors)),
        "low": min(errors),
        "high": max(errors),
        "paper_among_them": min(errors) <= case.paper <= max(errors),
    }


def main() -> None:
    parser = options(__doc__, "draws.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where raw files are")
    parser.add_argument("--draws", type=int, default=5, help="of each case, the study's included")
    parser.add_argument("--only", nargs="*", help="names of cases, as paper_budget.py --list has")
    arguments = parser.parse_args()
    files = Files(arguments.project.resolve())
    found = read_cases(arguments.output)
    far = drawn_cases(Results(files))
    for name, case in chosen(far, arguments.only).items():
        source = Source(files, case.dataset)
        if not source.can_be_drawn:
            continue
        made = study_setting(files, case.dataset, case.model, case.fraction)
        setting = as_json(made)
        known = found.get(name, {})
        is_same = known.get("setting") == setting and known.get("ours") == case.ours
        errors = list(known["errors"]) if is_same else []
        while len(errors) < arguments.draws:
            errors.append(source.error(len(errors), case, made))
            found[name] = {
                "name": name,
                **summary(case, errors),
                "errors": errors,
                "setting": setting,
            }
            write_json(arguments.output, [found[one] for one in far if one in found])
        line = summary(case, errors)
        print(
            f"{name}: {line['low']:.4g} to {line['high']:.4g} over {len(errors)} draws, mean "
            f"{line['mean']:.4g}; ours {case.ours:.4g}, the paper {case.paper:g}"
            f"{' (among them)' if line['paper_among_them'] else ''}",
            flush=True,
        )


if __name__ == "__main__":
    run_main(main)
