"""One pass over the rows in batches.

Everything that changes from epoch to epoch (the order of the rows, the optimiser's numbers) lies
in tensors that stay where they are, and nothing is read back before the end. So on a GPU the
whole pass can be captured once as a CUDA graph and replayed: thousands of kernels for the price
of one launch, and the same numbers as the plain pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from learned_context.networks.network import Network
from learned_context.networks.task_rows import BatchSegments, TaskRows
from learned_context.training.data import Tensors
from learned_context.training.gradient import Gradient
from learned_context.training.optimisers import Optimiser

Numbers = Sequence[Sequence[tuple[float, ...]]]
"""The optimiser's numbers by member and batch."""


class Step:
    """One step of an optimiser on one batch."""

    def __init__(self, gradient: Gradient, optimiser: Optimiser) -> None:
        self.gradient, self.optimiser = gradient, optimiser

    @property
    def is_capturable(self) -> bool:
        """Whether it takes nothing from the host but what lies in its arguments."""
        return self.gradient.masks is None and self.optimiser.is_capturable

    def __call__(self, x: Tensor, tasks: TaskRows, y: Tensor, numbers: Tensor) -> Tensor:
        """Update the network; give the sum of the batch's squared errors before the update."""
        squared = self.gradient.batch(x, tasks, y)
        self.optimiser.step(numbers)
        return squared


class Epoch:
    """The rows are shared by all members; each has its own order."""

    def __init__(
        self,
        data: Tensors,
        network: Network,
        step: Step,
        batches: int,
        capture: Callable[[Callable[[], None]], Callable[[], None]] | None = None,
    ) -> None:
        """`capture` turns a pass into its replay; None for the plain pass."""
        rows, flat = len(data), network.flat
        lead = flat.shape[:-1]
        self.data, self.step, self.tasks = data, step, network.shape.tasks
        self.bounds = [rows * index // batches for index in range(batches + 1)]
        self.order = torch.empty(*lead, rows, dtype=torch.int64, device=flat.device)
        per_member = (*lead, 1) if lead else ()
        self.numbers = flat.new_empty(batches, step.optimiser.count, *per_member)
        self.squared = flat.new_zeros(lead)
        """The sum of the squared errors, each before its step; one for each member."""
        self._segments = None
        if flat.device.type != "cpu":
            self._segments = BatchSegments.of(self.order, self.bounds, self.tasks)
        # Copies from pinned memory do not make the host wait. There are two orders: one may
        # still be on its way while the next one is written.
        pinned = flat.device.type == "cuda"
        self._host_orders = [
            torch.empty(self.order.shape, dtype=torch.int64, pin_memory=pinned) for _ in range(2)
        ]
        self._host_numbers = torch.empty(
            self.numbers.shape, dtype=self.numbers.dtype, pin_memory=pinned
        )
        self._capture = capture if step.is_capturable else None
        self._passes = 0

    def stage(self, orders: Sequence[Tensor]) -> None:
        """Prepare the next pass, one order for each member, while the device is busy."""
        self._host_orders.reverse()
        torch.stack(list(orders), out=self._host_orders[0].view(len(orders), -1))

    def run(self, numbers: Numbers) -> None:
        """One pass with the order that was staged."""
        # [members, batches, count] -> [batches, count, members]
        by_batch = torch.tensor(numbers, dtype=self.numbers.dtype).permute(1, 2, 0)
        self._host_numbers.copy_(by_batch.reshape(self.numbers.shape))
        self.order.copy_(self._host_orders[0], non_blocking=True)
        self.numbers.copy_(self._host_numbers, non_blocking=True)
        # The first pass is plain: libraries allocate what a capture must not.
        if self._passes == 1 and self._capture:
            self._pass = self._capture(self._pass)  # type: ignore[method-assign]
        self._pass()
        self._passes += 1

    def _pass(self) -> None:
        chosen, lead = self.order.flatten(), self.order.shape
        x = self.data.x.index_select(0, chosen).view(*lead, -1)
        task = self.data.task.index_select(0, chosen).view(lead)
        y = self.data.y.index_select(0, chosen).view(lead)
        segments = self._segments(task) if self._segments else [None] * len(self.numbers)
        self.squared.zero_()
        for index, numbers in enumerate(self.numbers.unbind(0)):
            part = slice(self.bounds[index], self.bounds[index + 1])
            tasks = TaskRows(task[..., part], self.tasks, segments[index])
            self.squared.add_(self.step(x[..., part, :], tasks, y[..., part], numbers))
