"""Bad input: a clear error, or a documented behaviour."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from learned_context.estimator import LearnedContextRegressor
from tests.learned_context.estimator.conftest import QUICK

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
        (X * 1e200, Y, TASK, "X has values beyond"),
        (X, Y * 1e200, TASK, "y has values beyond"),
        (X, Y, [*TASK[:-1], 7], "str and .*|int and str"),
        (X, Y, [(1, 2)] * 24, "tuple"),
        (X, Y, [*TASK[:-1], None], "missing"),
        (X, Y, np.where(np.arange(24) > 3, 1.0, np.nan), "missing"),
        (X, Y, np.where(np.arange(24) > 3, 1.0, np.inf), "infinite"),
        (X, Y * 1e-170, TASK, "y has values that differ by less than"),
        (X * 1e-170, Y, TASK, "X has values that differ by less than"),
        (X, Y, pd.date_range("2020", periods=24), "strings"),
        (pd.DataFrame(index=range(24)), Y, TASK, r"X has 0 feature\(s\)"),
        (pd.DataFrame({"a": [None, *"b" * 23]}), Y, TASK, "'a'"),
        (pd.DataFrame({"a": [1, *"b" * 23]}), Y, TASK, "column 'a' holds mixed"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=24)}), Y, TASK, "'a' holds datetime"),
        (pd.DataFrame({"a": list("ab" * 12), "b": [np.nan] * 24}), Y, TASK, "NaN.*'b'"),
        (pd.DataFrame({"a": Y, "b": [np.nan] * 24}), Y, TASK, "NaN, in column 'b'"),
        (X, pd.date_range("2020", periods=24), TASK, "y must be numbers, not dates"),
        (X, Y, pd.NA, "task must be one label a row"),
    ],
)
def test_fit_refuses(x: Any, y: Any, task: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnedContextRegressor(**SHORT).fit(x, y, task)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("kind", "mlp"),
        ("quality", "superb"),
        ("optimizer", "adam"),
        ("members", 0),
        ("members", 10**9),
        ("n_jobs", 0),
        ("n_jobs", -2),
        ("task_dim", 0),
        ("width", 2.5),
        ("width", 10**7),
        ("epochs", 0),
        ("batch_rows", True),
        ("peak_rate", 0),
        ("peak_rate", "high"),
        ("lambda_task", -1),
        ("lambda_shared", 1e300),
        ("momentum", 1.0),
        ("search", -1),
        ("unknown", "guess"),
        ("task_column", ["well"]),
        ("task_column", True),
        ("device", "abacus"),
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
        (lambda: lc.predict(rows), "pass task="),
        (lambda: lc.predict(rows, [1, 2, 3, 4]), "labels are numbers, but"),
        (lambda: lc.predict(rows.assign(side="up"), "w00"), "'up' is none of .* 'left'"),
        (lambda: lc.predict(rows.assign(x="1a"), "w00"), "'x' must be numbers"),
        (lambda: lc.predict(rows.to_numpy(), "w00"), "DataFrame"),
        (lambda: lc.predict_interval(rows, "w00", level=1), "level"),
        (lambda: lc.predict_interval(rows, "w00", level="high"), "level"),
        (lambda: lc.add_task("w00", rows, y), "'w00' is already there"),
        (lambda: lc.add_task("d", rows.head(0), y.head(0)), "minimum of 1"),
        (lambda: lc.add_task("d", rows, y.head(2)), "2 values for 4 rows"),
        (lambda: lc.predict(rows.assign(x=1e30), "w00"), "row 0 has a value .* away"),
        (lambda: lc.add_task("d", rows, y * 1e30), "standard deviations away"),
        (lambda: lc.add_task(7, rows, y), "labels are numbers, but"),
        (lambda: lc.add_task("d", rows, y * np.nan), "NaN"),
        (lambda: lc.add_task("d", csr_array(np.eye(4)), y), "DataFrame"),
        (lambda: lc.update_task("d", rows, y), "'d' is not known.*or predict it with unknown"),
        (lambda: lc.nearest_tasks("d"), "'d' is not known"),
        (lambda: lc.nearest_tasks("w00", k=-1), "k must be an integer, 1 or more"),
        (lambda: lc.nearest_tasks("w00", k="two"), "k must be an integer, 1 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert len(lc.tasks_) == 20


def test_a_setting_that_is_changed_after_the_fit_is_checked(lc: LearnedContextRegressor) -> None:
    with pytest.raises(ValueError, match="unknown must be one of error, prior, not 'eror'"):
        lc.set_params(unknown="eror").predict(pd.DataFrame({"x": [0.0], "side": ["left"]}), "none")


def test_the_task_s_column_is_no_feature_of_an_added_task() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "well": TASK})
    estimator = LearnedContextRegressor(**SHORT, task_column="well").fit(frame, Y)
    with pytest.raises(ValueError, match="X has the task's column 'well': leave it out"):
        estimator.add_task("d", frame.head(2), Y[:2])


def test_an_unknown_number_is_shown_as_it_was_written() -> None:
    estimator = LearnedContextRegressor(**SHORT).fit(X, Y, np.repeat([1, 2, 3], 8))
    with pytest.raises(ValueError, match="task 99 is not known; known labels like it: 3, 2, 1"):
        estimator.predict(X[:1], 99)


def test_two_rows_give_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    estimator = LearnedContextRegressor(**SHORT).fit(X[:2], Y[:2], TASK[:2])
    assert np.isfinite(estimator.predict(X[:2], "a")).all()
    assert not recwarn.list


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
    assert (std >= estimator.noise_std_).all()
    with pytest.raises(ValueError, match="fitted on one task"):
        estimator.add_task("b", X, Y)
    without = LearnedContextRegressor(**SHORT).fit(X, Y)
    with pytest.raises(ValueError, match="fitted without task"):
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


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_a_value_that_is_no_number_is_refused_with_its_column(value: float, name: str) -> None:
    frame = pd.DataFrame({"depth": X[:, 0], "width": 1 - X[:, 0] ** 2})
    broken = frame.assign(width=frame.width.where(frame.index > 0, value))
    message = f"contains {name}, in column 'width'"
    with pytest.raises(ValueError, match=message):
        LearnedContextRegressor(**SHORT).fit(broken, Y, TASK)
    model = LearnedContextRegressor(**SHORT).fit(frame, Y, TASK)
    with pytest.raises(ValueError, match=message):
        model.predict(broken, TASK)


def test_words_in_a_column_of_numbers_are_refused_with_its_name() -> None:
    frame = pd.DataFrame({"depth": X[:, 0], "width": 1 - X[:, 0] ** 2})
    model = LearnedContextRegressor(**SHORT).fit(frame, Y, TASK)
    with pytest.raises(ValueError, match="column 'width' must be numbers: could not"):
        model.predict(frame.assign(width="wide"), TASK)
