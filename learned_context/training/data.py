"""Rows as a network sees them: standardised, and on the device where they stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from learned_context.rows import Rows
from learned_context.scaling import Scaler


@dataclass(frozen=True)
class Tensors:
    x: Tensor
    task: Tensor
    y: Tensor

    @classmethod
    def of(cls, rows: Rows, scaler: Scaler, device: torch.device) -> Tensors:
        return cls(
            torch.from_numpy(scaler.x(rows.x)).to(device),
            torch.from_numpy(np.ascontiguousarray(rows.task)).to(device),
            torch.from_numpy(scaler.y(rows.y)).to(device),
        )

    def __len__(self) -> int:
        return len(self.y)
