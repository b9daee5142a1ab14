from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
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


def life_table(lived_below_one: float) -> tuple[np.ndarray, np.ndarray]:
    """Expectations of life at all ages, and the probabilities of dying that they come from."""
    q = np.array([0.04, 0.006, *np.linspace(0.003, 0.3, 16)])
    years = np.array([1, 4, *[5] * 16])
    lived = np.array([lived_below_one, 0.0, *[2.5] * 16])
    mortality = q[0] / (1 - q[0] * (1 - lived[0]))
    lived[1] = 1.522 - 1.518 * mortality
    expected = [4.2]  # at 85
    for n, a, dies in zip(years[::-1], lived[::-1], q[::-1], strict=True):
        expected.insert(0, (1 - dies) * (n + expected[0]) + dies * a)
    return np.array(expected), q


def test_probabilities_follow_from_life_expectancies() -> None:
    # The years lived below one are 0.053 + 2.8 m: solved by hand for q = 0.04.
    low, high = 0.0, 1.0
    for _ in range(60):
        lived = (low + high) / 2
        low, high = (
            (lived, high) if 0.053 + 2.8 * 0.04 / (1 - 0.04 * (1 - lived)) > lived else (low, lived)
        )
    expected, q = life_table(lived)
    found = death_rate.probabilities_of_dying(expected[None], np.array([True]))
    np.testing.assert_allclose(found[0], q, rtol=1e-12)


def test_high_infant_mortality_has_fixed_years_lived() -> None:
    expected = np.array([[50.0, 60.0, 58.0, *np.linspace(54, 5, 16)]])
    female, male = death_rate.probabilities_of_dying(
        np.repeat(expected, 2, axis=0), np.array([True, False])
    )
    assert female[0] == pytest.approx((1 + 60 - 50) / (1 - 0.35 + 60))
    assert male[0] == pytest.approx((1 + 60 - 50) / (1 - 0.33 + 60))
    assert female[1] == pytest.approx((4 + 58 - 60) / (4 - 1.361 + 58))
    assert male[1] == pytest.approx((4 + 58 - 60) / (4 - 1.352 + 58))


@pytest.fixture
def ex_file(tmp_path: Path) -> Path:
    expected, _ = life_table(0.15)
    frame = pd.DataFrame(
        [
            {"country_code": code, "period": 2010, "sex": sex, "lower": age, "remaining": ex}
            for code in ("NA", "ETH")
            for sex in ("Female", "Male")
            for age, ex in zip((*death_rate.AGES, 85), expected, strict=True)
        ]
    )
    path = tmp_path / "ex.parquet"
    frame.set_index(["period", "sex", "lower"]).to_parquet(path)
    return path


def test_life_expectancies_as_a_table(ex_file: Path) -> None:
    table = death_rate.parse("who_2020_from_ex", [ex_file])
    assert sorted(table.frame["task"].unique()) == ["ETH 2010", "NA 2010"]
    assert len(table.frame) == 2 * 2 * 18
    assert sorted(table.frame["age"].unique()) == list(death_rate.AGES)
    assert table.frame["target"].between(0.002, 0.31).all()
    reading.check_key(ex_file, table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(index=3), "not one life expectancy for each country, year, sex and age"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "not one life expectancy for each country, year"),
        (lambda f: f.assign(sex="Both"), "row 1: sex is 'Both', not one of Female, Male"),
        (lambda f: f.assign(remaining=-1.0), "row 1: ex is '-1.0', not a number of at least 0"),
        (lambda f: f.drop(columns="lower"), "no column 'lower', found period, sex, country_code"),
    ],
)
def test_damaged_life_expectancies(
    ex_file: Path, change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    change(pd.read_parquet(ex_file).reset_index()).to_parquet(ex_file)
    found = error(lambda: death_rate.parse("who_2020_from_ex", [ex_file]))
    assert found.startswith(f"{ex_file}: {message}")


def test_cut_parquet_file(ex_file: Path) -> None:
    ex_file.write_bytes(ex_file.read_bytes()[:200])
    found = error(lambda: death_rate.parse("who_2020_from_ex", [ex_file]))
    assert found.startswith(f"{ex_file}: not a readable parquet file (")


@pytest.mark.mirror
def test_derived_probabilities_equal_the_published_ones(
    raw_files: Callable[[str, str], list[Path]],
) -> None:
    """2019 of the other edition is of the same release, rounded for display.

    A derived value may differ by half of the last digit shown, and by what two life expectancies
    with two decimals leave open.
    """
    key = ["task", "age", "sex"]
    (path,) = raw_files("death_rate", "who_2020_from_ex")
    derived = death_rate.parse("who_2020_from_ex", [path]).frame
    assert derived["target"].std(ddof=0) == pytest.approx(0.1184, abs=5e-5)
    others = raw_files("death_rate", "who_two_editions")
    shown = death_rate.parse("who_two_editions", others).frame
    both = derived.merge(shown, on=key, suffixes=("", "_shown"))
    both = both[both["task"].str.endswith(" 2019")]
    assert len(both) == 6588

    raw = pd.read_parquet(path).reset_index()
    raw["task"] = raw["country_code"] + " " + raw["period"].astype(str)
    raw["sex"] = raw["sex"].str.lower()
    # the expectation of life at the end of each group
    raw = raw.sort_values(["task", "sex", "lower"])
    raw["after"] = raw.groupby(["task", "sex"])["remaining"].shift(-1)
    both = both.merge(raw.rename(columns={"lower": "age"})[[*key, "after"]], on=key)

    digit = np.select([both["target_shown"] >= 0.1, both["target_shown"] >= 0.001], [2, 3], 4)
    left_open = 0.005 * (2 - both["target"]) / (both["after"] + 0.5)
    difference = (both["target"] - both["target_shown"]).abs()
    within = difference <= 0.5 * 10.0**-digit + left_open
    assert (~within).sum() <= 1
