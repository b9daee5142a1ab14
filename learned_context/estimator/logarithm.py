"""A target seen by its logarithm.

Where targets are positive and span a wide range, as weights and concentrations do, tasks mostly
differ by factors, and errors grow with the target. Then a model of the logarithm needs fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from learned_context.new_tasks.objective import Floats
from learned_context.scaling import Scaler

LEAST_RATIO = 2.0
"""Of the largest to the smallest target: below it, the logarithm is nearly a line."""
BEYOND = 1.5
"""How many times the largest target a prediction can be: exp turns small errors into huge ones."""


@dataclass(frozen=True)
class Logarithm:
    """Between the standardised target t and z = (log(y_mean + y_std t) - mean) / std."""

    y_mean: float
    y_std: float
    mean: float
    std: float
    low: float
    high: float
    """z stays between them."""

    @classmethod
    def suits(cls, y: Floats) -> bool:
        return bool(y.min() > 0 and y.max() >= LEAST_RATIO * y.min())

    @classmethod
    def of(cls, y: Floats, scaler: Scaler) -> Logarithm:
        """`scaler` is that of the rows whose targets y are."""
        logs = np.log(y)
        mean, std = float(logs.mean()), float(logs.std()) if np.ptp(logs) > 0 else 1.0
        edges = np.array([logs.min() - np.log(BEYOND), logs.max() + np.log(BEYOND)])
        low, high = ((edges - mean) / std).tolist()
        return cls(scaler.y_mean, scaler.y_std, mean, std, low, high)

    def forward(self, t: Tensor) -> Tensor:
        least = float(np.exp(self.mean + self.std * self.low))
        logs = torch.log((self.y_mean + self.y_std * t).clamp_min(least))
        return ((logs - self.mean) / self.std).clamp_max(self.high)

    def back(self, z: Tensor) -> Tensor:
        return (self._exp(z) - self.y_mean) / self.y_std

    def gain(self, z: Tensor) -> Tensor:
        """How much the target changes with z."""
        return self._exp(z) * (self.std / self.y_std)

    def _exp(self, z: Tensor) -> Tensor:
        return torch.exp(self.mean + self.std * z.clamp(self.low, self.high))
