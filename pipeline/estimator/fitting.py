"""Training as the estimator does it: the noise on rows held out, the search, the last training.

The residuals of the rows that a network was trained on are too small. So a part of the rows is
held out first: the error there is the noise variance s^2 (of new rows of the fitted tasks), and
the score of the search's trials. The last training is on all rows, unless the part held out is
so small that it would not matter.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pipeline.estimator import settings as rules
from pipeline.models.network import Kind, Network
from pipeline.search.lipo import best, search
from pipeline.search.log import Evaluation, Log
from pipeline.search.tuning import DIVERGED_SCORE, settled, trial
from pipeline.tables.rows import Rows
from pipeline.training.trainer import DivergedError, Hyperparameters, Trained, train

HELD_OUT, LEAST_HELD_OUT, MOST_HELD_OUT = 0.1, 10, 5000
SEARCH_HELD_OUT = 0.2
NEGLIGIBLE = 0.02
"""A held-out share up to which the network is not trained anew."""
LEAST_NOISE = 1e-8
"""In units of the target's variance: a constant target has no noise at all."""
TRIAL_RESTARTS = 15


@dataclass(frozen=True)
class Fitted:
    trained: Trained
    noise: float
    """s^2, in units of the standardised target's variance."""
    hyper: Hyperparameters
    evaluations: list[Evaluation]


def fit(
    rows: Rows, tasks: int, kind: Kind, settings: dict[str, Any], seed: int, device: torch.device
) -> Fitted:
    hyper = rules.hyperparameters(settings, tasks)
    share = SEARCH_HELD_OUT if settings["search"] else HELD_OUT
    held_out = choose_held_out(rows.task, share, np.random.default_rng(seed))
    known, new = rows.take(~held_out), rows.take(held_out)
    trained = _train(known, tasks, kind, hyper, settings, seed, device)
    variance = float(np.mean((trained.predict(new) - new.y) ** 2))
    if not variance < rows.y.var():  # worse than the mean, as when the rows held out are far away
        variance = float(rows.y.var())
    evaluations: list[Evaluation] = []
    if settings["search"]:
        plan = replace(rules.plan(settings, len(known)), max_restarts=TRIAL_RESTARTS)
        constant = _constant(known)
        parts = _blanked(known, constant), _blanked(new, constant)
        evaluate = trial(*parts, tasks, kind, plan, seed, device)
        with tempfile.TemporaryDirectory() as folder:
            log = Log(Path(folder) / "search.jsonl")
            evaluations = search(
                rules.box(kind, tasks), evaluate, settings["search"], seed % 2**31, log
            )
        found = best(evaluations)
        scored = (found.score * trained.scaler.y_std) ** 2
        # The settings as given were tried too: a search never ends with worse ones.
        if scored < variance and found.score < DIVERGED_SCORE:
            hyper, variance = Hyperparameters(**settled(found, plan)), scored
    if len(new) > NEGLIGIBLE * len(rows) or settings["search"]:
        trained = _train(rows, tasks, kind, hyper, settings, seed, device)
    if kind == "lc":
        _centre(trained.network)
    noise = max(variance / trained.scaler.y_std**2, LEAST_NOISE)
    return Fitted(trained, noise, hyper, evaluations)


def choose_held_out(
    task: NDArray[np.int64], share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """A share of the rows, at random; a task keeps more rows than it gives, and at least one."""
    order = random.permutation(len(task))
    by_task = order[np.argsort(task[order], kind="stable")]
    counts = np.bincount(task)
    place = np.empty(len(task), dtype=np.int64)
    place[by_task] = np.arange(len(task)) - np.repeat(np.cumsum(counts) - counts, counts)
    wanted = min(max(round(share * len(task)), LEAST_HELD_OUT), MOST_HELD_OUT)
    free = np.flatnonzero(place < counts[task] // 2)
    if not len(free):  # every task has one row: then some tasks are held out whole
        free = order[: len(task) // 2]
    held_out = np.zeros(len(task), dtype=bool)
    held_out[random.choice(free, min(wanted, len(free)), replace=False)] = True
    return held_out


def _train(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    settings: dict[str, Any],
    seed: int,
    device: torch.device,
) -> Trained:
    """Train; a feature that is the same in all rows is ignored from then on."""
    constant, plan = _constant(rows), rules.plan(settings, len(rows))
    try:
        trained = train(_blanked(rows, constant), tasks, kind, hyper, plan, seed, device)
    except DivergedError as error:
        raise ValueError(f"the training {error}; set a lower peak_rate") from error
    # Its weights are as they were drawn: any value that it may have later must become zero.
    ignored = np.where(constant, np.inf, trained.scaler.x_std)
    return replace(trained, scaler=replace(trained.scaler, x_std=ignored))


def _constant(rows: Rows) -> NDArray[np.bool_]:
    """Not by the standard deviation, which rounding leaves above zero."""
    return np.asarray(np.ptp(rows.x, axis=0) == 0)


def _blanked(rows: Rows, constant: NDArray[np.bool_]) -> Rows:
    return replace(rows, x=np.where(constant, 0.0, rows.x)) if constant.any() else rows


def _centre(network: Network) -> None:
    """Let the mean task parameters be zero, as the prior of new tasks supposes.

    L (beta - mean) + (b1 + L mean) is the same first layer: no prediction changes.
    """
    views = network.views
    mean = views["beta"].double().mean(0).to(views["beta"].dtype)
    views["b1"].add_(views["L"] @ mean)
    views["beta"].sub_(mean)
