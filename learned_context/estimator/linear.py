"""A linear mixed model, fitted by expectation maximisation.

y = fixed . [1, x] + theta_j . [1, x of the slopes] + noise, with theta_j ~ N(0, diag(variances)).
The variances of intercepts and slopes are estimated from all tasks, so a task with few rows is
drawn towards the mean task as far as the data say. Where the target is close to linear and noisy
no network is better; there this voice gets the weight in the ensemble.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from learned_context.estimator.voices import LinearVoice
from learned_context.new_tasks.objective import Floats, inverse
from learned_context.training.data import Tensors

STEPS = 40
"""Few: the variances of slopes that the data do not determine would go on growing."""
LEAST_VARIANCE = 1e-8
"""In units of the target's variance."""
MOST_NUMBERS = 10_000_000
"""In all tasks' matrices: with more, only the intercept varies by task."""


def fit(rows: Tensors, tasks: int, slopes: NDArray[np.int64]) -> LinearVoice:
    """`slopes` are the features whose slope varies by task."""
    if tasks * (len(slopes) + 1) * (rows.x.shape[1] + 1) > MOST_NUMBERS:
        slopes = slopes[:0]
    sums = Sums(rows, tasks, slopes)
    noise, variances = 0.5, np.full(len(slopes) + 1, 0.3)
    # A standard normal prior on the fixed slopes: columns may be collinear.
    ridge = np.diag([0.0, *np.ones(rows.x.shape[1])])
    for _ in range(STEPS):
        fixed, theta, covariance, left = solve(sums, noise, np.diag(variances), ridge)
        squared = sums.yy - 2 * fixed @ sums.fy + fixed @ sums.ff @ fixed
        squared += np.einsum("ti,tij,tj->", theta, sums.zz, theta) - 2 * np.sum(theta * left)
        squared += np.einsum("tij,tij->", sums.zz, covariance)
        spread = (theta**2 + np.einsum("tii->ti", covariance)).mean(axis=0)
        variances = np.maximum(spread, LEAST_VARIANCE)
        noise = max(float(squared) / len(rows), LEAST_VARIANCE)
    fixed_ = torch.from_numpy(fixed).to(rows.x.device)
    return LinearVoice(noise, theta[None], fixed_, np.diag(variances), slopes)


class Solution(NamedTuple):
    """Coefficients by their posterior, given the variances."""

    fixed: Floats
    theta: Floats
    covariance: Floats
    """Of every task's theta."""
    left: Floats
    """Every task's sum of z times what the fixed effects leave of y."""


def solve(sums: Sums, noise: float, prior: Floats, ridge: Floats) -> Solution:
    """`prior` is the covariance of theta, `ridge` the precision of the fixed effects."""
    covariance = inverse(sums.zz / noise + inverse(prior))
    # Fixed effects with the tasks' integrated out: generalised least squares.
    weighed = covariance @ sums.zf / noise**2
    matrix = sums.ff / noise - np.tensordot(sums.zf, weighed, axes=((0, 1), (0, 1))) + ridge
    fixed = np.linalg.solve(matrix, sums.fy / noise - np.einsum("tij,ti->j", weighed, sums.zy))
    left = sums.zy - sums.zf @ fixed
    return Solution(fixed, np.einsum("tij,tj->ti", covariance, left) / noise, covariance, left)


class Sums:
    """What the fit needs of the rows: sums of products over all rows and over every task's."""

    def __init__(self, rows: Tensors, tasks: int, slopes: NDArray[np.int64]) -> None:
        task = rows.task.cpu().numpy()
        order = np.argsort(task, kind="stable")
        x, y = rows.x.double().cpu().numpy()[order], rows.y.double().cpu().numpy()[order]
        f = np.column_stack([np.ones(len(x)), x])
        z = f[:, [0, *(slopes + 1)]]
        self.ff, self.fy, self.yy = f.T @ f, f.T @ y, float(y @ y)
        counts = np.bincount(task, minlength=tasks)
        begins = np.cumsum(counts) - counts
        self.zf = np.stack([_by_task(f * column[:, None], begins, counts) for column in z.T], 1)
        self.zz = self.zf[:, :, [0, *(slopes + 1)]]
        self.zy = _by_task(z * y[:, None], begins, counts)


def _by_task(values: Floats, begins: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    """Sums over the rows of every task; rows are in the tasks' order."""
    sums = np.zeros((len(counts), values.shape[1]))
    has_rows = counts > 0
    sums[has_rows] = np.add.reduceat(values, begins[has_rows], axis=0)
    return sums
