"""One residual trunk, and the parameters of a network as views into one flat vector.

The trunk is Equations 3 to 5 of the paper: a first linear layer, pre-activated residual blocks,
a last linear layer. Where the task enters is said by the architecture (`networks.registry`).

Every parameter may have a leading member dimension: K networks of one shape side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from learned_context.networks.interface import Parameter, TaskEntry
from learned_context.networks.registry import Kind, architecture
from learned_context.networks.task_rows import TaskRows

Units = Callable[[Tensor, int], Tensor]
"""Changes the units of a layer, which is given by its number."""
Dropout = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Shape:
    """Everything that decides which parameters a network has and how they are used."""

    kind: Kind
    inputs: int
    tasks: int
    width: int
    blocks: int
    task_dim: int = 0
    """d_beta; zero for architectures without task parameters."""
    last_relu: bool = False
    """A ReLU before the last layer. The paper's network has none."""
    intercepts: bool = False
    """A number for each task that is added to the output. The paper's network has none."""

    def __post_init__(self) -> None:
        if architecture(self.kind).has_task_parameters and self.task_dim < 1:
            raise ValueError(f"a {self.kind} network needs task_dim >= 1, not {self.task_dim}")
        if min(self.inputs, self.tasks, self.width) < 1 or self.blocks < 0:
            raise ValueError(f"inputs, tasks and width must be at least 1: {self}")

    @property
    def entry(self) -> TaskEntry:
        """How the task enters."""
        entry: TaskEntry = import_module(architecture(self.kind).module).ENTRY
        return entry

    @property
    def last_layer(self) -> int:
        """The number of the last layer."""
        return 2 * self.blocks + 2

    def shared(self) -> list[Parameter]:
        """The shared parameters alpha, in the order of the flat vector."""
        width, entry, last = self.width, self.entry, self.last_layer
        fan_in = self.inputs + entry.task_inputs(self)
        found = [Parameter("A", (width, self.inputs), fan_in, by_columns=True)]
        found += [*entry.added(self), Parameter("b1", (width,))]
        for layer in range(2, last):
            found += [
                Parameter(f"W{layer}", (width, width), width),
                Parameter(f"b{layer}", (width,)),
            ]
        outputs = entry.outputs(self)
        return [
            *found,
            Parameter(f"W{last}", (outputs, width), width),
            Parameter(f"b{last}", (outputs,)),
        ]

    def groups(self) -> dict[str, list[Parameter]]:
        """All parameters in the order of the flat vector; each group has its own penalty."""
        has_beta = architecture(self.kind).has_task_parameters
        return {
            "shared": self.shared(),
            "task": [Parameter("beta", (self.tasks, self.task_dim))] if has_beta else [],
            "intercept": [Parameter("intercept", (self.tasks,))] if self.intercepts else [],
        }

    def as_dict(self) -> dict[str, Any]:
        """Without the options that are off, as files of the paper's network have it."""
        required = {field.name for field in fields(self) if field.default is MISSING}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if name in required or name == "task_dim" or value
        }


class Trunk:
    """Equations 3 to 5, for one network or for K members."""

    def __init__(
        self, shape: Shape, views: Mapping[str, Tensor], dropout: Dropout | None = None
    ) -> None:
        self.shape, self.views, self.dropout = shape, views, dropout

    def first(self, x: Tensor) -> Tensor:
        """Equation 3 without the task: A x + b1."""
        return self._linear("b1", x, "A")

    def rest(self, z: Tensor, units: Units | None = None) -> Tensor:
        """Equations 4 and 5: the residual blocks and the last layer, from z^(2).

        `units` may change the units inside a block before they are activated.
        """
        last = self.shape.last_layer
        for layer in range(2, last, 2):
            inner = self._linear(f"b{layer}", z.relu(), f"W{layer}")
            active = (units(inner, layer) if units else inner).relu()
            active = self.dropout(active) if self.dropout else active
            z = z + self._linear(f"b{layer + 1}", active, f"W{layer + 1}")
        return self._linear(f"b{last}", z.relu() if self.shape.last_relu else z, f"W{last}")

    def _linear(self, bias: str, x: Tensor, weight: str) -> Tensor:
        b, w = self.views[bias], self.views[weight]
        if w.dim() == 2:
            return torch.addmm(b, x.flatten(0, -2), w.T).view(*x.shape[:-1], len(b))
        return torch.baddbmm(b[:, None], x.expand(len(w), *x.shape[-2:]), w.mT)


class Network:
    """Parameters as named views into `flat`: [P], or [K, P] for K members."""

    def __init__(self, shape: Shape, flat: Tensor) -> None:
        self.shape = shape
        self.flat = flat
        self.views: dict[str, Tensor] = {}
        self.groups: dict[str, slice] = {}
        """Where the shared parameters, the tasks' and the intercepts lie in a flat vector."""
        lead, start = flat.shape[:-1], 0
        for group, parameters in shape.groups().items():
            begin = start
            for parameter in parameters:
                stop = start + torch.Size(parameter.size).numel()
                part = flat[..., start:stop]
                self.views[parameter.name] = (
                    part.view(*lead, *parameter.size[::-1]).mT
                    if parameter.by_columns
                    else part.view(*lead, *parameter.size)
                )
                start = stop
            if start > begin:
                self.groups[group] = slice(begin, start)
        if start != flat.shape[-1]:
            raise ValueError(f"{shape} has {start} parameters, not {flat.shape[-1]}")

    @staticmethod
    def size(shape: Shape) -> int:
        """Parameters of one network."""
        parameters = [p for group in shape.groups().values() for p in group]
        return sum(torch.Size(parameter.size).numel() for parameter in parameters)

    @classmethod
    def zeros(
        cls,
        shape: Shape,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        members: int | None = None,
    ) -> Network:
        lead = () if members is None else (members,)
        return cls(shape, torch.zeros(*lead, cls.size(shape), device=device, dtype=dtype))

    @classmethod
    def initial(
        cls,
        shape: Shape,
        generator: torch.Generator,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> Network:
        """He initialisation (normal, fan-in, ReLU gain); biases and task parameters are zero."""
        network = cls.zeros(shape, torch.device("cpu"), dtype)
        for parameter in shape.shared():
            if parameter.fan_in:
                # Drawn on the CPU, so that a seed means the same weights on every device.
                values = torch.randn(parameter.size, generator=generator)
                network.views[parameter.name].copy_(values * (2.0 / parameter.fan_in) ** 0.5)
        return network.to(device)

    @classmethod
    def from_parameters(cls, shape: Shape, parameters: Mapping[str, Tensor]) -> Network:
        """Parameters by name, all with a member dimension or all without."""
        some = parameters.get("A")
        lead = some.shape[:-2] if some is not None else ()
        expected = [p for group in shape.groups().values() for p in group]
        for parameter in expected:
            if parameter.name not in parameters:
                raise ValueError(f"parameter {parameter.name!r} is missing")
            if tuple(parameters[parameter.name].shape) != (*lead, *parameter.size):
                raise ValueError(f"parameter {parameter.name!r} has the wrong size")
        assert some is not None
        network = cls.zeros(shape, some.device, some.dtype, lead[0] if lead else None)
        for parameter in expected:
            network.views[parameter.name].copy_(parameters[parameter.name])
        return network

    @classmethod
    def stack(cls, networks: Sequence[Network]) -> Network:
        """Networks of one shape as members."""
        return cls(networks[0].shape, torch.stack([network.flat for network in networks]))

    @property
    def members(self) -> int | None:
        """K, or None for a network without a member dimension."""
        return len(self.flat) if self.flat.dim() == 2 else None

    def member(self, number: int) -> Network:
        """One member, as a view."""
        return Network(self.shape, self.flat[number])

    def to(self, device: torch.device) -> Network:
        return self if self.flat.device == device else Network(self.shape, self.flat.to(device))

    def parameters(self) -> dict[str, Tensor]:
        return {
            name: view.detach().clone(memory_format=torch.contiguous_format)
            for name, view in self.views.items()
        }

    @cached_property
    def trunk(self) -> Trunk:
        return Trunk(self.shape, self.views)

    def __reduce__(self) -> tuple[type[Network], tuple[Shape, Tensor]]:
        """Pickled on the CPU: the machine that reads it may have no other device."""
        return Network, (self.shape, self.flat.cpu())

    def __deepcopy__(self, memo: dict[int, Any]) -> Network:
        return Network(self.shape, self.flat.clone())

    def predict(self, x: Tensor, task: Tensor, rows: int | None = None) -> Tensor:
        """Predictions for every row, [n] or [K, n], in chunks that bound the memory."""
        rows = rows or (8192 if x.device.type == "cpu" else 65536)
        parts = [
            self.forward(x[start : start + rows], TaskRows(task[start : start + rows], self.tasks))
            for start in range(0, len(x), rows)
        ]
        return torch.cat(parts, -1) if parts else x.new_zeros(*self.flat.shape[:-1], 0)

    def forward(self, x: Tensor, tasks: TaskRows, dropout: Dropout | None = None) -> Tensor:
        """Predictions [n], or [K, n] when there are members or x is [K, n, d]."""
        trunk = Trunk(self.shape, self.views, dropout) if dropout else self.trunk
        entry = self.shape.entry
        brought = None
        if entry.table:
            brought = entry.brought(trunk, tasks.gather(self.views[entry.table]))
        output = entry.joined(trunk, entry.without_task(trunk, x), brought)
        if self.shape.intercepts:
            output = output + tasks.gather(self.views["intercept"][..., None])[..., 0]
        return output

    @property
    def tasks(self) -> int:
        return self.shape.tasks

    # A prediction in parts: for new tasks and for curves over the task parameters.

    # With intercepts, a task's intercept is the last of its parameters.

    @property
    def task_parameters(self) -> Tensor:
        """Of all tasks, [..., m, d]."""
        if not self.shape.intercepts:
            return self.views["beta"]
        return torch.cat([self.views["beta"], self.views["intercept"][..., None]], -1)

    def without_task(self, x: Tensor) -> Tensor:
        """What no task changes; for `joined`."""
        return self.shape.entry.without_task(self.trunk, x)

    def brought(self, parameters: Tensor) -> Tensor:
        """What task parameters [..., d] bring, as L beta; for `joined`."""
        entry = self.shape.entry
        if not self.shape.intercepts:
            return entry.brought(self.trunk, parameters)
        brought = entry.brought(self.trunk, parameters[..., :-1])
        return torch.cat([brought, parameters[..., -1:]], -1)

    def joined(self, without_task: Tensor, brought: Tensor) -> Tensor:
        """The predictions; leading dimensions broadcast."""
        entry = self.shape.entry
        if not self.shape.intercepts:
            return entry.joined(self.trunk, without_task, brought)
        return entry.joined(self.trunk, without_task, brought[..., :-1]) + brought[..., -1]

    def value_and_slope(
        self, without_task: Tensor, parameters: Tensor, brought: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predictions [P, R] of rows [P, R, ...], and their derivatives [P, R, d].

        Each of the P blocks of rows has its task parameters [P, d], and what they bring.
        """
        entry = self.shape.entry
        if not self.shape.intercepts:
            return entry.value_and_slope(self.trunk, without_task, parameters, brought)
        value, slope = entry.value_and_slope(
            self.trunk, without_task, parameters[..., :-1], brought[..., :-1]
        )
        ones = torch.ones_like(value)[..., None]
        return value + brought[..., -1:], torch.cat([slope, ones], -1)
