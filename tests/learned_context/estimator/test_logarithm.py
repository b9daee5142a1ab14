"""Targets that are seen by their logarithm."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
import torch

from learned_context.estimator import LearnedContextRegressor
from learned_context.estimator.logarithm import BEYOND, Logarithm
from learned_context.scaling import Scaler

Y = np.array([1.0, 3.0, 10.0, 40.0, 100.0])
SCALER = Scaler(np.zeros(1), np.ones(1), float(Y.mean()), float(Y.std()))


def standardised(y: np.ndarray) -> torch.Tensor:
    return torch.from_numpy((y - SCALER.y_mean) / SCALER.y_std)


def test_there_and_back() -> None:
    logarithm = Logarithm.of(Y, SCALER)
    z = logarithm.forward(standardised(Y))
    assert z.mean().item() == pytest.approx(0, abs=1e-12)
    assert z.std(correction=0).item() == pytest.approx(1)
    assert logarithm.back(z).numpy() == pytest.approx(standardised(Y).numpy())


def test_equal_targets_have_a_logarithm() -> None:
    logarithm = Logarithm.of(np.full(4, 3.0), SCALER)
    found = logarithm.back(logarithm.forward(standardised(np.array([3.0]))))
    assert found.numpy() == pytest.approx(standardised(np.array([3.0])).numpy())


def test_the_gain_is_the_derivative() -> None:
    logarithm = Logarithm.of(Y, SCALER)
    z = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(logarithm.back(z).sum(), z)
    assert logarithm.gain(z.detach()).numpy() == pytest.approx(slope.numpy())


def test_what_is_far_outside_stays_near_the_targets() -> None:
    logarithm = Logarithm.of(Y, SCALER)
    ends = SCALER.y_mean + SCALER.y_std * logarithm.back(torch.tensor([-50.0, 50.0])).double()
    assert ends.tolist() == pytest.approx([1 / BEYOND, 100 * BEYOND], rel=1e-5)
    lowest = logarithm.forward(standardised(np.array([-7.0, 0.0, 1 / BEYOND])))
    assert lowest.tolist() == pytest.approx([logarithm.low] * 3)
    assert logarithm.forward(standardised(np.array([1e9]))).item() == logarithm.high


@pytest.mark.parametrize(
    ("y", "suits"), [([1, 2], True), ([1, 1.9], False), ([0, 5], False), ([-1, 5], False)]
)
def test_positive_targets_of_a_wide_range_suit(y: list[float], suits: bool) -> None:
    assert Logarithm.suits(np.array(y)) == suits


@pytest.fixture(scope="module")
def growing() -> LearnedContextRegressor:
    """Tasks that differ by a factor, with errors in proportion; networks hardly trained."""
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(25), 8)
    x = random.uniform(0, 3, (200, 1))
    y = np.exp(x[:, 0] + random.normal(size=25)[task] + random.normal(0, 0.05, 200))
    settings = {"members": 1, "epochs": 1, "width": 16, "random_state": 0}
    return LearnedContextRegressor(**settings).fit(x, y, task)


def test_factors_are_found_from_one_row(growing: LearnedContextRegressor) -> None:
    assert growing.scores_.idxmin() == "log_curves"
    added = copy(growing).add_task(99, [[1.0]], [np.exp(1.7)])
    assert added.predict([[2.5]], 99)[0] == pytest.approx(np.exp(3.2), rel=0.1)


def test_a_new_row_may_be_what_no_logarithm_has(growing: LearnedContextRegressor) -> None:
    added = copy(growing).add_task(99, [[1.0]], [-3.0])
    assert np.isfinite(added.predict([[0.5], [2.5]], 99)).all()


def test_fast_does_without() -> None:
    random = np.random.default_rng(0)
    x, task = random.uniform(size=(80, 1)), np.repeat(np.arange(8), 10)
    fast = LearnedContextRegressor(quality="fast", epochs=1, width=8, random_state=0)
    assert "log_curves" not in fast.fit(x, np.exp(3 * x[:, 0]), task).scores_
