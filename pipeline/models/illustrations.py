"""What the figures need of trained networks, as plain numbers: no figure code loads a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from learned_context.new_tasks.objective import Floats, Ints, Prior, Problem
from learned_context.rows import Rows
from learned_context.training.data import Tensors
from learned_context.training.trainer import Trained, one_thread


def parameters(trained: Trained) -> Floats:
    """The task parameters [m, d]."""
    return trained.network.views["beta"].double().cpu().numpy()


def brought(trained: Trained) -> Floats:
    """What each task parameter alone brings to the network [d, n]: for LC the columns of L."""
    unit = torch.eye(trained.network.shape.task_dim, device=trained.network.flat.device)
    with torch.no_grad():
        return trained.network.brought(unit).double().cpu().numpy()


def posterior_stds(trained: Trained, rows: Rows, noise: float) -> Floats:
    """How well the training rows fix each task's parameters: Laplace's deviations [m, d]."""
    beta = parameters(trained)
    tensors = Tensors.of(rows, trained.scaler, trained.network.flat.device)
    problem = Problem(trained.network, tensors, len(beta), noise, Prior.of_network(trained.network))
    with one_thread(problem.device), torch.no_grad():
        precision = problem.local(np.arange(len(beta)), beta).precision
    return np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))


def responses(trained: Trained, x: Floats, beta: Floats) -> Floats:
    """The network's curve over inputs x [n, d_x] for each of the parameters [k, d]: [k, n]."""
    network, scaler = trained.network, trained.scaler
    device = network.flat.device
    with one_thread(device), torch.no_grad():
        without_task = network.without_task(torch.from_numpy(scaler.x(x)).to(device))
        brought = network.brought(torch.from_numpy(beta.astype(np.float32)).to(device))
        curves = [network.joined(without_task, one) for one in brought]
        return np.stack([scaler.original(curve.cpu().numpy()) for curve in curves])


def spread(values: Floats, count: int) -> Ints:
    """Numbers of at most `count` entries, evenly spaced in the order of their values."""
    order = np.argsort(values, kind="stable")
    return np.unique(order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(int)])


def wave(frequency: float | Floats, x: Floats) -> Floats:
    """The function behind the Frequency dataset, without its noise."""
    return np.asarray(0.5 * np.sin(2 * np.pi * frequency * x) + 0.5)


def likelihoods(
    trained: Trained, noise_std: float, model_std: float, seed: int, omega: float = 1.5
) -> dict[str, Any]:
    """The likelihood of a new wave's parameter given one to four of its points.

    For the true function the parameter is the frequency, for the network its one task parameter;
    both densities are normalised over their grid. Samples are the network's curves for
    parameters drawn from its density.
    """
    random = np.random.default_rng(seed)
    x = random.uniform(0, 1, 4)
    y = wave(omega, x) + random.normal(0, noise_std, 4)
    frequencies = np.linspace(0.5, 4.0, 201)
    beta = parameters(trained)[:, 0]
    margin = 0.1 * float(np.ptp(beta))
    grid = np.linspace(beta.min() - margin, beta.max() + margin, 201)
    line = np.linspace(0, 1, 101)
    at_points = responses(trained, x[:, None], grid[:, None])
    curves = responses(trained, line[:, None], grid[:, None])
    result: dict[str, Any] = {
        "omega": omega,
        "points": np.column_stack([x, y]).round(5).tolist(),
        "true": {"grid": frequencies.round(5).tolist(), "rows": []},
        "model": {"grid": grid.round(5).tolist(), "rows": []},
        "curves": {
            "grid": line.round(5).tolist(),
            "truth": wave(omega, line).round(5).tolist(),
            "samples": [],
        },
    }
    for count in range(1, 5):
        truth = _density(frequencies, wave(frequencies[:, None], x) - y, count, noise_std)
        model = _density(grid, at_points - y, count, model_std)
        drawn = random.choice(len(grid), size=20, p=model / model.sum())
        result["true"]["rows"].append(_rounded(truth))
        result["model"]["rows"].append(_rounded(model))
        result["curves"]["samples"].append([_rounded(curves[index]) for index in drawn])
    return result


def _density(grid: Floats, errors: Floats, count: int, std: float) -> Floats:
    logs = -0.5 * np.sum((errors[:, :count] / std) ** 2, axis=1)
    density = np.exp(logs - logs.max())
    return np.asarray(density / (density.sum() * (grid[1] - grid[0])))


def _rounded(values: Floats | Sequence[float]) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
