"""The hold-out study's core: fit every held-out task on a share of its rows, then test it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from learned_context import metrics
from learned_context.networks.network import Network
from learned_context.new_tasks import gauss_newton, lipo
from learned_context.new_tasks.gauss_newton import Effort
from learned_context.new_tasks.objective import Floats, Ints, Prior, Problem
from learned_context.rows import Rows
from learned_context.training.data import Tensors
from learned_context.training.trainer import Trained


@dataclass(frozen=True)
class Adapted:
    """The estimates of the held-out tasks, and how they do on their test rows."""

    tasks: Ints
    """The held-out tasks' numbers in the table."""
    beta: Floats
    objective: Floats
    rmse: float
    """Over all test rows of the group."""
    task_rmse: Floats
    seconds: float


class HeldOut:
    """A network that has not seen some tasks, and those tasks."""

    def __init__(self, trained: Trained, base: Ints, held_out: Ints, noise: float) -> None:
        """`base` and `held_out` are task numbers; `noise` is s^2 in standardised units."""
        self.trained, self.noise, self.tasks = trained, noise, held_out
        self.base = trained.network.views["beta"].double().cpu().numpy()[base]
        self.prior = Prior.of_network(trained.network, base)

    def problem(self, rows: Rows) -> Problem:
        position = np.searchsorted(self.tasks, rows.task)
        device = self.trained.network.flat.device
        own = Rows(rows.x, position.astype(np.int64), rows.y)
        tensors = Tensors.of(own, self.trained.scaler, device)
        return Problem(self.trained.network, tensors, len(self.tasks), self.noise, self.prior)

    def by_gauss_newton(self, rows: Rows, test: Rows, effort: Effort) -> Adapted:
        started = time.perf_counter()
        found = gauss_newton.fit(self.problem(rows), self.base, effort)
        return self._tested(found.beta, found.objective, test, time.perf_counter() - started)

    def by_lipo(self, rows: Rows, test: Rows, evaluations: int, seed: int) -> Adapted:
        started = time.perf_counter()
        found = lipo.fit(self.problem(rows), self.base, evaluations, seed)
        return self._tested(found.beta, found.objective, test, time.perf_counter() - started)

    def _tested(self, beta: Floats, objective: Floats, test: Rows, seconds: float) -> Adapted:
        network = Network(self.trained.network.shape, self.trained.network.flat.clone())
        network.views["beta"][self.tasks] = network.flat.new_tensor(beta)
        predicted = Trained(network, self.trained.scaler).predict(test)
        count = len(network.views["beta"])
        errors = metrics.task_rmse(test.y, predicted, test.task, count)[self.tasks]
        return Adapted(
            self.tasks, beta, objective, metrics.rmse(test.y, predicted), errors, seconds
        )
