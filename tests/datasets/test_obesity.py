from __future__ import annotations

from pathlib import Path

from pipeline.datasets import obesity
from tests.datasets.conftest import ncd_file
from tests.datasets.damage import AGAIN, damaged, error


def test_obesity_with_the_older_spelling(tmp_path: Path) -> None:
    path = ncd_file(tmp_path / "bmi.csv", "Prevalence of BMI>2SD (obesity)", [0.05, 0.25])
    damaged(path, "Country,", "Country/Region/World,")
    assert obesity.parse("paper", [path]).frame["target"].tolist() == [5, 25, 5, 25]


def test_obesity_fractions_become_percent(tmp_path: Path) -> None:
    path = ncd_file(tmp_path / "bmi.csv", "Prevalence of BMI > 2SD (obesity)", [0.05, 0.25])
    assert obesity.parse("paper", [path]).frame["target"].tolist() == [5, 25, 5, 25]


WIDE = (
    '"","2016","2016","2016","2015","2015","2015"\n'
    '""," Prevalence"," Prevalence"," Prevalence"," Prevalence"," Prevalence"," Prevalence"\n'
    '""," 5-19  years"," 5-19  years"," 5-19  years"," 5-19  years"," 5-19  years"," 5-19  years"\n'
    '"Country"," Both sexes"," Male"," Female"," Both sexes"," Male"," Female"\n'
    '"Albania","7.6 [4.1-12.4]","9.5 [3.8-17.5]","5.5 [2.0-11]","7 [3-9]","8.8 [3-16]","5 [2-9]"\n'
    '"Monaco","No data","No data","No data","No data","No data","No data"\n'
)


def test_obesity_wide_export(tmp_path: Path) -> None:
    path = tmp_path / "gho.csv"
    path.write_text(WIDE)
    table = obesity.parse("gho_pooled_ages", [path])
    assert table.frame[["task", "sex", "year", "target"]].values.tolist() == [
        ["Albania", "male", 2016.0, 9.5],
        ["Albania", "female", 2016.0, 5.5],
        ["Albania", "male", 2015.0, 8.8],
        ["Albania", "female", 2015.0, 5.0],
    ]
    damaged(path, "8.8 [3-16]", "8.8 (3-16)")
    assert error(lambda: obesity.parse("gho_pooled_ages", [path])) == (
        f"{path}: line 5: column 6 is '8.8 (3-16)', not an estimate such as '3.1 [1.0-7.1]'; "
        f"{AGAIN}"
    )
