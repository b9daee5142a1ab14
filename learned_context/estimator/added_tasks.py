"""What tasks that were held out whole say of added ones: the weights of voices, and intervals.

With few rows simpler voices are better than with many. So the weights for added tasks are measured
as those for known tasks are, by errors on held-out rows, but task by task, on tasks that the voices
were not trained on, and for each number of rows. The held-out tasks are few, and networks are at a
disadvantage there: one or two of one setting, trained on fewer tasks. So the weights of known tasks
count, too, unless a task has a single row: that is too far from known tasks.
Intervals are about halfway between what these and known tasks need.
`benchmarks/added_tasks.py` measures these choices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from learned_context.estimator import recipe, task_fit
from learned_context.estimator.calibration import Calibration, Quantiles
from learned_context.estimator.model import Ensemble, Spread
from learned_context.estimator.voices import Voice
from learned_context.new_tasks.objective import Floats, Ints
from learned_context.rows import Rows
from learned_context.training.data import Tensors

ADDED_ROWS = (1, 2, 5, 10)
"""Rows with which held-out tasks are added."""
MOST_ADDED_TASKS, MOST_ADDED_ROWS = 100, 20
"""Held-out tasks of a fold that are tried, and the rows of each that are predicted."""
HELD_OUT_TASKS = 1 / 3
ENOUGH_TASKS = 60
"""After this many, no others are held out."""
SHARPNESS = 2 * recipe.SHARPNESS
"""Twice that of squared errors: an error that is 1% larger is 2% larger squared."""
MEASURED, MEASURED_OF_ONE_ROW = 0.75, 1.0
"""The share of an added task's weights that held-out tasks decide; known tasks decide the rest."""
NETWORKS = "networks"
"""All settings together: the best one represents them, and they share its weight."""


@dataclass(frozen=True)
class Arrival:
    """Held-out tasks, added with this number of rows, and predictions of their other rows."""

    count: int
    task: Ints
    y: Floats
    """Standardised."""
    predicted: Mapping[str, Spread]
    """By the networks and by each mixed model."""

    @classmethod
    def of(cls, count: int, voices: Mapping[str, Voice], few: Tensors, others: Tensors) -> Arrival:
        predicted = {name: spread(voice, few, others) for name, voice in voices.items()}
        return cls(count, others.task.cpu().numpy(), others.y.double().cpu().numpy(), predicted)

    def of_each_task(self) -> Floats:
        """The root mean squared error of every voice in every task [V, T]."""
        squared = [(self.y - found.mean) ** 2 for found in self.predicted.values()]
        sums = np.stack([np.bincount(self.task, own) for own in squared])
        return np.asarray(np.sqrt(sums / np.bincount(self.task)))

    def errors(self, weights: Mapping[str, float], noise: float) -> Floats:
        """Of the voices together, in standard deviations."""
        mixed = Spread.mixed([(weights[name], own) for name, own in self.predicted.items()])
        return (self.y - mixed.mean) / np.sqrt(mixed.uncertain + noise)


def spread(voice: Voice, few: Tensors, others: Tensors) -> Spread:
    """What one voice predicts of other rows of tasks that are added with a few."""
    posterior = task_fit.fit(voice, few, int(few.task.max()) + 1)
    return Ensemble.alone(voice, posterior).spread(others.x, others.task.cpu().numpy())


def folds(tasks: int, most: int, random: np.random.Generator) -> Iterator[Ints]:
    """Tasks to hold out together, until there are enough of them."""
    order = random.permutation(tasks)
    size = round(HELD_OUT_TASKS * tasks)
    for start in range(0, min(most * size, ENOUGH_TASKS), size):
        yield order[start : start + size]


def arriving(rows: Rows, random: np.random.Generator) -> Iterator[tuple[int, Rows, Rows]]:
    """For each number of rows: the rows that tasks arrive with, and others to predict."""
    rows = rows.take(random.permutation(len(rows)))
    tasks = np.unique(rows.task)[:MOST_ADDED_TASKS]
    rows = rows.take(np.isin(rows.task, tasks))
    counts = np.bincount(rows.task)
    order = np.argsort(rows.task, kind="stable")
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    for count in ADDED_ROWS:
        large = counts[rows.task] > count
        if not large.any():
            return
        own = renumbered(rows.take(large))
        at = place[large]
        later = (at >= count) & (at < count + MOST_ADDED_ROWS)
        yield count, own.take(at < count), own.take(later)


def renumbered(rows: Rows) -> Rows:
    """Tasks numbered from zero, without gaps."""
    return replace(rows, task=np.unique(rows.task, return_inverse=True)[1].astype(np.int64))


def measured_share(rows: int) -> float:
    """For a task that is added with this number of rows."""
    return MEASURED_OF_ONE_ROW if rows == 1 else MEASURED


def weights(
    arrivals: Sequence[Arrival],
    known: Mapping[str, float],
    random: np.random.Generator,
    share_of: Callable[[int], float] = measured_share,
) -> dict[int, dict[str, float]]:
    """By the number of rows; `known` are those for known tasks, of networks and mixed models.

    A task counts by its root mean squared error: with squares, a few unusual tasks would decide.
    """
    found = {}
    for count, own in _by_count(arrivals).items():
        errors = np.concatenate([arrival.of_each_task() for arrival in own], axis=1)
        measured = recipe.weights(errors, random, sharpness=SHARPNESS)
        share = share_of(count)
        found[count] = {
            name: share * float(weight) + (1 - share) * known.get(name, 0.0)
            for name, weight in zip(own[0].predicted, measured, strict=True)
        }
    return found


def quantiles(
    arrivals: Sequence[Arrival],
    weights_: Mapping[int, Mapping[str, float]],
    calibration: Calibration,
) -> dict[int, Quantiles]:
    """How large errors of added tasks are, by the number of rows they are added with.

    Held-out tasks mostly have too large errors, as fewer tasks were known, and a few unusual tasks
    decide. Errors of known tasks are many, and of the whole ensemble, but mostly too small for
    new ones. About halfway between them, intervals of new tasks were closest to their level.
    """
    found = {}
    for count, own in _by_count(arrivals).items():
        errors = [arrival.errors(weights_[count], calibration.noise) for arrival in own]
        found[count] = Quantiles.of(np.concatenate(errors)).towards(calibration.known)
    return found


def together(weights_: Mapping[str, float], networks: Collection[str]) -> dict[str, float]:
    """Weights of voices, those of all networks as one."""
    total = sum(weights_[name] for name in networks)
    return {NETWORKS: total} | {n: w for n, w in weights_.items() if n not in networks}


def apart(
    weights_: Mapping[str, float], known: Mapping[str, float], networks: Collection[str]
) -> dict[str, float]:
    """The other way round: networks share their weight as they do for known tasks."""
    total = sum(known[name] for name in networks)
    shares = {name: weights_[NETWORKS] * known[name] / total for name in networks}
    return shares | {name: weight for name, weight in weights_.items() if name != NETWORKS}


def _by_count(arrivals: Sequence[Arrival]) -> dict[int, list[Arrival]]:
    counts = sorted({arrival.count for arrival in arrivals})
    return {count: [own for own in arrivals if own.count == count] for count in counts}
