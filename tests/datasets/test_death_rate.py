from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.datasets import death_rate, reading
from tests.datasets.damage import AGAIN, damaged, error


def test_death_rate_from_the_api(gho_file: Path) -> None:
    table = death_rate.parse("paper", [gho_file])
    assert sorted(table.frame["task"].unique()) == ["ETH 2000", "ETH 2010", "NA 2000", "NA 2010"]
    assert len(table.frame) == 4 * 2 * 3
    assert sorted(table.frame["age"].unique()) == [0, 1, 80]
    assert sorted(table.frame["sex"].unique()) == ["female", "male"]
    reading.check_key(gho_file, table)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"NumericValue": 0.25', '"NumericValue": null', "nqx is 'nan', not a number from 0 to 1"),
        ('"Dim1": "SEX_MLE"', '"Dim1": "SEX_X"', "sex is 'SEX_X', not one of SEX_FMLE, SEX_MLE"),
    ],
)
def test_death_rate_bad_record(gho_file: Path, old: str, new: str, message: str) -> None:
    damaged(gho_file, old, new)
    found = error(lambda: death_rate.parse("paper", [gho_file]))
    assert found == f"{gho_file}: record 1: {message}; {AGAIN}"


def test_death_rate_cut_json(gho_file: Path) -> None:
    gho_file.write_bytes(gho_file.read_bytes()[:500])
    found = error(lambda: death_rate.parse("paper", [gho_file]))
    assert found.startswith(f"{gho_file}: not the JSON of the GHO API (")


def test_death_rate_missing_field(gho_file: Path) -> None:
    gho_file.write_text(json.dumps({"value": [{"SpatialDimType": "COUNTRY"}]}))
    assert error(lambda: death_rate.parse("paper", [gho_file])) == (
        f"{gho_file}: value: no field 'SpatialDim'; {AGAIN}"
    )


def test_death_rate_long_table_reads_codes_as_text(tmp_path: Path) -> None:
    path = tmp_path / "nqx.csv"
    path.write_text('iso3,year,sex,age,nqx,source\nNA,2010,Female,80,0.4,"a, b"\n')
    frame = death_rate.parse("who_two_editions", [path]).frame
    assert frame[["task", "age", "sex", "target"]].values.tolist() == [
        ["NA 2010", 80, "female", 0.4]
    ]
