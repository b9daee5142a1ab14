"""What decides a training besides its rows and its seed. Depends on nothing that computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from learned_context.training.schedule import CosineSchedule, RateSchedule, RateSettings


@dataclass(frozen=True)
class Hyperparameters:
    """What the search chooses (Table 6)."""

    peak_rate: float
    width: int
    lambda_shared: float
    lambda_task: float = 0.0
    task_dim: int = 0


@dataclass(frozen=True)
class Plan:
    """How long and how to train: what the budget and the appendix on the optimizer fix."""

    epochs: int
    batches: int
    blocks: int = 2
    momentum: float = 0.7
    lowest_rate: float = 1e-8
    warmup: float = 0.1
    window: float = 0.01
    window_min: int = 3
    converged_p: float = 0.51
    loss_near_zero: float = 1e-8
    retry_rate: float = 0.9
    max_restarts: int = 50
    precision: Literal["highest", "high"] = "highest"
    """Of float32 products on a GPU: high allows TF32. A CPU has one precision."""

    def rates(self, peak: float) -> RateSettings:
        return RateSettings(
            peak=peak,
            lowest=self.lowest_rate,
            epochs=self.epochs,
            warmup=math.ceil(self.warmup * self.epochs),
            window=max(self.window_min, round(self.window * self.epochs)),
            converged_p=self.converged_p,
            loss_near_zero=self.loss_near_zero,
        )


@dataclass(frozen=True)
class Options:
    """What the paper's training does not have; the default is the paper's."""

    optimizer: Literal["sgd", "adamw"] = "sgd"
    """AdamW has a warm-up and a cosine decay over the plan's steps, and its penalties are
    decoupled: a step multiplies a parameter by 1 - rate * lambda."""
    betas: tuple[float, float] = (0.9, 0.99)
    epsilon: float = 1e-8
    warmup: float = 0.05
    """AdamW's share of the steps with a rising rate."""
    dropout: float = 0.0
    """Share of the units inside the residual blocks that a step leaves out."""
    last_relu: bool = False
    intercepts: bool = False
    lambda_intercept: float = 0.0

    def schedule(self, plan: Plan, peak: float) -> RateSchedule | CosineSchedule:
        if self.optimizer == "adamw":
            return CosineSchedule(peak, plan.epochs, self.warmup)
        return RateSchedule(plan.rates(peak))


PAPER = Options()
