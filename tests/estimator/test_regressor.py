"""The estimator as a member of scikit-learn: inputs, routing, reproducibility, search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pipeline.estimator import LearnedContextRegressor
from pipeline.estimator.columns import Columns
from pipeline.estimator.plots import plot_response
from pipeline.tables.rows import Rows
from pipeline.tables.scaling import Scaler
from tests.estimator.conftest import NOISE, QUICK, curves

FEATURES = ["x", "side"]


def test_learns_the_tasks(lc: LearnedContextRegressor) -> None:
    test = curves(range(20), 50, seed=1)
    error = test.y - lc.predict(test[FEATURES], test.well)
    assert np.sqrt(np.mean(error**2)) < 1.6 * NOISE
    assert lc.score(test[FEATURES], test.y, test.well) == pytest.approx(
        r2_score(test.y, lc.predict(test[FEATURES], test.well))
    )


@pytest.mark.parametrize("kind", ["cs", "ll", "fs"])
def test_other_kinds(kind: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(kind=kind, **QUICK).fit(known[["x"]], known.y, known.well)
    mean, std = estimator.predict(known[["x"]], known.well, return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all()
    assert estimator.score(known[["x"]], known.y, known.well) > (0.5 if kind == "fs" else 0.9)


def test_same_seed_same_bits(known: pd.DataFrame) -> None:
    first, second = (
        LearnedContextRegressor(**{**QUICK, "epochs": 5}).fit(known[["x"]], known.y, known.well)
        for _ in range(2)
    )
    assert (
        first.predict(known[["x"]], known.well) == second.predict(known[["x"]], known.well)
    ).all()


def test_a_row_is_predicted_alike_alone_and_among_others(
    lc: LearnedContextRegressor, known: pd.DataFrame
) -> None:
    together = lc.predict(known[FEATURES], known.well)
    alone = [lc.predict(known[FEATURES].iloc[[i]], known.well.iloc[[i]])[0] for i in (0, 7, 600)]
    assert (together[[0, 7, 600]] == alone).all()


def test_features_by_name(lc: LearnedContextRegressor, known: pd.DataFrame) -> None:
    assert list(lc.feature_names_in_) == FEATURES and lc.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        lc.predict(known[["side", "x"]], known.well)


def test_categories_make_a_difference_where_there_is_one() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=300), "side": random.choice(["a", "b"], 300)})
    frame["up"] = random.uniform(size=300) < 0.5
    y = np.where(frame.side == "a", 1.0, -1.0) + frame.up
    for side in (frame.side, frame.side.astype("category"), frame.side.astype("string")):
        own = frame.assign(side=side)
        assert LearnedContextRegressor(**QUICK).fit(own, y).score(own, y) > 0.98


def test_a_rare_level_is_no_outlier_and_no_two_levels_are_alike() -> None:
    names = ["a", "b", "c"] * 1000 + ["rare", "rarer", "rarest"]
    frame = pd.DataFrame({"side": names, "constant": "same"})
    columns = Columns.fit(frame)
    encoded = columns.encode(frame)
    assert encoded.shape == (len(frame), columns.encoded) == (3003, 6)
    assert (encoded[:, 5] == 0).all()
    levels = columns.encode(frame.iloc[-5:])[:, :5]
    distances = np.linalg.norm(levels[:, None] - levels, axis=2)
    assert distances[~np.eye(5, dtype=bool)] == pytest.approx(np.sqrt(2))  # as of a one-hot code
    scaled = Scaler.fit(Rows(encoded, np.zeros(len(frame), int), np.zeros(len(frame)))).x(encoded)
    assert np.abs(scaled).max() < 6  # a column of its own would make it 55


@pytest.mark.parametrize("rare", ["level", "number"])
@pytest.mark.parametrize("seed", [3, 7])  # with these the only other row is held out
def test_the_noise_is_sane_when_a_feature_is_constant_but_for_a_row_held_out(
    rare: str, seed: int
) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=100)
    y = np.sin(x) + 0.1 * random.normal(size=100)
    other: Any = np.full(100, "ok", dtype=object) if rare == "level" else np.full(100, 0.1)
    other[3] = "bad" if rare == "level" else 0.2
    settings = {**QUICK, "random_state": seed, "width": 16}
    frame = pd.DataFrame({"x": x, "other": other})
    estimator = LearnedContextRegressor(**settings).fit(frame, y, np.repeat(list("abcde"), 20))
    assert estimator.noise_std_ < 0.75 * y.std()


@pytest.mark.parametrize("value", [1.0, 0.1, "same"])
def test_a_constant_feature_is_ignored(value: Any, known: pd.DataFrame) -> None:
    frame = known[["x"]].assign(bar=value)
    estimator = LearnedContextRegressor(**QUICK).fit(frame, known.y, known.well)
    expected = estimator.predict(frame, known.well)
    if value == "same":
        assert np.isfinite(expected).all()
        return
    for other in (0.2, -30.0, 1e12):
        assert (estimator.predict(frame.assign(bar=other), known.well) == expected).all()
    with pytest.raises(ValueError, match="one value in the fitted rows"):
        plot_response(estimator, "bar")


def test_too_many_levels_are_an_error() -> None:
    frame = pd.DataFrame({"name": [f"row {number}" for number in range(1001)]})
    with pytest.raises(ValueError, match="'name' has 1001 categories, more than 1000"):
        LearnedContextRegressor(**QUICK).fit(frame, np.arange(1001.0))


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a"],
        [7, -3],
        [0.5, 2.0],
        [True, False],
        np.array(["b", "a"]),
        pd.Series(["b", "a"], dtype="category"),
        pd.Series(["b", "a"], dtype="string"),
    ],
)
def test_any_labels(labels: Any) -> None:
    x = np.linspace(-1, 1, 80)[:, None]
    task = pd.Series(labels).repeat(40).reset_index(drop=True)
    y = x[:, 0] + np.repeat([0.0, 3.0], 40)
    estimator = LearnedContextRegressor(**QUICK).fit(x, y, task=list(task))
    by_array = estimator.predict(x, task=task.to_numpy())
    assert (by_array == estimator.predict(x, task=task)).all()
    assert estimator.score(x, y, task) > 0.9
    assert estimator.predict(x[:3], task=list(labels)[1]).mean() > 1.5  # one label for all rows
    assert (estimator.predict(x, task=task.to_frame()) == by_array).all()
    assert estimator.tasks_ == sorted(pd.Series(labels))


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_grid_search_routes_the_task(routing: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(**{**QUICK, "epochs": 8})
    estimator.set_fit_request(task=True).set_score_request(task=True)
    search = GridSearchCV(estimator, {"task_dim": [1, 2]}, cv=2)
    shuffled = known.sample(frac=1, random_state=0)
    search.fit(shuffled[FEATURES], shuffled.y, task=shuffled.well)
    assert search.best_params_["task_dim"] in (1, 2)
    assert len(search.best_estimator_.tasks_) == 20


def test_pipeline_routes_the_task(routing: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(**{**QUICK, "epochs": 20})
    estimator.set_fit_request(task=True).set_predict_request(task=True)
    pipeline = make_pipeline(StandardScaler(), estimator)
    pipeline.fit(known[["x"]], known.y, task=known.well)
    assert len(pipeline.predict(known[["x"]], task=known.well)) == len(known)
    assert len(pipeline[-1].tasks_) == 20


def test_clone_has_the_settings_and_nothing_else(lc: LearnedContextRegressor) -> None:
    copied = clone(lc)
    assert copied.get_params() == lc.get_params()
    assert not hasattr(copied, "model_")


def test_search_is_never_worse_than_the_given_settings(known: pd.DataFrame) -> None:
    bad = {**QUICK, "epochs": 10, "peak_rate": 1e-5}
    plain = LearnedContextRegressor(**bad).fit(known[["x"]], known.y, known.well)
    found = LearnedContextRegressor(search=3, **bad).fit(known[["x"]], known.y, known.well)
    assert len(found.search_results_) == 3 and plain.search_results_.empty
    assert found.hyperparameters_ != plain.hyperparameters_
    assert found.noise_std_ < plain.noise_std_


def test_the_noise_is_that_of_new_rows(lc: LearnedContextRegressor) -> None:
    test = curves(range(20), 50, seed=1)
    error = np.sqrt(np.mean((test.y - lc.predict(test[FEATURES], test.well)) ** 2))
    assert 0.75 * error < lc.noise_std_ < 1.35 * error
