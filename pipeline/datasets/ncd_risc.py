"""What the two datasets of the NCD Risk Factor Collaboration share: children by age."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.datasets import reading
from pipeline.datasets.table import Feature

SEXES = {"Boys": "male", "Girls": "female", "Men": "male", "Women": "female"}
AGE = Feature("age", unit="years")
SEX = Feature("sex", "category")
YEAR = Feature("year", unit="years")
KEY = ("task", "age", "sex", "year")


def children(path: Path, place: str, response: str) -> pd.DataFrame:
    """Rows of one release of children and adolescents: by country, or by region."""
    raw = reading.read_csv(path, [place, "Sex", "Year", "Age group", response])
    return pd.DataFrame(
        {
            "task": names(path, raw, place),
            "age": reading.numbers(path, raw, "Age group", 5, 19),
            "sex": reading.codes(path, raw, "Sex", SEXES),
            "year": reading.numbers(path, raw, "Year", 1900, 2100),
            "target": reading.numbers(path, raw, response, low=0),
        }
    )


def names(path: Path, raw: pd.DataFrame, column: str) -> pd.Series:
    """A country or a region: any text but none."""
    return reading.codes(
        path, raw, column, sorted({str(name) for name in raw[column]} - {"", "nan"})
    )
