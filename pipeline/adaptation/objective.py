"""The loss of hold-out tasks, for many tasks and many candidate parameters at once.

Equation 21 of the paper, for task j with the shared parameters alpha frozen:

    1/s^2 sum_i (y_ij - f(x_ij; beta_j, alpha))^2 + beta_j^T D^-1 beta_j

It is twice the negative log posterior, up to a constant. Network passes are in the network's
own precision; sums over rows and everything of the size of beta are in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pipeline.adaptation.frozen import value, value_and_slope
from pipeline.models.network import Network
from pipeline.training.data import Tensors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_ROWS = 1024
"""Rows in one network pass: they stay in the processor's cache, and bound the memory."""


@dataclass(frozen=True)
class Prior:
    """beta ~ N(0, D)."""

    covariance: Floats

    @classmethod
    def of(cls, beta: Any, ridge: float = 1e-6) -> Prior:
        """D from the base group's task parameters [m, d].

        The unbiased covariance about their mean. A ridge, relative to the mean variance, makes
        D invertible when there are fewer base tasks than task parameters, or when one of them
        is not used; the new task is then all but confined to the directions that are.
        """
        beta = np.asarray(beta, dtype=np.float64)
        tasks, dimension = beta.shape
        if tasks < 2:
            raise ValueError(f"a prior needs the parameters of at least two tasks, not {tasks}")
        covariance = np.cov(beta, rowvar=False).reshape(dimension, dimension)
        floor = max(ridge * float(np.trace(covariance)) / dimension, 1e-12)
        return cls(covariance + floor * np.eye(dimension))

    @property
    def precision(self) -> Floats:
        """D^-1."""
        return inverse(self.covariance)

    @property
    def root(self) -> Floats:
        """R with R R^T = D: R u has the prior's distribution when u is standard normal."""
        return np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)


@dataclass(frozen=True)
class Local:
    """The objective near some points: value, half its gradient and half its Hessian.

    The Hessian is Gauss-Newton's, J^T J / s^2 + D^-1: exact between the kinks of a ReLU network,
    and the precision of the Gaussian that approximates the posterior (the objective is twice the
    negative log posterior, hence the halves).
    """

    objective: Floats
    half_gradient: Floats
    precision: Floats


class Problem:
    """Hold-out tasks 0, ..., `tasks` - 1 with their standardised rows; a task may have none."""

    def __init__(
        self, network: Network, rows: Tensors, tasks: int, noise: float, prior: Prior
    ) -> None:
        """`noise` is s^2, in units of the standardised target's variance."""
        if network.shape.kind != "lc":
            raise ValueError(f"only learned-context networks adapt, not {network.shape.kind!r}")
        if not noise > 0:
            raise ValueError(f"the noise variance must be positive, not {noise}")
        task = rows.task.cpu().numpy()
        self.network, self.tasks, self.noise, self.prior = network, tasks, noise, prior
        self.device = network.flat.device
        self.counts: Ints = np.bincount(task, minlength=tasks).astype(np.int64)
        if len(self.counts) > tasks:
            raise ValueError(f"task {task.max()} is not one of {tasks}")
        self._begins: Ints = np.cumsum(self.counts) - self.counts
        order = torch.from_numpy(np.argsort(task, kind="stable")).to(rows.x.device)
        self._y = rows.y[order]
        with torch.no_grad():
            self._without_task = network.trunk_input(rows.x[order])
        self._weights: Floats = np.full(tasks, 1.0 / noise)

    def thinned(self, rows: int) -> Problem:
        """An estimate of this problem from at most `rows` rows of every task, evenly spaced."""
        kept = np.minimum(self.counts, rows)
        if (kept == self.counts).all():
            return self
        chosen = [
            begin + np.arange(keep) * count // keep
            for begin, count, keep in zip(self._begins, self.counts, kept, strict=True)
            if keep
        ]
        index = torch.from_numpy(np.concatenate(chosen)).to(self._y.device)
        thin = copy(self)
        thin.counts, thin._begins = kept, np.cumsum(kept) - kept
        thin._y, thin._without_task = self._y[index], self._without_task[index]
        thin._weights = self._weights * self.counts / np.maximum(kept, 1)
        return thin

    def objective(self, beta: Floats) -> Floats:
        """Equation 21 of every task: [T] for beta [T, d], [T, K] for K candidates [T, K, d]."""
        shape = beta.shape[:-1]
        task = np.arange(self.tasks).reshape((-1,) + (1,) * (len(shape) - 1))
        points = beta.reshape(-1, beta.shape[-1])
        return self.at(np.broadcast_to(task, shape).ravel(), points).reshape(shape)

    def at(self, task: Ints, beta: Floats) -> Floats:
        """Equation 21 at points [P, d], each for its own task [P]."""
        squared = np.zeros(len(task))
        for points, z, y, used in self._blocks(task, beta):
            error = (y - value(self.network, z).view_as(y)).double() * used
            squared[points] += (error * error).sum(1).cpu().numpy()
        return self._weights[task] * squared + self._penalty(beta)

    def local(self, task: Ints, beta: Floats) -> Local:
        """The objective and its derivatives at points [P, d], each for its own task [P]."""
        size = beta.shape[1]
        products = np.zeros((len(task), size + 1, size + 1))
        for points, z, y, used in self._blocks(task, beta):
            output, slope = value_and_slope(self.network, z)
            error = y - output.view_as(y)
            rows = torch.cat([slope.view(*y.shape, size), error[..., None]], 2).double()
            rows *= used[..., None]
            products[points] += (rows.mT @ rows).cpu().numpy()
        products *= self._weights[task, None, None]
        precision = self.prior.precision
        return Local(
            objective=products[:, -1, -1] + self._penalty(beta),
            half_gradient=beta @ precision - products[:, :-1, -1],
            precision=products[:, :-1, :-1] + precision,
        )

    def _penalty(self, beta: Floats) -> Floats:
        return np.einsum("pi,ij,pj->p", beta, self.prior.precision, beta)

    def _blocks(self, task: Ints, beta: Floats) -> Iterator[tuple[Ints, Tensor, Tensor, Tensor]]:
        """Points in blocks that pass the network together.

        A block is a rectangle of points by rows: every point sees the rows of its own task.
        Points are taken by their number of rows, so that few places in a rectangle are not
        `used`; the rows of a very large task come in several blocks.
        """
        device, dtype = self._y.device, self._y.dtype
        shift = torch.tensor(beta, dtype=dtype, device=device) @ self.network.views["L"].T
        counts = self.counts[task]
        order = np.argsort(counts, kind="stable")
        for points in _rectangles(order[counts[order] > 0], counts):
            for start in range(0, int(counts[points[-1]]), BLOCK_ROWS):
                stop = min(start + BLOCK_ROWS, int(counts[points[-1]]))
                place = np.arange(start, stop)
                used = place < counts[points, None]
                index = self._begins[task[points], None] + np.minimum(
                    place, counts[points, None] - 1
                )
                rows = torch.from_numpy(index).to(device)
                z = self._without_task[rows] + shift[torch.from_numpy(points).to(device), None]
                yield points, z.flatten(0, 1), self._y[rows], torch.from_numpy(used).to(device)


def _rectangles(order: Ints, counts: Ints) -> Iterator[Ints]:
    """Cut points, ordered by their number of rows, where a rectangle would grow too large."""
    begin = 0
    for end, count in enumerate(counts[order].tolist()):
        if end > begin and (end + 1 - begin) * count > BLOCK_ROWS:
            yield order[begin:end]
            begin = end
    if begin < len(order):
        yield order[begin:]


def inverse(matrices: Floats) -> Floats:
    """Of symmetric matrices, and symmetric to the last bit."""
    found = np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    return (found + np.swapaxes(found, -1, -2)) / 2
