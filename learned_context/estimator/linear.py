"""Linear mixed models: their variances are those that make the rows most likely.

y = fixed . [1, x] + theta_j . [1, x of the slopes] + noise, with theta_j ~ N(0, covariance). The
variances of intercepts and slopes are found from all tasks, so a task with few rows is drawn
towards the mean task as far as the data say. Where the target is close to linear and noisy no
network is better; there this voice gets the weight in the ensemble.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from learned_context.estimator.voices import LinearVoice
from learned_context.new_tasks.objective import Floats, inverse
from learned_context.training.data import Tensors
from learned_context.training.devices import one_thread

INTERCEPT, SLOPE, NOISE = (np.log(0.2), 1.0), (np.log(0.01), 1.5), (np.log(0.1), 1.5)
"""Priors of the variances' logarithms, centre and spread, in units of the target's variance."""
INTERCEPT_VARIANCE = 9.0
"""Of the mean's intercept: next to no prior."""
STEPS = 40
"""Of the search for the variances, at most."""
BOUND = 6.0
"""Of the logarithms, in spreads from the centre."""
PRIOR_TASKS = 15
"""How many tasks it takes to outweigh that what they differ in is uncorrelated."""
COVARIANCE_STEPS = 6
"""Of expectation maximisation."""
MOST_NUMBERS = 10_000_000
"""In all tasks' matrices: with more, only the intercept varies by task."""


def fit(rows: Tensors, tasks: int, slopes: NDArray[np.int64]) -> LinearVoice:
    """`slopes` are the features whose slope varies by task."""
    features = rows.x.shape[1]
    if tasks * (len(slopes) + 1) * (features + 1) > MOST_NUMBERS:
        slopes = slopes[:0]
    sums = Sums(rows, tasks, slopes)
    mean = np.array([INTERCEPT_VARIANCE, *np.ones(features)])
    centre, spread = np.array([INTERCEPT, *[SLOPE] * len(slopes), NOISE]).T
    of_mean, moments = torch.from_numpy(np.sqrt(mean)), sums.moments()

    def objective(logs: Tensor) -> Tensor:
        variances = torch.exp(logs)
        return minus_log_likelihood(
            moments.scaled(of_mean, torch.sqrt(variances[:-1])), variances[-1]
        )

    with one_thread(torch.device("cpu")):
        *own, noise = np.exp(most_likely(objective, centre, spread, centre, STEPS))
    covariance, solved = correlated(sums, float(noise), np.diag(own), np.diag(1 / mean))
    fixed = torch.from_numpy(solved.fixed).to(rows.x.device)
    return LinearVoice(float(noise), solved.theta[None], fixed, covariance, slopes)


def most_likely(
    minus_log: Callable[[Tensor], Tensor], centre: Floats, spread: Floats, start: Floats, steps: int
) -> Floats:
    """The logarithms of variances and lengths with normal priors that the data support most."""

    def objective(logs: Floats) -> tuple[float, Floats]:
        leaf = torch.from_numpy(logs).requires_grad_()
        far = (leaf - torch.from_numpy(centre)) / torch.from_numpy(spread)
        try:
            value = minus_log(leaf) + far.square().sum() / 2
        except torch.linalg.LinAlgError:  # far from everything; the line search turns back
            return 1e10, np.zeros_like(logs)
        (slope,) = torch.autograd.grad(value, leaf)
        return value.item(), slope.numpy()

    low, high = (centre + sign * BOUND * spread for sign in (-1, 1))
    bounds = list(zip(low, high, strict=True))
    options = {"maxiter": steps}
    return np.asarray(
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    )


class Moments(NamedTuple):
    """Sums of products: f are the mean's columns, z those of a task, both over y."""

    zz: Tensor
    """[tasks, q, q]"""
    zf: Tensor
    zy: Tensor
    ff: Tensor
    fy: Tensor
    yy: Tensor
    rows: int

    def scaled(self, mean: Tensor, own: Tensor) -> Moments:
        """Of columns times these deviations: then all coefficients are standard normal."""
        return Moments(
            self.zz * own[:, None] * own,
            self.zf * own[:, None] * mean,
            self.zy * own,
            self.ff * mean[:, None] * mean,
            self.fy * mean,
            self.yy,
            self.rows,
        )


def minus_log_likelihood(sums: Moments, noise: Tensor) -> Tensor:
    """Of the rows, with all coefficients integrated out; these are standard normal."""
    # A task's coefficients first: Woodbury's identity.
    lower = torch.linalg.cholesky(sums.zz / noise + torch.eye(sums.zz.shape[1]).to(sums.zz))
    right = torch.cat([sums.zf, sums.zy[..., None]], 2)
    left = torch.linalg.solve_triangular(lower, right, upper=False) / noise
    lf, ly = left[..., :-1], left[..., -1]
    # Then the mean's.
    matrix = sums.ff / noise - torch.einsum("tqi,tqj->ij", lf, lf)
    matrix_lower = torch.linalg.cholesky(matrix + torch.eye(len(matrix)).to(matrix))
    vector = sums.fy / noise - torch.einsum("tqi,tq->i", lf, ly)
    whitened = torch.linalg.solve_triangular(matrix_lower, vector[:, None], upper=False)
    squared = sums.yy / noise - ly.square().sum() - whitened.square().sum()
    volume = _log_diagonal(lower) + _log_diagonal(matrix_lower)
    return squared / 2 + volume + sums.rows * noise.log() / 2


def _log_diagonal(lower: Tensor) -> Tensor:
    return torch.diagonal(lower, dim1=-2, dim2=-1).log().sum()


def correlated(sums: Sums, noise: float, prior: Floats, ridge: Floats) -> tuple[Floats, Solution]:
    """The covariance of what tasks differ in, by expectation maximisation from uncorrelated.

    A task that is ahead mostly grows faster, too: then one row tells of the whole line or curve.
    """
    covariance, solved = prior, solve(sums, noise, prior, ridge)
    for _ in range(COVARIANCE_STEPS):
        spread = solved.theta.T @ solved.theta + solved.covariance.sum(axis=0)
        spread = (spread + spread.T) / 2
        covariance = (PRIOR_TASKS * prior + spread) / (PRIOR_TASKS + len(solved.theta))
        solved = solve(sums, noise, covariance, ridge)
    return covariance, solved


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
        self.rows = len(y)

    def moments(self) -> Moments:
        tensor = torch.from_numpy
        by_task = tensor(self.zz), tensor(self.zf), tensor(self.zy)
        return Moments(
            *by_task, tensor(self.ff), tensor(self.fy), torch.tensor(self.yy).double(), self.rows
        )


def _by_task(values: Floats, begins: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    """Sums over the rows of every task; rows are in the tasks' order."""
    sums = np.zeros((len(counts), values.shape[1]))
    has_rows = counts > 0
    sums[has_rows] = np.add.reduceat(values, begins[has_rows], axis=0)
    return sums
