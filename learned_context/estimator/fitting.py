"""The fit: score the portfolio on held-out rows, weigh it, calibrate, train on all rows.

The errors of rows that a network was trained on are too small. So a share of every task's rows is
held out first: their errors give the weights of the settings, the networks' noise and the
intervals. Then
tasks are held out whole, a third at a time, and added with a few rows each: the weights and
intervals of added tasks follow from these and from known tasks. The last training is on all rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learned_context.estimator import added_tasks, curves, linear, recipe, searching, task_fit
from learned_context.estimator.added_tasks import NETWORKS, Arrival, renumbered
from learned_context.estimator.calibration import LEAST_NOISE, Calibration, Quantiles
from learned_context.estimator.curves import Curves
from learned_context.estimator.logarithm import Logarithm
from learned_context.estimator.model import Ensemble, Weights
from learned_context.estimator.progress import Bar
from learned_context.estimator.recipe import (
    CURVES,
    INTERCEPTS,
    LOG_CURVES,
    MIXED,
    SLOPES,
    PlannedTraining,
)
from learned_context.estimator.settings import workers
from learned_context.estimator.voices import NetworkVoice, Voice
from learned_context.networks.network import Network
from learned_context.networks.registry import architecture
from learned_context.new_tasks.objective import Floats, Ints
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training import trainer
from learned_context.training.data import Tensors

HELD_OUT, LEAST_HELD_OUT, MOST_HELD_OUT = 0.1, 10, 5000
"""The share of the rows that a fold holds out, and the rows at least and at most."""
ENOUGH_ROWS = 5000
"""With more rows one fold is enough."""
HOPELESS_WEIGHT = 0.01
"""Settings with less after the first fold are not tried on the next."""
FIRST_FOLD, FIRST_TASK_FOLD = 10, 20
"""The numbers of the first fold's stage, of rows and of tasks, from which seeds are drawn."""
FEWEST_TASKS = 4
"""To hold out some of them whole."""
MOST_SCORED_ROWS = 40_000
"""Of a larger table, only some tasks are scored and calibrated with."""
FEWEST_THINNED_TASKS = 50


@dataclass(frozen=True)
class Fitted:
    ensemble: Ensemble
    scaler: Scaler
    calibration: Calibration
    errors: dict[str, float]
    """On held-out rows, by part of the ensemble, in the target's units."""
    weights: dict[str, float]
    trials: dict[str, PlannedTraining]
    losses: list[float]
    evaluations: list[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """Rows as a training sees them."""

    rows: Rows
    tasks: int
    scaler: Scaler
    data: Tensors

    @classmethod
    def of(
        cls, rows: Rows, tasks: int, indicators: NDArray[np.bool_], device: torch.device
    ) -> Part:
        """Standardise; a feature with one value is ignored from then on.

        Indicators of levels are only centred: standardised, a rare one would be enormous.
        """
        constant = np.ptp(rows.x, axis=0) == 0  # rounding leaves a standard deviation above zero
        scaler = Scaler.fit(rows)
        x_std = np.where(indicators, 1.0, scaler.x_std)
        scaler = replace(scaler, x_std=np.where(constant, np.inf, x_std))
        return cls(rows, tasks, scaler, Tensors.of(rows, scaler, device))

    def like(self, rows: Rows) -> Tensors:
        """Other rows, standardised as these."""
        return Tensors.of(rows, self.scaler, self.data.x.device)


@dataclass(frozen=True)
class Fold:
    """Voices trained on one part of the rows, and their errors on the rows held out."""

    known: Part
    new: Rows
    voices: dict[str, Voice]
    squared: dict[str, Floats]
    """Squared errors of the members' mean, standardised."""
    noises: dict[str, float]
    """Of one network; mixed models know their own noise, by its likelihood."""
    target_noises: dict[str, float]
    """Of every voice, in the standardised target: a model of logarithms has another noise."""

    @classmethod
    def of(cls, known: Part, new: Rows, voices: dict[str, Voice]) -> Fold:
        squared, noises, target_noises = {}, {}, {}
        data = known.like(new)
        y = data.y.double().cpu()
        for name, voice in voices.items():
            alone = Ensemble.alone(voice, task_fit.certain(voice.population))
            each = torch.from_numpy(alone.members(data.x, new.task))
            squared[name] = ((each.mean(0) - y) ** 2).numpy()
            if isinstance(voice, NetworkVoice):
                noises[name] = task_fit.noise(voice, known.data, data)
            gain = voice.gain(voice.target(each)).square().mean().item()
            target_noises[name] = noises.get(name, voice.noise) * gain
        return cls(known, new, voices, squared, noises, target_noises)


class Fitting:
    """One call of `fit`: its settings, seed, device and progress."""

    def __init__(
        self,
        given: Mapping[str, Any],
        rows: int,
        tasks: int,
        indicators: NDArray[np.bool_],
        seed: int,
        device: torch.device,
    ) -> None:
        self.given, self.tasks, self.indicators = given, tasks, indicators
        self.seed, self.device = seed, device
        self.kind: str = given["kind"]
        self.recipe = recipe.RECIPES[given["quality"]]
        self.is_paper = given["optimizer"] == "sgd"
        self.members = int(given["members"] or (1 if self.is_paper else self.recipe.members))
        if given["members"] is None and rows > recipe.MANY_ROWS:
            self.members = min(self.members, recipe.MEMBERS_OF_MANY_ROWS)
        self.scoring = 1 if self.is_paper else min(self.recipe.scoring_members, self.members)
        self.later_scoring = max(1, self.scoring // 2)
        many = rows > ENOUGH_ROWS and given["quality"] != "best"
        self.folds = 1 if self.is_paper or many else self.recipe.folds
        self.task_folds = 1 if self.is_paper else self.recipe.task_folds
        self.varying = np.zeros(0, dtype=np.int64)
        self.curves: dict[str, Curves] = {}
        self.bar = Bar(bool(given["verbose"]))
        self.losses: list[float] = []

    def run(self, rows: Rows) -> Fitted:
        random = np.random.default_rng(self.seed)
        scored_rows = renumbered(thinned(rows, MOST_SCORED_ROWS, random))
        tasks = int(scored_rows.task.max()) + 1
        self.varying = curves.varying(rows.x, rows.task, self.indicators)
        self.curves = self._curves(rows)
        parts = [
            (self._part(scored_rows.take(~held_out), tasks), scored_rows.take(held_out))
            for held_out in choose_folds(scored_rows.task, self.folds, random)
        ]
        trials, last_trials = self._trials(len(parts[0][0].rows)), self._trials(len(rows))
        evaluations: list[dict[str, Any]] = []
        if self.given["search"]:
            first, (known, new) = next(iter(trials)), parts[0]
            found, evaluations = searching.search(
                known.rows, new, tasks, trials[first], self.given, self.seed, self.device
            )
            for every in (trials, last_trials):
                every["searched"] = replace(every[first], name="searched", hyper=found)
        steps = [trial.steps for trial in trials.values()]
        last_steps = float(np.mean([trial.steps for trial in last_trials.values()]))
        self.bar.expect(
            self.scoring * (sum(steps) * (1 + self.folds) / 2 + max(steps) * self.task_folds)
            + self.members * last_steps
        )

        scored = self._scored(parts, trials)
        squared, noises = _pooled(scored)
        errors = {
            name: float(np.sqrt(own.mean())) * parts[0][0].scaler.y_std
            for name, own in squared.items()
        }
        weights = dict.fromkeys(trials, 0.0) | self._weights(squared, trials)
        calibration = _calibrated(scored, weights, noises)
        added: dict[int, dict[str, float]] = {}
        if self._adds(tasks):
            arrivals = list(self._arrivals(scored_rows, trials, weights, noises))
            added, quantiles = self._of_added(arrivals, weights, list(trials), calibration)
            calibration = replace(calibration, added=quantiles)

        whole = self._part(rows, self.tasks)
        chosen = {name: trial for name, trial in last_trials.items() if weights[name] > 0}
        counts = recipe.shares([weights[name] for name in chosen], self.members)
        voices = self._networks(whole, chosen, dict(zip(chosen, counts, strict=True)), stage=1)
        used = [name for own in (weights, *added.values()) for name in _positive(own)]
        voices |= self._mixed(whole, used)
        self.bar.end()
        return Fitted(
            ensemble=_final(_with_noises(voices, noises), weights, added, whole),
            scaler=whole.scaler,
            calibration=calibration,
            errors=errors,
            weights=weights,
            trials=chosen,
            losses=self.losses,
            evaluations=evaluations,
        )

    def _curves(self, rows: Rows) -> dict[str, Curves]:
        """None of them if there are too many rows, tasks or features for a fit in seconds."""
        if len(rows) > recipe.MANY_ROWS:
            return {}
        if not curves.are_small_enough(rows.x.shape[1], len(self.varying), self.tasks):
            return {}
        names = [CURVES, LOG_CURVES] if Logarithm.suits(rows.y) else [CURVES]
        settings = (rows.x.shape[1], self.varying, self.recipe.curve_rows, self.seed)
        return {name: Curves(*settings) for name in names}

    def _part(self, rows: Rows, tasks: int) -> Part:
        return Part.of(rows, tasks, self.indicators, self.device)

    def _trials(self, rows: int) -> dict[str, PlannedTraining]:
        """The portfolio for this number of rows; the paper's training is a portfolio of one."""
        if self.is_paper:
            return {"sgd": recipe.sgd(self.given, rows, self.tasks)}
        return {
            setting.name: recipe.adamw(setting, self.given, self.recipe.effort, rows, self.tasks)
            for setting in self.recipe.portfolio
        }

    def _networks(
        self,
        part: Part,
        trials: Mapping[str, PlannedTraining],
        counts: Mapping[str, int],
        stage: int,
    ) -> dict[str, Voice]:
        """The members of a setting side by side, and up to `n_jobs` settings at once."""

        def train(trial: PlannedTraining) -> tuple[Voice, list[float]]:
            count = counts[trial.name]
            own = [self.seed, stage, *trial.name.encode()]
            seeds = np.random.SeedSequence(own).generate_state(count)
            training = trainer.Training(
                part.data,
                part.scaler,
                part.tasks,
                self.kind,
                trial.hyper,
                trial.plan,
                trial.options,
            )
            report = self.bar.report(trial.name, trial.steps)
            try:
                found = training.members([int(seed) for seed in seeds], report)
            except trainer.DivergedError as error:
                raise ValueError(
                    f"the training {error}; set a lower peak_rate or penalty"
                ) from error
            network = Network.stack([one.network for one in found])
            return NetworkVoice.of(network, 1.0), found[0].losses

        with ThreadPoolExecutor(workers(self.given["n_jobs"])) as pool:
            found = list(pool.map(train, trials.values()))
        self.losses = found[0][1]
        return {name: voice for name, (voice, _) in zip(trials, found, strict=True)}

    def _mixed(self, part: Part, names: Iterable[str]) -> dict[str, Voice]:
        """Those of the mixed models that are among `names`, if the recipe has them."""
        if self.is_paper or self.kind != "lc" or part.tasks < 2:
            return {}
        wanted = set(names) & set(self.recipe.mixed)
        with threadpool_limits(1, "blas"):  # sums must not depend on how many threads share them
            return self._fitted_mixed(part, wanted)

    def _fitted_mixed(self, part: Part, wanted: Collection[str]) -> dict[str, Voice]:
        slopes = {INTERCEPTS: self.varying[:0], SLOPES: self.varying}
        found: dict[str, Voice] = {
            name: linear.fit(part.data, part.tasks, own)
            for name, own in slopes.items()
            if name in wanted
        }
        for name, own in self.curves.items():
            if name in wanted:
                logarithm = Logarithm.of(part.rows.y, part.scaler) if name == LOG_CURVES else None
                found[name] = own.fit(part.data, part.tasks, logarithm)
        return found

    def _scored(
        self, parts: Sequence[tuple[Part, Rows]], trials: Mapping[str, PlannedTraining]
    ) -> list[Fold]:
        """The portfolio on every fold; what is far from the best on the first ones is left out."""
        folds: list[Fold] = []
        names = [*trials, *MIXED]
        for number, (known, new) in enumerate(parts):
            left = {name: trial for name, trial in trials.items() if name in names}
            # The first fold decides what is left out; the others make the scores more certain.
            counts = dict.fromkeys(left, self.scoring if number == 0 else self.later_scoring)
            voices = self._networks(known, left, counts, stage=FIRST_FOLD + number)
            voices |= self._mixed(known, names)
            folds.append(Fold.of(known, new, voices))
            weights = self._weights(_pooled(folds)[0], left, HOPELESS_WEIGHT)
            names = _positive(weights)
        return folds

    def _weights(
        self,
        squared: Mapping[str, Floats],
        trials: Mapping[str, PlannedTraining],
        least: float = recipe.LEAST_WEIGHT,
    ) -> dict[str, float]:
        """By error; the best network always takes part, as its task parameters are shown."""
        random = np.random.default_rng([self.seed, 3])
        weights = recipe.weights(np.stack(list(squared.values())), random, least)
        found = dict(zip(squared, weights.tolist(), strict=True))
        networks = [name for name in squared if name in trials]
        best = min(networks, key=lambda name: float(squared[name].mean()))
        found[best] = max(found[best], recipe.LEAST_WEIGHT)
        ranked = sorted(networks, key=lambda name: -found[name])
        found |= dict.fromkeys(ranked[self.members :], 0.0)
        total = sum(found.values())
        return {name: weight / total for name, weight in found.items()}

    def _adds(self, tasks: int) -> bool:
        """Whether added tasks can be tried."""
        return architecture(self.kind).has_task_parameters and tasks >= FEWEST_TASKS

    def _arrivals(
        self,
        rows: Rows,
        trials: Mapping[str, PlannedTraining],
        weights: Mapping[str, float],
        noises: Mapping[str, float],
    ) -> Iterator[Arrival]:
        """Tasks that are held out whole, added to the best networks and to the mixed models."""
        random = np.random.default_rng([self.seed, 2])
        tasks = int(rows.task.max()) + 1
        best = max(trials, key=lambda name: weights[name])
        for fold, left_out in enumerate(added_tasks.folds(tasks, self.task_folds, random)):
            is_out = np.isin(rows.task, left_out)
            base = self._part(renumbered(rows.take(~is_out)), tasks - len(left_out))
            stage = FIRST_TASK_FOLD + fold
            voices = self._networks(base, {best: trials[best]}, {best: self.scoring}, stage)
            voices |= self._mixed(base, MIXED)
            voices = {
                NETWORKS if name == best else name: task_fit.widened(voice, base.data)
                for name, voice in _with_noises(voices, noises).items()
            }
            for count, few, others in added_tasks.arriving(rows.take(is_out), random):
                yield Arrival.of(count, voices, base.like(few), base.like(others))

    def _of_added(
        self,
        arrivals: Sequence[Arrival],
        known: Mapping[str, float],
        networks: Sequence[str],
        calibration: Calibration,
    ) -> tuple[dict[int, dict[str, float]], dict[int, Quantiles]]:
        """Weights of the voices for added tasks, and their intervals, by the number of rows."""
        random = np.random.default_rng([self.seed, 4])
        found = added_tasks.weights(arrivals, added_tasks.together(known, networks), random)
        quantiles = added_tasks.quantiles(arrivals, found, calibration)
        weights = {count: added_tasks.apart(own, known, networks) for count, own in found.items()}
        return weights, quantiles


def thinned(rows: Rows, most: int, random: np.random.Generator) -> Rows:
    """At most this many rows: whole tasks if there are enough, otherwise a share of each."""
    if len(rows) <= most:
        return rows
    counts = np.bincount(rows.task)
    order = random.permutation(len(counts))
    enough = int(np.searchsorted(np.cumsum(counts[order]), most))
    if enough >= FEWEST_THINNED_TASKS:
        return rows.take(np.isin(rows.task, order[:enough]))
    if len(counts) > FEWEST_THINNED_TASKS:
        rows = rows.take(np.isin(rows.task, order[:FEWEST_THINNED_TASKS]))
    if len(rows) <= most:
        return rows
    return rows.take(np.sort(random.choice(len(rows), most, replace=False)))


def choose_folds(task: Ints, count: int, random: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Rows to hold out: about the same share of every task, each row at most once.

    A task keeps a row at least. If all tasks have a single row, some are held out whole.
    """
    rows = len(task)
    share = min(max(HELD_OUT, LEAST_HELD_OUT / rows), 0.4, MOST_HELD_OUT / rows)
    order = random.permutation(rows)
    counts = np.bincount(task)
    by_task = order[np.argsort(task[order], kind="stable")]
    place = np.empty(rows, dtype=np.int64)
    place[by_task] = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    # Shares are rounded at random, so that small tasks give a row to some folds.
    offset = random.uniform(size=len(counts))
    folds = []
    for fold in range(count):
        low, high = (np.floor(share * counts * at + offset)[task] for at in (fold, fold + 1))
        held_out = (place >= low) & (place < high) & (counts[task] > 1)
        if not held_out.any():
            held_out[order[fold :: 2 * count][:LEAST_HELD_OUT]] = True
        folds.append(held_out)
    return folds


def _pooled(folds: Sequence[Fold]) -> tuple[dict[str, Floats], dict[str, float]]:
    """Squared errors, and noises of networks, of what took part in every fold."""
    names = [name for name in folds[0].voices if all(name in fold.voices for fold in folds)]
    squared = {name: np.concatenate([fold.squared[name] for fold in folds]) for name in names}
    networks = [name for name in names if name in folds[0].noises]
    noises = {name: float(np.mean([fold.noises[name] for fold in folds])) for name in networks}
    return squared, noises


def _calibrated(
    folds: Sequence[Fold], weights: Mapping[str, float], noises: Mapping[str, float]
) -> Calibration:
    """The noise is that of the voices, by weight.

    What the ensemble's errors have beyond their uncertainty is no measure of it: where the tasks'
    parameters are most of an error, little is left, by chance none. That would not show in fitted
    tasks, but the intervals of a task that is added with many rows would be empty.
    """
    errors, uncertain, found = [], [], []
    for fold in folds:
        found.append(sum(weights.get(name, 0.0) * own for name, own in fold.target_noises.items()))
        voices = {name: voice for name, voice in fold.voices.items() if weights.get(name)}
        ensemble = _ensemble(_with_noises(voices, noises), weights, fold.known)
        data = fold.known.like(fold.new)
        spread = ensemble.spread(data.x, fold.new.task)
        errors.append(data.y.double().cpu().numpy() - spread.mean)
        uncertain.append(spread.uncertain)
    error, rest = np.concatenate(errors), np.concatenate(uncertain)
    if np.mean(error**2) > 1:  # rows far from all others say nothing of other errors
        error = np.clip(error, -3, 3)
    noise = max(float(np.mean(found)), LEAST_NOISE)
    return Calibration(noise, Quantiles.of(error / np.sqrt(noise + rest)), {})


def _ensemble(voices: Mapping[str, Voice], weights: Mapping[str, float], part: Part) -> Ensemble:
    """The voices that have a weight, with the uncertainty of the fitted tasks."""
    own = {name: voice for name, voice in voices.items() if weights[name] > 0}
    return Ensemble.of(
        list(own.values()),
        Weights(_shares(weights, own)),
        [task_fit.fitted(voice, part.data) for voice in own.values()],
    )


def _final(
    voices: Mapping[str, Voice],
    known: Mapping[str, float],
    added: Mapping[int, Mapping[str, float]],
    part: Part,
) -> Ensemble:
    """All voices, also those that have a weight for added tasks only.

    A task that is added with as many rows as fitted ones have is like a fitted one.
    """
    by_rows = {rows: _shares(own, voices) for rows, own in added.items()}
    typical = int(np.median(np.bincount(part.rows.task)))
    if by_rows and typical > max(by_rows):
        by_rows[typical] = _shares(known, voices)
    return Ensemble.of(
        [task_fit.widened(voice, part.data) for voice in voices.values()],
        Weights(_shares(known, voices), by_rows),
        [task_fit.fitted(voice, part.data) for voice in voices.values()],
    )


def _shares(weights: Mapping[str, float], voices: Iterable[str]) -> tuple[float, ...]:
    own = [weights.get(name, 0.0) for name in voices]
    return tuple(weight / sum(own) for weight in own)


def _with_noises(voices: Mapping[str, Voice], noises: Mapping[str, float]) -> dict[str, Voice]:
    return {
        name: replace(voice, noise=noises.get(name, voice.noise)) for name, voice in voices.items()
    }


def _positive(weights: Mapping[str, float]) -> list[str]:
    return [name for name, weight in weights.items() if weight > 0]
