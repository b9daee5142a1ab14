from __future__ import annotations

from pathlib import Path

from pipeline.datasets import height, reading
from tests.datasets.conftest import ncd_file
from tests.datasets.damage import AGAIN, damaged, error


def test_height_of_children_by_country(tmp_path: Path) -> None:
    path = ncd_file(tmp_path / "height.csv", "Mean height", [111.4, 110.2])
    table = height.parse("paper", [path])
    assert table.frame["task"].tolist() == ["Afghanistan"] * 2 + ["Côte d'Ivoire"] * 2
    assert table.frame["sex"].tolist() == ["male", "female"] * 2
    assert [feature.name for feature in table.features] == ["age", "sex", "year"]


def test_height_duplicate_row(tmp_path: Path) -> None:
    path = ncd_file(tmp_path / "height.csv", "Mean height", [111.4, 110.2])
    damaged(path, "Afghanistan,AFG,Girls", "Afghanistan,AFG,Boys")
    table = height.parse("paper", [path])
    assert error(lambda: reading.check_key(path, table)) == (
        f"{path}: line 3: a second row for task Afghanistan, age 5.0, sex male, year 1985.0; "
        f"{AGAIN}"
    )


def test_height_unknown_sex(tmp_path: Path) -> None:
    path = ncd_file(tmp_path / "height.csv", "Mean height", [111.4, 110.2])
    damaged(path, "Girls", "Both")
    assert error(lambda: height.parse("paper", [path])) == (
        f"{path}: line 3: Sex is 'Both', not one of Boys, Girls, Men, Women; {AGAIN}"
    )
