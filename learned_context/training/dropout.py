"""Dropout's masks: drawn on the CPU, so that a seed means the same masks on every device."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_OWN_SEED = 0x5DEECE66D
"""Added to a training's seed: its masks must not repeat its batches' random numbers."""


def mask_generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed + _OWN_SEED)


class Masks:
    """One byte decides about one unit, so the share that is left out is a multiple of 1/256."""

    generators: Sequence[torch.Generator] = ()
    """One for each member, or one."""

    def __init__(self, share: float, like: Tensor) -> None:
        """`like` is the flat vector [P] of one network, or [K, P] of K members."""
        if not 0 <= share < 1:
            raise ValueError(f"dropout must be a share, 0 or more and below 1, not {share!r}")
        self._left_out = min(round(256 * share), 255)
        self._factor = 256 / (256 - self._left_out)
        self._like = like

    def draw(self, rows: int, width: int) -> Tensor:
        """Factors [rows, width] (or [K, rows, width]): 0, or what keeps the expected sum."""
        drawn = torch.empty(len(self.generators), -(-rows * width // 8), dtype=torch.int64)
        for part, generator in zip(drawn, self.generators, strict=True):
            part.random_(-(2**63), None, generator=generator)
        byte = drawn.view(torch.uint8)[:, : rows * width]
        numbers = byte.to(self._like.device).to(self._like.dtype)
        # 1 from `_left_out` on and 0 below; several times as fast as a comparison of bytes.
        mask = numbers.sub_(self._left_out - 1).clamp_(0, 1).mul_(self._factor)
        return mask.view(*self._like.shape[:-1], rows, width)
