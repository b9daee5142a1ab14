"""The linear baselines, by statsmodels: linear regression and the varying-intercept model.

Equation 7: y = a.x + b + beta_j with beta_j ~ N(0, sigma^2). Features are standardised first,
which changes no prediction and keeps the likelihood's optimisation well conditioned.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray
from statsmodels.tools.sm_exceptions import ConvergenceWarning, SingularMatrixWarning

from learned_context.rows import Rows
from learned_context.scaling import Scaler


@dataclass(frozen=True)
class Linear:
    """Slopes and an intercept, and for the mixed model one more intercept a task."""

    scaler: Scaler
    columns: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    converged: bool = True

    def predict(self, rows: Rows) -> NDArray[np.float64]:
        design = _design(rows, self.scaler, self.columns)
        return np.asarray(
            (design @ self.coefficients + self.intercepts[rows.task]) * self.scaler.y_std
            + self.scaler.y_mean
        )


def fit_regression(rows: Rows, tasks: int) -> Linear:
    """Linear regression on all rows, the task ignored."""
    scaler = Scaler.fit(rows)
    columns = _independent_columns(rows, scaler)
    target = (rows.y - scaler.y_mean) / scaler.y_std
    result = sm.OLS(target, _design(rows, scaler, columns)).fit()
    return Linear(scaler, columns, np.asarray(result.params), np.zeros(tasks))


def fit_mixed(rows: Rows, tasks: int) -> Linear:
    """The mixed-effect model by restricted maximum likelihood; unseen tasks get intercept 0."""
    scaler = Scaler.fit(rows)
    columns = _independent_columns(rows, scaler)
    target = (rows.y - scaler.y_mean) / scaler.y_std
    model = sm.MixedLM(target, _design(rows, scaler, columns), groups=rows.task)
    with warnings.catch_warnings():
        # A boundary or slow optimum is reported by `converged`, not by a warning.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", SingularMatrixWarning)
        result = model.fit(reml=True)
    intercepts = np.zeros(tasks)
    if np.asarray(result.cov_re).item() > 0:  # statsmodels refuses to predict effects that are zero
        for task, effect in result.random_effects.items():
            intercepts[int(task)] = float(np.asarray(effect)[0])
    return Linear(scaler, columns, np.asarray(result.fe_params), intercepts, bool(result.converged))


def _design(rows: Rows, scaler: Scaler, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    x = (rows.x - scaler.x_mean) / scaler.x_std
    return np.column_stack([np.ones(len(rows)), x[:, columns]])


def _independent_columns(rows: Rows, scaler: Scaler) -> NDArray[np.int64]:
    """Columns that add to the intercept and those before them: one-hot columns sum to one."""
    x = (rows.x - scaler.x_mean) / scaler.x_std
    # The Gram matrix decides in d^3 rather than n d^2, however many rows there are.
    gram = x.T @ x / len(x)
    kept: list[int] = []
    for column in range(x.shape[1]):
        trial = [*kept, column]
        if np.linalg.matrix_rank(gram[np.ix_(trial, trial)], tol=1e-9, hermitian=True) == len(
            trial
        ):
            kept = trial
    return np.asarray(kept, dtype=np.int64)
