"""How wide intervals must be: measured on rows that were held out.

A prediction's variance is the noise plus what the members and the Laplace approximation leave
uncertain. Held-out rows say how many such standard deviations their errors are: the noise is
chosen to make them one on average, and the quantiles of their sizes give the intervals. Added
tasks have quantiles of their own: halfway between these and those of tasks that were held out whole
and added with few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from learned_context.new_tasks.objective import Floats, Ints

LEVELS = np.round(np.linspace(0.01, 0.99, 99), 2)
LEAST_NOISE = 1e-8
"""In units of the target's variance: a constant target has no noise at all."""
FEWEST = 20
"""With fewer held-out rows the errors are taken as normal."""


@dataclass(frozen=True)
class Quantiles:
    """Sizes of errors in standard deviations."""

    scale: float
    """Their root mean square."""
    sizes: Floats
    """At each of LEVELS."""

    @classmethod
    def normal(cls) -> Quantiles:
        return cls(1.0, np.asarray(norm.ppf((1 + LEVELS) / 2)))

    @classmethod
    def of(cls, errors: Floats) -> Quantiles:
        """From standardised errors, as conformal prediction has it: the level of n + 1 rows."""
        count = len(errors)
        if count < FEWEST:
            return cls.normal()
        sizes = np.sort(np.abs(errors))
        scale = float(np.sqrt(np.mean(sizes**2)))
        place = np.ceil((count + 1) * LEVELS).astype(np.int64)
        inside = place <= count
        found = sizes[np.minimum(place, count) - 1]
        # Beyond the largest error: as a normal distribution goes on from there.
        edge = np.flatnonzero(inside)[-1]
        quantiles = norm.ppf((1 + LEVELS) / 2)
        found[~inside] = found[edge] * quantiles[~inside] / quantiles[edge]
        return cls(scale, np.maximum(found, 1e-3 * quantiles))

    def halfway(self, other: Quantiles) -> Quantiles:
        """Their geometric mean."""
        return Quantiles(
            float(np.sqrt(self.scale * other.scale)), np.sqrt(self.sizes * other.sizes)
        )

    def at(self, level: float) -> float:
        beyond = norm.ppf((1 + level) / 2) / norm.ppf((1 + LEVELS[-1]) / 2)
        if level > LEVELS[-1]:
            return float(self.sizes[-1] * beyond)
        return float(np.interp(level, [0.0, *LEVELS], [0.0, *self.sizes]))


@dataclass(frozen=True)
class Calibration:
    noise: float
    """s^2 of the ensemble, in units of the standardised target's variance."""
    known: Quantiles
    added: Mapping[int, Quantiles]
    """By the number of rows that a task was added with; empty if it could not be measured."""

    def scales(self, rows: Ints) -> Floats:
        """Factors on the standard deviation of tasks added with so many rows; 0 for fitted ones."""
        counts = np.unique(rows)
        found = {count: self._added(int(count)).scale for count in counts}
        return np.array([found[count] if count else 1.0 for count in rows])

    def sizes(self, rows: Ints, level: float) -> Floats:
        """Half the interval's width in standard deviations."""
        counts, place = np.unique(rows, return_inverse=True)
        found = [(self._added(int(c)) if c else self.known).at(level) for c in counts]
        return np.array(found)[place]

    def _added(self, rows: int) -> Quantiles:
        return self.added[nearest(self.added, rows)] if self.added else self.known


def nearest(tried: Iterable[int], rows: int) -> int:
    """The number of rows, of those that were tried, whose ratio to this one is closest to one."""
    return min(tried, key=lambda other: abs(np.log(other / max(rows, 1))))


def noise_of(errors: Floats, uncertain: Floats) -> float:
    """The noise that makes errors one standard deviation on average, by bisection.

    `uncertain` is the rest of the variance of every row.
    """
    low, high = LEAST_NOISE, max(float(np.mean(errors**2)), LEAST_NOISE)
    for _ in range(60):
        middle = np.sqrt(low * high)
        too_large = np.mean(errors**2 / (middle + uncertain)) < 1
        low, high = (low, middle) if too_large else (middle, high)
    return float(high)
