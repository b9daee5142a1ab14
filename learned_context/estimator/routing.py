"""The task and scikit-learn's own tools: what they pass on, and what they do not.

With metadata routing, scikit-learn passes `task` to `fit` and `score`, and to `predict` only in
pipelines. Everything works when the task is a column of X (`task_column`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone

from learned_context.estimator.labels import read_labels

PASS_TASK = (
    "pass task=..., as in fit. scikit-learn's searches and pipelines do so after set_fit_request "
    "and set_score_request (the class's help shows how); its cross_val_predict cannot: use "
    "learned_context.estimator.cross_val_predict, or name the column of X that holds the task "
    "in task_column"
)
NO_TASK = "fitted without task: leave it out here too"


def refuse_a_search_that_cannot_score(estimator: Any) -> None:
    """An error in `fit` ends a search; one in `score` would leave it with scores that are NaN."""
    if sklearn.get_config()["enable_metadata_routing"] or not _is_called_by("_fit_and_score"):
        return
    name = type(estimator).__name__
    raise ValueError(
        "the search passes task to fit but not to score. Either enable routing with "
        "sklearn.set_config(enable_metadata_routing=True) and "
        f"{name}(...).set_fit_request(task=True).set_score_request(task=True), or leave the task "
        f"in X and name its column: {name}(task_column=...)"
    )


def _is_called_by(function: str) -> bool:
    """Whether scikit-learn's function of this name is among the callers."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == function and frame.f_globals.get("__name__", "").startswith("sklearn."):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def cross_val_predict(
    estimator: Any, X: Any, y: Any, task: Any, cv: int = 5, random_state: int = 0
) -> NDArray[np.float64]:
    """Predict every row by an estimator that was fitted without it.

    The folds are drawn within tasks, so a task with two rows or more is never wholly unknown;
    those with a single row need an estimator with unknown="prior".
    """
    rows = len(X)
    if len(y) != rows:
        raise ValueError(f"y has {len(y)} values for {rows} rows")
    if task is None:
        raise ValueError("pass task=...: one label a row")
    labels, _ = read_labels(task, rows)
    if not isinstance(cv, Integral) or not 2 <= cv <= rows:
        raise ValueError(f"cv must be an integer from 2 to the number of rows, not {cv!r}")
    predicted = np.empty(rows)
    for held_out in _folds(labels, int(cv), np.random.default_rng(random_state)):
        own = clone(estimator)
        own.fit(_take(X, ~held_out), _take(y, ~held_out), task=labels[~held_out])
        predicted[held_out] = own.predict(_take(X, held_out), task=labels[held_out])
    return predicted


def _folds(task: pd.Index, cv: int, random: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Rows are dealt out task by task, so every fold has its share of each."""
    order = random.permutation(len(task))
    number = pd.factorize(task, sort=True)[0]
    dealt = np.empty(len(task), dtype=np.int64)
    dealt[order[np.argsort(number[order], kind="stable")]] = np.arange(len(task)) % cv
    for fold in range(cv):
        yield dealt == fold


def _take(values: Any, mask: NDArray[np.bool_]) -> Any:
    return values.loc[mask] if hasattr(values, "loc") else np.asarray(values)[mask]
