"""New tasks by a voice: the MAP of every task's parameters by every member, and what is uncertain.

The machinery of `learned_context.new_tasks` with the members side by side. A member and a task
together are one problem of their own; all problems of a block of tasks descend at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from scipy.stats import norm, qmc
from torch import Tensor

from learned_context.estimator.calibration import LEAST_NOISE
from learned_context.estimator.voices import Voice
from learned_context.new_tasks import gauss_newton, laplace
from learned_context.new_tasks.gauss_newton import Effort
from learned_context.new_tasks.objective import Floats, Ints, Local, Prior, inverse
from learned_context.training.data import Tensors
from learned_context.training.devices import one_thread

EFFORT = Effort(candidates=32, rows=8, starts=3, steps=12)
PASS_ROWS = 4096
"""Rows of one member in one network pass."""
BLOCK_ROWS = 32768
"""Rows of the tasks that descend together."""
FORGOTTEN = 1e-3
"""Modes with less weight are dropped."""
NOISE_STEPS = 20
"""Of the bisection for the noise, on the scale of logarithms: to a ten-thousandth and better."""


@dataclass(frozen=True)
class TaskPosterior:
    """By each of K members, for each of T tasks, a mixture of M Gaussians in theta [q]."""

    weights: Floats
    """[K, T, M]; zero for a mode that is not there."""
    means: Floats
    """[K, T, M, q]"""
    covariances: Floats | None
    """[K, T, M, q, q]; None where no task can be estimated: one task alone, or no parameters."""

    def tasks(self, chosen: slice) -> TaskPosterior:
        assert self.covariances is not None
        return TaskPosterior(
            self.weights[:, chosen], self.means[:, chosen], self.covariances[:, chosen]
        )


def certain(theta: Floats) -> TaskPosterior:
    """Tasks whose parameters [K, T, q] are taken as known."""
    return TaskPosterior(np.ones((*theta.shape[:2], 1)), theta[:, :, None], None)


def fitted(voice: Voice, rows: Tensors) -> TaskPosterior:
    """One Gaussian at the parameters that the fit gave every task."""
    tasks = voice.population.shape[1]
    if not voice.adapts or tasks < 2:
        return certain(voice.population)
    means = voice.population[:, :, None]
    covariances = inverse(_precisions(voice, rows))[:, :, None]
    return TaskPosterior(np.ones(means.shape[:3]), means, covariances)


def widened(voice: Voice, rows: Tensors) -> Voice:
    """Widen the prior of new tasks by what these rows leave uncertain of the fitted ones."""
    if not voice.adapts or voice.population.shape[1] < 2:
        return voice
    return voice.with_wider_prior(_precisions(voice, rows))


def noise(voice: Voice, known: Tensors, new: Tensors) -> float:
    """Of one member: errors in other rows of the fitted tasks, less what is uncertain of these.

    `known` are the rows of the fit. With few rows a task, most of an error may be the task's own
    parameters; if all of it were noise, new tasks would be shrunk too far to the mean one. More
    noise leaves more uncertain, so exactly one noise makes the standardised errors 1 on average.
    """
    task = new.task.cpu().numpy()
    theta = torch.from_numpy(voice.population[:, task]).to(new.x)
    with one_thread(new.x.device), torch.no_grad():
        rows = voice.rows(new.x)
        errors = (voice.target(new.y) - voice.value(rows, theta)).double().cpu().numpy()
    squared = errors**2
    # Worse than the mean, as when the held-out rows are far away, is no noise.
    most = float(voice.target(known.y.double()).var(correction=0))
    low, high = LEAST_NOISE, max(min(float(np.mean(squared)), most), LEAST_NOISE)
    if not voice.adapts or voice.population.shape[1] < 2:
        return high
    with one_thread(new.x.device):
        slope = voice.value_and_slope(rows, theta)[1].double().cpu().numpy()
    information, axes = _information(voice, known)
    share = np.einsum("kni,knij->knj", slope, axes[:, task]) ** 2
    for _ in range(NOISE_STEPS):
        middle = np.sqrt(low * high)
        uncertain = (share / (1 + information[:, task] / middle)).sum(axis=2)
        too_large = np.mean(squared / (middle + uncertain)) < 1
        low, high = (low, middle) if too_large else (middle, high)
    return float(high)


def _information(voice: Voice, rows: Tensors) -> tuple[Floats, Floats]:
    """What the rows say of every fitted task: d [K, T, q], along the axes A [K, T, q, q].

    With the noise m, the posterior covariance is A diag(1 / (1 + d / m)) A^T.
    """
    priors = voice.priors()
    root = np.stack([own.root for own in priors])[:, None]
    prior = np.stack([own.precision for own in priors])[:, None]
    of_rows = (_precisions(voice, rows) - prior) * voice.noise
    information, rotation = np.linalg.eigh(np.swapaxes(root, 2, 3) @ of_rows @ root)
    return np.maximum(information, 0), root @ rotation


def _precisions(voice: Voice, rows: Tensors) -> Floats:
    """Of the fitted tasks' posteriors [K, m, q, q]."""
    tasks = voice.population.shape[1]
    precisions = np.empty((voice.members, tasks, voice.size, voice.size))
    for own, block in _blocks(voice, voice.priors(), rows, tasks):
        number = np.arange(voice.members * len(own))
        centred = voice.population[:, own] - voice.centre[:, None]
        found = block.local(number, centred.reshape(len(number), -1)).precision
        precisions[:, own] = found.reshape(voice.members, len(own), *found.shape[1:])
    return precisions


def fit(voice: Voice, rows: Tensors, tasks: int, effort: Effort = EFFORT) -> TaskPosterior:
    """Tasks 0, ..., `tasks` - 1 from their rows."""
    parts, places = [], []
    for own, block in _blocks(voice, voice.priors_of_new_tasks(), rows, tasks):
        starts = block.starts(effort)
        found = laplace.mixture(gauss_newton.descend(block, starts, effort))
        parts.append(_shaped(laplace.without_small_modes(found, FORGOTTEN), voice.members))
        places.append(own)
    order = np.argsort(np.concatenate(places), kind="stable")
    whole = joined(parts)
    centre = voice.centre[:, None, None]
    return TaskPosterior(
        whole.weights[:, order],
        whole.means[:, order] + centre * (whole.weights[:, order, :, None] > 0),
        _covariances(whole)[:, order],
    )


class Block:
    """Some tasks with their rows as a rectangle, for all members; parameters about the mean task.

    The problem of member k and task t has the number k * tasks + t.
    """

    def __init__(
        self, voice: Voice, priors: list[Prior], x: Tensor, y: Tensor, used: Tensor
    ) -> None:
        """x [T, R, d], y and used [T, R]: places of a task beyond its rows are not used."""
        self.voice, self.y, self.used = voice, voice.target(y), used
        self.shape = y.shape
        self.rows = voice.rows(x.flatten(0, 1)).unflatten(1, self.shape)
        self.precision = np.stack([prior.precision for prior in priors])
        self.root = np.stack([prior.root for prior in priors])
        self.centre = torch.from_numpy(voice.centre).to(x)

    def local(self, number: Ints, beta: Floats) -> Local:
        """The objective and its derivatives at points [P, q], each for its own problem [P]."""
        members, tasks = self.voice.members, self.shape[0]
        size = beta.shape[1]
        member, task = number // tasks, number % tasks
        # Points by member, as one rectangle for all: some places are filled with a first point.
        counts = np.bincount(member, minlength=members)
        order = np.argsort(member, kind="stable")
        place = np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts)
        index = np.zeros((members, counts.max()), dtype=np.int64)
        points = np.zeros((*index.shape, size))
        index[member[order], place], points[member[order], place] = task[order], beta[order]
        products = np.empty((*index.shape, size + 1, size + 1))
        step = max(1, PASS_ROWS // self.shape[1])
        for start in range(0, index.shape[1], step):
            part = slice(start, start + step)
            products[:, part] = self._products(index[:, part], points[:, part])
        found = np.empty((len(number), size + 1, size + 1))
        found[order] = products[member[order], place] / self.voice.noise
        precision = self.precision[member]
        pull = np.einsum("pij,pj->pi", precision, beta)
        return Local(
            objective=found[:, -1, -1] + np.sum(beta * pull, axis=1),
            half_gradient=pull - found[:, :-1, -1],
            precision=found[:, :-1, :-1] + precision,
        )

    def _products(self, task: Ints, beta: Floats) -> Floats:
        """[J, e]^T [J, e] of slopes and errors, for points of tasks [K, P] with theta [K, P, q]."""
        members, points = task.shape
        index = torch.from_numpy(task).to(self.y.device)
        every = torch.arange(members, device=index.device)[:, None]
        rows = self.rows[every, index].flatten(1, 2)
        theta = self._theta(beta)[:, :, None].expand(-1, -1, self.shape[1], -1).flatten(1, 2)
        value, slope = self.voice.value_and_slope(rows, theta)
        error = self.y[index] - value.unflatten(1, (points, -1))
        columns = torch.cat([slope.unflatten(1, (points, -1)), error[..., None]], 3).double()
        columns *= self.used[index][..., None]
        return np.asarray((columns.mT @ columns).cpu().numpy())

    def _theta(self, beta: Floats) -> Tensor:
        return torch.from_numpy(beta).to(self.y) + self.centre[:, None]

    def starts(self, effort: Effort) -> Floats:
        """Good candidates that lie apart, for every problem [K * T, S, q]."""
        candidates = np.stack(
            [
                _candidates(own - own.mean(axis=0), root, effort)
                for own, root in zip(self.voice.population, self.root, strict=True)
            ]
        )
        scores = self._scores(candidates, effort.rows)
        chosen = []
        for points, score, root in zip(candidates, scores, self.root, strict=True):
            chosen.append(points[gauss_newton.apart(points, score, root, effort.starts)])
        return np.concatenate(chosen)

    def _scores(self, candidates: Floats, most_rows: int) -> Floats:
        """The objective of candidates [K, C, q] on a few rows of every task: [K, T, C]."""
        members, count, _ = candidates.shape
        tasks, rows = self.shape
        few = np.unique(np.linspace(0, rows - 1, min(rows, most_rows)).astype(np.int64))
        y, used = self.y[:, few], self.used[:, few].double()
        # A task's few rows stand for all of them.
        weight = (self.used.sum(1) / used.sum(1).clamp_min(1)).cpu().numpy()
        theta = self._theta(candidates)
        squared = np.empty((members, tasks, count))
        step = max(1, PASS_ROWS // (count * len(few)))
        for start in range(0, tasks, step):
            part = slice(start, start + step)
            own = self.rows[:, part][:, :, few]
            shape = (members, own.shape[1], count, len(few))
            every = own[:, :, None].expand(*shape, -1).flatten(1, 3)
            each = theta[:, None, :, None].expand(*shape, -1).flatten(1, 3)
            error = y[part][:, None] - self.voice.value(every, each).unflatten(1, shape[1:])
            total = (error.double().square() * used[part][:, None]).sum(3)
            squared[:, part] = total.cpu().numpy()
        penalty = np.einsum("kci,kij,kcj->kc", candidates, self.precision, candidates)
        return squared * weight[:, None] / self.voice.noise + penalty[:, None]


def joined(parts: list[TaskPosterior]) -> TaskPosterior:
    """One posterior for all tasks; those with fewer modes get modes of weight zero."""
    modes = max(part.weights.shape[2] for part in parts)
    padded = [_padded(part, modes) for part in parts]
    return TaskPosterior(
        np.concatenate([part.weights for part in padded], axis=1),
        np.concatenate([part.means for part in padded], axis=1),
        np.concatenate([_covariances(part) for part in padded], axis=1),
    )


def _covariances(posterior: TaskPosterior) -> Floats:
    assert posterior.covariances is not None
    return posterior.covariances


def replaced(whole: TaskPosterior, task: int, one: TaskPosterior) -> TaskPosterior:
    return joined([whole.tasks(slice(None, task)), one, whole.tasks(slice(task + 1, None))])


def _padded(posterior: TaskPosterior, modes: int) -> TaskPosterior:
    lack = (0, modes - posterior.weights.shape[2])
    none = (0, 0)
    return TaskPosterior(
        np.pad(posterior.weights, (none, none, lack)),
        np.pad(posterior.means, (none, none, lack, none)),
        np.pad(_covariances(posterior), (none, none, lack, none, none)),
    )


def _shaped(posterior: laplace.Posterior, members: int) -> TaskPosterior:
    parts = (posterior.weights, posterior.means, posterior.covariances)
    return TaskPosterior(*(part.reshape(members, -1, *part.shape[1:]) for part in parts))


def _blocks(
    voice: Voice, priors: list[Prior], rows: Tensors, tasks: int
) -> Iterator[tuple[Ints, Block]]:
    """Tasks with about as many rows each, their rows as a rectangle."""
    task = rows.task.cpu().numpy()
    counts = np.bincount(task, minlength=tasks)
    order = np.argsort(task, kind="stable")
    begins = np.cumsum(counts) - counts
    by_count = np.argsort(counts, kind="stable")
    begin = 0
    with one_thread(rows.x.device), torch.no_grad():
        while begin < tasks:
            # The last task of a block has the most rows.
            fits = np.arange(1, tasks - begin + 1) * np.maximum(counts[by_count[begin:]], 1)
            many = max(1, int(np.searchsorted(fits, BLOCK_ROWS, side="right")))
            own = by_count[begin : begin + many]
            place = np.arange(max(1, counts[own].max()))
            used = place < counts[own, None]
            index = order[np.minimum(begins[own, None] + place, len(order) - 1)]
            index = np.where(used, index, order[np.minimum(begins[own, None], len(order) - 1)])
            at = torch.from_numpy(index).to(rows.x.device)
            is_used = torch.from_numpy(used).to(at.device)
            yield own, Block(voice, priors, rows.x[at], rows.y[at], is_used)
            begin += many


def _candidates(base: Floats, root: Floats, effort: Effort) -> Floats:
    """The mean task, some fitted ones, and points that have the prior's distribution."""
    if len(base) > effort.candidates:
        random = np.random.default_rng(effort.seed)
        base = base[np.sort(random.choice(len(base), effort.candidates, replace=False))]
    points = _normal_points(base.shape[1], effort.candidates, effort.seed)
    return np.concatenate([np.zeros((1, base.shape[1])), base, points @ root.T])


@cache
def _normal_points(size: int, count: int, seed: int) -> Floats:
    power = max(count - 1, 0).bit_length()  # Sobol points come in powers of two
    uniform = qmc.Sobol(size, rng=seed).random_base2(power)[:count]
    return np.asarray(norm.ppf(np.clip(uniform, 1e-6, 1 - 1e-6)))
