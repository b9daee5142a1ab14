"""Small random networks and tasks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learned_context.networks.network import Network, Shape
from learned_context.new_tasks.objective import Prior, Problem
from learned_context.training import trainer
from learned_context.training.data import Tensors

NOISE = 0.05


class World:
    """A random learned-context network, its base tasks, and new tasks with `counts` rows."""

    def __init__(self, counts, size=2, blocks=2, base=20, dtype=torch.float64, seed=0):
        generator = torch.Generator().manual_seed(seed)
        shape = Shape("lc", 2, base, 16, blocks, size)
        self.network = Network.initial(shape, generator, torch.device("cpu"), dtype)
        random = np.random.default_rng(seed)
        self.base = random.normal(size=(base, size))
        self.network.views["beta"].copy_(torch.from_numpy(self.base))
        self.prior = Prior.of(self.base)
        self.counts = np.array(counts)
        task = np.repeat(np.arange(len(counts)), counts)
        truth = random.normal(size=(len(counts), size))
        x = torch.from_numpy(random.normal(size=(len(task), 2))).to(dtype)
        y = self.output(x, torch.from_numpy(truth[task]).to(dtype))
        y += torch.from_numpy(random.normal(0, NOISE**0.5, len(task))).to(dtype)
        order = torch.from_numpy(random.permutation(len(task)))  # rows come in any order
        self.rows = Tensors(x[order], torch.from_numpy(task)[order], y[order])

    def output(self, x, beta):
        return self.network.joined(self.network.without_task(x), self.network.brought(beta))

    def problem(self, tasks=None):
        """All tasks, or some of them renumbered."""
        rows, count = self.rows, len(self.counts)
        if tasks is not None:
            count = len(tasks)
            number = torch.full((len(self.counts),), -1)
            number[torch.tensor(tasks)] = torch.arange(count)
            kept = number[rows.task] >= 0
            rows = Tensors(rows.x[kept], number[rows.task[kept]], rows.y[kept])
        return Problem(self.network, rows, count, NOISE, self.prior)

    def textbook(self, task, beta):
        """Equation 21, row by row."""
        total = float(beta @ np.linalg.inv(self.prior.covariance) @ beta)
        for x, j, y in zip(self.rows.x, self.rows.task, self.rows.y, strict=True):
            if int(j) == task:
                output = self.output(x[None], torch.from_numpy(beta[None]).to(x.dtype))[0]
                total += float(y - output) ** 2 / NOISE
        return total


@pytest.fixture(autouse=True)
def one_thread():
    """Thousands of tiny products: threads would only wait for each other on a busy machine."""
    with trainer.one_thread(torch.device("cpu")):
        yield


@pytest.fixture
def world():
    return World
