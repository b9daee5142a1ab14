"""The paper's constructions, as networks that can be run.

Section 4: the network of the proof of Theorem 2, which turns a scalar task parameter into the
one-hot task indicator, and the sine family of Proposition 3, on which a last-layer network with
fewer features than tasks must fail. Appendix A: the pyramid network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layers:
    """A plain feedforward network (Equation 2): ReLU on the hidden layers."""

    weights: Sequence[Array]
    biases: Sequence[Array]
    relu_on_last: bool = False

    def __call__(self, inputs: Array) -> Array:
        z = inputs
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            z = z @ weight.T + bias
            if index < len(self.weights) - 1 or self.relu_on_last:
                z = np.maximum(z, 0)
        return z


def task_indicator(tasks: int, delta: float = 0.25) -> Layers:
    """Theorem 2: the two layers that map beta = j to the one-hot vector c_j (Equation 19)."""
    if not 0 < delta < 0.5:
        raise ValueError(f"delta must lie between 0 and 0.5, not {delta}")
    numbers = np.arange(1, tasks + 1, dtype=np.float64)
    first_bias = -np.column_stack([numbers - delta, numbers]).ravel()
    second = np.kron(np.eye(tasks), np.array([[1.0, -2.0]])) / delta
    return Layers(
        weights=(np.ones((2 * tasks, 1)), second),
        biases=(first_bias, np.zeros(tasks)),
        relu_on_last=True,
    )


PYRAMID_BIAS = -0.5 * np.arange(4.0)


def pyramid(task_weights: ArrayLike) -> Layers:
    """Equations 22 to 24: inputs are [x, beta]; `task_weights` is L.

    With L = (1, 1, 1, 1) the task parameter translates the base shape; with L = b_1 it dilates
    it by 1 + beta.
    """
    first = np.column_stack([np.ones(4), np.asarray(task_weights, dtype=np.float64)])
    second = np.array([[2.0, -4.0, 0.0, 0.0], [0.0, 0.0, 2.0, -4.0]])
    return Layers(
        weights=(first, second, np.ones((1, 2))),
        biases=(PYRAMID_BIAS, np.zeros(2), np.zeros(1)),
    )


def sine_family_rmse(tasks: int, features: int, points: int = 4096) -> float:
    """The lowest error that any last-layer network with so many features has on sin(j x).

    A last-layer network is beta_j . h(x): the tasks' curves lie in a space of that dimension.
    The best such space is spanned by the leading singular vectors (Eckart and Young).
    """
    x = (np.arange(points) + 0.5) / points * 2 * np.pi - np.pi
    curves = np.sin(np.arange(1, tasks + 1)[:, None] * x)
    singular = np.linalg.svd(curves, compute_uv=False)
    return float(np.sqrt(np.sum(singular[features:] ** 2) / curves.size))
