from __future__ import annotations

from pathlib import Path

from pipeline.datasets import schools
from tests.datasets.damage import AGAIN, damaged, error


def test_schools(schools_file: Path) -> None:
    table = schools.parse("paper", [schools_file])
    assert table.frame["task"].tolist() == ["school 001", "school 001", "school 023", "school 139"]
    assert table.frame["target"].tolist() == [17, 5, 16, 8]
    first = table.frame.iloc[0][[feature.name for feature in table.features]]
    assert first.tolist() == [24, 18, "0", "3", "1", "1", "1"]
    assert len(table.features) == 7


def test_schools_unknown_code(schools_file: Path) -> None:
    damaged(schools_file, "2 2316241803 511", "2 2316241807 511")
    assert error(lambda: schools.parse("paper", [schools_file])) == (
        f"{schools_file}: line 3: vr_band is '7', not one of 0, 1, 2, 3; {AGAIN}"
    )


def test_schools_missing_score(schools_file: Path) -> None:
    damaged(schools_file, "1  1 5241803 111", "1  1  241803 111")
    assert error(lambda: schools.parse("paper", [schools_file])) == (
        f"{schools_file}: line 2: score is '', not a number from 0 to 99; {AGAIN}"
    )


def test_schools_cut_within_a_line(schools_file: Path) -> None:
    schools_file.write_bytes(schools_file.read_bytes()[:30])
    assert error(lambda: schools.parse("paper", [schools_file])) == (
        f"{schools_file}: line 2: 12 characters instead of 16; {AGAIN}"
    )
