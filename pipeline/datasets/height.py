"""Height: the mean height of children by country, age, sex and year."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pipeline.datasets import ncd_risc, reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.5)


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    if edition == "elife_2016_adults":
        return _adults(path)
    place = "Region" if edition == "lancet_2020_regions" else "Country"
    return TaskTable(
        frame=ncd_risc.children(path, place, "Mean height"),
        features=(ncd_risc.AGE, ncd_risc.SEX, ncd_risc.YEAR),
        target="mean height",
        unit="cm",
        task=place.lower(),
        key=ncd_risc.KEY,
    )


def _adults(path: Path) -> TaskTable:
    born, response = "Year of birth", "Mean height(cm)"
    raw = reading.read_csv(path, ["Country", "Sex", born, response])
    frame = pd.DataFrame(
        {
            "task": ncd_risc.names(path, raw, "Country"),
            "sex": reading.codes(path, raw, "Sex", ncd_risc.SEXES),
            "year_of_birth": reading.numbers(path, raw, born, 1800, 2100),
            "target": reading.numbers(path, raw, response, low=0),
        }
    )
    return TaskTable(
        frame=frame,
        features=(ncd_risc.SEX, Feature("year_of_birth", unit="years")),
        target="mean height",
        unit="cm",
        task="country",
        key=("task", "sex", "year_of_birth"),
    )
