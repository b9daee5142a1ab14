"""Obesity: the percentage of children that are obese by country, age, sex and year."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from learned_context.errors import UserError
from pipeline.datasets import ncd_risc, reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.5)

# NCD-RisC's releases spell their columns differently.
PLACE = ("Country", "Country/Region/World")
RESPONSE = ("Prevalence of BMI > 2SD (obesity)", "Prevalence of BMI>2SD (obesity)")


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    features: tuple[Feature, ...] = (ncd_risc.SEX, ncd_risc.YEAR)
    if edition == "gho_pooled_ages":
        frame = _pooled_ages(path)
    else:
        place, response = reading.spelling(path, PLACE), reading.spelling(path, RESPONSE)
        frame = ncd_risc.children(path, place, response)
        frame["target"] *= 100  # the file has fractions
        features = (ncd_risc.AGE, *features)
    return TaskTable(
        frame=frame,
        features=features,
        target="obesity prevalence",
        unit="%",
        task="country",
        key=("task", *(feature.name for feature in features)),
    )


def _pooled_ages(path: Path) -> pd.DataFrame:
    """The WHO's wide export: a column for each year and sex, cells such as `3.1 [1.0-7.1]`.

    Lines 1 to 3 have year, indicator and age group, line 4 the sexes.
    """
    cells = reading.read_cells(path)
    if len(cells) < 5 or cells.iloc[3, 0] != "Country":
        raise UserError(f"{path}: line 4: no column 'Country'; {reading.AGAIN}")
    years, sexes = cells.iloc[0], cells.iloc[3].str.strip()
    body = cells.iloc[4:].rename(columns={0: "Country"})
    countries = ncd_risc.names(path, body, "Country")
    pieces = []
    for column in range(1, cells.shape[1]):
        sex = sexes[column]
        if sex == "Both sexes":
            continue
        if sex not in ("Male", "Female") or not str(years[column]).isdecimal():
            raise UserError(
                f"{path}: line 4: column {column + 1} is headed {years[column]!r}, {sex!r}, "
                f"not a year and a sex; {reading.AGAIN}"
            )
        values = body[column][body[column] != "No data"]
        pieces.append(
            pd.DataFrame(
                {
                    "task": countries[values.index],
                    "sex": sex.lower(),
                    "year": float(years[column]),
                    "target": _estimates(path, values, column + 1),
                }
            )
        )
    return pd.concat(pieces)


def _estimates(path: Path, cells: pd.Series, column: int) -> pd.Series:
    values = cells.str.extract(r"^(\d+\.?\d*) \[.*\]$")[0].astype("float64")
    wrong = np.flatnonzero(values.isna())
    if len(wrong):
        raise UserError(
            f"{path}: line {cells.index[wrong[0]]}: column {column} is "
            f"{str(cells.iloc[wrong[0]])!r}, not an estimate such as '3.1 [1.0-7.1]'; "
            f"{reading.AGAIN}"
        )
    return values
