"""All data is brought to unit scale before training, and back before errors are taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learned_context.rows import Rows


@dataclass(frozen=True)
class Scaler:
    """Means and standard deviations of the rows that a network is trained on, and no others."""

    x_mean: NDArray[np.float64]
    x_std: NDArray[np.float64]
    y_mean: float
    y_std: float

    @classmethod
    def fit(cls, rows: Rows) -> Scaler:
        x_std = rows.x.std(axis=0)
        y_std = float(rows.y.std())
        return cls(
            x_mean=rows.x.mean(axis=0),
            x_std=np.where(x_std > 0, x_std, 1.0),  # a constant feature becomes zero
            y_mean=float(rows.y.mean()),
            y_std=y_std if y_std > 0 else 1.0,
        )

    def x(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        return ((values - self.x_mean) / self.x_std).astype(np.float32)

    def y(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        return ((values - self.y_mean) / self.y_std).astype(np.float32)

    def original(self, predictions: NDArray[np.float32]) -> NDArray[np.float64]:
        return predictions.astype(np.float64) * self.y_std + self.y_mean
