"""LL, last layer: y = beta_j . h(x) (Equation 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from learned_context.networks.interface import EntryGradient, TaskEntry
from learned_context.networks.task_rows import TaskRows

if TYPE_CHECKING:
    from learned_context.networks.network import Shape, Trunk


class LastLayerGradient(EntryGradient):
    beta: Tensor

    def predict(self, output: Tensor, tasks: TaskRows) -> Tensor:
        self.beta = tasks.gather(self.net["beta"])
        return (self.beta * output).sum(-1)

    def leave(self, output: Tensor, error: Tensor, tasks: TaskRows) -> None:
        tasks.add_to(self.grad["beta"], output.mul_(error[..., None]))
        torch.mul(self.beta, error[..., None], out=output)


class LastLayer(TaskEntry):
    table = "beta"
    gradient = LastLayerGradient

    def outputs(self, shape: Shape) -> int:
        return shape.task_dim

    def without_task(self, trunk: Trunk, x: Tensor) -> Tensor:
        return trunk.rest(trunk.first(x))

    def joined(self, trunk: Trunk, without_task: Tensor, brought: Tensor | None) -> Tensor:
        assert brought is not None
        return (brought * without_task).sum(-1)

    def prior_mean(self, beta: Tensor) -> Tensor:
        """A last layer of zeros is no typical task; the mean of the fitted ones is."""
        return beta.mean(0)


ENTRY = LastLayer()
