"""Country codes in words: tasks of two datasets are named by ISO 3166 codes."""

from __future__ import annotations

import csv

from pipeline.reporting.blocks import asset

COUNTRIES: dict[str, str] = dict(csv.reader(asset("countries.csv").splitlines()))
BY_CODE = {"inflation", "death_rate"}
"""Datasets whose tasks begin with a country's code."""


def task_name(dataset: str, task: str) -> str:
    """`HTI 2010` is "Haiti 2010 (HTI)"; a task that is no country stays as it is."""
    code, _, rest = task.partition(" ")
    if dataset not in BY_CODE or code not in COUNTRIES:
        return task
    return " ".join(filter(None, (COUNTRIES[code], rest))) + f" ({code})"
