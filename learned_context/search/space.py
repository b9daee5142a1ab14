"""Table 6 as a box for LIPO, and the way from a point of the box to hyperparameters.

Rates and penalties span many powers of ten, so LIPO sees their logarithm. A dimension whose
ends are equal (the number of task parameters when there is one task) is left out of the box:
the solver refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from learned_context.networks.registry import Kind, architecture
from learned_context.training.trainer import Hyperparameters


@dataclass(frozen=True)
class Dimension:
    name: str
    low: float
    high: float
    logarithmic: bool = False
    integer: bool = False

    def bounds(self) -> tuple[float, float]:
        if self.logarithmic:
            return math.log10(self.low), math.log10(self.high)
        return float(self.low), float(self.high)

    def value(self, coordinate: float) -> float | int:
        if self.integer:
            return round(coordinate)
        # Rounding keeps a settings file readable and cannot leave the range.
        value = float(f"{10**coordinate if self.logarithmic else coordinate:.6g}")
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Box:
    dimensions: tuple[Dimension, ...]

    @property
    def free(self) -> tuple[Dimension, ...]:
        return tuple(d for d in self.dimensions if d.low < d.high)

    def hyperparameters(self, point: Sequence[float]) -> Hyperparameters:
        values = {d.name: d.value(d.bounds()[0]) for d in self.dimensions}
        for dimension, coordinate in zip(self.free, point, strict=True):
            values[dimension.name] = dimension.value(coordinate)
        return Hyperparameters(**values)  # type: ignore[arg-type]


def table_6(
    kind: Kind,
    tasks: int,
    peak_rate: tuple[float, float],
    width: tuple[int, int],
    lambda_shared: tuple[float, float],
    lambda_task: tuple[float, float],
    task_dim: tuple[int, int],
) -> Box:
    """The dimensions that a network of this kind has."""
    low, high = task_dim
    dimensions = (
        Dimension("peak_rate", *peak_rate, logarithmic=True),
        Dimension("width", *width, integer=True),
        Dimension("lambda_shared", *lambda_shared, logarithmic=True),
        Dimension("lambda_task", *lambda_task, logarithmic=True),
        Dimension("task_dim", min(low, tasks), min(high, tasks), integer=True),
    )
    names = architecture(kind).hyperparameters
    return Box(tuple(dimension for dimension in dimensions if dimension.name in names))
