"""The gradient of the squared error, written out.

For networks of this size an autograd graph costs as much as the arithmetic. Here the forward
and the backward pass are explicit, write into buffers that are allocated once, and go through
a batch in chunks that stay in the processor's cache. The tests compare it with autograd in
double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from pipeline.models.network import Network

CHUNK_ROWS = 1024
_relu_backward = torch.ops.aten.threshold_backward.grad_input


class Gradient:
    """Accumulates d(mean squared error)/d(parameters) of one batch into `flat`."""

    def __init__(self, network: Network, batch_rows: int) -> None:
        self.network = network
        self.result = Network(network.shape, torch.zeros_like(network.flat))
        self.flat = self.result.flat
        self.chunk_rows = -(-batch_rows // -(-batch_rows // CHUNK_ROWS))  # equal, rounded up
        self._whole = _Buffers.allocate(network, self.chunk_rows)
        self._parts = {self.chunk_rows: self._whole}
        # Transposed views are made once: each would cost a microsecond in every step.
        self._turned = {name: view.T for name, view in network.views.items() if view.dim() == 2}

    def batch(self, x: Tensor, task: Tensor, y: Tensor) -> Tensor:
        """Set the gradient for one batch; give the sum of its squared errors."""
        self.flat.zero_()
        factor = 2.0 / len(y)
        total = None
        for x_, task_, y_ in _chunks(self.chunk_rows, x, task, y):
            squared = self._chunk(x_, task_, y_, factor)
            total = squared if total is None else total + squared
        assert total is not None
        return total

    def _buffers(self, rows: int) -> _Buffers:
        if rows not in self._parts:
            self._parts[rows] = self._whole.first(rows)
        return self._parts[rows]

    def _chunk(self, x: Tensor, task: Tensor, y: Tensor, factor: float) -> Tensor:
        net, grad, shape = self.network.views, self.result.views, self.network.shape
        turned, use = self._turned, self._buffers(len(y))
        z, back, inner, output, ones = use.z, use.back, use.inner, use.output, use.ones
        kind, last = shape.kind, 2 * shape.blocks + 2
        beta = None

        # Equation 3, with the task's part as a gathered row.
        torch.addmm(net["b1"], x, turned["A"], out=z)
        if kind == "lc":
            beta = net["beta"].index_select(0, task)
            z.addmm_(beta, turned["L"])
        elif kind == "cs":
            z.add_(net["L"].index_select(0, task))

        # Equation 4; z is overwritten, the activations are kept for the way back.
        for layer in range(2, last, 2):
            before, between = use.active[layer - 2], use.active[layer - 1]
            torch.clamp_min(z, 0, out=before)
            torch.addmm(net[f"b{layer}"], before, turned[f"W{layer}"], out=between)
            between.clamp_min_(0)
            z.addmm_(between, turned[f"W{layer + 1}"]).add_(net[f"b{layer + 1}"])

        # Equation 5, or Equation 9 for the last-layer network.
        torch.addmm(net[f"b{last}"], z, turned[f"W{last}"], out=output)
        if kind == "ll":
            beta = net["beta"].index_select(0, task)
            error = (beta * output).sum(1).sub_(y)
        else:
            error = output[:, 0] - y
        squared = torch.dot(error, error)
        error.mul_(factor)
        if kind == "ll":
            assert beta is not None
            grad["beta"].index_add_(0, task, output.mul_(error[:, None]))
            torch.mul(beta, error[:, None], out=output)
        else:
            output[:, 0] = error

        # And back again.
        grad[f"W{last}"].addmm_(use.output_turned, z)
        grad[f"b{last}"].addmv_(use.output_turned, ones)
        torch.mm(output, net[f"W{last}"], out=back)
        for layer in range(last - 2, 0, -2):
            before, between = use.active[layer - 2], use.active[layer - 1]
            grad[f"W{layer + 1}"].addmm_(use.back_turned, between)
            grad[f"b{layer + 1}"].addmv_(use.back_turned, ones)
            torch.mm(back, net[f"W{layer + 1}"], out=inner)
            _relu_backward(inner, between, 0, grad_input=inner)
            grad[f"W{layer}"].addmm_(use.inner_turned, before)
            grad[f"b{layer}"].addmv_(use.inner_turned, ones)
            torch.mm(inner, net[f"W{layer}"], out=z)  # z is free from here on
            _relu_backward(z, before, 0, grad_input=z)
            back.add_(z)
        grad["A"].addmm_(use.back_turned, x)
        grad["b1"].addmv_(use.back_turned, ones)
        if kind == "lc":
            assert beta is not None
            grad["L"].addmm_(use.back_turned, beta)
            torch.mm(back, net["L"], out=use.task_back)
            grad["beta"].index_add_(0, task, use.task_back)
        elif kind == "cs":
            grad["L"].index_add_(0, task, back)
        return squared


@dataclass(frozen=True)
class _Buffers:
    """What a chunk of rows writes into."""

    z: Tensor
    active: tuple[Tensor, ...]
    back: Tensor
    inner: Tensor
    output: Tensor
    task_back: Tensor
    ones: Tensor

    @classmethod
    def allocate(cls, network: Network, rows: int) -> _Buffers:
        shape, flat = network.shape, network.flat

        def wide() -> Tensor:
            return flat.new_empty(rows, shape.width)

        def narrow(columns: int) -> Tensor:  # by columns, the product that fills it is faster
            return flat.new_empty(columns, rows).T

        return cls(
            z=wide(),
            active=tuple(wide() for _ in range(2 * shape.blocks)),
            back=wide(),
            inner=wide(),
            output=narrow(shape.outputs),
            task_back=narrow(max(1, shape.task_dim)),
            ones=flat.new_ones(rows),
        )

    def first(self, rows: int) -> _Buffers:
        return _Buffers(
            z=self.z[:rows],
            active=tuple(buffer[:rows] for buffer in self.active),
            back=self.back[:rows],
            inner=self.inner[:rows],
            output=self.output[:rows],
            task_back=self.task_back[:rows],
            ones=self.ones[:rows],
        )

    @cached_property
    def output_turned(self) -> Tensor:
        return self.output.T

    @cached_property
    def back_turned(self) -> Tensor:
        return self.back.T

    @cached_property
    def inner_turned(self) -> Tensor:
        return self.inner.T


def _chunks(
    rows: int, x: Tensor, task: Tensor, y: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    for start in range(0, len(y), rows):
        stop = start + rows
        yield x[start:stop], task[start:stop], y[start:stop]
