"""What a stage will cost, from its budget: for a plan before anything has run.

The work of a training is its matrix products; the seconds are those of one processor thread, and
the runner scales them by what finished stages took. Convergence ends most trainings early, so
this is nearer to an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline import settings
from pipeline.datasets import sources
from pipeline.files import Files
from pipeline.settings import Budget, Settings

PRODUCTS_A_SECOND = 5e10
"""Floating-point operations of one thread."""
START = 4.0
"""Seconds before a stage's own work begins: the libraries."""
STEP = 2e-4
"""Seconds of a step besides its products."""


def expectation(root: Path) -> tuple[Callable[[str], float | None], str | None]:
    """The expected seconds of a stage by its address, and the profile they are for."""
    files = Files(root)
    if not files.params.exists() or not files.profile("").parent.exists():
        return lambda address: None, None  # a repository of another kind
    loaded = settings.load(files)
    known = sources.load(files.sources)
    for name in loaded.params.datasets:  # a mistake shall stop a run before its first stage
        known.edition(name, loaded.dataset(name).edition)
    return Costs(loaded, known).seconds, loaded.params.profile


class Costs:
    def __init__(self, loaded: Settings, known: sources.Sources) -> None:
        self.params, self.profile = loaded.params, loaded.profile
        self.known = known

    def seconds(self, address: str) -> float | None:
        kind, _, item = address.rpartition(":")[2].partition("@")
        dataset = item.split("-")[0]
        if kind in ("download", "prepare", "report", "clean", "check"):
            return START
        if dataset not in self.params.datasets:
            return None
        rows = self._training_rows(dataset)
        final = self.profile.train.budget
        work = {
            "linear": lambda: 3e-4 * rows,
            "tune": lambda: self._searched(rows),
            "train": lambda: self._trained(rows, final),
            "repeats": lambda: (self.profile.repeats - 1) * self._trained(rows, final),
            "sizes": lambda: sum(
                self._searched(rows * share) + self._trained(rows * share, final)
                for share in self.params.fractions
            ),
            "dimension": lambda: len(self.profile.dimensions) * self._trained(rows, final),
            "holdout": lambda: (
                3 * len(self.profile.holdout.dimensions) * self._trained(rows * 2 / 3, final)
            ),
            "adapt": lambda: 1e-3 * rows * len(self.profile.holdout.dimensions),
            "illustrate": lambda: 1e-5 * rows,
        }.get(kind)
        return None if work is None else START + work()

    def _searched(self, rows: float) -> float:
        search = self.profile.search
        return search.evaluations * self._trained(
            rows * (1 - self.params.validation), search.budget
        )

    def _trained(self, rows: float, budgets: tuple[Budget, ...]) -> float:
        budget = next(b for b in budgets if b.rows_below is None or rows < b.rows_below)
        low, high = self.params.space.width
        width = (low + min(high, self.profile.search.width_max)) / 2
        products = 6 * 2 * self.params.network.blocks * width**2  # two layers a block, three passes
        epoch = rows * products / PRODUCTS_A_SECOND + budget.batches * STEP
        return budget.epochs * epoch

    def _training_rows(self, dataset: str) -> float:
        keys = self.params.dataset[dataset]
        if keys.tasks and keys.train_rows:
            return keys.tasks * keys.train_rows
        edition = self.known.edition(dataset, keys.edition)
        return (keys.train_share or 0.8) * (edition.rows or 10_000)
