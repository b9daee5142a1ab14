"""FiLM, feature-wise linear modulation: the task scales and shifts the units.

For the first layer's units and for those inside every residual block, u becomes
(1 + G beta_j) u + H beta_j, with own G and H for each layer. Learned context is the special case
that only shifts, and only the first layer. Perez et al., 2018, https://arxiv.org/abs/1709.07871.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from learned_context.networks.interface import Parameter, TaskEntry

if TYPE_CHECKING:
    from learned_context.networks.network import Shape, Trunk


class Film(TaskEntry):
    table = "beta"

    def added(self, shape: Shape) -> tuple[Parameter, ...]:
        """F holds G and H of every layer one below the other."""
        rows = 2 * (shape.blocks + 1) * shape.width
        fan_in = shape.inputs + shape.task_dim
        return (Parameter("F", (rows, shape.task_dim), fan_in, by_columns=True),)

    def task_inputs(self, shape: Shape) -> int:
        return shape.task_dim

    def brought(self, trunk: Trunk, rows: Tensor) -> Tensor:
        return rows @ trunk.views["F"].mT

    def joined(self, trunk: Trunk, without_task: Tensor, brought: Tensor | None) -> Tensor:
        assert brought is not None
        scales, shifts = brought.unflatten(-1, (2, -1, trunk.shape.width)).unbind(-3)

        def modulated(units: Tensor, layer: int) -> Tensor:
            place = layer // 2  # layers 1, 2, 4, ... have the places 0, 1, 2, ...
            return units + scales[..., place, :] * units + shifts[..., place, :]

        return trunk.rest(modulated(without_task, 1), modulated)[..., 0]


ENTRY = Film()
