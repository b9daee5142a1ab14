"""How wide intervals must be: measured on rows that were held out.

A prediction's variance is the noise plus what the members and the Laplace approximation leave
uncertain. Held-out rows say how many such standard deviations their errors are: the quantiles of
these sizes give the intervals. Added tasks have quantiles of their own: about halfway between these
and those of tasks that were held out whole and added with few rows. Nothing is held out that would
say how far tasks without any row are from their prediction: their quantiles are the normal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from learned_context.new_tasks.objective import Floats, Ints

LEVELS = np.round(np.linspace(0.01, 0.99, 99), 2)
LEAST_NOISE = 1e-8
"""In units of the target's variance: a constant target has no noise at all."""
FEWEST = 20
"""With fewer held-out rows the errors are taken as normal."""
LEAST_SIZE = 1e-3
"""Of quantiles, relative to the normal ones: a constant target leaves no errors."""
LEAST_SHARE = 0.7
"""Of the quantiles of held-out tasks, for added ones: where there is hardly any noise, a task with
one row is much less certain than fitted tasks."""
FITTED, UNKNOWN = 0, -1
"""In place of the number of rows that a task was added with."""


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
        return cls(max(scale, LEAST_SIZE), np.maximum(found, LEAST_SIZE * quantiles))

    def towards(self, other: Quantiles) -> Quantiles:
        """Their geometric mean, but not much below these."""
        share = LEAST_SHARE
        return Quantiles(
            max(float(np.sqrt(self.scale * other.scale)), share * self.scale),
            np.maximum(np.sqrt(self.sizes * other.sizes), share * self.sizes),
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
        """Factors on standard deviations, by the rows that tasks were added with."""
        return self._each(rows, lambda own: own.scale)

    def sizes(self, rows: Ints, level: float) -> Floats:
        """Half the interval's width in standard deviations, likewise."""
        return self._each(rows, lambda own: own.at(level))

    def _each(self, rows: Ints, value: Callable[[Quantiles], float]) -> Floats:
        counts, place = np.unique(rows, return_inverse=True)
        return np.array([value(self._of(int(count))) for count in counts])[place]

    def _of(self, rows: int) -> Quantiles:
        if rows == UNKNOWN:
            return Quantiles.normal()
        if rows == FITTED or not self.added:
            return self.known
        return self.added[nearest(self.added, rows)]


def nearest(tried: Iterable[int], rows: int) -> int:
    """The number of rows, of those that were tried, whose ratio to this one is closest to one."""
    return min(tried, key=lambda other: abs(np.log(other / max(rows, 1))))
