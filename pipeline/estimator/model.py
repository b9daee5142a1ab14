"""A fitted network with all that is known of its tasks, in standardised units.

A model does not change: adding a task makes a new one that shares everything else, so other
tasks' predictions stay as they are to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from pipeline.adaptation import laplace
from pipeline.adaptation.laplace import Posterior, Prediction
from pipeline.adaptation.objective import Floats, Ints
from pipeline.estimator.labels import Labels
from pipeline.estimator.posteriors import TaskPosteriors, joined, replaced
from pipeline.models.network import Network
from pipeline.training.data import Scaler, Tensors
from pipeline.training.trainer import one_thread

CHUNK_ROWS = 512
"""Every network pass has this many rows, the last one padded: a row's prediction then does not
depend, by a rounding, on how many others are asked for with it."""
POPULATION = 64
"""How many fitted tasks stand for the population, at most."""


@dataclass(frozen=True)
class Model:
    network: Network
    scaler: Scaler
    noise: float
    """s^2: the variance of a new row about its prediction when the task is known."""
    labels: Labels
    fitted: Network
    """The network with the tasks of the fit alone, as they were then: the population that new
    tasks are taken to come from."""
    posterior: Posterior | None
    """None when tasks have no parameters of their own (cs, fs), or there is only one task."""

    @property
    def base(self) -> int:
        """The first so many tasks were fitted with the network; later ones were added."""
        return self.fitted.shape.tasks

    @property
    def beta(self) -> Floats:
        """The tasks' parameters; for a task with several modes those of the MAP estimate."""
        return _beta(self.network)

    @property
    def population(self) -> Floats:
        """The fitted tasks' parameters as the fit left them."""
        return _beta(self.fitted)

    def task_posteriors(self) -> TaskPosteriors:
        if self.network.shape.kind not in ("lc", "ll"):
            raise ValueError(
                f"a network of kind {self.network.shape.kind!r} has no task parameters to "
                "estimate: use kind='lc' or kind='ll', or fit again"
            )
        return TaskPosteriors(self.network, self.population, self.noise)

    def with_fitted_posterior(self, rows: Tensors) -> Model:
        """The uncertainty of the fitted tasks' parameters, where there is any to speak of."""
        if self.network.shape.kind not in ("lc", "ll") or self.base < 2:
            return self
        return replace(self, posterior=self.task_posteriors().fitted(rows))

    def with_new_tasks(self, labels: Labels, rows: Tensors) -> Model:
        """The tasks that `labels` has more than this model; `rows` number them from zero."""
        new = self.task_posteriors().new(rows, len(labels) - len(self.labels))
        assert self.posterior is not None
        return replace(self, labels=labels)._with(joined([self.posterior, new]))

    def with_updated_task(self, task: int, rows: Tensors) -> Model:
        new = self.task_posteriors().new(rows, 1)
        assert self.posterior is not None
        return self._with(replaced(self.posterior, task, new))

    def _with(self, posterior: Posterior) -> Model:
        old = self.network
        parameters = old.parameters()
        parameters["beta"] = old.flat.new_tensor(posterior.means[:, 0])
        shape = replace(old.shape, tasks=len(posterior.means))
        return replace(
            self, network=Network.from_parameters(shape, parameters), posterior=posterior
        )

    def mean(self, x: Tensor, task: Ints) -> Floats:
        """The expected target; task -1 is one that is not known."""
        result = np.empty(len(task))
        several = self._modes(task) > 1
        usual = (task >= 0) & ~several
        for mask, expected in (
            (usual, partial(self._map, self.network)),
            (several, lambda x_, task_: self._known(x_, task_).mean),
            (task < 0, lambda x_, task_: self._population(x_).mean),
        ):
            if mask.all():  # most often: no copy
                return expected(x, task)
            if mask.any():
                result[mask] = expected(x[torch.from_numpy(mask).to(x.device)], task[mask])
        return result

    def prediction(self, x: Tensor, task: Ints) -> Prediction:
        """The distribution of targets of rows whose tasks are all known, or all not."""
        return self._known(x, task) if task[0] >= 0 else self._population(x)

    def original(self, standardised: Floats) -> Floats:
        """Targets in the user's units."""
        return standardised * self.scaler.y_std + self.scaler.y_mean

    def response(self, x: Tensor, beta: Floats) -> Floats:
        """The prediction of every row, were the task's parameters these."""
        network = self.network
        with one_thread(x.device), torch.no_grad():
            parameters, first = torch.from_numpy(beta).to(x), network.trunk_input(x)
            if network.shape.kind == "ll":
                return np.asarray((network.trunk_output(first) @ parameters).cpu().numpy())
            first = first + network.views["L"] @ parameters
            return np.asarray(network.trunk_output(first)[:, 0].cpu().numpy())

    def contexts(self) -> Floats:
        """What distinguishes the tasks: their parts of the first layer, or their last layers."""
        views, kind = self.network.views, self.network.shape.kind
        if kind == "fs":
            raise ValueError("a network of kind 'fs' does not distinguish tasks")
        if kind == "cs":
            return np.asarray(views["L"].double().cpu().numpy())
        if kind == "ll":
            return self.beta
        return np.asarray(self.beta @ views["L"].double().cpu().numpy().T)

    def _modes(self, task: Ints) -> Ints:
        if self.posterior is None:
            return np.ones(len(task), dtype=np.int64)
        modes = (self.posterior.weights > 0).sum(axis=1)
        return np.where(task < 0, 0, modes[task])

    def _map(self, network: Network, x: Tensor, task: Ints) -> Floats:
        rows = len(task)
        lack = -rows % CHUNK_ROWS
        x = torch.nn.functional.pad(x, (0, 0, 0, lack))
        number = torch.from_numpy(np.pad(task, (0, lack))).to(x.device)
        with one_thread(x.device), torch.no_grad():
            found = network.predict(x, number, CHUNK_ROWS)
        return np.asarray(found[:rows].double().cpu().numpy())

    def _known(self, x: Tensor, task: Ints) -> Prediction:
        if self.posterior is not None and self.network.shape.kind == "lc":
            return laplace.predict(self.network, self.posterior, x, task, self.noise)
        mean = self._map(self.network, x, task)
        variance = np.full(len(task), self.noise)
        if self.posterior is not None:
            with one_thread(x.device), torch.no_grad():
                trunk = self.network.trunk_output(self.network.trunk_input(x))
            h, covariance = trunk.double().cpu().numpy(), self.posterior.covariances[task, 0]
            variance += np.einsum("ni,nij,nj->n", h, covariance, h)
        return Prediction(np.ones((len(task), 1)), mean[:, None], np.sqrt(variance)[:, None])

    def _population(self, x: Tensor) -> Prediction:
        """Of a task that is not known: as likely any of the fitted ones as another."""
        chosen = np.unique(np.linspace(0, self.base - 1, POPULATION).round().astype(np.int64))
        means = np.stack(
            [self._map(self.fitted, x, np.full(len(x), task)) for task in chosen], axis=1
        )
        weights = np.full(means.shape, 1 / len(chosen))
        return Prediction(weights, means, np.full(means.shape, np.sqrt(self.noise)))


def _beta(network: Network) -> Floats:
    return np.asarray(network.views["beta"].double().cpu().numpy())
