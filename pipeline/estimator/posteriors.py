"""The tasks' posteriors: of the fitted tasks at their trained parameters, of new ones by MAP.

The shared network is frozen. For a learned-context network (lc) new tasks go through the hold-out
fit, which may find several modes. A last-layer network (ll) is linear in its task parameters,
y = beta . h(x), so with the fitted tasks' mean and covariance as prior the posterior is known
in closed form.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from pipeline.adaptation import gauss_newton, laplace
from pipeline.adaptation.gauss_newton import Effort
from pipeline.adaptation.laplace import Posterior
from pipeline.adaptation.objective import Floats, Ints, Prior, Problem, inverse
from pipeline.models.network import Network
from pipeline.training.data import Tensors
from pipeline.training.trainer import one_thread

BLOCK_ROWS = 100_000
"""Rows whose first layer is in memory at once."""
EFFORT = Effort(candidates=64, starts=6, steps=15)
"""Half of the study's. On the frequency data of benchmarks/estimator.py, one group held out, no
error or coverage differed by more than a percent."""
FORGOTTEN = 1e-4
"""Modes with less weight are dropped."""


class TaskPosteriors:
    """Posteriors of tasks by one frozen network; `base` are the fitted tasks' parameters."""

    def __init__(self, network: Network, base: Floats, noise: float) -> None:
        if len(base) < 2:
            raise ValueError(
                "the estimator was fitted on one task: there is no population of tasks from "
                "which a new one could be estimated"
            )
        self.network, self.base, self.noise = network, base, noise
        self.prior = Prior.of(base)

    def fitted(self, rows: Tensors) -> Posterior:
        """One Gaussian at the trained parameters of every task."""
        precisions = np.empty((len(self.base), *self.prior.covariance.shape))
        for tasks, part in _blocks(rows, len(self.base)):
            if self.network.shape.kind == "ll":
                precisions[tasks] = self._sums(part, len(tasks))[0] + self.prior.precision
            else:
                problem = Problem(self.network, part, len(tasks), self.noise, self.prior)
                with one_thread(problem.device), torch.no_grad():
                    local = problem.local(np.arange(len(tasks)), self.base[tasks])
                precisions[tasks] = local.precision
        means = self.base[:, None]
        return Posterior(np.ones(means.shape[:2]), means, inverse(precisions)[:, None])

    def new(self, rows: Tensors, tasks: int) -> Posterior:
        """The MAP of tasks 0, ..., `tasks` - 1, and every other mode that the rows leave."""
        found = [self._new(part, len(own)) for own, part in _blocks(rows, tasks)]
        return joined(found)

    def _new(self, rows: Tensors, tasks: int) -> Posterior:
        if self.network.shape.kind == "ll":
            squares, products = self._sums(rows, tasks)
            prior = self.prior.precision
            covariance = inverse(squares + prior)
            mean = np.einsum("tij,tj->ti", covariance, products + prior @ self.base.mean(axis=0))
            return Posterior(np.ones((tasks, 1)), mean[:, None], covariance[:, None])
        problem = Problem(self.network, rows, tasks, self.noise, self.prior)
        return _without_small_modes(laplace.mixture(gauss_newton.fit(problem, self.base, EFFORT)))

    def _sums(self, rows: Tensors, tasks: int) -> tuple[Floats, Floats]:
        """H^T H / s^2 and H^T y / s^2 of every task, where row i of H is h(x_i)."""
        with one_thread(rows.x.device), torch.no_grad():
            h = self.network.trunk_output(self.network.trunk_input(rows.x)).double().cpu()
        task, y = rows.task.cpu(), rows.y.double().cpu()
        size = h.shape[1]
        squares = torch.zeros(tasks, size, size, dtype=torch.float64)
        products = torch.zeros(tasks, size, dtype=torch.float64)
        for column in range(size):
            squares[:, column].index_add_(0, task, h * h[:, column, None])
        products.index_add_(0, task, h * y[:, None])
        return squares.numpy() / self.noise, products.numpy() / self.noise


def joined(parts: list[Posterior]) -> Posterior:
    """One posterior for all tasks; those with fewer modes get modes of weight zero."""
    modes = max(part.weights.shape[1] for part in parts)
    padded = [_padded(part, modes) for part in parts]
    return Posterior(
        np.concatenate([part.weights for part in padded]),
        np.concatenate([part.means for part in padded]),
        np.concatenate([part.covariances for part in padded]),
    )


def replaced(whole: Posterior, task: int, one: Posterior) -> Posterior:
    before, after = _part(whole, slice(None, task)), _part(whole, slice(task + 1, None))
    return joined([before, one, after])


def _part(posterior: Posterior, tasks: slice) -> Posterior:
    return Posterior(posterior.weights[tasks], posterior.means[tasks], posterior.covariances[tasks])


def _padded(posterior: Posterior, modes: int) -> Posterior:
    lack = modes - posterior.weights.shape[1]
    return Posterior(
        np.pad(posterior.weights, ((0, 0), (0, lack))),
        np.pad(posterior.means, ((0, 0), (0, lack), (0, 0))),
        np.pad(posterior.covariances, ((0, 0), (0, lack), (0, 0), (0, 0))),
    )


def _without_small_modes(posterior: Posterior) -> Posterior:
    """The modes by weight, the small ones dropped; the MAP estimate stays the first."""
    weights = np.where(posterior.weights < FORGOTTEN, 0, posterior.weights)
    # The first end has the highest density, if not always the most mass: it is kept in any case.
    weights[:, 0] = np.maximum(weights[:, 0], FORGOTTEN)
    weights /= weights.sum(axis=1, keepdims=True)
    order = np.argsort(weights[:, 1:] == 0, axis=1, kind="stable") + 1
    order = np.concatenate([np.zeros((len(order), 1), dtype=order.dtype), order], axis=1)
    kept = order[:, : int((weights > 0).sum(axis=1).max())]
    rows = np.arange(len(kept))[:, None]
    return Posterior(
        weights[rows, kept], posterior.means[rows, kept], posterior.covariances[rows, kept]
    )


def _blocks(rows: Tensors, tasks: int) -> Iterator[tuple[Ints, Tensors]]:
    """Whole tasks with their rows, in blocks that bound the memory, numbered from zero."""
    task = rows.task.cpu().numpy()
    counts = np.bincount(task, minlength=tasks)
    block = (np.cumsum(counts) - 1).clip(0) // BLOCK_ROWS
    order = np.argsort(task, kind="stable")
    ends = np.cumsum(counts)
    for number in np.unique(block):
        own = np.flatnonzero(block == number)
        start, stop = ends[own[0]] - counts[own[0]], ends[own[-1]]
        index = torch.from_numpy(order[start:stop]).to(rows.x.device)
        yield own, Tensors(rows.x[index], rows.task[index] - int(own[0]), rows.y[index])
