"""Inflation: the consumer price index of 45 countries, each quarter from 1970 to 2019."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.datasets import reading
from pipeline.datasets.splits import RowShare
from pipeline.datasets.table import Feature, Table
from pipeline.errors import UserError

# Table 1 has 1344 test points of 8028; no share of every task gives that count.
SPLIT = RowShare(test=1344 / 8028)

AGGREGATES = {"EA19", "EA20", "EU27_2020", "EU28", "G-7", "G-20", "OECD", "OECDE"}
FIRST, LAST = 1970.0, 2019.75


def parse(edition: str, paths: Sequence[Path]) -> Table:
    """The OECD's own csv; the edition with BIS cells has fewer columns of the same names."""
    (path,) = paths
    series = (
        {}
        if edition == "oecd_with_bis"
        else {"INDICATOR": "CPI", "SUBJECT": "TOT", "MEASURE": "IDX2015", "FREQUENCY": "Q"}
    )
    raw = reading.read_csv(path, ["LOCATION", "TIME", "Value", *series])
    for column, code in series.items():
        reading.codes(path, raw, column, (code,))
    raw = raw[~raw["LOCATION"].isin(AGGREGATES)]
    _refuse_unless(path, raw, "LOCATION", r"[A-Z]{3}", "a country's three letters")
    _refuse_unless(path, raw, "TIME", r"\d{4}-Q[1-4]", "a quarter such as 1970-Q1")
    time = raw["TIME"].str[:4].astype(float) + (raw["TIME"].str[6:].astype(float) - 1) / 4
    within = time.between(FIRST, LAST)
    raw, time = raw[within], time[within]
    frame = pd.DataFrame(
        {
            "task": raw["LOCATION"].astype(object),
            "time": time.astype("float64"),
            "target": reading.numbers(path, raw, "Value"),
        }
    )
    return Table(
        frame=frame,
        features=(Feature("time", unit="years"),),
        target="consumer price index",
        unit="% of 2015",
        task="country",
        key=("task", "time"),
    )


def _refuse_unless(path: Path, raw: pd.DataFrame, column: str, form: str, what: str) -> None:
    wrong = np.flatnonzero(~raw[column].str.fullmatch(form).fillna(False).astype(bool))
    if len(wrong):
        text = raw[column].iloc[wrong[0]]
        raise UserError(
            f"{path}: {reading.place(raw, wrong[0])}: {column} is {str(text)!r}, not {what}; "
            f"{reading.AGAIN}"
        )
