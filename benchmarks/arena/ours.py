"""Learned context in the arena: its defaults, and nothing chosen for a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import learned_context
from benchmarks.arena.contestants import LEVEL, Contestant, Fitted, LabelledRows, Predicted

FOLDER = Path(learned_context.__file__).parent
WITHOUT_NUMBERS = (
    *("errors", "files", "model_checks", "model_file"),
    *("plots", "progress", "routing", "side_by_side"),
)
"""Modules of messages, files and pictures, and of the study: they do not outdate a cell."""
LIBRARY = tuple(path for path in sorted(FOLDER.rglob("*.py")) if path.stem not in WITHOUT_NUMBERS)


class LearnedContext(Fitted):
    """New tasks are added to the fitted model: nothing is trained for them."""

    refits_new_tasks = False

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def fit(self, rows: LabelledRows, seed: int) -> LearnedContext:
        from learned_context.estimator import LearnedContextRegressor

        self.model = LearnedContextRegressor(random_state=seed, device="cpu", **self.settings)
        self.model.fit(rows.features, rows.target, rows.task)
        return self

    def predict(self, rows: LabelledRows) -> Predicted:
        mean = np.asarray(self.model.predict(rows.features, rows.task))
        lower, upper = self.model.predict_interval(rows.features, rows.task, level=LEVEL)
        return Predicted(mean, np.asarray(lower), np.asarray(upper))

    def with_new_tasks(self, arriving: LabelledRows) -> LearnedContext:
        extended = copy(self)
        extended.model = deepcopy(self.model)
        extended.model.add_tasks(arriving.features, arriving.target, arriving.task)
        return extended


def ours() -> Fitted:
    return LearnedContext()


def ours_fast() -> Fitted:
    return LearnedContext(quality="fast")


OURS: Mapping[str, Contestant] = {
    one.name: one
    for one in (
        Contestant(
            "ours",
            "Learned context",
            ours,
            "",
            "LearnedContextRegressor(): networks and mixed models; new tasks by add_tasks",
            (ours, LearnedContext, *LIBRARY),
            cost=20,
            preload=("learned_context.estimator",),
        ),
        Contestant(
            "ours-fast",
            "Learned context, fast",
            ours_fast,
            "",
            'quality="fast"; new tasks by add_tasks',
            (ours_fast, LearnedContext, *LIBRARY),
            cost=4,
            preload=("learned_context.estimator",),
        ),
    )
}
