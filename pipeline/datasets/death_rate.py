"""Death rate: the probability of dying within an age group; every country and year is a task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from learned_context.errors import UserError
from pipeline.datasets import reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.5)

YEARS = ("2000", "2005", "2010", "2015", "2019")
# The lower ends of the age groups. The open group, 85 and over, is dropped: its rate is one.
AGES = (0, 1, *range(5, 85, 5))
OPEN_GROUP = "AGEGROUP_YEARS85PLUS"
SEXES = {"Female": "female", "Male": "male"}


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    if edition == "paper":
        frame = _from_api(path)
    elif edition == "who_2020_from_ex":
        frame = _from_life_expectancies(path)
    else:
        raw = reading.read_csv(path, ["iso3", "year", "sex", "age", "nqx"])
        frame = _frame(path, raw, SEXES, {str(age): str(age) for age in AGES})
    return TaskTable(
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


def _from_life_expectancies(path: Path) -> pd.DataFrame:
    """Expectations of life at the lower ends of all age groups, the open one among them."""
    names = {"country_code": "iso3", "period": "year", "lower": "age", "remaining": "ex"}
    raw = reading.read_parquet(path, ["sex", *names]).rename(columns=names)
    raw["year"] = raw["year"].astype(str)
    reading.codes(path, raw, "sex", SEXES)
    raw["age"] = reading.numbers(path, raw, "age")
    raw["ex"] = reading.numbers(path, raw, "ex", low=0)
    ages = [*AGES, AGES[-1] + 5]
    table = raw.pivot_table("ex", ["iso3", "year", "sex"], "age").reindex(columns=ages)
    if table.isna().any(axis=None) or table.size != len(raw):
        raise UserError(
            f"{path}: not one life expectancy for each country, year, sex and age from 0 to "
            f"{ages[-1]}; {reading.AGAIN}"
        )
    female = table.index.get_level_values("sex") == "Female"
    probabilities = pd.DataFrame(
        probabilities_of_dying(table.to_numpy(), female), table.index, [str(age) for age in AGES]
    )
    long = probabilities.reset_index().melt(table.index.names, var_name="age", value_name="nqx")
    long.index.name = "probability"
    return _frame(path, long, SEXES, {str(age): str(age) for age in AGES})


def probabilities_of_dying(ex: np.ndarray, female: np.ndarray) -> np.ndarray:
    """nqx of AGES from the expectations of life at AGES and at 85, one row a life table.

    Who dies within the n years of a group lives a of them: with l(x) survivors,
    l(x) e(x) = l(x+n) (n + e(x+n)) + (l(x) - l(x+n)) a, and so
    q = (n + e(x+n) - e(x)) / (n - a + e(x+n)).
    """
    years = np.diff([*AGES, AGES[-1] + 5])
    lived = np.full_like(ex[:, 1:], 2.5)
    for _ in range(ITERATIONS):
        q = (years + ex[:, 1:] - ex[:, :-1]) / (years - lived + ex[:, 1:])
        infant_mortality = q[:, 0] / (1 - q[:, 0] * (1 - lived[:, 0]))
        lived[:, :2] = _lived_by_children(infant_mortality, female)
    # Where hardly anyone dies, the rounding of ex can exceed the difference.
    return q.clip(0, 1)


ITERATIONS = 50
"""Infant mortality and the years lived depend on each other; the iteration contracts."""


def _lived_by_children(mortality: np.ndarray, female: np.ndarray) -> np.ndarray:
    """Years lived by those who die below 1, and from 1 to 4: Coale and Demeny's West tables."""
    low = np.where(
        female,
        [0.053 + 2.800 * mortality, 1.522 - 1.518 * mortality],
        [0.045 + 2.684 * mortality, 1.651 - 2.816 * mortality],
    )
    high = np.where(female, [[0.350], [1.361]], [[0.330], [1.352]])
    return np.where(mortality < 0.107, low, high).T


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
