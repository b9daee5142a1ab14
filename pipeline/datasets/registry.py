"""Which module makes which dataset's table. Modules are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from learned_context.errors import UserError
from pipeline.datasets import reading
from pipeline.datasets.sources import Edition
from pipeline.datasets.splits import Rule
from pipeline.datasets.table import TaskTable

GENERATED = ("frequency", "sine_and_line")
"""Modules with `generate(keys, seed)`."""

PARSED = (
    "schools",
    "parkinson",
    "bike_sharing",
    "inflation",
    "obesity",
    "height",
    "death_rate",
    "sarcos",
)
"""Modules with `parse(edition, paths)`, where `paths` are the edition's files in the order of
raw/sources.yaml. Every module says with `SPLIT` how its rows become training and test rows;
where there is a choice, `SPLITS` has a rule for each value of `dataset.<name>.split`, the default
first."""


def module(dataset: str) -> ModuleType:
    if dataset not in GENERATED + PARSED:
        valid = ", ".join(sorted(GENERATED + PARSED))
        raise UserError(f"dataset {dataset!r} has no module; valid: {valid}")
    return import_module(f"pipeline.datasets.{dataset}")


def split_rule(dataset: str, name: str | None) -> Rule:
    """The rule that params.yaml chooses with `dataset.<dataset>.split`."""
    found = module(dataset)
    rules: dict[str, Rule] = getattr(found, "SPLITS", {})
    if name is None:
        return next(iter(rules.values())) if rules else found.SPLIT
    if name not in rules:
        valid = f"valid: {', '.join(rules)}" if rules else f"{dataset} has one rule, remove the key"
        raise UserError(f"params.yaml: dataset.{dataset}.split: {name!r} is not valid; {valid}")
    return rules[name]


def parse(dataset: str, name: str, edition: Edition, paths: Sequence[Path]) -> TaskTable:
    """The table of the edition called `name`, checked against what is known of that edition."""
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: does not exist; run `dvc repro download@{dataset}`")
    table: TaskTable = module(dataset).parse(name, paths)
    reading.check_key(paths[0], table)
    assert edition.rows and edition.tasks  # every edition with files has them
    reading.check_rows(paths[0], table, edition.rows, edition.tasks)
    return table
