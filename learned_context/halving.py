"""Fewer task parameters than a search chose: a half, a quarter and so on, down to one.

A search varies their number little, and a handful of rows a task cannot tell a good number from
one that fits the noise: LIPO chose eleven for sines that differ in one property. So the chosen
settings are tried again with fewer, and every row is predicted once by a network that has not seen
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray

from learned_context.errors import UserError
from learned_context.search.lipo import Trial, evaluate
from learned_context.search.log import Evaluation, Log
from learned_context.training.trainer import Hyperparameters


def halvings(
    chosen: Hyperparameters, objective: Callable[[Hyperparameters], Trial], log: Log
) -> list[Evaluation]:
    """The chosen settings and those with fewer task parameters; those in the log are not rerun."""
    done = log.read()
    for index, hyper in enumerate(_fewer(chosen)):
        if index == len(done):
            done.append(evaluate(hyper, (), objective))
            log.append(done[index])
        elif done[index].settings != asdict(hyper):
            raise UserError(
                f"{log.path}: line {index + 1}: not the settings of this search; "
                "delete the file and run the stage again"
            )
    return done


def _fewer(hyper: Hyperparameters) -> Iterator[Hyperparameters]:
    yield hyper
    while hyper.task_dim > 1:
        hyper = replace(hyper, task_dim=hyper.task_dim // 2)
        yield hyper


def folds(task: NDArray[np.int64], place: NDArray[np.int64], count: int) -> list[NDArray[np.bool_]]:
    """Rows to hold out, each in one of `count` folds.

    `place` is a row's place in its task: a task's rows go to the folds in turn, and rows that share
    a place stay together. Tasks begin with different folds, so that all folds are of one size even
    if a task has two rows.
    """
    fold = (place + task) % count
    return [fold == number for number in range(count) if (fold == number).any()]


def mean_trial(trials: Sequence[Trial]) -> Trial:
    """Of one setting on several folds: the root of the mean squared error."""
    return Trial(
        score=float(np.sqrt(np.mean([trial.score**2 for trial in trials]))),
        restarts=sum(trial.restarts for trial in trials),
        diverged=any(trial.diverged for trial in trials),
    )
