"""The finals of a search: its best trials again, at the length of the final training.

A trial is short, and so is its warm-up. Its score may mislead, and its rate may diverge in the
longer training, where the network meets the peak rate later and at a sharper place. So the best
trials are trained in full and scored again, and the rate of the best of them is lowered until it
holds. Divergence comes at the end of the warm-up or soon after: the opening of a training tells
whether its rate holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from learned_context.errors import UserError
from learned_context.networks.registry import Kind
from learned_context.rows import Rows
from learned_context.search.lipo import Trial, evaluate
from learned_context.search.log import Evaluation, Log
from learned_context.search.tuning import settled
from learned_context.training.trainer import (
    DivergedError,
    Hyperparameters,
    Plan,
    Progress,
    train,
)

NEAR = 0.05
"""Of the range that the trials cover in each dimension: nearer ones are one candidate."""
SEED_STEP = 1000
"""Between the seeds of two openings: a restart adds one to its seed."""


def finals(
    trials: Sequence[Evaluation],
    count: int,
    plan: Plan,
    objective: Callable[[Hyperparameters], Trial],
    log: Log,
) -> list[Evaluation]:
    """Evaluate the `count` best candidates by `objective`; those in the log are not rerun.

    `plan` is that of the trials: a finalist begins at the rate at which its trial did not diverge.
    """
    done = log.read()[:count]
    for index, trial in enumerate(candidates(trials)[:count]):
        settings = settled(trial, plan)
        if index == len(done):
            done.append(evaluate(Hyperparameters(**settings), trial.point, objective))
            log.append(done[index])
        elif done[index].settings != settings:
            raise UserError(
                f"{log.path}: line {index + 1}: not the settings of this search's finalist; "
                "delete the file and run the stage again"
            )
    return done


def candidates(trials: Sequence[Evaluation]) -> list[Evaluation]:
    """The trials that did not diverge, best first; of near ones the best alone.

    LIPO ends with many points around its optimum, and one of them stands for all.
    """
    points = np.array([trial.point for trial in trials])
    near = NEAR * np.ptp(points, axis=0)
    found: list[Evaluation] = []
    for trial in sorted(trials, key=lambda one: one.score):
        apart = [np.any(np.abs(np.subtract(trial.point, one.point)) > near) for one in found]
        if not trial.diverged and all(apart):
            found.append(trial)
    return found


def opening(plan: Plan) -> Plan:
    """The first epochs of the plan's training: its warm-up, and as many at the peak rate."""
    rates = plan.rates(peak=1.0)
    epochs = 2 * rates.warmup
    return replace(plan, epochs=epochs, warmup=0.5, window=rates.window / epochs)


def lowered(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    plan: Plan,
    openings: int,
    seed: int,
    device: torch.device,
    report: Callable[[Progress], None] | None = None,
) -> int:
    """How often the rate is multiplied by `retry_rate` until so many openings in a row hold."""
    steps = number = in_a_row = 0
    while in_a_row < openings:
        number += 1
        rate = hyper.peak_rate * plan.retry_rate**steps
        begun = replace(opening(plan), max_restarts=plan.max_restarts - steps)
        try:
            trained = train(
                rows,
                tasks,
                kind,
                replace(hyper, peak_rate=rate),
                begun,
                seed + number * SEED_STEP,
                device,
                report,
            )
        except DivergedError:
            return plan.max_restarts
        steps += trained.restarts
        in_a_row = 1 if trained.restarts else in_a_row + 1  # its last attempt held
    return steps
