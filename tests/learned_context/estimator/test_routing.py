"""The task in scikit-learn's own tools: routed, as a column, or refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import model_selection
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learned_context.estimator import LearnedContextRegressor, cross_val_predict
from tests.learned_context.estimator.conftest import QUICK

SHORT = {**QUICK, "epochs": 8, "width": 16}
FOLDS = KFold(2, shuffle=True, random_state=0)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_grid_search_routes_the_task(routing: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(**SHORT)
    estimator.set_fit_request(task=True).set_score_request(task=True)
    within = StratifiedKFold(2, shuffle=True, random_state=0).split(known, known.well)
    search = GridSearchCV(estimator, {"task_dim": [1, 2]}, cv=list(within))
    search.fit(known[["x", "side"]], known.y, task=known.well)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.best_estimator_.tasks_) == 20


def test_pipeline_routes_the_task(routing: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(**SHORT)
    estimator.set_fit_request(task=True).set_predict_request(task=True)
    pipeline = make_pipeline(StandardScaler(), estimator)
    pipeline.fit(known[["x"]], known.y, task=known.well)
    assert len(pipeline.predict(known[["x"]], task=known.well)) == len(known)
    assert len(pipeline[-1].tasks_) == 20


@pytest.mark.filterwarnings("ignore")
def test_a_search_without_routing_fails(known: pd.DataFrame) -> None:
    search = GridSearchCV(LearnedContextRegressor(**SHORT), {"task_dim": [1, 2]}, cv=FOLDS)
    with pytest.raises(ValueError, match=r"(?s)fits failed.*enable_metadata_routing"):
        search.fit(known[["x"]], known.y, task=known.well)
    with pytest.raises(ValueError, match=r"(?s)fits failed.*task_column"):
        cross_val_score(
            LearnedContextRegressor(**SHORT), known[["x"]], known.y, params={"task": known.well}
        )


def test_predictions_without_a_task_say_what_to_do(known: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"cross_val_predict, or name the column"):
        model_selection.cross_val_predict(
            LearnedContextRegressor(**SHORT), known[["x"]], known.y, params={"task": known.well}
        )


def test_with_a_task_column_everything_works(known: pd.DataFrame) -> None:
    X = known[["x", "well"]]
    estimator = LearnedContextRegressor(task_column="well", **SHORT)
    search = GridSearchCV(estimator, {"task_dim": [1, 2]}, cv=FOLDS, scoring="r2").fit(X, known.y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    predicted = model_selection.cross_val_predict(estimator, X, known.y, cv=FOLDS)
    assert np.isfinite(predicted).all()


def test_the_column_is_the_task(known: pd.DataFrame, new: pd.DataFrame) -> None:
    by_column = LearnedContextRegressor(task_column="well", **SHORT)
    by_column.fit(known[["well", "x"]], known.y)
    beside = LearnedContextRegressor(**SHORT).fit(known[["x"]], known.y, known.well)
    expected = beside.predict(known[["x"]], known.well)
    assert (by_column.predict(known[["well", "x"]]) == expected).all()
    codes = known.well.str[1:].astype(float)
    array = np.column_stack([codes, known.x])
    by_number = LearnedContextRegressor(task_column=0, **SHORT).fit(array, known.y)
    assert (by_number.predict(array) == expected).all()
    by_column.add_tasks(new[["well", "x"]], new.y)
    assert by_column.tasks_[20:] == sorted(new.well.unique())


def test_a_frame_with_numbers_for_names(known: pd.DataFrame) -> None:
    frame = pd.DataFrame({0: known.well.str[1:].astype(float), 1: known.x})
    estimator = LearnedContextRegressor(task_column=0, **SHORT).fit(frame, known.y)
    features = pd.DataFrame({0: known.x, 1: known.x})[[0]]
    estimator.add_task(100.0, features, known.y)
    assert estimator.tasks_[-1] == 100.0
    with pytest.raises(ValueError, match="2 features"):
        estimator.add_task(101.0, frame, known.y)


def test_a_column_that_is_not_there(known: pd.DataFrame) -> None:
    for column, X, task, message in (
        ("hole", known[["x"]], None, "no column 'hole'"),
        ("well", known[["x"]].to_numpy(), None, "X must be a DataFrame"),
        (3, known[["x"]].to_numpy(), None, "no column 3"),
        (3, known[["x"]], None, "no column 3"),
        ("well", known[["x", "well"]], known.well, "use one of them"),
    ):
        with pytest.raises(ValueError, match=message):
            LearnedContextRegressor(task_column=column, **SHORT).fit(X, known.y, task)


def test_our_cross_val_predict_splits_within_tasks(known: pd.DataFrame) -> None:
    settings = {**QUICK, "epochs": 150}
    predicted = cross_val_predict(
        LearnedContextRegressor(**settings), known[["x"]], known.y, known.well, cv=2
    )
    assert np.corrcoef(predicted, known.y)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": 1}, "cv must be an integer from 2"),
        ({"cv": model_selection.KFold(3)}, "cv must be an integer from 2"),
        ({"task": None}, r"pass task=\.\.\."),
        ({"task": [1, "1"] * 400}, "task labels must be all strings"),
        ({"task": [None] * 800}, "missing"),
        ({"task": ["a"]}, "task has 1 labels for 800 rows"),
        ({"y": [1.0]}, "y has 1 values for 800 rows"),
    ],
)
def test_our_cross_val_predict_says_what_is_wrong(
    change: dict[str, Any], message: str, known: pd.DataFrame
) -> None:
    given = {"X": known[["x"]], "y": known.y, "task": known.well, **change}
    with pytest.raises(ValueError, match=message):
        cross_val_predict(LearnedContextRegressor(**QUICK), **given)
