"""What an architecture says about itself: how the task enters the trunk.

A prediction is made in three parts: what a row gives without its task, what a task brings, and
how the two join. The trunk's layers are the same for all. The written-out gradient is optional:
an architecture without one is trained by autograd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from learned_context.networks.products import products_of
from learned_context.networks.task_rows import TaskRows

if TYPE_CHECKING:
    from learned_context.networks.network import Network, Shape, Trunk


@dataclass(frozen=True)
class Parameter:
    name: str
    size: tuple[int, ...]
    fan_in: int = 0
    """Inputs of a unit, for He's initial weights; 0 for what is zero at the start."""
    by_columns: bool = False
    """Whether it lies in memory column by column: products with a narrow matrix are two to five
    times as fast when its long side is contiguous."""


class TaskEntry:
    """Without a task: the fully shared network. Other architectures override what they need."""

    table: str | None = None
    """The parameter that has one row for every task."""
    gradient: type[EntryGradient] | None = None
    """Its part of the written-out gradient."""

    def added(self, shape: Shape) -> tuple[Parameter, ...]:
        """Shared parameters that it adds; they stand behind A in the flat vector."""
        return ()

    def task_inputs(self, shape: Shape) -> int:
        """Inputs that it adds to the units of the first layer."""
        return 0

    def outputs(self, shape: Shape) -> int:
        """Units of the last layer."""
        return 1

    def without_task(self, trunk: Trunk, x: Tensor) -> Tensor:
        """The part of a prediction that no task changes."""
        return trunk.first(x)

    def brought(self, trunk: Trunk, rows: Tensor) -> Tensor:
        """What tasks bring, from their rows of the table [..., d]."""
        return rows

    def joined(self, trunk: Trunk, without_task: Tensor, brought: Tensor | None) -> Tensor:
        """The predictions; leading dimensions broadcast."""
        return trunk.rest(without_task)[..., 0]

    def value_and_slope(
        self, trunk: Trunk, without_task: Tensor, beta: Tensor, brought: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predictions [P, R] of rows [P, R, ...] with task parameters [P, d], and df/dbeta.

        By autograd: a row's prediction depends on no other row's parameters, so the gradient of
        the sum is every row's own.
        """
        with torch.enable_grad():
            own = beta.detach()[:, None].expand(*without_task.shape[:2], -1).clone()
            own.requires_grad_()
            value = self.joined(trunk, without_task, self.brought(trunk, own))
            (slope,) = torch.autograd.grad(value.sum(), own)
        return value.detach(), slope

    def prior_mean(self, beta: Tensor) -> Tensor:
        """Where new tasks are expected: zero, as the penalty on the task parameters says."""
        return torch.zeros_like(beta[0])


class EntryGradient:
    """An architecture's part of the written-out gradient, with state for one chunk of rows.

    `net`, `grad` and `transposed` are views by name: parameters, their gradients, and the
    parameters transposed. The products are those of `networks.products`.
    """

    def __init__(self, network: Network, result: Network, transposed: dict[str, Tensor]) -> None:
        self.net, self.grad, self.transposed = network.views, result.views, transposed
        self.products = products_of(network.flat)

    def enter(self, z: Tensor, tasks: TaskRows) -> None:
        """Add the task's part to the first layer z."""

    def predict(self, output: Tensor, tasks: TaskRows) -> Tensor:
        """The predictions from the last layer's output."""
        return output[..., 0]

    def leave(self, output: Tensor, error: Tensor, tasks: TaskRows) -> None:
        """Turn `output` into the loss's slope there; `error` is the slope at the prediction."""
        output[..., 0] = error

    def finish(self, back: Tensor, back_transposed: Tensor, tasks: TaskRows) -> None:
        """Take the task's part of the slope at the first layer."""
