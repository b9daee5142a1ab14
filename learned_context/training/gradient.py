"""The gradient of the squared error: by autograd, and written out.

`Autograd` works for every architecture and is the reference. For networks of this size its graph
costs as much as the arithmetic, so `Written` is used where the architecture has its part of it:
the forward and the backward pass are explicit, write into buffers that are allocated once, and
go through a batch in chunks that stay in the processor's cache. The tests compare the two in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from learned_context.networks.network import Network
from learned_context.networks.products import products_of
from learned_context.networks.task_rows import TaskRows

CHUNK_ROWS = 1024
"""Rows at once on a CPU. Other devices take a batch whole: they want few, large kernels."""
DrawMask = Callable[[int, int], Tensor]
"""Dropout's factors for rows x width units."""
_relu_backward = torch.ops.aten.threshold_backward.grad_input


def gradient_of(network: Network, batch_rows: int, masks: DrawMask | None = None) -> Gradient:
    """The fastest one that there is for the network's architecture."""
    if network.shape.entry.gradient is None:
        return Autograd(network, batch_rows, masks)
    return Written(network, batch_rows, masks)


class Gradient:
    """Puts d(mean squared error)/d(parameters) of one batch into `flat`."""

    def __init__(self, network: Network, batch_rows: int, masks: DrawMask | None = None) -> None:
        self.network, self.masks = network, masks
        self.result = Network(network.shape, torch.zeros_like(network.flat))
        self.flat = self.result.flat
        chunk = CHUNK_ROWS if network.flat.device.type == "cpu" else batch_rows
        self.chunk_rows = -(-batch_rows // -(-batch_rows // chunk))  # equal, rounded up

    def batch(self, x: Tensor, tasks: TaskRows, y: Tensor) -> Tensor:
        """Set the gradient; give the sum of squared errors, one for each member."""
        raise NotImplementedError


class Autograd(Gradient):
    """The reference."""

    def __init__(self, network: Network, batch_rows: int, masks: DrawMask | None = None) -> None:
        super().__init__(network, batch_rows, masks)
        self._leaf = network.flat.detach().requires_grad_()  # the same memory
        with torch.enable_grad():
            self._followed = Network(network.shape, self._leaf)

    def batch(self, x: Tensor, tasks: TaskRows, y: Tensor) -> Tensor:
        masks = self.masks
        dropout = (lambda units: units * masks(*units.shape[-2:])) if masks else None
        self.flat.zero_()
        squared = torch.zeros(self.flat.shape[:-1], dtype=y.dtype, device=y.device)
        with torch.enable_grad():
            for x_, tasks_, y_ in _chunks(self.chunk_rows, x, tasks, y):
                error = self._followed.forward(x_, tasks_, dropout) - y_
                part = (error * error).sum(-1)
                # Members do not share parameters: the sum's gradient is each one's own.
                (grad,) = torch.autograd.grad(part.sum() / y.shape[-1], self._leaf)
                self.flat.add_(grad)
                squared.add_(part.detach())
        return squared


class Written(Gradient):
    """The fast path."""

    def __init__(self, network: Network, batch_rows: int, masks: DrawMask | None = None) -> None:
        super().__init__(network, batch_rows, masks)
        self._products = products_of(network.flat)
        self._whole = _Buffers.allocate(network, self.chunk_rows)
        self._parts = {self.chunk_rows: self._whole}
        # Other views are made once: each would cost a microsecond in every step.
        self._transposed = {
            name: view.mT for name, view in network.views.items() if view.dim() > self.flat.dim()
        }
        self._biases = {
            name: self._products.bias(view)
            for name, view in network.views.items()
            if name[0] == "b" and name != "beta"
        }
        entry = network.shape.entry.gradient
        assert entry is not None
        self._entry = entry(network, self.result, self._transposed)

    def batch(self, x: Tensor, tasks: TaskRows, y: Tensor) -> Tensor:
        self.flat.zero_()
        factor = 2.0 / y.shape[-1]
        total = None
        for x_, tasks_, y_ in _chunks(self.chunk_rows, x, tasks, y):
            squared = self._chunk(x_, tasks_, y_, factor)
            total = squared if total is None else total + squared
        assert total is not None
        return total

    def _buffers(self, rows: int) -> _Buffers:
        if rows not in self._parts:
            self._parts[rows] = self._whole.first(rows)
        return self._parts[rows]

    def _chunk(self, x: Tensor, tasks: TaskRows, y: Tensor, factor: float) -> Tensor:
        net, grad, shape = self.network.views, self.result.views, self.network.shape
        products, transposed, biases = self._products, self._transposed, self._biases
        use, entry = self._buffers(y.shape[-1]), self._entry
        z, back, inner, output, ones = use.z, use.back, use.inner, use.output, use.ones
        last, masks = shape.last_layer, self.masks
        kept: list[Tensor] = []

        # Equation 3.
        products.affine(biases["b1"], x, transposed["A"], z)
        entry.enter(z, tasks)

        # Equation 4; z is overwritten, the activations are kept for the way back.
        for layer in range(2, last, 2):
            before, between = use.active[layer - 2], use.active[layer - 1]
            torch.clamp_min(z, 0, out=before)
            products.affine(biases[f"b{layer}"], before, transposed[f"W{layer}"], between)
            between.clamp_min_(0)
            if masks:
                kept.append(masks(y.shape[-1], shape.width))
                between.mul_(kept[-1])
            products.add_product(z, between, transposed[f"W{layer + 1}"])
            z.add_(biases[f"b{layer + 1}"])
        if shape.last_relu:
            z.clamp_min_(0)

        # Equation 5, and the error.
        products.affine(biases[f"b{last}"], z, transposed[f"W{last}"], output)
        error = entry.predict(output, tasks) - y
        if shape.intercepts:
            error += tasks.gather(net["intercept"][..., None])[..., 0]
        squared = products.squared(error)
        error.mul_(factor)

        # And back again.
        if shape.intercepts:
            tasks.add_to(grad["intercept"][..., None], error[..., None])
        entry.leave(output, error, tasks)
        products.add_product(grad[f"W{last}"], use.output_transposed, z)
        products.add_row_sums(grad[f"b{last}"], use.output_transposed, ones)
        products.product(output, net[f"W{last}"], back)
        if shape.last_relu:
            _relu_backward(back, z, 0, grad_input=back)
        for layer in range(last - 2, 0, -2):
            before, between = use.active[layer - 2], use.active[layer - 1]
            products.add_product(grad[f"W{layer + 1}"], use.back_transposed, between)
            products.add_row_sums(grad[f"b{layer + 1}"], use.back_transposed, ones)
            products.product(back, net[f"W{layer + 1}"], inner)
            _relu_backward(inner, between, 0, grad_input=inner)
            if masks:  # a unit that was left out is zero in `between` too
                inner.mul_(kept.pop())
            products.add_product(grad[f"W{layer}"], use.inner_transposed, before)
            products.add_row_sums(grad[f"b{layer}"], use.inner_transposed, ones)
            products.product(inner, net[f"W{layer}"], z)  # z is free from here on
            _relu_backward(z, before, 0, grad_input=z)
            back.add_(z)
        products.add_product(grad["A"], use.back_transposed, x)
        products.add_row_sums(grad["b1"], use.back_transposed, ones)
        entry.finish(back, use.back_transposed, tasks)
        return squared


@dataclass(frozen=True)
class _Buffers:
    """What a chunk of rows writes into."""

    z: Tensor
    active: tuple[Tensor, ...]
    back: Tensor
    inner: Tensor
    output: Tensor
    ones: Tensor

    @classmethod
    def allocate(cls, network: Network, rows: int) -> _Buffers:
        shape, flat = network.shape, network.flat
        lead, outputs = flat.shape[:-1], shape.entry.outputs(shape)

        def wide() -> Tensor:
            return flat.new_empty(*lead, rows, shape.width)

        return cls(
            z=wide(),
            active=tuple(wide() for _ in range(2 * shape.blocks)),
            back=wide(),
            inner=wide(),
            output=flat.new_empty(*lead, outputs, rows).mT,  # by columns: a narrow product
            ones=flat.new_ones(rows),
        )

    def first(self, rows: int) -> _Buffers:
        return _Buffers(
            z=self.z[..., :rows, :],
            active=tuple(buffer[..., :rows, :] for buffer in self.active),
            back=self.back[..., :rows, :],
            inner=self.inner[..., :rows, :],
            output=self.output[..., :rows, :],
            ones=self.ones[:rows],
        )

    @cached_property
    def output_transposed(self) -> Tensor:
        return self.output.mT

    @cached_property
    def back_transposed(self) -> Tensor:
        return self.back.mT

    @cached_property
    def inner_transposed(self) -> Tensor:
        return self.inner.mT


def _chunks(
    rows: int, x: Tensor, tasks: TaskRows, y: Tensor
) -> Iterator[tuple[Tensor, TaskRows, Tensor]]:
    if y.shape[-1] <= rows:
        yield x, tasks, y
        return
    for start in range(0, y.shape[-1], rows):
        part = slice(start, start + rows)
        yield x[..., part, :], tasks[part], y[..., part]
