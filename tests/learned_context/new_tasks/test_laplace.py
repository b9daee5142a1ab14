from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from learned_context.new_tasks import gauss_newton, laplace
from learned_context.new_tasks.gauss_newton import Fit
from learned_context.new_tasks.laplace import Prediction

from .conftest import NOISE

MIXED = Prediction(
    weights=np.array([[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]]),
    means=np.array([[0.0, 4.0, 99.0], [2.0, -50.0, 0.0]]),
    stds=np.array([[1.0, 0.5, 1.0], [3.0, 1.0, 1.0]]),
)


def test_predictions_of_a_linear_network_are_those_of_bayesian_regression(world):
    made = world([6, 1, 50], size=3, blocks=0)
    fit = gauss_newton.fit(made.problem(), made.base)
    task = np.array([0, 2, 1, 0])
    x = torch.randn(4, 2, dtype=torch.float64)
    found = laplace.predict(made.network, laplace.single(fit), x, task, NOISE)
    views = made.network.views
    slope = (views["W2"] @ views["L"]).numpy()[0]
    spread = np.einsum("i,tij,j->t", slope, np.linalg.inv(fit.precision[task]), slope)
    np.testing.assert_allclose(found.std, np.sqrt(NOISE + spread), rtol=1e-9)
    output = made.output(x, torch.from_numpy(fit.beta[task]))
    np.testing.assert_allclose(found.mean, output.numpy(), rtol=1e-9)
    # One minimum: the mixture is the single Gaussian.
    mixed = laplace.predict(made.network, laplace.mixture(fit), x, task, NOISE)
    np.testing.assert_allclose(mixed.mean, found.mean, rtol=1e-9)
    np.testing.assert_allclose(mixed.std, found.std, rtol=1e-9)


def test_a_task_without_rows_is_least_certain(world):
    made = world([0, 30])
    fit = gauss_newton.fit(made.problem(), made.base)
    x = made.rows.x[:10]
    unknown, known = (
        laplace.predict(made.network, laplace.mixture(fit), x, np.full(10, j), NOISE).std
        for j in (0, 1)
    )
    assert (unknown > known).all()
    assert (known > NOISE**0.5).all()


def test_weights_are_the_mass_below_each_peak():
    """A density of two bumps in one dimension: objective = -2 log density."""
    means, stds, mass = np.array([-3.0, 5.0]), np.array([1.0, 0.2]), np.array([0.8, 0.2])
    peaks = -2 * np.log(mass * norm.pdf(0) / stds)
    order = np.argsort(peaks)
    means, stds, mass, peaks = means[order], stds[order], mass[order], peaks[order]
    repeated = np.array([0, 0, 1, 1])  # two descents to each minimum
    fit = Fit(
        ends=means[repeated].reshape(1, 4, 1),
        objectives=peaks[repeated].reshape(1, 4),
        precisions=(stds**-2)[repeated].reshape(1, 4, 1, 1),
    )
    posterior = laplace.mixture(fit)
    np.testing.assert_allclose(posterior.weights[0], [mass[0], 0, mass[1], 0], rtol=1e-12)
    assert laplace.single(fit).means.ravel() == [means[0]]


def test_moments_of_a_mixture():
    def moment(power):
        density = lambda v: v**power * (0.7 * norm.pdf(v) + 0.3 * norm.pdf(v, 4, 0.5))  # noqa: E731
        return quad(density, -10, 10, points=[0, 4])[0]

    assert MIXED.mean[0] == pytest.approx(moment(1))
    assert MIXED.std[0] == pytest.approx((moment(2) - moment(1) ** 2) ** 0.5)
    assert (MIXED.mean[1], MIXED.std[1]) == (2.0, 3.0)


def test_interval_holds_its_share_of_a_mixture():
    low, high = MIXED.interval(0.9)
    for bound, share in ((low, 0.05), (high, 0.95)):
        below = 0.7 * norm.cdf(bound[0]) + 0.3 * norm.cdf(bound[0], 4, 0.5)
        assert below == pytest.approx(share)
        assert bound[1] == pytest.approx(norm.ppf(share, 2, 3))
