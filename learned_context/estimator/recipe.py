"""Which networks an ensemble tries, how long they train, and how they share the prediction.

Noisy data want strong regularisation, smooth data almost none, and nothing else matters as much.
So a portfolio of settings, from cautious to light, is scored on held-out rows; the ensemble is
their average, weighted by score. `benchmarks/defaults.py` measures every choice made here on
validation rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from learned_context.networks.registry import architecture
from learned_context.new_tasks.objective import Floats
from learned_context.training.plan import PAPER, Hyperparameters, Options, Plan

Quality = Literal["fast", "default", "best"]
QUALITIES: tuple[Quality, ...] = ("fast", "default", "best")
WITH_INTERCEPTS = ("lc", "film")
"""Architectures whose tasks get an intercept of their own beside their parameters."""
TASK_DIM = 8
BATCH_ROWS = (192, 1024)
"""Rows of a batch, for few rows and for very many."""
MANY_ROWS = 100_000
MEMBERS_OF_MANY_ROWS = 2
"""With very many rows a few networks are as good as several, and predict in seconds."""
FEW_ROWS = 3000
"""With more rows the number of steps grows, as their square root."""
SHARPNESS = 6.0
"""Weights are proportional to exp(-SHARPNESS (s / best s)^2) with s a part's error."""
RESAMPLES = 200
"""Of the held-out rows: the weights are a mean over them."""
LEAST_WEIGHT = 0.05
"""A setting with less is dropped before the last training."""


@dataclass(frozen=True)
class Setting:
    """How one part of the ensemble is trained: a network by AdamW, from initial weights."""

    name: str
    steps: int
    """Of a table of up to FEW_ROWS rows."""
    rate: float
    dropout: float
    decay: float
    """Of shared parameters: a step multiplies them by 1 - rate * decay."""
    task_decay: float
    width: int = 64

    def hyperparameters(self, task_dim: int) -> Hyperparameters:
        return Hyperparameters(self.rate, self.width, self.decay, self.task_decay, task_dim)

    def options(self, kind: str) -> Options:
        return Options(
            optimizer="adamw",
            dropout=self.dropout,
            last_relu=True,
            intercepts=kind in WITH_INTERCEPTS,
            lambda_intercept=self.task_decay,
        )


BRIEF = Setting("brief", 200, rate=0.003, dropout=0.5, decay=1.0, task_decay=3.0)
CAUTIOUS = Setting("cautious", 300, rate=0.003, dropout=0.6, decay=1.0, task_decay=1.0, width=32)
STRONG = Setting("strong", 400, rate=0.003, dropout=0.3, decay=0.3, task_decay=1.0)
MEDIUM = Setting("medium", 1000, rate=0.01, dropout=0.2, decay=0.1, task_decay=0.3)
LIGHT = Setting("light", 1200, rate=0.01, dropout=0.0, decay=0.01, task_decay=0.03)

PORTFOLIO = (BRIEF, CAUTIOUS, STRONG, MEDIUM, LIGHT)


INTERCEPTS, SLOPES, CURVES, LOG_CURVES = MIXED = ("intercepts", "slopes", "curves", "log_curves")
"""The mixed models, named by what varies between tasks; the last is of the target's logarithm."""


@dataclass(frozen=True)
class Recipe:
    portfolio: tuple[Setting, ...]
    folds: int
    """How many times some rows are held out."""
    scoring_members: int
    """Networks of each setting that are scored on held-out rows."""
    members: int
    """Networks in the ensemble."""
    effort: float = 1.0
    """Times the settings' steps."""
    mixed: tuple[str, ...] = MIXED
    """The mixed models that take part."""
    curve_rows: int = 800
    """From which the mixed model of curves finds its smoothness."""
    task_folds: int = 3
    """How many times some tasks are held out whole, at most."""


RECIPES: Mapping[Quality, Recipe] = {
    "fast": Recipe(
        (CAUTIOUS, STRONG, MEDIUM, LIGHT),
        folds=1,
        scoring_members=1,
        members=2,
        effort=0.33,
        mixed=(INTERCEPTS, SLOPES, CURVES),
        curve_rows=250,
        task_folds=1,
    ),
    "default": Recipe(PORTFOLIO, folds=2, scoring_members=2, members=8),
    "best": Recipe(PORTFOLIO, folds=4, scoring_members=4, members=24, effort=2.0),
}


@dataclass(frozen=True)
class PlannedTraining:
    """One setting, made definite for a number of rows and tasks."""

    name: str
    hyper: Hyperparameters
    plan: Plan
    options: Options = PAPER

    @property
    def steps(self) -> int:
        return self.plan.epochs * self.plan.batches


def batch_rows(rows: int) -> int:
    few, many = BATCH_ROWS
    return few if rows < MANY_ROWS else many


def adamw(
    setting: Setting, given: Mapping[str, Any], effort: float, rows: int, tasks: int
) -> PlannedTraining:
    """`given` are the estimator's settings; those that are not None override the recipe's."""
    kind = given["kind"]
    task_dim = min(given["task_dim"] or TASK_DIM, tasks)
    hyper = setting.hyperparameters(task_dim if architecture(kind).has_task_parameters else 0)
    overrides = {
        name: given[name]
        for name in ("peak_rate", "width", "lambda_shared", "lambda_task")
        if given[name] is not None
    }
    batches = max(1, round(rows / (given["batch_rows"] or batch_rows(rows))))
    steps = effort * setting.steps * math.sqrt(max(1.0, rows / FEW_ROWS))
    epochs = given["epochs"] or max(3, round(steps / batches))
    plan = Plan(epochs=int(epochs), batches=batches, blocks=_or(given["blocks"], 2))
    return PlannedTraining(setting.name, replace(hyper, **overrides), plan, setting.options(kind))


# The paper's training: gradient descent with momentum, Equation 20, one network.
SGD_STEPS = 3000
SGD_EPOCHS = (10, 400)
SGD_BATCH_ROWS = (32, 1000)
SGD_BATCHES = 8
"""Batches of an epoch, within the limits of the batches' rows."""
SGD_WINDOW = 5
"""Epochs at a rate, at least: with three, chance halves it too early when epochs are few."""


def sgd(given: Mapping[str, Any], rows: int, tasks: int) -> PlannedTraining:
    task_dim = min(given["task_dim"] or 6, tasks)
    hyper = Hyperparameters(
        peak_rate=float(_or(given["peak_rate"], 0.1)),
        width=int(_or(given["width"], 64)),
        lambda_shared=float(_or(given["lambda_shared"], 0.0)),
        lambda_task=float(_or(given["lambda_task"], 1e-3)),
        task_dim=task_dim if architecture(given["kind"]).has_task_parameters else 0,
    )
    few, many = SGD_BATCH_ROWS
    batch = given["batch_rows"] or min(max(rows // SGD_BATCHES, few), many)
    batches = max(1, round(rows / batch))
    fewest, most = SGD_EPOCHS
    epochs = given["epochs"] or min(max(round(SGD_STEPS / batches), fewest), most)
    plan = Plan(
        epochs=int(epochs),
        batches=batches,
        blocks=int(_or(given["blocks"], 2)),
        momentum=float(_or(given["momentum"], 0.7)),
        window_min=SGD_WINDOW,
    )
    return PlannedTraining("sgd", hyper, plan)


def weights(
    errors: Floats,
    random: np.random.Generator,
    least: float = LEAST_WEIGHT,
    sharpness: float = SHARPNESS,
) -> Floats:
    """Of parts of an ensemble, from their (squared) errors on held-out rows or tasks [V, n].

    By the errors' ratio to the best one's, as a mean over resampled rows or tasks: where a few of
    them decide which part is the best, the weights stay even.
    """
    rows = errors.shape[1]
    drawn = random.multinomial(rows, np.full(rows, 1 / rows), size=RESAMPLES)
    means = drawn @ errors.T / rows
    best = np.maximum(means.min(axis=1, keepdims=True), 1e-300)
    found = np.exp(-sharpness * (np.minimum(means / best, 1e3) - 1))
    weights_ = (found / found.sum(axis=1, keepdims=True)).mean(axis=0)
    weights_[weights_ < least] = 0
    return np.asarray(weights_ / weights_.sum())


def shares(weights_: Sequence[float], members: int) -> list[int]:
    """How many of the networks each part gets: at least one, the others by weight."""
    counts = np.ones(len(weights_), dtype=int)
    while counts.sum() < members:
        counts[np.argmax(np.asarray(weights_) / counts)] += 1
    return [int(count) for count in counts]


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value
