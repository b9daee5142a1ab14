"""The linear mixed models: the variances they find, and what these say of new tasks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from learned_context.estimator import linear
from learned_context.training.data import Tensors

LINES = np.array([0])


def lines(tasks: int, rows: int, noise: float, correlation: float = 0.0) -> Tensors:
    """Every task has an intercept of variance 1 and a slope of variance 0.25."""
    random = np.random.default_rng(0)
    between = np.array([[1.0, 0.5 * correlation], [0.5 * correlation, 0.25]])
    theta = random.multivariate_normal(np.zeros(2), between, tasks)
    task = np.repeat(np.arange(tasks), rows)
    x = random.normal(size=(tasks * rows, 1))
    y = theta[task, 0] + (0.3 + theta[task, 1]) * x[:, 0] + random.normal(0, noise, len(task))
    return Tensors(*(torch.from_numpy(a) for a in (x, task, y)))


@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0])
def test_variances_are_found_for_little_and_for_much_noise(noise: float) -> None:
    voice = linear.fit(lines(400, 6, noise), 400, LINES)
    assert np.diag(voice.covariance) == pytest.approx([1.0, 0.25], rel=0.25)
    assert voice.noise == pytest.approx(noise**2, rel=0.2)
    assert voice.fixed.numpy() == pytest.approx([0.0, 0.3], abs=0.15)


def test_slopes_may_go_with_intercepts_if_many_tasks_say_so() -> None:
    def found(tasks: int) -> float:
        covariance = linear.fit(lines(tasks, 6, 0.1, correlation=0.9), tasks, LINES).covariance
        return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))

    assert found(400) == pytest.approx(0.9, abs=0.1)
    assert abs(found(2)) < 0.5


def test_the_likelihood_is_that_of_the_normal_distribution_of_all_rows() -> None:
    rows = lines(4, 3, 0.5)
    moments = linear.Sums(rows, 4, LINES).moments()
    x, task, y = rows.x.numpy()[:, 0], rows.task.numpy(), rows.y.numpy()
    z = np.column_stack([np.ones(12), x])
    found = []
    for scale, noise in ((1.0, 0.2), (1.7, 0.4)):
        mean, own = np.array([3.0, 1.0]), scale * np.array([0.8, 0.3])
        scaled = moments.scaled(torch.from_numpy(mean), torch.from_numpy(own))
        between = np.where(task[:, None] == task, (z * own**2) @ z.T, 0)
        covariance = (z * mean**2) @ z.T + between + noise * np.eye(12)
        exact = multivariate_normal(np.zeros(12), covariance).logpdf(y)
        value = linear.minus_log_likelihood(scaled, torch.tensor(noise).double())
        found.append(float(value) + exact)
    assert found == pytest.approx([-6 * np.log(2 * np.pi)] * 2, abs=1e-6)


def test_too_many_numbers_leave_the_intercepts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "MOST_NUMBERS", 10)
    assert linear.fit(lines(10, 6, 0.1), 10, LINES).size == 1


def test_a_target_without_noise_or_variance_gives_finite_numbers() -> None:
    rows = lines(5, 4, 0.0)
    for y in (torch.zeros_like(rows.y), rows.x[:, 0], rows.y):
        voice = linear.fit(Tensors(rows.x, rows.task, y), 5, LINES)
        assert np.isfinite(voice.covariance).all() and torch.isfinite(voice.fixed).all()
        assert voice.noise > 0
