from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline.datasets import inflation, splits
from tests.datasets.damage import AGAIN, damaged, error


def test_inflation_from_the_api(oecd_file: Path) -> None:
    frame = inflation.parse("paper", [oecd_file]).frame
    assert frame["task"].tolist() == ["AUS", "AUS", "NOR"]
    assert frame["time"].tolist() == [1970.0, 2019.75, 1970.5]
    assert frame["target"].tolist() == [8.2, 108.5, 12.5]


def test_inflation_with_two_carriage_returns_a_line(oecd_file: Path) -> None:
    whole = inflation.parse("paper", [oecd_file]).frame
    oecd_file.write_bytes(oecd_file.read_bytes().replace(b"\n", b"\r\r\n"))
    assert inflation.parse("paper", [oecd_file]).frame.equals(whole)


def test_inflation_of_another_series(oecd_file: Path) -> None:
    damaged(oecd_file, '"IDX2015"', '"AGRWTH"')
    assert error(lambda: inflation.parse("paper", [oecd_file])) == (
        f"{oecd_file}: line 2: MEASURE is 'AGRWTH', not one of IDX2015; {AGAIN}"
    )


def test_inflation_unknown_place_and_time(oecd_file: Path) -> None:
    damaged(oecd_file, '"NOR"', '"Norway"')
    assert error(lambda: inflation.parse("paper", [oecd_file])) == (
        f"{oecd_file}: line 8: LOCATION is 'Norway', not a country's three letters; {AGAIN}"
    )
    damaged(
        oecd_file,
        '"Norway","CPI","TOT","IDX2015","Q","1970-Q3"',
        '"NOR","CPI","TOT","IDX2015","Q","1970-07"',
    )
    assert error(lambda: inflation.parse("paper", [oecd_file])) == (
        f"{oecd_file}: line 8: TIME is '1970-07', not a quarter such as 1970-Q1; {AGAIN}"
    )


@pytest.mark.parametrize("edition", ["oecd_with_mei", "oecd_with_bis"])
def test_completed_tables_need_fewer_columns(tmp_path: Path, edition: str) -> None:
    path = tmp_path / "cpi.csv"
    path.write_text('LOCATION,TIME,Value,source\nAUS,1970-Q1,8.9,"BIS, scaled"\n')
    assert inflation.parse(edition, [path]).frame["target"].tolist() == [8.9]


@pytest.mark.mirror
def test_the_completed_tables_differ_in_84_cells_of_7_countries(
    raw_files: Callable[[str, str], list[Path]],
) -> None:
    mei, bis = (
        inflation.parse(name, raw_files("inflation", name)).frame
        for name in ("oecd_with_mei", "oecd_with_bis")
    )
    both = mei.merge(bis, on=["task", "time"], suffixes=("", "_bis"))
    changed = both[both["target"] != both["target_bis"]]
    assert len(both) == 8028 and len(changed) == 84
    assert sorted(changed["task"].unique()) == ["CAN", "DEU", "FRA", "GBR", "IND", "KOR", "USA"]


@pytest.mark.mirror
def test_test_rows_are_eight_whole_years_of_each_long_series(
    raw_files: Callable[[str, str], list[Path]],
) -> None:
    """Table 1's counts, from the rule that `split: years` stands for."""
    table = inflation.parse("oecd_with_mei", raw_files("inflation", "oecd_with_mei"))
    frame = splits.split(table.frame, ["time"], inflation.SPLITS["years"], 2, "inflation")
    is_test = frame["part"] == "test"
    assert ((~is_test).sum(), is_test.sum()) == (6684, 1344)
    year = np.floor(frame["time"])
    assert is_test.groupby([frame["task"], year]).nunique().max() == 1
    years = year[is_test].groupby(frame["task"]).nunique()
    assert (years == 8).all() and len(years) == 42
    assert set(frame["task"]) - set(years.index) == {"CHN", "EST", "SAU"}
