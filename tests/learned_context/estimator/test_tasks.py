"""Tasks that arrive after the fit, and what is known of all tasks."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from learned_context.estimator import LearnedContextRegressor
from tests.learned_context.estimator.conftest import NOISE, curves, phase

FEATURES = ["x", "side"]


def rmse(estimator: LearnedContextRegressor, rows: pd.DataFrame) -> float:
    return float(np.sqrt(np.mean((rows.y - estimator.predict(rows[FEATURES], rows.well)) ** 2)))


def first(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    return rows.groupby("well").head(count)


@pytest.mark.parametrize("kind", ["lc", "ll"])
def test_new_tasks_are_learned(
    kind: str, request: pytest.FixtureRequest, new: pd.DataFrame
) -> None:
    estimator: LearnedContextRegressor = request.getfixturevalue(kind)
    estimator.add_tasks(new[FEATURES], new.y, new.well)
    assert rmse(estimator, curves(range(20, 24), 50, seed=1)) < 2 * NOISE
    assert estimator.tasks_[20:] == ["w20", "w21", "w22", "w23"]


@pytest.mark.parametrize("kind", ["lc", "ll"])
def test_other_tasks_stay_as_they_are_to_the_bit(
    kind: str, request: pytest.FixtureRequest, known: pd.DataFrame, new: pd.DataFrame
) -> None:
    estimator: LearnedContextRegressor = request.getfixturevalue(kind)
    before = estimator.predict(known[FEATURES], known.well, return_std=True)
    few = new[new.well == "w20"].head(3)
    estimator.add_task("w20", few[FEATURES], few.y)
    others = known[known.well != "w03"]
    estimator.update_task("w03", few[FEATURES], few.y)
    after = estimator.predict(others[FEATURES], others.well, return_std=True)
    for left, right in zip(before, after, strict=True):
        assert (left[others.index] == right).all()


def test_one_by_one_is_all_at_once(lc: LearnedContextRegressor, new: pd.DataFrame) -> None:
    single = copy(lc)
    for label, rows in new.groupby("well"):
        single.add_task(label, rows[FEATURES], rows.y)
    lc.add_tasks(new[FEATURES], new.y, new.well)
    pd.testing.assert_frame_equal(single.task_parameters_, lc.task_parameters_, atol=1e-3)


def test_an_update_takes_the_new_rows(lc: LearnedContextRegressor, new: pd.DataFrame) -> None:
    few, many = first(new, 2), new
    lc.add_tasks(few[FEATURES], few.y, few.well)
    before = rmse(lc, new)
    for label, rows in many.groupby("well"):
        lc.update_task(label, rows[FEATURES], rows.y)
    assert rmse(lc, new) < before


@pytest.mark.parametrize("kind", ["lc", "ll"])
def test_an_update_leaves_the_population_as_it_was(
    kind: str, new: pd.DataFrame, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    estimator: LearnedContextRegressor = request.getfixturevalue(kind)
    estimator.set_params(unknown="prior")
    rows = new[new.well == "w20"]
    before = estimator.predict(rows[FEATURES], "stranger", return_std=True)
    added = copy(estimator).add_task("w20", rows[FEATURES], rows.y).task_parameters_.loc["w20"]
    for known in ("w03", "w03", "w04"):
        estimator.update_task(known, rows[FEATURES], rows.y + 60)
    estimator.save(tmp_path / "model")
    for one in (estimator, LearnedContextRegressor.load(tmp_path / "model")):
        after = one.predict(rows[FEATURES], "stranger", return_std=True)
        assert (np.array(after) == before).all()
        one.add_task("w20", rows[FEATURES], rows.y)
        assert (one.task_parameters_.loc["w20"] == added).all()


def test_the_last_layer_estimate_is_ridge_regression(
    ll: LearnedContextRegressor, new: pd.DataFrame
) -> None:
    rows = new[new.well == "w20"].head(6)
    ll.add_task("w20", rows[FEATURES], rows.y)
    model = ll.model_
    voice = model.ensemble.voices[model.main]
    x, _ = ll._rows(rows[FEATURES], rows.well)
    h = voice.rows(x)[0].double().numpy()
    y = (rows.y.to_numpy() - model.scaler.y_mean) / model.scaler.y_std
    base = voice.population[0]
    spread = np.cov(base, rowvar=False) + voice.uncertain[0]
    prior = np.linalg.inv(spread + 1e-9 * np.eye(h.shape[1]))
    matrix = h.T @ h / voice.noise + prior
    expected = np.linalg.solve(matrix, h.T @ y / voice.noise + prior @ base.mean(axis=0))
    assert ll.task_parameters_.loc["w20"].to_numpy() == pytest.approx(expected, abs=1e-3)


def test_intervals_cover_and_narrow(lc: LearnedContextRegressor, new: pd.DataFrame) -> None:
    test = curves(range(20, 24), 200, seed=1)
    widths = []
    for count in (3, 60):
        estimator, rows = copy(lc), first(new, count)
        estimator.add_tasks(rows[FEATURES], rows.y, rows.well)
        low, high = estimator.predict_interval(test[FEATURES], test.well)
        assert ((low <= test.y) & (test.y <= high)).mean() > 0.85
        widths.append((high - low).mean())
    assert widths[0] > widths[1] > 3 * NOISE


def test_an_unknown_label_is_an_error_that_names_it(
    lc: LearnedContextRegressor, new: pd.DataFrame
) -> None:
    with pytest.raises(ValueError, match=r"'w20' is not known; .*'w10'"):
        lc.predict(new[FEATURES], new.well)


def test_an_unknown_label_by_the_prior_is_less_certain(
    lc: LearnedContextRegressor, known: pd.DataFrame
) -> None:
    lc.set_params(unknown="prior")
    mean, std = lc.predict(known[FEATURES], "stranger", return_std=True)
    _, known_std = lc.predict(known[FEATURES], known.well, return_std=True)
    assert std.mean() > 2 * known_std.mean()
    every = [lc.predict(known[FEATURES], label) for label in lc.tasks_]
    assert mean == pytest.approx(np.mean(every, axis=0), abs=1e-5)
    mixed = np.where(known.index % 2, known.well, "stranger")
    assert lc.predict(known[FEATURES], mixed)[::2] == pytest.approx(mean[::2])
    low, high = lc.predict_interval(known[FEATURES], mixed)
    assert 0.9 < ((low <= known.y) & (known.y <= high)).mean() <= 1


def test_the_parameters_are_a_frame(lc: LearnedContextRegressor) -> None:
    frame = lc.task_parameters_
    assert list(frame.columns) == ["beta_0", "beta_1", "intercept"] and frame.index.name == "task"


def test_the_nearest_tasks_have_similar_phases(lc: LearnedContextRegressor) -> None:
    phases = {f"w{task:02d}": phase(task) for task in range(20)}
    for label in ("w00", "w07"):
        nearest = lc.nearest_tasks(label, k=3)
        apart = [abs(phases[other] - phases[label]) for other in nearest.index]
        assert label not in nearest.index and max(apart) < 0.7
        assert nearest.is_monotonic_increasing
