"""Rows of a table as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """Features [n, d], the task's number [n] and the target [n], in original units."""

    x: NDArray[np.float64]
    task: NDArray[np.int64]
    y: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: NDArray[Any]) -> Rows:
        return Rows(self.x[index], self.task[index], self.y[index])
