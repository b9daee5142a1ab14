from __future__ import annotations

from pathlib import Path

from pipeline.datasets import inflation
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


def test_inflation_with_bis_needs_fewer_columns(tmp_path: Path) -> None:
    path = tmp_path / "cpi.csv"
    path.write_text('LOCATION,TIME,Value,source\nAUS,1970-Q1,8.9,"BIS, scaled"\n')
    assert inflation.parse("oecd_with_bis", [path]).frame["target"].tolist() == [8.9]
