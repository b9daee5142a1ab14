from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import learned_context.new_tasks.objective as objective_module
from learned_context.networks.network import Network, Shape
from learned_context.new_tasks.objective import Prior, Problem
from learned_context.training.data import Tensors
from tests.learned_context.networks.test_network import random_network, random_rows, shape_of
from tests.learned_context.new_tasks.conftest import NOISE

COUNTS = [7, 0, 1, 30, 3]


@pytest.mark.parametrize("options", [{}, {"last_relu": True}, {"intercepts": True}])
@pytest.mark.parametrize("blocks", [0, 1, 3])
@pytest.mark.parametrize("kind", ["lc", "ll", "film"])
def test_slopes_are_those_of_autograd(kind, blocks, options):
    network = random_network(replace(shape_of(kind, blocks=blocks), **options))
    x, _, _ = random_rows(network.shape)
    rows = network.without_task(x).unflatten(0, (8, 5))  # eight blocks of five rows
    beta = torch.randn(8, network.task_parameters.shape[1], dtype=torch.float64)
    each = beta[:, None].expand(-1, 5, -1).clone().requires_grad_()
    value = network.joined(rows, network.brought(each))
    (expected,) = torch.autograd.grad(value.sum(), each)
    found, slope = network.value_and_slope(rows, beta, network.brought(beta))
    assert torch.allclose(slope, expected, rtol=1e-12, atol=1e-12)
    assert torch.allclose(found, value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["lc", "ll", "film"])
def test_predictions_in_parts_are_the_predictions(kind):
    network = random_network(replace(shape_of(kind), intercepts=True))
    x, task, _ = random_rows(network.shape)
    brought = network.brought(network.task_parameters[task])
    parts = network.joined(network.without_task(x), brought)
    assert torch.allclose(parts, network.predict(x, task), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block_rows", [1, 4, 10, 1024])
def test_objective_is_the_textbook_loop(world, monkeypatch, block_rows):
    monkeypatch.setattr(objective_module, "BLOCK_ROWS", block_rows)
    made = world(COUNTS)
    problem = made.problem()
    beta = np.random.default_rng(1).normal(size=(len(COUNTS), 3, 2))
    found = problem.objective(beta)
    expected = [[made.textbook(j, point) for point in points] for j, points in enumerate(beta)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(problem.objective(beta[:, 1]), found[:, 1], rtol=1e-10)
    task = np.arange(len(COUNTS)).repeat(3)
    local = problem.local(task, beta.reshape(-1, 2))
    np.testing.assert_allclose(local.objective, found.ravel(), rtol=1e-10)


def test_gradient_is_that_of_the_objective(world):
    made = world(COUNTS, size=3)
    problem, task = made.problem(), np.arange(len(COUNTS))
    beta = np.random.default_rng(2).normal(size=(len(COUNTS), 3))
    gradient = 2 * problem.local(task, beta).half_gradient
    for axis in np.eye(3) * 1e-6:
        change = problem.at(task, beta + axis) - problem.at(task, beta - axis)
        np.testing.assert_allclose(change / 2e-6, gradient @ axis / 1e-6, rtol=1e-4, atol=1e-5)


def test_precision_is_half_the_hessian(world):
    made = world(COUNTS, blocks=0)
    problem, task = made.problem(), np.arange(len(COUNTS))
    beta = np.zeros((len(COUNTS), 2))
    local = problem.local(task, beta)
    for axis in np.eye(2):
        change = problem.local(task, beta + axis).half_gradient - local.half_gradient
        np.testing.assert_allclose(change, local.precision @ axis, rtol=1e-9, atol=1e-9)


def test_thinned_problem_estimates_the_full_one(world):
    made = world([200, 3, 0])
    full, thin = made.problem(), made.problem().thinned(50)
    assert thin.counts.tolist() == [50, 3, 0]
    beta = np.random.default_rng(3).normal(size=(3, 2))
    assert thin.objective(beta)[0] == pytest.approx(full.objective(beta)[0], rel=0.5)
    np.testing.assert_array_equal(thin.objective(beta)[1:], full.objective(beta)[1:])
    assert full.thinned(200) is full


def test_thinned_rows_are_evenly_spaced_and_weigh_as_much_as_all(world):
    counts = [9, 7, 0, 1]
    made = world(counts)
    thin = made.problem().thinned(3)
    beta = np.random.default_rng(5).normal(size=(len(counts), 2))
    found = thin.objective(beta)
    for task, count in enumerate(counts):
        own = torch.nonzero(made.rows.task == task)[:, 0]
        kept = min(count, 3)
        rows = own[torch.arange(kept) * count // max(kept, 1)]
        picked = Tensors(made.rows.x[rows], torch.zeros(kept, dtype=torch.int64), made.rows.y[rows])
        noise = NOISE * kept / count if count else NOISE
        expected = Problem(made.network, picked, 1, noise, made.prior).objective(beta[task][None])
        np.testing.assert_allclose(found[task], expected[0], rtol=1e-12)


def test_a_rectangle_is_as_large_as_the_block_allows():
    def cut(*counts):
        parts = objective_module._rectangles(np.array(counts, dtype=np.int64), 10)
        return [list(range(begin, end)) for begin, end in parts]

    assert cut(1, 2, 3, 4, 20) == [[0, 1, 2], [3], [4]]
    assert cut(5, 5) == [[0, 1]]
    assert cut(5, 5, 5, 5) == [[0, 1], [2, 3]]
    assert cut() == []


def test_an_inverse_is_symmetric_to_the_last_bit():
    roots = np.random.default_rng(6).normal(size=(5, 4, 4))
    matrices = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(4)
    found = objective_module.inverse(matrices)
    np.testing.assert_array_equal(found, found.swapaxes(1, 2))
    np.testing.assert_allclose(found @ matrices, np.broadcast_to(np.eye(4), (5, 4, 4)), atol=1e-9)


def test_the_ridge_of_the_prior_is_a_millionth_of_the_mean_variance():
    beta = np.random.default_rng(7).normal(size=(9, 3)) * [1.0, 5.0, 20.0]
    covariance = np.cov(beta.T)
    ridge = 1e-6 * np.trace(covariance) / 3
    expected = covariance + ridge * np.eye(3)
    np.testing.assert_allclose(Prior.of(beta).covariance, expected, rtol=1e-14)
    off = np.diag(Prior.of(beta).covariance - covariance)
    np.testing.assert_allclose(off, ridge, rtol=1e-6)
    assert Prior.of(np.ones((2, 1))).covariance == 1e-12


def test_prior_is_the_covariance_of_the_base_tasks():
    beta = np.random.default_rng(4).normal(size=(40, 3)) @ np.diag([1, 2, 3]) + 5
    prior = Prior.of(torch.from_numpy(beta))
    np.testing.assert_allclose(prior.covariance, np.cov(beta.T), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(prior.precision @ prior.covariance, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(prior.root @ prior.root.T, prior.covariance, rtol=1e-12)


@pytest.mark.parametrize("beta", [np.eye(8)[:3], np.zeros((5, 2)), np.arange(6.0)[:, None]])
def test_prior_is_always_invertible(beta):
    prior = Prior.of(beta)
    assert np.isfinite(prior.precision).all()
    assert (np.linalg.eigvalsh(prior.covariance) > 0).all()


def test_mistakes_are_named(world):
    made = world(COUNTS)
    with pytest.raises(ValueError, match="at least two tasks"):
        Prior.of(made.base[:1])
    with pytest.raises(ValueError, match="noise variance must be positive"):
        Problem(made.network, made.rows, len(COUNTS), 0.0, made.prior)
    with pytest.raises(ValueError, match="task 4 is not one of 2"):
        Problem(made.network, made.rows, 2, 0.1, made.prior)
    shape = Shape("fs", 2, 1, 4, 1)
    other = Network.initial(shape, torch.Generator(), torch.device("cpu"))
    with pytest.raises(ValueError, match="has no task parameters"):
        Problem(other, Tensors(*[torch.zeros(0)] * 3), 1, 0.1, made.prior)
