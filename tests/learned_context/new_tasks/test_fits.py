from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from learned_context.new_tasks import gauss_newton, lipo

COUNTS = [5, 40, 1, 0, 12, 100]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_gauss_newton_finds_what_many_searches_find(world, size):
    made = world(COUNTS, size=size)
    found = gauss_newton.fit(made.problem(), made.base)
    for j in range(len(COUNTS)):
        alone = made.problem([j])

        def with_gradient(beta, problem=alone):
            local = problem.local(np.zeros(1, dtype=np.int64), beta[None])
            return local.objective[0], 2 * local.half_gradient[0]

        best = min(minimize(with_gradient, start, jac=True).fun for start in made.base[:8])
        assert found.objective[j] < best + 0.02


def test_results_are_consistent_and_best_first(world):
    made = world(COUNTS)
    problem = made.problem()
    found = gauss_newton.fit(problem, made.base)
    assert (np.diff(found.objectives, axis=1) >= 0).all()
    local = problem.local(np.arange(len(COUNTS)), found.beta)
    np.testing.assert_allclose(local.objective, found.objective, rtol=1e-10)
    np.testing.assert_allclose(local.precision, found.precision, rtol=1e-10)


def test_a_task_without_rows_gets_the_prior(world):
    made = world(COUNTS)
    found = gauss_newton.fit(made.problem(), made.base)
    np.testing.assert_allclose(found.beta[3], 0, atol=1e-12)
    np.testing.assert_allclose(found.precision[3], made.prior.precision, rtol=1e-12)


def test_a_task_is_fitted_alike_alone_and_with_others(world):
    made = world(COUNTS)
    together = gauss_newton.fit(made.problem(), made.base)
    for j in range(len(COUNTS)):
        alone = gauss_newton.fit(made.problem([j]), made.base)
        np.testing.assert_allclose(alone.beta[0], together.beta[j], rtol=1e-6, atol=1e-6)


def test_a_linear_network_has_its_closed_form(world):
    """Without residual blocks the fit is Bayesian linear regression."""
    made = world([6, 1, 50], size=3, blocks=0)
    found = gauss_newton.fit(made.problem(), made.base)
    views = made.network.views
    slope = (views["W2"] @ views["L"]).numpy()[0]
    for j, count in enumerate(made.counts):
        rows = made.rows.task == j
        x, y = made.rows.x[rows], made.rows.y[rows]
        residual = (y - made.output(x, torch.zeros(count, 3, dtype=x.dtype))).numpy()
        design = np.tile(slope, (count, 1))
        precision = design.T @ design / made.problem().noise + np.linalg.inv(made.prior.covariance)
        expected = np.linalg.solve(precision, design.T @ residual / made.problem().noise)
        np.testing.assert_allclose(found.precision[j], precision, rtol=1e-9)
        step = found.beta[j] - expected
        # Descents end when they promise less than the tolerance, here of an exact model.
        assert step @ precision @ step < gauss_newton.Effort.tolerance


@pytest.mark.parametrize("base", [2, 3])
def test_fewer_base_tasks_than_parameters(world, base):
    made = world(COUNTS, size=8, base=base)
    found = gauss_newton.fit(made.problem(), made.base)
    assert np.isfinite(found.beta).all()
    assert (found.objective <= made.problem().objective(np.zeros((len(COUNTS), 8))) + 1e-9).all()
    assert np.isfinite(lipo.fit(made.problem(), made.base, 5).objective).all()


def test_an_unused_parameter_stays_at_zero(world):
    made = world(COUNTS, size=2)
    base = made.base * [1, 0]
    made.prior = gauss_newton.Prior.of(base)
    assert (np.abs(gauss_newton.fit(made.problem(), base).beta[:, 1]) < 0.05).all()
    lower, upper = lipo.box(base, np.zeros(base.shape[1]))
    assert (upper > lower).all()


def test_no_tasks_and_no_rows(world):
    made = world([0, 0])
    assert (gauss_newton.fit(made.problem(), made.base).beta == 0).all()
    assert gauss_newton.fit(world([]).problem(), made.base).beta.shape == (0, 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_same_bits_twice(world, dtype):
    made = world(COUNTS, size=4, dtype=dtype)
    first, second = (gauss_newton.fit(made.problem(), made.base) for _ in range(2))
    assert (first.ends == second.ends).all()
    assert (first.objectives == second.objectives).all()
    assert (first.precisions == second.precisions).all()
    one, two = (lipo.fit(made.problem(), made.base, 20, seed=3) for _ in range(2))
    assert (one.beta == two.beta).all()
    assert (one.beta != lipo.fit(made.problem(), made.base, 20, seed=9).beta).any()


def test_float32_is_precise_enough(world):
    single, double = (world(COUNTS, dtype=kind) for kind in (torch.float32, torch.float64))
    fits = [gauss_newton.fit(made.problem(), made.base) for made in (single, double)]
    np.testing.assert_allclose(fits[0].objective, fits[1].objective, atol=0.02)


def test_lipo_approaches_the_minimum_in_one_dimension(world):
    made = world([5, 40, 1], size=1)
    exact = gauss_newton.fit(made.problem(), made.base)
    found = lipo.fit(made.problem(), made.base, 60)
    np.testing.assert_allclose(found.objective, made.problem().objective(found.beta), rtol=1e-9)
    assert (found.objective < exact.objective + 0.1).all()


def test_a_search_does_not_depend_on_the_other_tasks(world):
    made = world(COUNTS)
    together = lipo.fit(made.problem(), made.base, 30)
    first = lipo.fit(made.problem([0]), made.base, 30)
    np.testing.assert_allclose(first.beta[0], together.beta[0], atol=1e-6)


def test_the_box_holds_all_base_tasks_and_zero():
    base = np.random.default_rng(5).normal(3, 0.1, size=(30, 2))
    base[0] = [9, 3]
    lower, upper = lipo.box(base, np.zeros(base.shape[1]))
    assert (lower <= np.vstack([base, [0, 0]])).all()
    assert (upper >= base).all()
