"""Linear regression against the normal equations, the mixed model against profile REML."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from learned_context.rows import Rows
from pipeline.models.linear import fit_mixed, fit_regression


def rows_with_intercepts(tasks=12, sigma=2.0, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(3, 30, tasks)
    task = np.repeat(np.arange(tasks), counts)
    x = rng.normal(5, 3, (len(task), 2))
    y = 1 + x @ [0.7, -0.3] + rng.normal(0, sigma, tasks)[task] + rng.normal(0, 0.5, len(task))
    return Rows(x, task, y)


def profile_reml(rows, tasks):
    """Coefficients and intercepts of the varying-intercept model, by a one-dimensional search."""
    design = np.column_stack([np.ones(len(rows)), rows.x])

    def weighted(ratio):  # ratio = sigma_beta^2 / sigma^2
        counts = np.bincount(rows.task, minlength=tasks)
        shrink = ratio / (1 + counts * ratio)
        sums = np.zeros((tasks, design.shape[1]))
        np.add.at(sums, rows.task, design)
        y_sums = np.bincount(rows.task, weights=rows.y, minlength=tasks)
        left = design.T @ design - (sums * shrink[:, None]).T @ sums
        right = design.T @ rows.y - (sums * shrink[:, None]).T @ y_sums
        coefficients = np.linalg.solve(left, right)
        residual = rows.y - design @ coefficients
        r_sums = np.bincount(rows.task, weights=residual, minlength=tasks)
        squares = residual @ residual - shrink @ r_sums**2
        freedom = len(rows) - design.shape[1]
        logs = np.log1p(counts * ratio).sum() + np.linalg.slogdet(left)[1]
        return logs + freedom * np.log(squares), coefficients, shrink * r_sums

    best = minimize_scalar(lambda z: weighted(np.exp(z))[0], bounds=(-10, 10), method="bounded")
    return weighted(np.exp(best.x))[1:]


def test_linear_regression_solves_the_normal_equations():
    rows = rows_with_intercepts()
    design = np.column_stack([np.ones(len(rows)), rows.x])
    expected = design @ np.linalg.lstsq(design, rows.y, rcond=None)[0]
    assert fit_regression(rows, 12).predict(rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("sigma", [0.3, 2.0])
def test_the_mixed_model_equals_profile_reml(sigma):
    rows = rows_with_intercepts(sigma=sigma)
    coefficients, intercepts = profile_reml(rows, 12)
    design = np.column_stack([np.ones(len(rows)), rows.x])
    expected = design @ coefficients + intercepts[rows.task]
    fitted = fit_mixed(rows, 12)
    assert fitted.converged
    assert fitted.predict(rows) == pytest.approx(expected, abs=2e-4)


def test_one_hot_columns_that_sum_to_one_do_no_harm():
    rows = rows_with_intercepts()
    level = np.arange(len(rows)) % 3
    with_levels = Rows(np.column_stack([np.eye(3)[level], rows.x]), rows.task, rows.y + level)
    design = np.column_stack([np.eye(3)[level], rows.x])
    expected = design @ np.linalg.lstsq(design, with_levels.y, rcond=None)[0]
    for fit in (fit_regression, fit_mixed):
        assert np.isfinite(fit(with_levels, 12).predict(with_levels)).all()
    assert fit_regression(with_levels, 12).predict(with_levels) == pytest.approx(expected)


def test_a_task_without_training_rows_gets_the_population_line():
    rows = rows_with_intercepts()
    seen = rows.take(rows.task != 4)
    unseen = Rows(np.zeros((1, 2)), np.array([4]), np.zeros(1))
    model = fit_mixed(seen, 12)
    assert model.intercepts[4] == 0
    assert np.isfinite(model.predict(unseen)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(10))
def test_tasks_that_do_not_differ_get_the_population_line(seed):
    """Their variance may be exactly zero, from which statsmodels predicts no effects."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(60, 2))
    rows = Rows(x, np.repeat([0, 1], 30), 3 * x[:, 0] + random.normal(0, 1, 60))
    model = fit_mixed(rows, 2)
    assert model.predict(rows) == pytest.approx(fit_regression(rows, 2).predict(rows), abs=0.2)
