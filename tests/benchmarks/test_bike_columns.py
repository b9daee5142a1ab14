"""The study of Bike sharing's columns, on a small file of its form."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.bike_columns import (
    FEATURES,
    OTHERS,
    Measurement,
    columns_of,
    empty_record,
    kept_records,
    sets,
    tables_of,
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
    for columns, one in tables_of(table, 5).items():
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


def measurement(tables):
    return Measurement(tables, 2, {"lc": LC}, study_seed=5, categories="number")


def test_errors_are_measured_once_and_depend_on_the_columns(table):
    study, weekday = empty_record(OWN), empty_record(("hr", "weekday", *OWN[2:]))
    for record in (study, weekday):
        measurement(lambda seed: tables_of(table, seed)).complete(record)
        assert [len(found) for found in record["errors"].values()] == [2, 2]
        assert list(record["networks"]) == ["lc"]
    assert weekday["errors"]["lr"][0] < 0.5 * study["errors"]["lr"][0]
    assert weekday["networks"]["lc"] != study["networks"]["lc"]
    before = json.dumps(study)
    measurement(lambda _: pytest.fail("computed again")).complete(study)
    assert json.dumps(study) == before


def test_errors_of_other_rows_and_of_networks_with_other_settings_are_not_kept(tmp_path):
    path, state = tmp_path / "columns.json", {"raw": {"hour.csv": "a"}, "data": "b"}
    assert kept_records(path, state) == {}
    record = {**empty_record(OWN), "errors": {"lr": [1.0], "lme": [1.0]}, "networks": {"lc": 1.0}}
    path.write_text(json.dumps({"state": state, "sets": [record]}))
    assert kept_records(path, state) == {OWN: record}
    assert kept_records(path, state | {"data": "c"}) == {OWN: {**record, "networks": {}}}
    assert kept_records(path, state | {"raw": {"hour.csv": "d"}}) == {}
