"""Death rate: the probability of dying within an age group; every country and year is a task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pipeline.datasets import reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, Table
from pipeline.errors import UserError

SPLIT = TaskShare(train=0.5)

YEARS = ("2000", "2005", "2010", "2015", "2019")
# The lower ends of the age groups. The open group, 85 and over, is dropped: its rate is one.
AGES = (0, 1, *range(5, 85, 5))
OPEN_GROUP = "AGEGROUP_YEARS85PLUS"


def parse(edition: str, paths: Sequence[Path]) -> Table:
    (path,) = paths
    if edition == "paper":
        frame = _from_api(path)
    else:
        raw = reading.read_csv(path, ["iso3", "year", "sex", "age", "nqx"])
        sexes = {"Female": "female", "Male": "male"}
        frame = _frame(path, raw, sexes, {str(age): str(age) for age in AGES})
    return Table(
        frame=frame,
        features=(Feature("age", unit="years"), Feature("sex", "category")),
        target="probability of dying",
        unit="",
        task="country and year",
        key=("task", "age", "sex"),
    )


def _from_api(path: Path) -> pd.DataFrame:
    """The JSON of the WHO's Global Health Observatory, which has regions and all years too."""
    reading.refuse_web_page(path)
    try:
        records = json.loads(path.read_text(encoding="utf-8-sig"))["value"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path}: not the JSON of the GHO API ({str(error).splitlines()[0]}); {reading.AGAIN}"
        ) from error
    raw = pd.DataFrame.from_records(records)
    names = {
        "SpatialDim": "iso3",
        "TimeDim": "year",
        "Dim1": "sex",
        "Dim2": "age",
        "NumericValue": "nqx",
    }
    for column in ("SpatialDimType", *names):
        if column not in raw.columns:
            raise UserError(f"{path}: value: no field {column!r}; {reading.AGAIN}")
    raw.index = pd.RangeIndex(1, len(raw) + 1, name="record")
    raw["TimeDim"] = raw["TimeDim"].astype(str)
    wanted = (
        (raw["SpatialDimType"] == "COUNTRY")
        & raw["TimeDim"].isin(YEARS)
        & (raw["Dim1"] != "SEX_BTSX")
        & (raw["Dim2"] != OPEN_GROUP)
    )
    ages = {"AGEGROUP_YEARS00-01": "0", "AGEGROUP_YEARS01-04": "1"}
    ages |= {f"AGEGROUP_YEARS{age:02}-{age + 4:02}": str(age) for age in AGES[2:]}
    sexes = {"SEX_FMLE": "female", "SEX_MLE": "male"}
    return _frame(path, raw[wanted].rename(columns=names), sexes, ages)


def _frame(
    path: Path, raw: pd.DataFrame, sexes: dict[str, str], ages: dict[str, str]
) -> pd.DataFrame:
    countries = sorted(set(raw["iso3"].astype(str)) - {"", "nan"})
    country = reading.codes(path, raw, "iso3", countries)
    return pd.DataFrame(
        {
            "task": country + " " + reading.codes(path, raw, "year", YEARS),
            "age": reading.codes(path, raw, "age", ages).astype("float64"),
            "sex": reading.codes(path, raw, "sex", sexes),
            "target": reading.numbers(path, raw, "nqx", 0, 1),
        }
    )
