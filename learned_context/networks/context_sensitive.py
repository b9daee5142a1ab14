"""CS, context sensitive: z = A x + (column j of L) + b1 (Section 3.1).

The one-hot vector c_j is never built, so 100,000 tasks cost no more time than two. Row j of our
L is column j of the paper's: contiguous for the gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from learned_context.networks.interface import EntryGradient, Parameter, TaskEntry
from learned_context.networks.task_rows import TaskRows

if TYPE_CHECKING:
    from learned_context.networks.network import Shape, Trunk


class ContextSensitiveGradient(EntryGradient):
    def enter(self, z: Tensor, tasks: TaskRows) -> None:
        z.add_(tasks.gather(self.net["L"]))

    def finish(self, back: Tensor, back_transposed: Tensor, tasks: TaskRows) -> None:
        tasks.add_to(self.grad["L"], back)


class ContextSensitive(TaskEntry):
    table = "L"
    gradient = ContextSensitiveGradient

    def added(self, shape: Shape) -> tuple[Parameter, ...]:
        return (Parameter("L", (shape.tasks, shape.width), shape.inputs + shape.tasks),)

    def task_inputs(self, shape: Shape) -> int:
        return shape.tasks

    def joined(self, trunk: Trunk, without_task: Tensor, brought: Tensor | None) -> Tensor:
        assert brought is not None
        return trunk.rest(without_task + brought)[..., 0]


ENTRY = ContextSensitive()
