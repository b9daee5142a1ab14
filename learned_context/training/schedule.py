"""The two-stage learning rate of Appendix B.

A linear warm-up from the lowest rate to the peak; then the rate is halved whenever the epoch
losses have converged, until it is back at the lowest rate.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


def convergence_p(losses: Sequence[float]) -> float:
    """The p-value of the likelihood-ratio test of a slope in the losses against none.

    For least squares with normal errors the test has a closed form: -n log(1 - r^2), which is
    chi-squared with one degree of freedom. Constant losses have no slope: p is 1.
    """
    count = len(losses)
    middle = (count - 1) / 2
    mean = math.fsum(losses) / count
    steps = [index - middle for index in range(count)]
    spread_x = math.fsum(step * step for step in steps)
    spread_y = math.fsum((loss - mean) ** 2 for loss in losses)
    shared = math.fsum(step * (loss - mean) for step, loss in zip(steps, losses, strict=True))
    if spread_y == 0 or not math.isfinite(spread_y):
        return 1.0
    unexplained = 1 - shared * shared / (spread_x * spread_y)
    if unexplained <= 0:
        return 0.0
    statistic = max(0.0, -count * math.log(unexplained))
    return math.erfc(math.sqrt(statistic / 2))  # the chi-squared tail with one degree


@dataclass(frozen=True)
class RateSettings:
    """What the schedule needs to know; counts are epochs."""

    peak: float
    lowest: float
    epochs: int
    warmup: int
    window: int
    converged_p: float
    loss_near_zero: float


class RateSchedule:
    """Gives the rate of every step and learns the loss of every epoch."""

    def __init__(self, settings: RateSettings) -> None:
        self.settings = settings
        self.epoch = 0
        self._rate = settings.peak
        self._losses: deque[float] = deque(maxlen=settings.window)
        self.finished = ""
        """Why training ended; empty while it goes on."""

    def rate(self, progress: float = 0.0) -> float:
        """The rate when a share `progress` of the current epoch's steps is done."""
        if self.epoch < self.settings.warmup:
            done = (self.epoch + progress) / self.settings.warmup
            return self.settings.lowest + done * (self.settings.peak - self.settings.lowest)
        return self._rate

    def end_epoch(self, loss: float) -> None:
        warming_up = self.epoch < self.settings.warmup
        self.epoch += 1
        if not warming_up:
            self._losses.append(loss)
            # A full window since the last change is also the minimum dwell at a rate.
            full = len(self._losses) == self.settings.window
            if full and convergence_p(self._losses) > self.settings.converged_p:
                self._rate /= 2
                self._losses.clear()
        if loss <= self.settings.loss_near_zero:
            self.finished = "the loss is near zero"
        elif self._rate < self.settings.lowest:
            self.finished = "the rate is back at its lowest"
        elif self.epoch >= self.settings.epochs:
            self.finished = "the last epoch"


class CosineSchedule:
    """A linear warm-up, then half a cosine down to zero over all epochs."""

    def __init__(self, peak: float, epochs: int, warmup: float) -> None:
        self.peak, self.epochs, self.warmup = peak, epochs, warmup
        self.epoch = 0
        self.finished = ""

    def rate(self, progress: float = 0.0) -> float:
        """The rate when a share `progress` of the current epoch's steps is done."""
        done = (self.epoch + progress) / self.epochs
        if done < self.warmup:
            return self.peak * done / self.warmup
        return self.peak * (1 + math.cos(math.pi * (done - self.warmup) / (1 - self.warmup))) / 2

    def end_epoch(self, loss: float) -> None:
        self.epoch += 1
        if self.epoch >= self.epochs:
            self.finished = "the last epoch"
