"""A fitted ensemble with all that is known of its tasks, in standardised units.

A model does not change: adding a task makes a new one that shares everything else, so other
tasks' predictions stay as they are to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from learned_context.estimator import task_fit
from learned_context.estimator.calibration import UNKNOWN, Calibration, nearest
from learned_context.estimator.labels import Labels
from learned_context.estimator.task_fit import TaskPosterior
from learned_context.estimator.voices import NetworkVoice, Voice
from learned_context.new_tasks.objective import Floats, Ints
from learned_context.scaling import Scaler
from learned_context.training.data import Tensors
from learned_context.training.devices import one_thread

CHUNK_ROWS = 512
"""Every network pass has this many rows, the last one padded: a row's prediction then does not
depend, by a rounding, on how many others are predicted with it."""
POPULATION = 64
"""How many fitted tasks represent the population, at most."""


@dataclass(frozen=True)
class Spread:
    """Predictions of rows: the mean, and the variance that members and task parameters leave."""

    mean: Floats
    uncertain: Floats

    @classmethod
    def mixed(cls, parts: Sequence[tuple[float, Spread]]) -> Spread:
        """Of an ensemble, from its voices' weights and spreads."""
        mean = np.sum([weight * own.mean for weight, own in parts], axis=0)
        square = np.sum([weight * (own.mean**2 + own.uncertain) for weight, own in parts], axis=0)
        return cls(mean, np.maximum(square - mean**2, 0))


@dataclass(frozen=True)
class Weights:
    """Of the voices: for fitted tasks, and for those added with few rows."""

    known: tuple[float, ...]
    added: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """By the number of rows; empty if they could not be measured."""

    def of(self, rows: int) -> tuple[float, ...]:
        """For a task that was added with this number of rows; 0 for a fitted one."""
        return self.added[nearest(self.added, rows)] if rows and self.added else self.known


@dataclass(frozen=True)
class Ensemble:
    """Voices with their weights and the tasks' parameters."""

    voices: tuple[Voice, ...]
    weights: Weights
    posteriors: tuple[TaskPosterior, ...]
    rows: Ints
    """The number of rows that each task was added with; 0 for those of the fit."""

    @classmethod
    def of(
        cls, voices: Sequence[Voice], weights: Weights, posteriors: Sequence[TaskPosterior]
    ) -> Ensemble:
        """Whose tasks are all fitted ones."""
        rows = np.zeros(posteriors[0].means.shape[1], dtype=np.int64)
        return cls(tuple(voices), weights, tuple(posteriors), rows)

    @classmethod
    def alone(cls, voice: Voice, posterior: TaskPosterior) -> Ensemble:
        return cls.of([voice], Weights((1.0,)), [posterior])

    @property
    def device(self) -> torch.device:
        return self.voices[0].device

    @cached_property
    def _theta(self) -> list[Tensor]:
        """The MAP of every task, where the members compute [K, T, q]."""
        return [
            torch.from_numpy(posterior.means[:, :, 0]).to(self.device, torch.float32)
            for posterior in self.posteriors
        ]

    @cached_property
    def _shares(self) -> Floats:
        """The weights of the voices for every task [V, T]."""
        counts, place = np.unique(self.rows, return_inverse=True)
        return np.array([self.weights.of(int(count)) for count in counts]).T[:, place]

    @cached_property
    def _modes(self) -> Ints:
        """How many modes a task has by the voice that leaves the most."""
        return np.max([(p.weights > 0).sum(axis=2).max(axis=0) for p in self.posteriors], axis=0)

    def mean(self, x: Tensor, task: Ints) -> Floats:
        """The expected target of rows whose tasks are known."""
        several = self._modes[task] > 1
        if several.any():
            result = np.empty(len(task))
            for mask, expected in ((~several, self._map), (several, self._mean)):
                if mask.any():
                    result[mask] = expected(x[torch.from_numpy(mask).to(x.device)], task[mask])
            return result
        return self._map(x, task)

    def _mean(self, x: Tensor, task: Ints) -> Floats:
        return self.spread(x, task).mean

    def _map(self, x: Tensor, task: Ints) -> Floats:
        result = np.empty(len(task))
        with one_thread(x.device), torch.no_grad():
            for part, own, number in _chunks(x, task):
                total = torch.zeros(len(number), dtype=torch.float64, device=x.device)
                for voice, theta, shares in zip(
                    self.voices, self._theta, self._shares, strict=True
                ):
                    share = torch.from_numpy(shares).to(x.device)[number]
                    if share.any():
                        value = voice.output(voice.value(voice.rows(own), theta[:, number]))
                        total += value.double().mean(0) * share
                result[part] = total[: part.stop - part.start].cpu().numpy()
        return result

    def members(self, x: Tensor, task: Ints) -> Floats:
        """Every member's prediction [K, n] at the MAP of the tasks, voice by voice."""
        result = np.empty((sum(voice.members for voice in self.voices), len(task)))
        with one_thread(x.device), torch.no_grad():
            for part, own, number in _chunks(x, task):
                found = [
                    voice.output(voice.value(voice.rows(own), theta[:, number]))
                    for voice, theta in zip(self.voices, self._theta, strict=True)
                ]
                values = torch.cat(found)[:, : part.stop - part.start]
                result[:, part] = values.double().cpu().numpy()
        return result

    def spread(self, x: Tensor, task: Ints) -> Spread:
        """To first order, a member's variance is g^T Sigma g with g = df/dtheta."""
        mean, square = np.zeros(len(task)), np.zeros(len(task))
        with one_thread(x.device), torch.no_grad():
            for part, own, number in _chunks(x, task):
                kept, index = part.stop - part.start, number.cpu().numpy()
                for voice, shares, posterior in zip(
                    self.voices, self._shares, self.posteriors, strict=True
                ):
                    if not shares[index].any():
                        continue
                    rows = voice.rows(own)
                    weight = shares[index, None]
                    share = posterior.weights[:, index] * weight / voice.members
                    for mode in np.flatnonzero(share.any(axis=(0, 1))):
                        value, variance = _member(voice, rows, posterior, index, int(mode))
                        mean[part] += (share[:, :, mode] * value).sum(0)[:kept]
                        square[part] += (share[:, :, mode] * (value**2 + variance)).sum(0)[:kept]
        return Spread(mean, np.maximum(square - mean**2, 0))

    def population(self, x: Tensor) -> Spread:
        """Of a task that is not known: as likely any of the fitted ones as another."""
        base = self.voices[0].population.shape[1]
        chosen = np.unique(np.linspace(0, base - 1, POPULATION).round().astype(np.int64))
        fitted = [task_fit.certain(voice.population) for voice in self.voices]
        then = Ensemble.of(self.voices, self.weights, fitted)
        each = [then._map(x, np.full(len(x), task)) for task in chosen]
        return Spread(np.mean(each, axis=0), np.var(each, axis=0))

    def to(self, device: torch.device) -> Ensemble:
        return replace(self, voices=tuple(voice.to(device) for voice in self.voices))

    def with_tasks(self, rows: Tensors, tasks: int) -> Ensemble:
        """More tasks, numbered from zero in `rows`."""
        posteriors = [
            task_fit.joined([old, task_fit.fit(voice, rows, tasks)])
            for voice, old in zip(self.voices, self.posteriors, strict=True)
        ]
        counts = np.bincount(rows.task.cpu().numpy(), minlength=tasks)
        return replace(self, posteriors=tuple(posteriors), rows=np.concatenate([self.rows, counts]))

    def with_updated_task(self, task: int, rows: Tensors) -> Ensemble:
        posteriors = [
            task_fit.replaced(old, task, task_fit.fit(voice, rows, 1))
            for voice, old in zip(self.voices, self.posteriors, strict=True)
        ]
        counts = self.rows.copy()
        counts[task] = len(rows)
        return replace(self, posteriors=tuple(posteriors), rows=counts)


@dataclass(frozen=True)
class Model:
    ensemble: Ensemble
    scaler: Scaler
    labels: Labels
    calibration: Calibration

    @property
    def rows(self) -> Ints:
        """The number of rows that each task was added with; 0 for those of the fit."""
        return self.ensemble.rows

    @property
    def base(self) -> int:
        """Tasks of the fit: they come first, the added ones behind."""
        return int(self.ensemble.voices[0].population.shape[1])

    @property
    def device(self) -> torch.device:
        return self.ensemble.device

    def to(self, device: torch.device) -> Model:
        return replace(self, ensemble=self.ensemble.to(device))

    @property
    def main(self) -> int:
        """The voice of the networks that have the most weight: their parameters are shown."""
        weights = [
            weight * isinstance(voice, NetworkVoice)
            for voice, weight in zip(self.ensemble.voices, self.ensemble.weights.known, strict=True)
        ]
        return int(np.argmax(weights))

    def contexts(self) -> Floats:
        """The tasks as points [T, w]: all members' views side by side, each by its weight."""
        parts = []
        for voice, weight, posterior in zip(
            self.ensemble.voices, self.ensemble.weights.known, self.ensemble.posteriors, strict=True
        ):
            if weight == 0:
                continue
            for own in voice.contexts(posterior.means[:, :, 0]):
                centred = own - own[: self.base].mean(axis=0)
                size = np.sqrt(np.mean(np.sum(centred[: self.base] ** 2, axis=1)))
                if size > 0:
                    parts.append(centred * np.sqrt(weight / voice.members) / size)
        if not parts:
            raise ValueError("a network of kind 'fs' does not distinguish tasks")
        return np.concatenate(parts, axis=1)

    def response(self, x: Tensor, theta: Floats) -> Floats:
        """Predictions of the main network, with these parameters of the task [q]."""
        voice = self.ensemble.voices[self.main]
        with one_thread(x.device), torch.no_grad():
            every = x.new_tensor(theta).expand(voice.members, len(x), -1)
            return np.asarray(voice.value(voice.rows(x), every)[0].double().cpu().numpy())

    def check_adapts(self) -> None:
        voice = self.ensemble.voices[self.main]
        if isinstance(voice, NetworkVoice) and not voice.adapts:
            raise ValueError(
                f"a network of kind {voice.network.shape.kind!r} has no task parameters to "
                "estimate: use kind='lc', or fit again"
            )
        if self.base < 2:
            raise ValueError(
                "the estimator was fitted on one task: there is no population of tasks from "
                "which a new one could be estimated"
            )

    def with_new_tasks(self, labels: Labels, rows: Tensors) -> Model:
        """The tasks that `labels` has more than this model; `rows` number them from zero."""
        self.check_adapts()
        ensemble = self.ensemble.with_tasks(rows, len(labels) - len(self.labels))
        return replace(self, ensemble=ensemble, labels=labels)

    def with_updated_task(self, task: int, rows: Tensors) -> Model:
        self.check_adapts()
        return replace(self, ensemble=self.ensemble.with_updated_task(task, rows))

    def mean(self, x: Tensor, task: Ints) -> Floats:
        """The expected target; task -1 is one that is not known."""
        unknown = task < 0
        if not unknown.any():
            return self.ensemble.mean(x, task)
        result = np.empty(len(task))
        places = torch.from_numpy(unknown).to(x.device)
        result[unknown] = self.ensemble.population(x[places]).mean
        if not unknown.all():
            result[~unknown] = self.ensemble.mean(x[~places], task[~unknown])
        return result

    def mean_and_std(self, x: Tensor, task: Ints) -> tuple[Floats, Floats]:
        """Of a new row's target."""
        mean, std = self._raw(x, task)
        return mean, std * self.calibration.scales(self._rows_of(task))

    def interval(self, x: Tensor, task: Ints, level: float) -> tuple[Floats, Floats]:
        mean, std = self._raw(x, task)
        half = std * self.calibration.sizes(self._rows_of(task), level)
        return mean - half, mean + half

    def _rows_of(self, task: Ints) -> Ints:
        return np.where(task < 0, UNKNOWN, self.rows[task])

    def _raw(self, x: Tensor, task: Ints) -> tuple[Floats, Floats]:
        mean, variance = np.empty(len(task)), np.empty(len(task))
        for mask in (task >= 0, task < 0):
            if mask.any():
                own = x[torch.from_numpy(mask).to(x.device)]
                found = (
                    self.ensemble.spread(own, task[mask])
                    if task[mask][0] >= 0
                    else self.ensemble.population(own)
                )
                mean[mask], variance[mask] = found.mean, found.uncertain
        return mean, np.sqrt(variance + self.calibration.noise)

    def original(self, standardised: Floats) -> Floats:
        """Targets in the user's units."""
        return standardised * self.scaler.y_std + self.scaler.y_mean


def _member(
    voice: Voice, rows: Tensor, posterior: TaskPosterior, task: Ints, mode: int
) -> tuple[Floats, Floats]:
    """Predictions [K, n] at one mode, and their variances."""
    theta = torch.from_numpy(posterior.means[:, task, mode]).to(rows)
    if posterior.covariances is None:
        certain = voice.output(voice.value(rows, theta)).double().cpu().numpy()
        return certain, np.zeros_like(certain)
    value, slope = voice.value_and_slope(rows, theta)
    g = (slope * voice.gain(value)[..., None]).double().cpu().numpy()
    covariance = posterior.covariances[:, task, mode]
    variance = np.einsum("kni,knij,knj->kn", g, covariance, g, optimize=True)
    return voice.output(value).double().cpu().numpy(), variance


def _chunks(x: Tensor, task: Ints) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Places of the rows, and the rows and their tasks, filled up to a full chunk."""
    for start in range(0, len(task), CHUNK_ROWS):
        part = slice(start, min(start + CHUNK_ROWS, len(task)))
        own, number = x[part], torch.from_numpy(task[part]).to(x.device)
        lack = CHUNK_ROWS - len(own)
        if lack:
            own = torch.nn.functional.pad(own, (0, 0, 0, lack))
            number = torch.nn.functional.pad(number, (0, lack))
        yield part, own, number
