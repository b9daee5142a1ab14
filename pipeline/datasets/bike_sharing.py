"""Bike sharing: trips an hour from weather and calendar; every month is a task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pipeline.datasets import reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.8)

# The paper does not name its six features. The hour is a number: one-hot hours would give a
# far lower linear error than the paper's.
FEATURES = (
    Feature("hr", unit="h"),
    Feature("workingday", "category"),
    Feature("weathersit", "category"),
    Feature("temp", unit="41 °C"),
    Feature("hum", unit="100 %"),
    Feature("windspeed", unit="67 km/h"),
)

YEARS = {"0": "2011", "1": "2012"}
MONTHS = {str(month): f"{month:02}" for month in range(1, 13)}
LEVELS = {"workingday": ("0", "1"), "weathersit": ("1", "2", "3", "4")}


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    names = [feature.name for feature in FEATURES]
    raw = reading.read_csv(path, ["dteday", "yr", "mnth", *names, "cnt"])
    year = reading.codes(path, raw, "yr", YEARS)
    month = reading.codes(path, raw, "mnth", MONTHS)
    columns = {
        "date": raw["dteday"],
        "task": year + "-" + month,
        "target": reading.numbers(path, raw, "cnt", low=0),
    }
    for name in names:
        if name in LEVELS:
            columns[name] = reading.codes(path, raw, name, LEVELS[name])
        else:
            columns[name] = reading.numbers(path, raw, name, 0, 23 if name == "hr" else 1)
    return TaskTable(
        frame=pd.DataFrame(columns),
        features=FEATURES,
        target="trips",
        unit="trips/h",
        task="month",
        key=("date", "hr"),
    )
