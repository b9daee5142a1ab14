"""LC, learned context: z = A x + L beta_j + b1 (Equation 17).

The concatenated input [x, beta_j] of Equation 15 is never built: the task's part of the first
layer is L times a gathered row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from learned_context.networks.interface import EntryGradient, Parameter, TaskEntry
from learned_context.networks.task_rows import TaskRows

if TYPE_CHECKING:
    from learned_context.networks.network import Shape, Trunk

_relu_backward = torch.ops.aten.threshold_backward
"""(slope, activation, 0): the slope where the activation is above zero, otherwise zero."""


class LearnedContextGradient(EntryGradient):
    beta: Tensor

    def enter(self, z: Tensor, tasks: TaskRows) -> None:
        self.beta = tasks.gather(self.net["beta"])
        self.products.add_product(z, self.beta, self.transposed["L"])

    def finish(self, back: Tensor, back_transposed: Tensor, tasks: TaskRows) -> None:
        self.products.add_product(self.grad["L"], back_transposed, self.beta)
        tasks.add_to(self.grad["beta"], self.products.narrow_product(back, self.net["L"]))


class LearnedContext(TaskEntry):
    table = "beta"
    gradient = LearnedContextGradient

    def added(self, shape: Shape) -> tuple[Parameter, ...]:
        fan_in = shape.inputs + shape.task_dim
        return (Parameter("L", (shape.width, shape.task_dim), fan_in, by_columns=True),)

    def task_inputs(self, shape: Shape) -> int:
        return shape.task_dim

    def brought(self, trunk: Trunk, rows: Tensor) -> Tensor:
        """L beta."""
        return rows @ trunk.views["L"].mT

    def joined(self, trunk: Trunk, without_task: Tensor, brought: Tensor | None) -> Tensor:
        assert brought is not None
        return trunk.rest(without_task + brought)[..., 0]

    def value_and_slope(
        self, trunk: Trunk, without_task: Tensor, beta: Tensor, brought: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One backward pass to z gives every row's df/dz, and df/dbeta = L^T df/dz.

        ReLU networks are piecewise linear: at a kink the slope of one side is used.
        """
        views, last = trunk.views, trunk.shape.last_layer
        points = without_task + brought[:, None]
        z = points.flatten(0, 1)
        active: list[Tensor] = []
        # Equation 4, forwards.
        for layer in range(2, last, 2):
            before = z.relu()
            between = torch.addmm(views[f"b{layer}"], before, views[f"W{layer}"].T).relu_()
            z = torch.addmm(z, between, views[f"W{layer + 1}"].T).add_(views[f"b{layer + 1}"])
            active += [before, between]
        # Equation 5. Without a ReLU its slope is one row for all rows, and so is the next product.
        slope = views[f"W{last}"]
        if trunk.shape.last_relu:
            z = z.relu_()
            slope = _relu_backward(slope.expand_as(z), z, 0)
        value = torch.addmm(views[f"b{last}"], z, views[f"W{last}"].T)[:, 0]
        # Equation 4, backwards.
        for layer in range(last - 2, 0, -2):
            inner = (slope @ views[f"W{layer + 1}"]).expand_as(z)
            inner = _relu_backward(inner, active.pop(), 0) @ views[f"W{layer}"]
            slope = slope + _relu_backward(inner, active.pop(), 0)
        slope = (slope @ views["L"]).expand(len(z), -1)
        return value.view(points.shape[:2]), slope.view(*points.shape[:2], beta.shape[1])


ENTRY = LearnedContext()
