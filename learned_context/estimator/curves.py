"""A mixed model of curves: one Gaussian process for all tasks, and one for what each task adds.

y = mean(x) + own_j(x) + noise. The mean is linear plus smooth; a task adds an intercept, slopes and
a smooth function of the features that vary within tasks. How smooth and how large these are
follows from the data, by their likelihood with all functions integrated out: a task with few rows
departs from the mean no further than its rows and all other tasks support. Both processes have a
finite basis, so this is a linear mixed model in the columns of that basis. Where curves are smooth
and tasks have few rows, it is often the best voice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learned_context.estimator import linear
from learned_context.estimator.kernel_basis import KernelBasis, spread_points
from learned_context.estimator.logarithm import Logarithm
from learned_context.estimator.voices import LinearVoice
from learned_context.new_tasks.objective import Floats, Ints
from learned_context.training.data import Tensors
from learned_context.training.devices import one_thread

MEAN_POINTS, OWN_POINTS = 64, 10
"""Of the bases: a task has few rows to find its own function from."""
ROWS_OF_TASK = 20
"""Of one task in the sample, at most, if there are many tasks."""
FIRST_STEPS, LATER_STEPS = 25, 5
"""Of the optimiser: from the priors' centres, and from what the fit before found."""
WITHIN = 0.02
"""Share of a feature's variance within tasks, for tasks to have functions of it."""
MOST_OWN = 20
"""Features that tasks have functions of, at most."""
MOST_FEATURES = 300
"""With more, a model of curves has more to find than rows tell."""


class Scales(NamedTuple):
    """What the likelihood is a function of, in standardised units; each is above zero."""

    mean_lengths: Tensor
    own_lengths: Tensor
    mean: Tensor
    """The variance of the mean's smooth part."""
    intercept: Tensor
    """From here on: variances of what tasks differ in, and of the noise."""
    slopes: Tensor
    own: Tensor
    noise: Tensor


PRIORS = {  # of the logarithms: centre and spread
    "mean_lengths": (np.log(2.0), 0.6),
    "own_lengths": (np.log(2.5), 0.5),
    "mean": (np.log(0.5), 0.75),
    "intercept": linear.INTERCEPT,
    "slopes": linear.SLOPE,
    "own": (np.log(0.02), 1.0),
    "noise": linear.NOISE,
}


def varying(x: Floats, task: Ints, indicators: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The features that vary the most within tasks; indicators of levels do not count."""
    counts = np.bincount(task)
    centred = x - np.stack([(np.bincount(task, own) / counts)[task] for own in x.T], axis=1)
    share = centred.var(axis=0) / np.where(x.var(axis=0) > 0, x.var(axis=0), np.inf)
    share[indicators | (share < WITHIN) | (np.ptp(x, axis=0) == 0)] = 0
    first = np.argsort(-share, kind="stable")[:MOST_OWN]
    return np.sort(first[share[first] > 0])


def are_small_enough(features: int, own: int, tasks: int) -> bool:
    """Whether all tasks' matrices fit into a modest memory, and a search into modest time."""
    columns = (OWN_POINTS + own + 1) * (MEAN_POINTS + OWN_POINTS + features + 1)
    return features <= MOST_FEATURES and tasks * columns <= linear.MOST_NUMBERS


class Curves:
    """Fits on parts of the same rows: each begins with the lengths that the last one found."""

    def __init__(self, features: int, own: NDArray[np.int64], rows: int, seed: int) -> None:
        """`own` are the features that tasks have functions of.

        Lengths and variances are found from a sample of at most `rows` rows, functions from all.
        """
        self.own, self.rows, self.seed = own, rows, seed
        self.sizes = [features, len(own), 1, 1, len(own), 1, 1]
        centre, self.spread = np.repeat(np.array(list(PRIORS.values())), self.sizes, axis=0).T
        centre[:features] += np.log(features) / 4  # distances grow with the number of features
        self.centre = self.found = centre
        self.steps = FIRST_STEPS

    def fit(self, rows: Tensors, tasks: int, logarithm: Logarithm | None = None) -> LinearVoice:
        """Of the target, or of its logarithm."""
        x, y = rows.x.double().cpu(), rows.y.double().cpu()
        y = logarithm.forward(y) if logarithm else y
        task = rows.task.cpu()
        random = np.random.default_rng(self.seed)
        some = torch.from_numpy(_some_rows(task.numpy(), self.rows, random))
        likelihood = _Likelihood(x[some], task[some], y[some], self.own, random)
        with one_thread(x.device):
            self.found = linear.most_likely(
                lambda logs: likelihood(self._scales(logs)),
                self.centre,
                self.spread,
                self.found,
                self.steps,
            )
            self.steps = LATER_STEPS
            with torch.no_grad():
                scales = self._scales(torch.from_numpy(self.found))
                bases = likelihood.bases(scales)
                columns = torch.cat([x, *(basis.columns(x) for basis in bases)], 1)
        points = [len(basis.points) for basis in bases]
        slopes = np.concatenate([self.own, x.shape[1] + points[0] + np.arange(sum(points[1:]))])
        sums = linear.Sums(Tensors(columns, task, y), tasks, slopes)
        mean, own = (variances.numpy() for variances in likelihood.variances(scales))
        noise = float(scales.noise)
        covariance, solved = linear.correlated(sums, noise, np.diag(own), np.diag(1 / mean))
        return LinearVoice(
            noise,
            solved.theta[None],
            torch.from_numpy(solved.fixed).to(rows.x.device),
            covariance,
            slopes,
            tuple(basis.to(rows.x.device) for basis in bases),
            logarithm,
        )

    def _scales(self, logs: Tensor) -> Scales:
        return Scales(*torch.split(torch.exp(logs), self.sizes))


class _Likelihood:
    """Minus its logarithm, of some rows, with all functions integrated out."""

    def __init__(
        self,
        x: Tensor,
        task: Tensor,
        y: Tensor,
        own: NDArray[np.int64],
        random: np.random.Generator,
    ) -> None:
        self.x, self.y, self.own = x, y, own
        self.task = torch.unique(task, return_inverse=True)[1]
        self.tasks = int(self.task.max()) + 1
        features = [np.arange(x.shape[1])] + ([own] if len(own) else [])
        self.points = [
            (used, torch.from_numpy(spread_points(x.numpy()[:, used], most, random)))
            for used, most in zip(features, (MEAN_POINTS, OWN_POINTS), strict=False)
        ]

    def bases(self, scales: Scales) -> list[KernelBasis]:
        """Of the mean, and of what a task adds if any feature varies within tasks."""
        lengths = (scales.mean_lengths, scales.own_lengths)
        return [
            KernelBasis.of(*own, length) for own, length in zip(self.points, lengths, strict=False)
        ]

    def variances(self, scales: Scales) -> tuple[Tensor, Tensor]:
        """Of the coefficients of the mean [1 + d + r + q] and of a task [1 + slopes + q]."""
        one = scales.noise.new_ones(1)
        points = [len(points) for _, points in self.points]
        own = scales.own.expand(sum(points[1:]))
        linear_part = [linear.INTERCEPT_VARIANCE * one, one.expand(self.x.shape[1])]
        mean = torch.cat([*linear_part, scales.mean.expand(points[0]), own])
        return mean, torch.cat([scales.intercept, scales.slopes, own])

    def __call__(self, scales: Scales) -> Tensor:
        columns = [basis.columns(self.x) for basis in self.bases(scales)]
        one = torch.ones_like(self.y)[:, None]
        mean, own = (torch.sqrt(variance) for variance in self.variances(scales))
        f = torch.cat([one, self.x, *columns], 1) * mean
        z = torch.cat([one, self.x[:, self.own], *columns[1:]], 1) * own
        y = self.y[:, None]
        moments = linear.Moments(
            self._by_task(z, z),
            self._by_task(z, f),
            self._by_task(z, y)[..., 0],
            f.T @ f,
            f.T @ self.y,
            self.y.square().sum(),
            len(self.y),
        )
        return linear.minus_log_likelihood(moments, scales.noise[0])

    def _by_task(self, left: Tensor, right: Tensor) -> Tensor:
        """Sums over every task's rows of products [tasks, q, p]."""
        products = (left[:, :, None] * right[:, None]).flatten(1)
        sums = products.new_zeros(self.tasks, products.shape[1])
        return sums.index_add(0, self.task, products).unflatten(1, (left.shape[1], right.shape[1]))


def _some_rows(task: Ints, rows: int, random: np.random.Generator) -> Ints:
    """Rows of random tasks, a few of each if there are many."""
    order = random.permutation(len(task))
    order = order[np.argsort(task[order], kind="stable")]
    counts = np.bincount(task)
    place = np.arange(len(task)) - np.repeat(np.cumsum(counts) - counts, counts)
    most = max(ROWS_OF_TASK, rows // max(1, int(np.count_nonzero(counts))))
    rank = random.permutation(len(counts))[task[order]]
    kept = np.flatnonzero(place < most)
    return np.sort(order[kept[np.argsort(rank[kept], kind="stable")][:rows]])
