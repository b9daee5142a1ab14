"""One residual trunk, and on it the four ways to bring the task in.

The trunk is Equations 3 to 5 of the paper: a first linear layer, pre-activated residual
blocks, a last linear layer. The architectures differ in where the task enters:

    lc  learned context    z = A x + L beta_j + b1         (Equation 17)
    cs  context sensitive  z = A x + (column j of L) + b1  (Section 3.1)
    ll  last layer         y = beta_j . h(x)               (Equation 9)
    fs  fully shared       no task at all

Neither the one-hot vector c_j nor the concatenated input [x, beta_j] is ever built: the
task's part of the first layer is a gathered row, so 100,000 tasks cost no more than two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Kind = Literal["lc", "cs", "ll", "fs"]


@dataclass(frozen=True)
class Shape:
    """Everything that decides which parameters a network has."""

    kind: Kind
    inputs: int
    tasks: int
    width: int
    blocks: int
    task_dim: int = 0
    """d_beta; only learned-context and last-layer networks have task parameters."""

    def __post_init__(self) -> None:
        if self.kind in ("lc", "ll") and self.task_dim < 1:
            raise ValueError(f"a {self.kind} network needs task_dim >= 1, not {self.task_dim}")
        if min(self.inputs, self.tasks, self.width) < 1 or self.blocks < 0:
            raise ValueError(f"inputs, tasks and width must be at least 1: {self}")

    @property
    def outputs(self) -> int:
        return self.task_dim if self.kind == "ll" else 1

    def shared(self) -> dict[str, tuple[int, ...]]:
        """Names and sizes of the shared parameters alpha, in the order of the flat vector."""
        sizes: dict[str, tuple[int, ...]] = {"A": (self.width, self.inputs)}
        if self.kind == "lc":
            sizes["L"] = (self.width, self.task_dim)
        if self.kind == "cs":  # row j is column j of L^(cs): contiguous for the gather
            sizes["L"] = (self.tasks, self.width)
        sizes["b1"] = (self.width,)
        for layer in range(2, 2 * self.blocks + 2):
            sizes[f"W{layer}"] = (self.width, self.width)
            sizes[f"b{layer}"] = (self.width,)
        last = 2 * self.blocks + 2
        sizes[f"W{last}"] = (self.outputs, self.width)
        sizes[f"b{last}"] = (self.outputs,)
        return sizes

    def specific(self) -> dict[str, tuple[int, ...]]:
        """Names and sizes of the task parameters beta_1, ..., beta_m."""
        return {"beta": (self.tasks, self.task_dim)} if self.kind in ("lc", "ll") else {}

    def by_columns(self, name: str) -> bool:
        """Whether a parameter lies in memory column by column.

        Matrices with a column for every input or task parameter: products with a narrow matrix
        are two to five times as fast when its long side is contiguous.
        """
        return name == "A" or (name == "L" and self.kind == "lc")

    def fan_in(self, name: str) -> int:
        """How many inputs a layer's units have: the one-hot and beta inputs count."""
        if name in ("A", "L"):
            task_inputs = {"lc": self.task_dim, "cs": self.tasks}.get(self.kind, 0)
            return self.inputs + task_inputs
        return self.width

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Network:
    """Parameters as named views into one flat vector: shared ones first, then the tasks'."""

    def __init__(self, shape: Shape, flat: Tensor) -> None:
        self.shape = shape
        self.flat = flat
        self.views: dict[str, Tensor] = {}
        start = 0
        for name, size in {**shape.shared(), **shape.specific()}.items():
            if name == "beta":
                self.shared_size = start
            count = torch.Size(size).numel()
            part = flat[start : start + count]
            self.views[name] = (
                part.view(size[::-1]).T if shape.by_columns(name) else part.view(size)
            )
            start += count
        if not shape.specific():
            self.shared_size = start
        if start != flat.numel():
            raise ValueError(f"{shape} has {start} parameters, not {flat.numel()}")

    @staticmethod
    def size(shape: Shape) -> int:
        sizes = {**shape.shared(), **shape.specific()}.values()
        return sum(torch.Size(size).numel() for size in sizes)

    @classmethod
    def zeros(cls, shape: Shape, device: torch.device, dtype: torch.dtype) -> Network:
        return cls(shape, torch.zeros(cls.size(shape), device=device, dtype=dtype))

    @classmethod
    def initial(
        cls,
        shape: Shape,
        generator: torch.Generator,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> Network:
        """He initialisation (normal, fan-in, ReLU gain); biases and task parameters are zero."""
        network = cls.zeros(shape, device, dtype)
        for name in shape.shared():
            if not name.startswith("b"):
                # Drawn on the CPU, so that a seed means the same weights on every device.
                values = torch.randn(network.views[name].shape, generator=generator)
                scale = (2.0 / shape.fan_in(name)) ** 0.5
                network.views[name].copy_(values * scale)
        return network

    @classmethod
    def from_parameters(cls, shape: Shape, parameters: Mapping[str, Tensor]) -> Network:
        expected = {**shape.shared(), **shape.specific()}
        for name, size in expected.items():
            if name not in parameters:
                raise ValueError(f"parameter {name!r} is missing")
            if tuple(parameters[name].shape) != size:
                raise ValueError(f"parameter {name!r} has the wrong size")
        some = next(iter(parameters.values()))
        network = cls.zeros(shape, some.device, some.dtype)
        for name in expected:
            network.views[name].copy_(parameters[name])
        return network

    def parameters(self) -> dict[str, Tensor]:
        return {
            name: view.detach().clone(memory_format=torch.contiguous_format)
            for name, view in self.views.items()
        }

    def predict(self, x: Tensor, task: Tensor, rows: int = 8192) -> Tensor:
        """Predictions for every row, in chunks that bound the memory."""
        parts = [
            self._predict(x[start : start + rows], task[start : start + rows])
            for start in range(0, len(x), rows)
        ]
        return torch.cat(parts) if parts else x.new_zeros(0)

    def _predict(self, x: Tensor, task: Tensor) -> Tensor:
        views, kind = self.views, self.shape.kind
        first = self.trunk_input(x)
        if kind == "lc":
            first = first + views["beta"][task] @ views["L"].T
        elif kind == "cs":
            first = first + views["L"][task]
        output = self.trunk_output(first)
        if kind == "ll":
            return (views["beta"][task] * output).sum(1)
        return output[:, 0]

    def trunk_input(self, x: Tensor) -> Tensor:
        """Equation 3 without the task: A x + b1."""
        return torch.addmm(self.views["b1"], x, self.views["A"].T)

    def trunk_output(self, z: Tensor) -> Tensor:
        """Equations 4 and 5: the residual blocks and the last layer, from z^(2)."""
        views = self.views
        for layer in range(2, 2 * self.shape.blocks + 2, 2):
            inner = torch.addmm(views[f"b{layer}"], z.relu(), views[f"W{layer}"].T)
            z = z + torch.addmm(views[f"b{layer + 1}"], inner.relu(), views[f"W{layer + 1}"].T)
        last = 2 * self.shape.blocks + 2
        return torch.addmm(views[f"b{last}"], z, views[f"W{last}"].T)
