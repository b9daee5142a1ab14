"""The loss of hold-out tasks, for many tasks and many candidate parameters at once.

Equation 21 of the paper, for task j with the shared parameters alpha frozen:

    1/s^2 sum_i (y_ij - f(x_ij; beta_j, alpha))^2 + beta_j^T D^-1 beta_j

It is twice the negative log posterior, up to a constant. The prior's mean is zero, as here, but
for architectures that expect another. Network passes are in the network's
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

from learned_context.networks.network import Network
from learned_context.networks.registry import architecture
from learned_context.training.data import Tensors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_ROWS = 1024
"""Rows in one network pass on a CPU: they stay in the processor's cache."""
DEVICE_BLOCK_ROWS = 65536
"""Rows in one pass elsewhere: few, large kernels, within the memory."""


def block_rows(device: torch.device) -> int:
    return BLOCK_ROWS if device.type == "cpu" else DEVICE_BLOCK_ROWS


@dataclass(frozen=True)
class Prior:
    """beta ~ N(mean, D)."""

    covariance: Floats
    mean: Floats
    """Zero in the paper."""

    @classmethod
    def of_network(cls, network: Network, tasks: Any = slice(None)) -> Prior:
        """From the parameters of a network's tasks, with the mean that its architecture expects."""
        beta = network.task_parameters[tasks].double().cpu()
        return cls.of(beta.numpy(), mean=network.shape.entry.prior_mean(beta).numpy())

    @classmethod
    def of(cls, beta: Any, ridge: float = 1e-6, mean: Floats | None = None) -> Prior:
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
        mean = np.zeros(dimension) if mean is None else mean
        return cls(covariance + floor * np.eye(dimension), mean)

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
        if not architecture(network.shape.kind).has_task_parameters:
            raise ValueError(f"a network of kind {network.shape.kind!r} has no task parameters")
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
            self._without_task = network.without_task(rows.x[order])
        self._weights: Floats = np.full(tasks, 1.0 / noise)
        self._upload_counts()

    def _upload_counts(self) -> None:
        self._device_counts = torch.from_numpy(self.counts).to(self.device)
        self._device_begins = torch.from_numpy(self._begins).to(self.device)

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
        thin._upload_counts()
        return thin

    def objective(self, beta: Floats) -> Floats:
        """Equation 21 of every task: [T] for beta [T, d], [T, K] for K candidates [T, K, d]."""
        shape = beta.shape[:-1]
        task = np.arange(self.tasks).reshape((-1,) + (1,) * (len(shape) - 1))
        points = beta.reshape(-1, beta.shape[-1])
        return self.at(np.broadcast_to(task, shape).ravel(), points).reshape(shape)

    def at(self, task: Ints, beta: Floats) -> Floats:
        """Equation 21 at points [P, d], each for its own task [P]."""
        brought = self.network.brought(self._tensor(beta))
        squared = torch.zeros(len(task), dtype=torch.float64, device=self.device)
        for points, rows, y, used in self._blocks(task):
            output = self.network.joined(rows, brought[points, None])
            error = (y - output).double() * used
            squared[points] += (error * error).sum(1)
        return self._weights[task] * squared.cpu().numpy() + self._penalty(beta)

    def local(self, task: Ints, beta: Floats) -> Local:
        """The objective and its derivatives at points [P, d], each for its own task [P]."""
        size = beta.shape[1]
        tensor = self._tensor(beta)
        brought = self.network.brought(tensor)
        sums = torch.zeros(len(task), size + 1, size + 1, dtype=torch.float64, device=self.device)
        for points, rows, y, used in self._blocks(task):
            output, slope = self.network.value_and_slope(rows, tensor[points], brought[points])
            columns = torch.cat([slope, (y - output)[..., None]], 2).double()
            columns *= used[..., None]
            sums[points] += columns.mT @ columns
        products = sums.cpu().numpy() * self._weights[task, None, None]
        precision = self.prior.precision
        return Local(
            objective=products[:, -1, -1] + self._penalty(beta),
            half_gradient=(beta - self.prior.mean) @ precision - products[:, :-1, -1],
            precision=products[:, :-1, :-1] + precision,
        )

    def _penalty(self, beta: Floats) -> Floats:
        apart = beta - self.prior.mean
        return np.einsum("pi,ij,pj->p", apart, self.prior.precision, apart)

    def _tensor(self, beta: Floats) -> Tensor:
        return torch.tensor(beta, dtype=self._y.dtype, device=self.device)

    def _blocks(self, task: Ints) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Points in blocks that pass the network together: their numbers, rows and targets.

        A block is a rectangle of points by rows: every point sees the rows of its own task.
        Points are taken by their number of rows, so that few places in a rectangle are not
        `used`; the rows of a very large task come in several blocks. A point is in a block once,
        so what is added up by points has one order.
        """
        counts, most = self.counts[task], block_rows(self.device)
        order = np.argsort(counts, kind="stable")
        order = order[counts[order] > 0]
        numbers = torch.from_numpy(order).to(self.device)
        own = torch.from_numpy(task[order]).to(self.device)
        for begin, end in _rectangles(counts[order], most):
            count = self._device_counts[own[begin:end], None]
            first = self._device_begins[own[begin:end], None]
            largest = int(counts[order[end - 1]])
            for start in range(0, largest, most):
                place = torch.arange(start, min(start + most, largest), device=self.device)
                rows = first + torch.minimum(place, count - 1)
                used = place < count
                yield numbers[begin:end], self._without_task[rows], self._y[rows], used


def _rectangles(counts: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Cut points, ordered by their number of rows, where a rectangle would grow too large."""
    begin = 0
    for end, count in enumerate(counts.tolist()):
        if end > begin and (end + 1 - begin) * count > most:
            yield begin, end
            begin = end
    if begin < len(counts):
        yield begin, len(counts)


def inverse(matrices: Floats) -> Floats:
    """Of symmetric matrices, and symmetric to the last bit."""
    found = np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    return (found + np.swapaxes(found, -1, -2)) / 2
