"""How wide intervals are, for known and for added tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learned_context.estimator import LearnedContextRegressor
from learned_context.estimator.calibration import LEAST_SHARE, LEVELS, Quantiles
from tests.learned_context.estimator.conftest import curves


def test_quantiles_hold_their_share_of_new_errors() -> None:
    old, new = np.random.default_rng(0).laplace(size=(2, 20_000))
    found = Quantiles.of(old)
    for level in (0.5, 0.9, 0.99):
        assert (np.abs(new) <= found.at(level)).mean() == pytest.approx(level, abs=0.01)


def test_towards_others_is_halfway_but_not_far_below() -> None:
    narrow, wide = Quantiles(1.0, 2 * LEVELS), Quantiles(9.0, 8 * LEVELS)
    halfway = narrow.towards(wide)
    assert halfway.scale == 3
    assert halfway.sizes == pytest.approx(4 * LEVELS)
    assert narrow.towards(narrow).sizes == pytest.approx(narrow.sizes)
    limited = wide.towards(narrow)
    assert limited.scale == pytest.approx(LEAST_SHARE * 9)
    assert limited.sizes == pytest.approx(LEAST_SHARE * 8 * LEVELS)


def test_errors_of_zero_leave_a_scale_above_zero() -> None:
    found = Quantiles.of(np.zeros(100))
    assert found.scale > 0 and (found.sizes > 0).all()


def tasks_with_noise(noise: float, tasks: int, rows: int) -> tuple[np.ndarray, ...]:
    """Lines of random intercepts and slopes; some of the tasks are for later."""
    random = np.random.default_rng(3)
    level, slope = random.normal(size=(2, tasks))
    task = np.repeat(np.arange(tasks), rows)
    x = random.uniform(-1, 1, (tasks * rows, 1))
    return x, level[task] + slope[task] * x[:, 0] + random.normal(0, noise, len(task)), task


@pytest.mark.parametrize(("tasks", "rows", "noise"), [(200, 2, 0.3), (100, 4, 0.05)])
def test_tasks_added_with_many_rows_have_intervals_as_wide_as_the_noise(
    tasks: int, rows: int, noise: float
) -> None:
    """Of few rows a fitted task, most of an error is the task's own parameters: what is beyond
    them would be no noise at all on such data."""
    x, y, task = tasks_with_noise(noise, tasks + 40, 60)
    place = np.tile(np.arange(60), tasks + 40)
    fitted = (task < tasks) & (place < rows)
    estimator = LearnedContextRegressor(quality="fast", random_state=0)
    estimator.fit(x[fitted], y[fitted], task[fitted])
    assert 0.8 * noise < estimator.noise_std_ < 2.5 * noise
    added, others = ((task >= tasks) & mask for mask in (place < 30, place >= 30))
    estimator.add_tasks(x[added], y[added], task[added])
    low, high = estimator.predict_interval(x[others], task[others], level=0.9)
    assert 0.8 < np.mean((low <= y[others]) & (y[others] <= high)) < 0.99


def test_an_unknown_task_has_the_spread_of_the_tasks_without_noise() -> None:
    x, y, task = tasks_with_noise(1e-4, 90, 10)
    fitted = task < 40
    estimator = LearnedContextRegressor(quality="fast", unknown="prior", random_state=0)
    estimator.fit(x[fitted], y[fitted], task[fitted])
    low, high = estimator.predict_interval(x[~fitted], -1, level=0.9)
    assert 0.7 < np.mean((low <= y[~fitted]) & (y[~fitted] <= high)) < 0.98


def test_std_of_fitted_tasks_is_as_large_as_their_errors(lc: LearnedContextRegressor) -> None:
    fresh = curves(range(20), 100, seed=1)
    mean, std = lc.predict(fresh[["x", "side"]], fresh.well, return_std=True)
    assert np.std((fresh.y - mean) / std) == pytest.approx(1, abs=0.3)


def test_added_tasks_are_about_halfway_between_held_out_and_known_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = []

    def of(errors: Any, original: Any = Quantiles.of) -> Quantiles:
        measured.append(original(errors))
        return measured[-1]

    monkeypatch.setattr(Quantiles, "of", of)
    rows = curves(range(9), 14)
    estimator = LearnedContextRegressor(quality="fast", width=4, epochs=3, random_state=0)
    found = estimator.fit(rows[["x"]], rows.y, rows.well).model_.calibration
    known, *held_out = measured
    assert (found.known.sizes == known.sizes).all()
    assert list(found.added) == [1, 2, 5, 10]
    for own, added in zip(held_out, found.added.values(), strict=True):
        assert added.scale**2 == pytest.approx(own.scale * known.scale)
        assert added.sizes**2 == pytest.approx(own.sizes * known.sizes)
