"""The estimator's settings: their checks."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import torch

from learned_context.estimator.recipe import QUALITIES
from learned_context.networks.registry import ARCHITECTURES
from learned_context.training.devices import choose_device

COUNTS = {
    "members": 1,
    "task_dim": 1,
    "width": 1,
    "epochs": 1,
    "batch_rows": 1,
    "blocks": 0,
    "search": 0,
    "n_jobs": 1,
}
NUMBERS = ("peak_rate", "lambda_shared", "lambda_task", "momentum")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": tuple(ARCHITECTURES),
    "quality": QUALITIES,
    "optimizer": ("adamw", "sgd"),
    "unknown": ("error", "prior"),
}


def check(settings: Mapping[str, Any]) -> None:
    """Every setting by itself; the message names it. None is a rule by the data."""
    value: Any
    for name, least in COUNTS.items():
        value = settings[name]
        if value is None and name != "search":
            continue
        if name == "n_jobs" and value == -1:
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer, {least} or more, not {value!r}")
    for name in NUMBERS:
        value = settings[name]
        if value is None:
            continue
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number, 0 or more, not {value!r}")
    if settings["peak_rate"] is not None and not settings["peak_rate"] > 0:
        raise ValueError("peak_rate must be above 0")
    if settings["momentum"] is not None and not settings["momentum"] < 1:
        raise ValueError(f"momentum must be below 1, not {settings['momentum']!r}")
    for name, choices in CHOICES.items():
        if not isinstance(settings[name], str) or settings[name] not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {settings[name]!r}")


def device(name: Any) -> torch.device:
    return choose_device(name)
