"""A finite basis of a Gaussian process: columns phi with phi(x) . phi(x') close to its kernel.

The kernel is exp(-r^2 / 2), r the distance of x and x' in units of each feature's length. With
points u, their kernel matrix K and a root R of its inverse, R R^T = K^(-1), phi(x) = k(x, u) R
(Nyström): the product is the kernel at the points, but for the jitter, and smooth between them. All
is computed in double precision, as small differences count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learned_context.new_tasks.objective import Floats

JITTER = 1e-4
"""On the kernel's diagonal: points may be close to each other compared with the lengths."""


@dataclass(frozen=True)
class KernelBasis:
    features: NDArray[np.int64]
    """The columns of x that the kernel uses."""
    points: Tensor
    """[r, f]"""
    lengths: Tensor
    """[f]"""
    root: Tensor
    """R [r, r]"""

    @classmethod
    def of(cls, features: NDArray[np.int64], points: Tensor, lengths: Tensor) -> KernelBasis:
        kernel = _kernel(points, points, lengths)
        lower = torch.linalg.cholesky(kernel + JITTER * torch.eye(len(points)).to(kernel))
        identity = torch.eye(len(points)).to(kernel)
        root = torch.linalg.solve_triangular(lower, identity, upper=False).T
        # As a file gives it back: products of a transposed matrix are rounded in another way.
        return cls(features, points, lengths, root.contiguous())

    def to(self, device: torch.device) -> Self:
        return replace(
            self,
            points=self.points.to(device),
            lengths=self.lengths.to(device),
            root=self.root.to(device),
        )

    def columns(self, x: Tensor) -> Tensor:
        """[n, r] in double precision, for features [n, d]."""
        own = x.double().index_select(1, torch.from_numpy(self.features).to(x.device))
        return _kernel(own, self.points, self.lengths) @ self.root


def _kernel(x: Tensor, points: Tensor, lengths: Tensor) -> Tensor:
    a, b = x / lengths, points / lengths
    squared = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
    return torch.exp(-squared.clamp_min(0) / 2)


def spread_points(x: Floats, most: int, random: np.random.Generator) -> Floats:
    """Different rows of x that lie apart: each is drawn by its squared distance to those before."""
    rows = np.unique(x, axis=0)
    chosen = [int(random.integers(len(rows)))]
    distance = np.full(len(rows), np.inf)
    while len(chosen) < min(most, len(rows)):
        distance = np.minimum(distance, ((rows - rows[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(random.choice(len(rows), p=distance / distance.sum())))
    return np.asarray(rows[chosen])
