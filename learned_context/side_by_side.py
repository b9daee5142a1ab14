"""Networks with different numbers of task parameters, trained side by side on the same rows.

Batched products need one shape, so every network is padded with zeros to the widest. The padding
stays zero: a task parameter that is zero leaves the gradient of what it is multiplied with at zero,
and the other way round, in every architecture that has task parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from learned_context.networks.network import Network, Shape
from learned_context.networks.registry import Kind
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training.data import Tensors
from learned_context.training.plan import Hyperparameters, Plan
from learned_context.training.trainer import Report, Run, Trained, Training


def train_dimensions(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hypers: Sequence[Hyperparameters],
    plan: Plan,
    seeds: Sequence[int],
    device: torch.device,
    report: Report | None = None,
) -> list[Trained]:
    """One network for each of `hypers`, which differ in `task_dim` alone, with its seed.

    Up to rounding what `train` gives for each.
    """
    if len({replace(hyper, task_dim=0) for hyper in hypers}) != 1:
        raise ValueError("hypers: may differ in task_dim alone")
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, device)
    trainings = [Training(data, scaler, tasks, kind, hyper, plan) for hyper in hypers]
    return fit_padded(trainings, seeds, report)


def fit_padded(
    trainings: Sequence[Training], seeds: Sequence[int], report: Report | None = None
) -> list[Trained]:
    """Trainings on the same rows whose shapes differ in `task_dim` alone."""
    widest = max(trainings, key=lambda training: training.shape.task_dim)
    runs: list[Run] = [
        PaddedRun(training, seed, widest.shape)
        for training, seed in zip(trainings, seeds, strict=True)
    ]
    widest._fit(runs, report)
    for run in runs:
        run.trained.network = resized(run.trained.network, run.training.shape)
    return [run.trained for run in runs]


class PaddedRun(Run):
    """A training whose network has the shape of a wider one."""

    def __init__(self, training: Training, seed: int, shape: Shape) -> None:
        self.shape = shape
        super().__init__(training, seed, is_member=True)

    def _begin(self) -> None:
        super()._begin()  # draws the weights and the order of a network of its own shape
        self.network = self.trained.network = resized(self.network, self.shape)


def resized(network: Network, shape: Shape) -> Network:
    """The same parameters in another shape: zeros are added, or left out."""
    found = Network.zeros(shape, network.flat.device, network.flat.dtype)
    for name, target in found.views.items():
        source = network.views[name]
        common = tuple(slice(min(sizes)) for sizes in zip(source.shape, target.shape, strict=True))
        target[common].copy_(source[common])
    return found
