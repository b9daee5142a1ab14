"""What a computation will cost, from its budget: for a plan before anything has run.

A training is its matrix products, the memory that passes between them, and what a step takes
besides. The seconds are those of one processor thread, and the runner scales them by what
finished stages took; `GPU` is a model that nobody has measured (docs/gpu.md). Convergence ends
most trainings early, so this is nearer to an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.settings import Budget, Settings
from pipeline.studies.framework import plans

START = 4.0
"""Seconds before a stage's own work begins: the libraries."""
PASSES = 10
"""How often a step reads or writes the units of a layer, besides the products' own work."""


@dataclass(frozen=True)
class Speed:
    """How fast a device is."""

    products: float
    """Floating-point operations a second in matrix products."""
    step: float
    """Seconds of a training step besides its products."""
    epoch: float = 0.0
    """Seconds of an epoch besides its steps."""
    memory: float = float("inf")
    """Bytes a second; infinite where the units stay in a cache."""


THREAD = Speed(products=5e10, step=2e-4)
GPU = {
    "highest": Speed(products=8e12, step=1.5e-4, epoch=3e-4, memory=1e12),
    "high": Speed(products=3e13, step=1.5e-4, epoch=3e-4, memory=1e12),
}
"""A data-centre GPU of 2020 (19.5 TFLOPS, 156 in TF32, 1.5 TB/s), by `train.precision`: less
than half of its peaks, and 60 kernels of 2.5 microseconds in a captured step."""


@dataclass(frozen=True)
class Work:
    """The size of one dataset's stages."""

    settings: Settings
    rows: float
    """Training rows."""
    tasks: float
    speed: Speed = THREAD

    def training(self, share: float = 1.0) -> float:
        """Seconds of a final training on this share of the rows."""
        return self._training(self.rows * share, self.settings.profile.train.budget)

    def search(self, share: float = 1.0) -> float:
        """Seconds of a search on this share of the rows."""
        section = self.settings.profile.search
        rows = self.rows * share * (1 - self.settings.params.validation)
        trials = section.evaluations * self._training(rows, section.budget)
        # An opening is a training's warm-up, and as many epochs more.
        openings = section.openings * 2 * self.settings.params.schedule.warmup
        in_full = self._training(rows, self.settings.profile.train.budget)
        return trials + (section.finalists + openings) * in_full

    def passes(self, rows: float) -> float:
        """Seconds for a forward pass of this number of rows through a network."""
        width, layers = sum(plans.width_range(self.settings)) / 2, self._layers
        return 2 * layers * width**2 * rows / self.speed.products

    @property
    def _layers(self) -> int:
        return 2 * self.settings.params.network.blocks

    def _training(self, rows: float, budgets: tuple[Budget, ...]) -> float:
        budget, speed = plans.budget_for(budgets, rows), self.speed
        units = rows * self._layers * sum(plans.width_range(self.settings)) / 2
        moved = PASSES * 4 * units / speed.memory
        epoch = 3 * self.passes(rows) + moved + budget.batches * speed.step + speed.epoch
        return budget.epochs * epoch
