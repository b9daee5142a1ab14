from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.datasets import bike_sharing, reading
from tests.datasets.damage import AGAIN, damaged, error

BIKE = (
    "instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,"
    "temp,atemp,hum,windspeed,casual,registered,cnt\n"
    "1,2011-01-01,1,0,1,0,0,6,0,1,0.24,0.2879,0.81,0,3,13,16\n"
    "2,2012-12-31,1,1,12,23,0,6,1,4,0.22,0.2727,0.8,0.5,8,32,40\n"
)


@pytest.fixture
def bike_file(tmp_path: Path) -> Path:
    path = tmp_path / "hour.csv"
    path.write_text(BIKE)
    return path


def test_bike_sharing(bike_file: Path) -> None:
    frame = bike_sharing.parse("paper", [bike_file]).frame
    assert frame["task"].tolist() == ["2011-01", "2012-12"]
    assert frame["hr"].tolist() == [0.0, 23.0]
    assert frame["weathersit"].tolist() == ["1", "4"]


def test_bike_sharing_missing_column(bike_file: Path) -> None:
    damaged(bike_file, "weathersit", "weather")
    assert error(lambda: bike_sharing.parse("paper", [bike_file])) == (
        f"{bike_file}: line 1: no column 'weathersit', found instant, dteday, season, yr, mnth, "
        "hr, holiday, weekday; the file is of another edition or damaged"
    )


def test_bike_sharing_unknown_code(bike_file: Path) -> None:
    damaged(bike_file, "6,1,4,0.22", "6,1,5,0.22")
    assert error(lambda: bike_sharing.parse("paper", [bike_file])) == (
        f"{bike_file}: line 3: weathersit is '5', not one of 1, 2, 3, 4; {AGAIN}"
    )


def test_bike_sharing_duplicate_row(bike_file: Path) -> None:
    bike_file.write_text(BIKE + BIKE.splitlines()[1] + "\n")
    table = bike_sharing.parse("paper", [bike_file])
    assert error(lambda: reading.check_key(bike_file, table)) == (
        f"{bike_file}: line 4: a second row for date 2011-01-01, hr 0.0; {AGAIN}"
    )


def test_bike_sharing_cut_within_a_line(bike_file: Path) -> None:
    bike_file.write_text(BIKE[:-12])
    assert error(lambda: bike_sharing.parse("paper", [bike_file])) == (
        f"{bike_file}: line 3: cnt is '', not a number of at least 0; {AGAIN}"
    )


def test_web_page_instead_of_csv(bike_file: Path) -> None:
    bike_file.write_text("<!DOCTYPE html>\n<html><body>moved</body></html>")
    assert error(lambda: bike_sharing.parse("paper", [bike_file])) == (
        f"{bike_file}: line 1: a web page instead of data; {AGAIN}"
    )


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00a,b", b"a,b\n1,2,3\n"])
def test_not_a_csv_file(bike_file: Path, content: bytes) -> None:
    bike_file.write_bytes(content)
    found = error(lambda: bike_sharing.parse("paper", [bike_file]))
    assert found.startswith(f"{bike_file}: not a readable csv file (") and found.endswith(AGAIN)
