"""`search`: LIPO looks for better hyperparameters on the held-out rows.

What it finds joins the portfolio beside the settings that were there, so a search never makes
the score on held-out rows worse.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from learned_context.estimator.recipe import PlannedTraining
from learned_context.rows import Rows
from learned_context.training.plan import Hyperparameters

TRIAL_RESTARTS = 15
SPACES: dict[str, Any] = {
    "sgd": {
        "peak_rate": (1e-3, 1.5),
        "width": (32, 128),
        "lambda_shared": (1e-15, 1e-5),
        "lambda_task": (1e-15, 1e-3),
        "task_dim": (1, 16),
    },
    "adamw": {
        "peak_rate": (1e-3, 3e-2),
        "width": (32, 128),
        "lambda_shared": (1e-3, 1.0),
        "lambda_task": (1e-2, 3.0),
        "task_dim": (1, 16),
    },
}
"""Where to look: Table 6, but no wider than what trains in seconds."""


def search(
    known: Rows,
    new: Rows,
    tasks: int,
    start: PlannedTraining,
    given: Mapping[str, Any],
    seed: int,
    device: torch.device,
) -> tuple[Hyperparameters, list[dict[str, Any]]]:
    """The best hyperparameters, and all that were tried; the rest is as in `start`."""
    from learned_context.search import lipo, space, tuning
    from learned_context.search.log import Log

    kind = given["kind"]
    plan = replace(start.plan, max_restarts=TRIAL_RESTARTS)
    # A column that is constant but for the rows held out would have no scale of its own.
    constant = np.ptp(known.x, axis=0) == 0
    known, new = (replace(rows, x=np.where(constant, 0.0, rows.x)) for rows in (known, new))
    evaluate = tuning.trial(known, new, tasks, kind, plan, seed, device, options=start.options)
    box = space.table_6(kind, tasks, **SPACES[given["optimizer"]])
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder) / "search.jsonl")
        found = lipo.search(box, evaluate, given["search"], seed % 2**31, log)
    best = Hyperparameters(**tuning.settled(lipo.best(found), plan))
    return best, [{**one.settings, "score": one.score} for one in found]
