"""The parts of an ensemble, all seen alike: a prediction from a row and a task's parameters theta.

A voice has K members and gives, for standardised rows, what no task changes (`rows`), and from
that and theta [q] the predictions (`value`). Networks are voices, and so are mixed
models. New tasks, uncertainty and plots need to know no more than this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learned_context.estimator.kernel_basis import KernelBasis
from learned_context.estimator.logarithm import Logarithm
from learned_context.networks.network import Network
from learned_context.networks.registry import architecture
from learned_context.new_tasks.objective import Floats, Prior, inverse

PRIOR_STEPS = 10
"""Of expectation maximisation: few, as directions that no row determines would go on growing."""


@dataclass(frozen=True)
class Voice(ABC):
    noise: float
    """s^2 of one member: the variance of `target` about `value` if the task is known well."""
    population: Floats
    """theta of the fitted tasks, as the fit left them [K, m, q]."""

    @property
    def members(self) -> int:
        return len(self.population)

    @property
    @abstractmethod
    def adapts(self) -> bool:
        """Whether a new task can be estimated."""

    @property
    @abstractmethod
    def shared(self) -> Tensor:
        """All shared parameters."""

    @property
    @abstractmethod
    def inputs(self) -> int:
        """Features."""

    @property
    def device(self) -> torch.device:
        return self.shared.device

    @abstractmethod
    def to(self, device: torch.device) -> Self: ...

    @property
    def size(self) -> int:
        """Parameters of a task."""
        return int(self.population.shape[2])

    @property
    def centre(self) -> Floats:
        """The mean task [K, q]: new tasks are expected there."""
        return np.asarray(self.population.mean(axis=1))

    def priors(self) -> list[Prior]:
        """The distribution of the fitted tasks about the mean one, for every member."""
        return [Prior.of(own, mean=own.mean(axis=0)) for own in self.population]

    def priors_of_new_tasks(self) -> list[Prior]:
        return self.priors()

    def with_wider_prior(self, precisions: Floats) -> Self:
        """From the precisions of the fitted tasks' posteriors [K, m, q, q]."""
        return self

    @property
    def parameter_names(self) -> list[str]:
        return [f"beta_{number}" for number in range(self.size)]

    @abstractmethod
    def rows(self, x: Tensor) -> Tensor:
        """What no task changes [K, n, ...], for standardised features [n, d]."""

    @abstractmethod
    def value(self, rows: Tensor, theta: Tensor) -> Tensor:
        """Predictions [K, n], from `rows` [K, n, ...] and each row's theta [K, n, q]."""

    def target(self, y: Tensor) -> Tensor:
        """The standardised target as `value` predicts it."""
        return y

    def output(self, value: Tensor) -> Tensor:
        """The other way round."""
        return value

    def gain(self, value: Tensor) -> Tensor:
        """The derivative of `output`."""
        return torch.ones_like(value)

    @abstractmethod
    def contexts(self, theta: Floats) -> Floats:
        """Task parameters [K, T, q] where distances have a meaning [K, T, w]."""

    def value_and_slope(self, rows: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions [K, n] and their derivatives by theta [K, n, q].

        A row's prediction depends on no other row's theta, so the gradient of the sum is every
        row's own. At a kink of a ReLU the slope of one side is used.
        """
        with torch.enable_grad():
            leaf = theta.detach().requires_grad_()
            value = self.value(rows, leaf)
            (slope,) = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), slope


@dataclass(frozen=True)
class NetworkVoice(Voice):
    """K networks of one shape.

    theta is the task's row of the architecture's table (beta for learned context), and behind it
    the task's intercept if there are intercepts.
    """

    network: Network
    uncertain: Floats
    """The mean posterior covariance of the fitted tasks' theta [K, q, q]."""

    @classmethod
    def of(cls, network: Network, noise: float) -> NetworkVoice:
        population = _table(network)
        members, _, size = population.shape
        return cls(noise, population, network, np.zeros((members, size, size)))

    def priors_of_new_tasks(self) -> list[Prior]:
        """Estimates are shrunk to the mean task, so the prior adds their uncertainty."""
        return [
            Prior(prior.covariance + uncertain, prior.mean)
            for prior, uncertain in zip(self.priors(), self.uncertain, strict=True)
        ]

    def with_wider_prior(self, precisions: Floats) -> Self:
        """Expectation maximisation: a wider prior leaves more uncertain, which widens it again."""
        found = np.zeros_like(self.uncertain)
        for uncertain, prior, own in zip(found, self.priors(), precisions, strict=True):
            of_rows = own - prior.precision
            for _ in range(PRIOR_STEPS):
                wider = inverse(prior.covariance + uncertain)
                uncertain[:] = inverse(of_rows + wider).mean(axis=0)
        return replace(self, uncertain=found)

    @property
    def adapts(self) -> bool:
        return architecture(self.network.shape.kind).has_task_parameters

    @property
    def shared(self) -> Tensor:
        return self.network.flat

    @property
    def inputs(self) -> int:
        return self.network.shape.inputs

    def to(self, device: torch.device) -> Self:
        return replace(self, network=self.network.to(device))

    @property
    def parameter_names(self) -> list[str]:
        names = super().parameter_names
        return [*names[:-1], "intercept"] if self.network.shape.intercepts else names

    def rows(self, x: Tensor) -> Tensor:
        return self.network.without_task(x.expand(self.members, *x.shape))

    def value(self, rows: Tensor, theta: Tensor) -> Tensor:
        shape = self.network.shape
        own = theta[..., :-1] if shape.intercepts else theta
        entry, trunk = shape.entry, self.network.trunk
        brought = entry.brought(trunk, own) if entry.table else None
        found = entry.joined(trunk, rows, brought)
        return found + theta[..., -1] if shape.intercepts else found

    def contexts(self, theta: Floats) -> Floats:
        """For networks whose task enters the first layer, what it adds there.

        The axes and scales of beta itself are arbitrary.
        """
        if self.network.shape.kind != "lc":
            return theta
        weights = self.network.views["L"].double().cpu().numpy()
        size = weights.shape[2]
        return np.concatenate(
            [theta[..., :size] @ np.swapaxes(weights, 1, 2), theta[..., size:]], axis=2
        )


@dataclass(frozen=True)
class LinearVoice(Voice):
    """y = fixed . [1, c] + theta . [1, c of the slopes], with theta ~ N(0, covariance).

    c are the features x and, if there are bases, their columns: then it is a model of curves. It
    may be a model of y's logarithm.
    """

    fixed: Tensor
    covariance: Floats
    """[q, q]: what the fit estimated, as the spread of shrunken estimates is too small."""
    slopes: NDArray[np.int64]
    """The columns of c whose coefficients vary by task."""
    bases: tuple[KernelBasis, ...] = ()
    logarithm: Logarithm | None = None

    @property
    def adapts(self) -> bool:
        return True

    @property
    def shared(self) -> Tensor:
        return self.fixed

    @property
    def inputs(self) -> int:
        return len(self.fixed) - 1 - sum(len(basis.points) for basis in self.bases)

    def to(self, device: torch.device) -> Self:
        fixed = self.fixed.to(device)
        return replace(self, fixed=fixed, bases=tuple(basis.to(device) for basis in self.bases))

    @property
    def centre(self) -> Floats:
        return np.zeros((1, self.size))

    def priors(self) -> list[Prior]:
        return [Prior(self.covariance, np.zeros(self.size))]

    def rows(self, x: Tensor) -> Tensor:
        columns = torch.cat([x.double(), *(basis.columns(x) for basis in self.bases)], 1)
        own = columns.index_select(1, torch.from_numpy(self.slopes).to(x.device))
        shared = self.fixed[0] + columns @ self.fixed[1:]
        return torch.cat([shared[:, None], torch.ones_like(shared)[:, None], own], 1)[None].to(x)

    def value(self, rows: Tensor, theta: Tensor) -> Tensor:
        return rows[..., 0] + (rows[..., 1:] * theta).sum(-1)

    def target(self, y: Tensor) -> Tensor:
        return self.logarithm.forward(y) if self.logarithm else y

    def output(self, value: Tensor) -> Tensor:
        return self.logarithm.back(value) if self.logarithm else value

    def gain(self, value: Tensor) -> Tensor:
        return self.logarithm.gain(value) if self.logarithm else super().gain(value)

    def contexts(self, theta: Floats) -> Floats:
        return theta


def _table(network: Network) -> Floats:
    """theta of every task [K, m, q]; q is 0 for networks that do not know the task."""
    shape, views = network.shape, network.views
    parts = [network.flat.new_zeros(len(network.flat), shape.tasks, 0)]
    if shape.entry.table:
        parts.append(views[shape.entry.table])
    if shape.intercepts:
        parts.append(views["intercept"][..., None])
    return np.asarray(torch.cat(parts, 2).double().cpu().numpy())
