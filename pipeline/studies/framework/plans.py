"""What the settings give every training: its budget, plan, seed and the widths to search.

The one place for these rules: trainings follow them, the plan's costs rest on them, the report
states them and the audit compares the results with them.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pipeline.settings import Budget, Settings


def budget_for(budgets: tuple[Budget, ...], rows: float) -> Budget:
    """The first budget that is for so few rows; the last one has no limit."""
    return next(b for b in budgets if b.rows_below is None or rows < b.rows_below)


def final_plan(settings: Settings, rows: int) -> dict[str, Any]:
    """The plan of a final training, by the names of `learned_context`'s Plan."""
    section = settings.profile.train
    return _plan(settings, budget_for(section.budget, rows), section.max_restarts)


def search_plan(settings: Settings, rows: int) -> dict[str, Any]:
    """The plan of a search's trials."""
    section = settings.profile.search
    return _plan(settings, budget_for(section.budget, rows), section.max_restarts)


def _plan(settings: Settings, budget: Budget, max_restarts: int) -> dict[str, Any]:
    return {
        "epochs": budget.epochs,
        "batches": budget.batches,
        "window_min": settings.profile.train.window_min,
        "max_restarts": max_restarts,
        "precision": settings.profile.train.precision,
        **settings.params.network.model_dump(),
        **settings.params.schedule.model_dump(),
    }


def width_range(settings: Settings) -> tuple[int, int]:
    """Table 6's, with the upper end that the profile allows."""
    low, high = settings.params.space.width
    return low, max(low, min(high, settings.profile.search.width_max))


def seed_for(
    settings: Settings, purpose: Literal["search", "train"], dataset: str, *parts: object
) -> int:
    """A seed of its own for every search and training, from the seeds in params.yaml."""
    base = getattr(settings.params.seeds, purpose)
    text = "/".join(str(part) for part in (base, purpose, dataset, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
