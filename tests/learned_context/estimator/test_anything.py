"""Whatever is fitted, hypothesis finds no other failure than a clear error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor

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
    values = listed(st.lists(numbers, min_size=columns, max_size=columns))
    x: Any = np.array(values, dtype=float).reshape(len(values), columns)
    if draw(st.booleans()):
        x = pd.DataFrame(x).rename(columns=str)
        x["c"] = draw(st.lists(draw(one_sort), min_size=len(x), max_size=len(x)))
    task = None if draw(st.booleans()) else listed(draw(one_sort))
    return x, listed(numbers), task


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(["lc", "cs", "ll", "fs"]), st.sampled_from(["fast", "default"]))
def test_nothing_but_clear_errors(table: tuple[Any, Any, Any], kind: Any, quality: Any) -> None:
    x, y, task = table
    estimator = LearnedContextRegressor(
        kind=kind,
        quality=quality,
        epochs=1,
        width=4,
        task_dim=2,
        blocks=1,
        random_state=0,
        unknown="prior",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mean, std = estimator.fit(x, y, task).predict(x, task, return_std=True)
            assert np.isfinite(mean).all() and np.isfinite(std).all()
            if task is not None and kind in ("lc", "ll"):
                labels = [label + 10 if isinstance(label, int) else f"+{label}" for label in task]
                mean = estimator.add_tasks(x, y, labels).predict(x, labels)
                assert np.isfinite(mean).all()
        except (ValueError, UserError) as error:
            assert str(error)
