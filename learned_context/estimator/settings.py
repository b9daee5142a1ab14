"""The estimator's settings: their checks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import torch

from learned_context.estimator.recipe import QUALITIES
from learned_context.networks.registry import ARCHITECTURES
from learned_context.training.devices import choose_device

COUNTS = {
    "members": (1, 1_000),
    "task_dim": (1, 10_000),
    "width": (1, 10_000),
    "epochs": (1, 10_000_000),
    "batch_rows": (1, 10**9),
    "blocks": (0, 100),
    "search": (0, 100_000),
    "n_jobs": (1, 10_000),
}
"""The smallest and the largest: with more, a typing error would fill the memory."""
NUMBERS = ("peak_rate", "lambda_shared", "lambda_task", "momentum")
LARGEST = 1e6
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": tuple(ARCHITECTURES),
    "quality": QUALITIES,
    "optimizer": ("adamw", "sgd"),
    "unknown": ("error", "prior"),
}


def check(settings: Mapping[str, Any]) -> None:
    """Every setting by itself; the message names it. None is a rule by the data."""
    value: Any
    for name, (least, most) in COUNTS.items():
        value = settings[name]
        if value is None and name != "search":
            continue
        if name == "n_jobs" and value == -1:
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            or_all = " (or -1 for all cores)" if name == "n_jobs" else ""
            raise ValueError(f"{name} must be an integer, {least} or more{or_all}, not {value!r}")
        if int(value) > most:
            raise ValueError(f"{name} must be {most} or less, not {value!r}")
    for name in NUMBERS:
        value = settings[name]
        if value is None:
            continue
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= LARGEST:
            raise ValueError(f"{name} must be a number from 0 to {LARGEST:g}, not {value!r}")
    if settings["peak_rate"] is not None and not settings["peak_rate"] > 0:
        raise ValueError("peak_rate must be above 0")
    if settings["momentum"] is not None and not settings["momentum"] < 1:
        raise ValueError(f"momentum must be below 1, not {settings['momentum']!r}")
    column = settings["task_column"]
    if column is not None and (not isinstance(column, str | Integral) or isinstance(column, bool)):
        raise ValueError(f"task_column must be a column's name or number, not {column!r}")
    for name in CHOICES:
        check_choice(name, settings[name])


def check_choice(name: str, value: Any) -> None:
    choices = CHOICES[name]
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def workers(n_jobs: int | None) -> int:
    """How many trainings at the same time; -1 is one for every core."""
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs or 1


def device(name: Any) -> torch.device:
    return choose_device(name)
