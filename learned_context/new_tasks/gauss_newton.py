"""The MAP estimate of all hold-out tasks at once: damped Gauss-Newton from several starts.

The objective (Equation 21) is a sum of squares in very few unknowns, but has several minima.
So: score the base group's task parameters and quasi-random points on a few rows of every task,
keep good ones that lie apart as starts, and descend from all of them together
(Levenberg-Marquardt). One pass through the network gives a point's value and its derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import norm, qmc

from learned_context.new_tasks.objective import Floats, Ints, Local, Prior, Problem
from learned_context.training.trainer import one_thread

FIRST_DAMPING = 1e-2
MORE, LESS = 8.0, 0.1
"""Factors on the damping after a step that failed, and after one that kept its promise."""
SAME_POINT = 0.1
"""Squared distance, in posterior standard deviations, below which two descents are one."""
HOPELESS = 20.0
"""A minimum this much above the best has less than exp(-10) of its posterior density."""


@dataclass(frozen=True)
class Effort:
    """How hard to look for the global minimum."""

    candidates: int = 128
    """Quasi-random points, and at most as many base tasks again."""
    rows: int = 12
    """Rows of every task on which the candidates are scored."""
    starts: int = 8
    steps: int = 20
    tolerance: float = 1e-3
    """A descent ends when its next step promises less than this."""
    seed: int = 0


class Differentiable(Protocol):
    """What a descent needs of a problem."""

    def local(self, task: Ints, beta: Floats) -> Local: ...


@dataclass(frozen=True)
class Fit:
    """Where the descents ended, best first: S of them for each of T tasks."""

    ends: Floats
    """[T, S, d]"""
    objectives: Floats
    """[T, S]"""
    precisions: Floats
    """[T, S, d, d]: J^T J / s^2 + D^-1."""

    @property
    def beta(self) -> Floats:
        """The estimates [T, d]."""
        return self.ends[:, 0]

    @property
    def objective(self) -> Floats:
        return self.objectives[:, 0]

    @property
    def precision(self) -> Floats:
        return self.precisions[:, 0]


def fit(problem: Problem, base: Any, effort: Effort | None = None) -> Fit:
    """Minimise Equation 21 for every task; `base` are the base group's task parameters [m, d]."""
    effort = effort or Effort()
    with one_thread(problem.device), torch.no_grad():
        points = candidates(np.asarray(base, dtype=np.float64), problem.prior, effort)
        starts = choose_starts(problem, points, effort)
        return descend(problem, points[starts], effort)


def candidates(base: Floats, prior: Prior, effort: Effort) -> Floats:
    """The prior's mean, base tasks, and Sobol points that have the prior's distribution."""
    if len(base) > effort.candidates:
        random = np.random.default_rng(effort.seed)
        base = base[np.sort(random.choice(len(base), effort.candidates, replace=False))]
    size = base.shape[1]
    power = max(effort.candidates - 1, 0).bit_length()  # Sobol points come in powers of two
    uniform = qmc.Sobol(size, rng=effort.seed).random_base2(power)[: effort.candidates]
    normal = norm.ppf(np.clip(uniform, 1e-6, 1 - 1e-6))
    return np.concatenate([prior.mean[None], base, normal @ prior.root.T + prior.mean])


def choose_starts(problem: Problem, points: Floats, effort: Effort) -> Ints:
    """For every task the numbers [T, S] of the best points that are not neighbours."""
    everywhere = np.broadcast_to(points, (problem.tasks, *points.shape))
    scores = problem.thinned(effort.rows).objective(everywhere)
    return apart(points, scores, problem.prior.root, effort.starts)


def apart(points: Floats, scores: Floats, root: Floats, starts: int) -> Ints:
    """The numbers [T, S] of points with low scores [T, N] that are not neighbours."""
    scores, starts = scores.copy(), min(starts, len(points))
    # A start rules out the points nearest to it (in the prior's units, itself included), but
    # only enough for all starts together to rule out half of them.
    white = np.linalg.solve(root, points.T).T
    distance = ((white[:, None] - white[None]) ** 2).sum(axis=2)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, : max(1, len(points) // (2 * starts))]
    chosen = np.empty((len(scores), starts), dtype=np.int64)
    for index in range(starts):
        chosen[:, index] = scores.argmin(axis=1)
        np.put_along_axis(scores, nearest[chosen[:, index]], np.inf, axis=1)
    return chosen


def descend(problem: Differentiable, starts: Floats, effort: Effort) -> Fit:
    """Levenberg-Marquardt from starts [T, S, d], every descent with its own damping."""
    tasks, count, size = starts.shape
    task = np.repeat(np.arange(tasks), count)
    beta = starts.reshape(-1, size)
    here = problem.local(task, beta)
    damping = np.full(len(task), FIRST_DAMPING)
    active = np.ones(len(task), dtype=bool)
    for _ in range(effort.steps):
        step = _step(here, damping)
        promise = -np.einsum("pi,pi->p", here.half_gradient, step)
        active &= promise > effort.tolerance
        active &= _worthwhile(beta, here, promise, count)
        index = np.flatnonzero(active)
        if not len(index):
            break
        there = problem.local(task[index], beta[index] + step[index])
        gain = (here.objective[index] - there.objective) / promise[index]
        falls = gain > 0
        moved = index[falls]
        beta[moved] += step[moved]
        here.objective[moved] = there.objective[falls]
        here.half_gradient[moved] = there.half_gradient[falls]
        here.precision[moved] = there.precision[falls]
        # A ReLU network's kinks break promises: then shorter steps, even when the last one fell.
        damping[index] *= np.select([gain > 0.75, gain > 0.25, falls], [LESS, 1, MORE**0.5], MORE)
    order = np.argsort(here.objective.reshape(tasks, count), axis=1, kind="stable")
    best_first = (order + count * np.arange(tasks)[:, None]).ravel()
    return Fit(
        ends=beta[best_first].reshape(tasks, count, size),
        objectives=here.objective[best_first].reshape(tasks, count),
        precisions=here.precision[best_first].reshape(tasks, count, size, size),
    )


def _step(here: Local, damping: Floats) -> Floats:
    """Solve (H + damping diag H) step = -g."""
    matrix = here.precision.copy()
    np.einsum("pii->pi", matrix)[:] *= 1 + damping[:, None]
    step = np.linalg.solve(matrix, -here.half_gradient[..., None])[..., 0]
    return np.asarray(step, dtype=np.float64)


def _worthwhile(beta: Floats, here: Local, promise: Floats, count: int) -> NDArray[np.bool_]:
    """Not the descents that met a better one of their task, nor those that cannot catch up."""
    size = beta.shape[1]
    points = beta.reshape(-1, count, size)
    objective = here.objective.reshape(-1, count)
    apart = points[:, :, None] - points[:, None]
    metric = here.precision.reshape(-1, count, size, size)
    distance = np.einsum("tabi,tbij,tabj->tab", apart, metric, apart, optimize=True)
    is_better = objective[:, None] < objective[:, :, None]
    met = ((distance < SAME_POINT) & is_better).any(axis=2)
    in_reach = objective - 3 * promise.reshape(-1, count)
    lost = in_reach > objective.min(axis=1, keepdims=True) + HOPELESS
    return ~(met | lost).ravel()
