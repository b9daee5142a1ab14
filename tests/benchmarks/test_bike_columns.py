"""The study of Bike sharing's columns, on a small file of its form."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import bike_columns
from benchmarks.bike_columns import (
    FEATURES,
    OTHERS,
    Wanted,
    columns_of,
    kept,
    prepared,
    sets,
    with_other_columns,
)
from benchmarks.paper_budget import CaseTraining
from learned_context.errors import UserError
from learned_context.training.trainer import Hyperparameters, Plan
from pipeline.datasets import bike_sharing, registry, splits

OWN = columns_of(FEATURES)
LC = CaseTraining(Hyperparameters(0.05, 8, 1e-8, 1e-6, 2), Plan(epochs=4, batches=2), seed=3)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Two months of four hours a day; the target follows the hour and the day of the week."""
    days = pd.date_range("2011-01-01", "2011-02-28")
    hours = pd.DataFrame(
        [(day, hour) for day in days for hour in (0, 8, 12, 18)], columns=["day", "hr"]
    )
    random = np.random.default_rng(0)
    weekday = hours["day"].dt.day_of_week
    frame = pd.DataFrame(
        {
            "dteday": hours["day"].dt.strftime("%Y-%m-%d"),
            "yr": 0,
            "mnth": hours["day"].dt.month,
            "hr": hours["hr"],
            "season": 1,
            "holiday": (hours["day"].dt.day == 17).astype(int),
            "weekday": weekday,
            "workingday": (weekday < 5).astype(int),
            "weathersit": random.integers(1, 5, len(hours)),
            **{name: random.uniform(size=len(hours)) for name in ("temp", "atemp", "hum")},
            "windspeed": 0.25,
            "cnt": 3 * hours["hr"] + 20 * weekday + random.integers(0, 3, len(hours)),
        }
    )
    path = tmp_path_factory.mktemp("bike") / "hour.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def table(path):
    return with_other_columns(bike_sharing.parse("paper", [path]), path)


def test_other_sets_differ_from_the_studys_by_one_column_that_is_not_the_hour():
    first, *others = map(columns_of, sets())
    assert first == OWN and len(set(others)) == len(others) == 5 * len(OTHERS)
    for columns in others:
        assert (
            columns[0] == "hr" and len(set(columns) - set(OWN)) == len(set(OWN) - set(columns)) == 1
        )


def test_all_sets_share_the_studys_split(table, path):
    rule = registry.split_rule("bike_sharing", None)
    study = splits.split(bike_sharing.parse("paper", [path]).frame, OWN, rule, 5, "bike_sharing")
    for columns, one in prepared(table, 5).items():
        assert tuple(one.features) == columns
        pd.testing.assert_frame_equal(one.frame[study.columns], study)
    raw = pd.read_csv(path)
    sums = raw.groupby("cnt")["weekday"].sum()
    assert one.frame.astype({"weekday": int}).groupby("target")["weekday"].sum().tolist() == (
        sums.tolist()
    )


def test_a_file_with_other_rows_is_refused(table, path, tmp_path):
    other = tmp_path / "hour.csv"
    pd.read_csv(path).iloc[::-1].to_csv(other, index=False)
    with pytest.raises(UserError, match="are not those of the study's table"):
        with_other_columns(table, other)


def test_errors_are_filled_in_once_and_depend_on_the_columns(table, monkeypatch):
    wanted = Wanted(2, {"lc": LC}, own_seed=5, categories="number")
    own, weekday = (
        {"columns": list(columns), "errors": {"lr": [], "lme": []}, "networks": {}}
        for columns in (OWN, ("hr", "weekday", *OWN[2:]))
    )
    for one in (own, weekday):
        wanted.fill(one, lambda seed: prepared(table, seed))
        assert [len(found) for found in one["errors"].values()] == [2, 2]
        assert list(one["networks"]) == ["lc"]
    assert weekday["errors"]["lr"][0] < 0.5 * own["errors"]["lr"][0]
    assert weekday["networks"]["lc"] != own["networks"]["lc"]
    monkeypatch.setattr(bike_columns, "network_error", lambda *_: pytest.fail("trained again"))
    wanted.fill(own, lambda _: pytest.fail("split again"))


def test_errors_of_networks_are_kept_for_the_same_rows_and_settings_alone(tmp_path):
    path = tmp_path / "columns.json"
    assert kept(path, {"data": "a"}) == {}
    one = {"columns": list(OWN), "errors": {"lr": [1.0], "lme": [1.0]}, "networks": {"lc": 1.0}}
    path.write_text(json.dumps({"state": {"data": "a"}, "sets": [one]}))
    assert kept(path, {"data": "a"}) == {OWN: one}
    assert kept(path, {"data": "b"}) == {OWN: {**one, "networks": {}}}
