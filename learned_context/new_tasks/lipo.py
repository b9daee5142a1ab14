"""The paper's optimiser for hold-out tasks: one LIPO search (dlib) for each task.

The paper gives neither the box nor the number of evaluations. The box is the base group's mean
plus and minus three standard deviations, widened to hold every base task and the prior's mean.
The solver is given the objective itself, as the paper writes it: on the frequency dataset its
logarithm helped with many rows and hurt with few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from learned_context.new_tasks.objective import Floats, Problem
from learned_context.search.solver import Maximiser
from learned_context.training.trainer import one_thread

SAMPLES = 1000
"""The network evaluates the points of many tasks at once, so most of the time is the solver's:
with dlib's own 5000 samples it is several times as slow, and finds no better points
(benchmarks/lipo_samples.py)."""
NARROWEST = 1e-3
"""A side of the box is no shorter: dlib refuses equal bounds (a parameter that is not used)."""


@dataclass(frozen=True)
class Found:
    """The best point [T, d] of every task's search, and its objective [T]."""

    beta: Floats
    objective: Floats


def fit(
    problem: Problem, base: Any, evaluations: int, seed: int = 0, samples: int = SAMPLES
) -> Found:
    """Minimise Equation 21 for every task; `base` are the base group's task parameters [m, d].

    The searches are independent, task j's seed being `seed` + j, but go in step: what they ask
    for passes the network together.
    """
    lower, upper = box(np.asarray(base, dtype=np.float64), problem.prior.mean)
    corners = lower.tolist(), upper.tolist()
    solvers = [Maximiser(*corners, seed + j, samples=samples) for j in range(problem.tasks)]
    best = Found(np.zeros((problem.tasks, len(lower))), np.full(problem.tasks, np.inf))
    with one_thread(problem.device), torch.no_grad():
        for _ in range(evaluations):
            asked = [solver.ask() for solver in solvers]
            beta = np.array([point for point, _ in asked]).reshape(best.beta.shape)
            objective = problem.objective(beta)
            for (_, answer), value in zip(asked, objective.tolist(), strict=True):
                answer(-value)
            better = objective < best.objective
            best.beta[better], best.objective[better] = beta[better], objective[better]
    return best


def box(base: Floats, prior_mean: Floats) -> tuple[Floats, Floats]:
    """The corners of the searches' box."""
    mean, spread = base.mean(axis=0), 3 * base.std(axis=0)
    held = np.vstack([base, prior_mean, mean - spread, mean + spread])
    lower, upper = held.min(axis=0), held.max(axis=0)
    lack = np.maximum(NARROWEST - (upper - lower), 0) / 2
    return lower - lack, upper + lack
