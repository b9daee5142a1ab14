"""The frozen network as a function of the task parameters: its values and its slopes.

The task enters a learned-context network only through the first layer, z = A x + L beta + b1
(Equation 17). So one backward pass to z gives every row's df/dz, and df/dbeta = L^T df/dz for
any number of task parameters. ReLU networks are piecewise linear: at a kink the slope of one
side is used.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pipeline.models.network import Network

_relu_backward = torch.ops.aten.threshold_backward
"""(slope, activation, 0): the slope where the activation is above zero, else zero."""


def value(network: Network, z: Tensor) -> Tensor:
    """The output of every row from its first layer z [n, width]."""
    return network.trunk_output(z)[:, 0]


def value_and_slope(network: Network, z: Tensor) -> tuple[Tensor, Tensor]:
    """The output of every row, and its derivative df/dbeta [n, d]."""
    views, last = network.views, 2 * network.shape.blocks + 2
    active: list[Tensor] = []
    # Equation 4, forwards.
    for layer in range(2, last, 2):
        before = z.relu()
        between = torch.addmm(views[f"b{layer}"], before, views[f"W{layer}"].T).relu_()
        z = torch.addmm(z, between, views[f"W{layer + 1}"].T).add_(views[f"b{layer + 1}"])
        active += [before, between]
    # Equation 5. Its slope is one row for all rows, and so is the next product.
    value = torch.addmm(views[f"b{last}"], z, views[f"W{last}"].T)[:, 0]
    slope = views[f"W{last}"]
    # Equation 4, backwards.
    for layer in range(last - 2, 0, -2):
        inner = (slope @ views[f"W{layer + 1}"]).expand_as(z)
        inner = _relu_backward(inner, active.pop(), 0) @ views[f"W{layer}"]
        slope = slope + _relu_backward(inner, active.pop(), 0)
    return value, (slope @ views["L"]).expand(len(z), -1)
