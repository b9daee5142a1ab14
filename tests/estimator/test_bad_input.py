"""Bad input: a clear error, or a documented behaviour; and nothing else, says hypothesis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from pipeline.errors import UserError
from pipeline.estimator import LearnedContextRegressor
from tests.estimator.conftest import QUICK

X = np.linspace(-1, 1, 24)[:, None]
Y = X[:, 0] * 2 + 1
TASK = np.repeat(["a", "b", "c"], 8)
SHORT = {**QUICK, "epochs": 3, "width": 8}
FEATURES = ["x", "side"]


@pytest.mark.parametrize(
    ("x", "y", "task", "message"),
    [
        (X[:, 0], Y, TASK, "2D array"),
        (X[:, :0], Y, TASK, "0 feature"),
        (X, Y[:-1], TASK, "23 values for 24 rows"),
        (X, np.ones((24, 2)), TASK, "1d array"),
        (X, None, TASK, "y"),
        (X, Y, TASK[:-1], "23 labels for 24 rows"),
        (X, Y, TASK[:, None], "one dimension"),
        (np.where(X > 0.9, np.nan, X), Y, TASK, "NaN"),
        (np.where(X > 0.9, np.inf, X), Y, TASK, "infinity"),
        (X, np.where(Y > 2.9, np.nan, Y), TASK, "NaN"),
        (X[:1], Y[:1], TASK[:1], "minimum of 2"),
        (X, Y, [*TASK[:-1], 7], "str and .*|int and str"),
        (X, Y, [(1, 2)] * 24, "tuple"),
        (X, Y, [*TASK[:-1], None], "missing"),
        (X, Y, np.where(np.arange(24) > 3, 1.0, np.nan), "missing"),
        (X, Y, np.where(np.arange(24) > 3, 1.0, np.inf), "infinite"),
        (X, Y, pd.date_range("2020", periods=24), "strings"),
        (pd.DataFrame({"a": [None, *"b" * 23]}), Y, TASK, "'a'"),
        (pd.DataFrame({"a": [1, *"b" * 23]}), Y, TASK, "column 'a' holds mixed"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=24)}), Y, TASK, "'a' holds datetime"),
        (pd.DataFrame({"a": list("ab" * 12), "b": [np.nan] * 24}), Y, TASK, "NaN.*'b'"),
    ],
)
def test_fit_refuses(x: Any, y: Any, task: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnedContextRegressor(**SHORT).fit(x, y, task)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("kind", "mlp"),
        ("task_dim", 0),
        ("width", 2.5),
        ("epochs", 0),
        ("batch_rows", True),
        ("peak_rate", 0),
        ("peak_rate", "high"),
        ("lambda_task", -1),
        ("momentum", 1.0),
        ("search", -1),
        ("unknown", "guess"),
    ],
)
def test_fit_refuses_the_setting(setting: str, value: Any) -> None:
    with pytest.raises(ValueError, match=setting):
        LearnedContextRegressor(**{**SHORT, setting: value}).fit(X, Y, TASK)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.predict(X, TASK),
        lambda e: e.predict_interval(X, TASK),
        lambda e: e.score(X, Y, TASK),
        lambda e: e.add_task("d", X, Y),
        lambda e: e.update_task("d", X, Y),
        lambda e: e.nearest_tasks("d"),
        lambda e: e.task_parameters_,
        lambda e: e.save("nowhere"),
    ],
)
def test_before_fit(call: Any) -> None:
    with pytest.raises(NotFittedError):
        call(LearnedContextRegressor())


def test_a_fitted_estimator_refuses(lc: LearnedContextRegressor, known: pd.DataFrame) -> None:
    rows, y = known[FEATURES].head(4), known.y.head(4)
    for call, message in (
        (lambda: lc.predict(rows), "without task"),
        (lambda: lc.predict(rows, [1, 2, 3, 4]), "labels are numbers, but"),
        (lambda: lc.predict(rows.assign(side="up"), "w00"), "'up' is none of .* 'left'"),
        (lambda: lc.predict(rows.assign(x="1a"), "w00"), "'x' must be numbers"),
        (lambda: lc.predict(rows.to_numpy(), "w00"), "DataFrame"),
        (lambda: lc.predict_interval(rows, "w00", level=1), "level"),
        (lambda: lc.add_task("w00", rows, y), "'w00' is already there"),
        (lambda: lc.add_task("d", rows.head(0), y.head(0)), "minimum of 1"),
        (lambda: lc.add_task("d", rows, y.head(2)), "2 values for 4 rows"),
        (lambda: lc.add_task(7, rows, y), "labels are numbers, but"),
        (lambda: lc.add_task("d", rows, y * np.nan), "NaN"),
        (lambda: lc.update_task("d", rows, y), "'d' is not known"),
        (lambda: lc.nearest_tasks("d"), "'d' is not known"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert len(lc.tasks_) == 20


@pytest.mark.parametrize("kind", ["cs", "fs"])
def test_kinds_without_task_parameters_refuse_new_tasks(kind: Any) -> None:
    estimator = LearnedContextRegressor(kind=kind, **SHORT).fit(X, Y, TASK)
    with pytest.raises(ValueError, match=f"'{kind}' has no task parameters"):
        estimator.add_task("d", X, Y)
    with pytest.raises(AttributeError, match="no task parameters"):
        _ = estimator.task_parameters_


def test_one_task_predicts_but_has_no_population() -> None:
    estimator = LearnedContextRegressor(**SHORT).fit(X, Y, ["a"] * 24)
    _, std = estimator.predict(X, "a", return_std=True)
    assert std == pytest.approx(np.full(24, estimator.noise_std_))
    with pytest.raises(ValueError, match="fitted on one task"):
        estimator.add_task("b", X, Y)
    without = LearnedContextRegressor(**SHORT).fit(X, Y)
    with pytest.raises(ValueError, match="with task"):
        without.predict(X, TASK)
    with pytest.raises(ValueError, match="without task"):
        without.add_task("b", X, Y)


def test_a_constant_target_is_predicted() -> None:
    estimator = LearnedContextRegressor(**QUICK).fit(X, np.full(24, 5.0), TASK)
    mean, std = estimator.predict(X, TASK, return_std=True)
    assert mean == pytest.approx(np.full(24, 5.0), abs=0.2)
    assert np.isfinite(std).all()


def test_tasks_with_a_single_row() -> None:
    estimator = LearnedContextRegressor(**SHORT).fit(X, Y, np.arange(24))
    mean, std = estimator.predict(X, np.arange(24), return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all()
    estimator.add_task(24, X[:1], Y[:1])
    assert np.isfinite(estimator.predict(X, 24)).all()


numbers = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([0.0, 1e300, -1e38, 1e-300, np.nan, np.inf])
)
labels = st.one_of(
    st.text(max_size=2), st.integers(-3, 3), st.booleans(), st.none(), st.floats(), st.tuples()
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    rows, columns = draw(st.integers(0, 12)), draw(st.integers(0, 3))
    size = st.integers(max(0, rows - 1), rows) if draw(st.booleans()) else st.just(rows)

    def listed(values: st.SearchStrategy[Any]) -> Any:
        length = draw(size)
        return draw(st.lists(values, min_size=length, max_size=length))

    one_sort = st.sampled_from([st.integers(0, 3), st.sampled_from("abc"), labels])
    x: Any = np.array(listed(st.lists(numbers, min_size=columns, max_size=columns)), dtype=float)
    if draw(st.booleans()):
        x = pd.DataFrame(x.reshape(len(x), -1)).rename(columns=str)
        x["c"] = draw(st.lists(draw(one_sort), min_size=len(x), max_size=len(x)))
    task = None if draw(st.booleans()) else listed(draw(one_sort))
    return x, listed(numbers), task


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(["lc", "cs", "ll", "fs"]))
def test_nothing_but_clear_errors(table: tuple[Any, Any, Any], kind: Any) -> None:
    x, y, task = table
    estimator = LearnedContextRegressor(
        kind=kind, epochs=1, width=4, task_dim=2, blocks=1, random_state=0, unknown="prior"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mean, std = estimator.fit(x, y, task).predict(x, task, return_std=True)
            assert np.isfinite(mean).all() and np.isfinite(std).all()
            if task is not None and kind in ("lc", "ll"):
                estimator.add_tasks(x, y, [f"new {label}" for label in task])
        except (ValueError, UserError) as error:
            assert str(error)
