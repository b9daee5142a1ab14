"""What a search trial is: train on one part of the training rows, score on the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from learned_context import metrics
from learned_context.networks.registry import Kind
from learned_context.rows import Rows
from learned_context.search.lipo import Trial
from learned_context.search.log import Evaluation
from learned_context.training.plan import PAPER, Options
from learned_context.training.trainer import (
    DivergedError,
    Hyperparameters,
    Plan,
    Progress,
    train,
)

DIVERGED_SCORE = 1.5
"""In units of the target's standard deviation, where predicting the mean scores about 1: bad,
but on the scale of the other scores, because LIPO's bounds follow the values it is given."""


def trial(
    fit: Rows,
    validation: Rows,
    tasks: int,
    kind: Kind,
    plan: Plan,
    seed: int,
    device: torch.device,
    report: Callable[[Progress], None] | None = None,
    options: Options = PAPER,
) -> Callable[[Hyperparameters], Trial]:
    """The search's objective: the validation error divided by the target's deviation."""

    def evaluate(hyper: Hyperparameters) -> Trial:
        try:
            trained = train(fit, tasks, kind, hyper, plan, seed, device, report, options)
        except DivergedError:
            return Trial(DIVERGED_SCORE, plan.max_restarts + 1, diverged=True)
        error = metrics.rmse(validation.y, trained.predict(validation))
        score = min(error / trained.scaler.y_std, DIVERGED_SCORE)
        return Trial(score, trained.restarts)

    return evaluate


def settled(evaluation: Evaluation, plan: Plan, lowered: int = 0) -> dict[str, Any]:
    """A trial's settings, with the rate at which it did not diverge for the one it began with.

    `lowered` is the number of steps by which the rate is lower still.
    """
    steps = evaluation.restarts + lowered
    rate = evaluation.settings["peak_rate"] * plan.retry_rate**steps
    return {**evaluation.settings, "peak_rate": metrics.significant(rate, 6)}
