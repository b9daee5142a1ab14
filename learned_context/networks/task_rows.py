"""The tasks of a batch's rows: gather a row of a table for each, or sum rows by task.

On the CPU rows are added in their order. On other devices `index_add_` adds in an order that
varies from run to run, so there the rows are sorted by task first and every task's rows are
added in their order by one thread: the same sums, and the same bits in every run. Where few
tasks have very many rows each, a product with a one-hot matrix does it in parallel.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

LONG_SEGMENT = 512
"""Rows of a task above which the one-hot product is used."""


class TaskRows:
    """Task numbers [n], or [K, n] for K members; `tasks` is the number of tasks."""

    def __init__(self, task: Tensor, tasks: int, segments: Segments | None = None) -> None:
        self.task, self.tasks = task, tasks
        self._segments = segments
        self._by_member = task.unbind(0) if task.dim() == 2 else None

    def __getitem__(self, rows: slice) -> TaskRows:
        return TaskRows(self.task[..., rows], self.tasks)

    def gather(self, table: Tensor) -> Tensor:
        """The row [n, d] (or [K, n, d]) of the table [m, d] (or [K, m, d]) for each task."""
        if torch.is_grad_enabled() and table.requires_grad:
            gathered: Tensor = _Gather.apply(table, self)
            return gathered
        return self._gathered(table)

    def _gathered(self, table: Tensor) -> Tensor:
        if self._by_member is None:
            return table.index_select(table.dim() - 2, self.task)
        parts = zip(table.unbind(0), self._by_member, strict=True)
        return torch.stack([own.index_select(0, task) for own, task in parts])

    def add_to(self, table: Tensor, rows: Tensor) -> None:
        """Add every row to its task's row of the table."""
        if table.device.type != "cpu":
            table.add_(self.segments.sums(rows).view(table.shape))
        elif self._by_member is None:
            table.index_add_(0, self.task, rows)
        else:
            for own, task, part in zip(
                table.unbind(0), self._by_member, rows.unbind(0), strict=True
            ):
                own.index_add_(0, task, part)

    @property
    def segments(self) -> Segments:
        """How the rows are sorted; made without a synchronisation."""
        if self._segments is None:
            self._segments = Segments.of(self.task, self.tasks)
        return self._segments


class Segments:
    """Rows sorted by group (the task, or the member and the task), and where each begins."""

    def __init__(self, order: Tensor, offsets: Tensor, group: Tensor | None) -> None:
        self.order, self.offsets, self._group = order, offsets, group

    @classmethod
    def of(cls, task: Tensor, tasks: int) -> Segments:
        group, groups = _groups(task, tasks)
        numbers = torch.arange(groups + 1, device=task.device)
        by_group, order = torch.sort(group.flatten(), stable=True)
        is_long = _is_long(group.numel(), groups)
        return cls(order, torch.searchsorted(by_group, numbers), group if is_long else None)

    def sums(self, rows: Tensor) -> Tensor:
        """The sum of each group's rows, [groups, d]."""
        flat = rows.reshape(-1, rows.shape[-1])
        if self._group is not None:
            numbers = torch.arange(len(self.offsets) - 1, device=flat.device)
            return (numbers[:, None] == self._group.flatten()).to(flat.dtype) @ flat
        return torch.segment_reduce(
            flat.index_select(0, self.order),
            "sum",
            offsets=self.offsets,
            axis=0,
            unsafe=True,
            initial=0,
        )


class BatchSegments:
    """The segments of all batches of an epoch by one sort."""

    def __init__(self, like: Tensor, bounds: list[int], tasks: int) -> None:
        """`like` is the epoch's order of the rows, [n] or [K, n]."""
        members = len(like) if like.dim() == 2 else 1
        device, self.tasks, self.bounds = like.device, tasks, bounds
        self.members, self.groups = members, members * tasks
        sizes = torch.tensor([stop - start for start, stop in pairwise(bounds)])
        batch = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        within = torch.arange(bounds[-1]) - torch.tensor(bounds)[batch]
        member = torch.arange(members)[:, None]
        self._place = (within + member * sizes[batch]).flatten().to(device)
        """Where a row is in its batch, members one after the other."""
        self._first = (batch * self.groups).view((1,) * (like.dim() - 1) + (-1,)).to(device)
        number = torch.arange(len(sizes))[:, None] * self.groups + torch.arange(self.groups + 1)
        self._number = number.to(device)
        self._begin = (members * torch.tensor(bounds[:-1]))[:, None].to(device)

    @classmethod
    def of(cls, like: Tensor, bounds: list[int], tasks: int) -> BatchSegments | None:
        """None where the table of all beginnings would be large: then each batch is sorted."""
        groups = tasks * (len(like) if like.dim() == 2 else 1)
        return cls(like, bounds, tasks) if (len(bounds) - 1) * groups <= 2**22 else None

    def __call__(self, task: Tensor) -> list[Segments]:
        group, _ = _groups(task, self.tasks)
        by_group, order = torch.sort((group + self._first).flatten(), stable=True)
        offsets = torch.searchsorted(by_group, self._number) - self._begin
        place = self._place.index_select(0, order)
        found = []
        for index, (start, stop) in enumerate(pairwise(self.bounds)):
            rows = slice(self.members * start, self.members * stop)
            is_long = _is_long(rows.stop - rows.start, self.groups)
            own = group[..., start:stop] if is_long else None
            found.append(Segments(place[rows], offsets[index], own))
        return found


def _groups(task: Tensor, tasks: int) -> tuple[Tensor, int]:
    if task.dim() == 1:
        return task, tasks
    return task + tasks * torch.arange(len(task), device=task.device)[:, None], tasks * len(task)


def _is_long(rows: int, groups: int) -> bool:
    return rows > LONG_SEGMENT * groups


class _Gather(torch.autograd.Function):
    """The gather for autograd, whose own backward pass would add in any order."""

    @staticmethod
    def forward(ctx, table, rows):  # type: ignore[no-untyped-def]
        ctx.rows, ctx.shape = rows, table.shape
        return rows._gathered(table)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        table = grad.new_zeros(ctx.shape)
        ctx.rows.add_to(table, grad)
        return table, None
