"""The estimator's settings: their checks, and the rules for those that are None.

The rules and defaults were chosen with one seed by the error on validation rows of the six
datasets of the paper's edition. There six and eight task parameters were about equal; six were
taken for the time and the few-row error of new tasks on generated frequency data.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import torch

from pipeline.models.network import Kind
from pipeline.search.space import Box, table_6
from pipeline.training.trainer import Hyperparameters, Plan, choose_device

STEPS = 3000
"""Steps of gradient descent when `epochs` is None, unless the limits of the epochs say else."""
FEWEST_EPOCHS, MOST_EPOCHS = 10, 400
FEWEST_BATCH_ROWS, MOST_BATCH_ROWS = 32, 1000
BATCHES = 8
"""Batches an epoch when `batch_rows` is None, within the limits of the batches' rows."""
WINDOW = 5
"""Epochs at a rate, at least: with three, chance halves it too early when epochs are few."""

COUNTS = {"task_dim": 1, "width": 1, "epochs": 1, "batch_rows": 1, "blocks": 0, "search": 0}
RULES = ("epochs", "batch_rows")


def check(settings: dict[str, Any]) -> None:
    """Every setting by itself; the message names it."""
    value: Any
    for name, least in COUNTS.items():
        value = settings[name]
        if value is None and name in RULES:
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer, {least} or more, not {value!r}")
    for name in ("peak_rate", "lambda_shared", "lambda_task", "momentum"):
        value = settings[name]
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number, 0 or more, not {value!r}")
    if not settings["peak_rate"] > 0:
        raise ValueError("peak_rate must be above 0")
    if not settings["momentum"] < 1:
        raise ValueError(f"momentum must be below 1, not {settings['momentum']!r}")
    for name, choices in (("kind", ("lc", "cs", "ll", "fs")), ("unknown", ("error", "prior"))):
        if settings[name] not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {settings[name]!r}")


def device(name: Any) -> torch.device:
    try:
        found = choose_device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f"device must be auto, cpu or cuda, not {name!r}") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("device is cuda, but torch finds none; use auto or cpu")
    return found


def hyperparameters(settings: dict[str, Any], tasks: int) -> Hyperparameters:
    """More task parameters than tasks add nothing."""
    return Hyperparameters(
        peak_rate=float(settings["peak_rate"]),
        width=int(settings["width"]),
        lambda_shared=float(settings["lambda_shared"]),
        lambda_task=float(settings["lambda_task"]),
        task_dim=min(int(settings["task_dim"]), tasks),
    )


def plan(settings: dict[str, Any], rows: int) -> Plan:
    batch_rows = settings["batch_rows"] or min(
        max(rows // BATCHES, FEWEST_BATCH_ROWS), MOST_BATCH_ROWS
    )
    batches = max(1, round(rows / batch_rows))
    epochs = settings["epochs"] or min(max(round(STEPS / batches), FEWEST_EPOCHS), MOST_EPOCHS)
    return Plan(
        epochs=int(epochs),
        batches=batches,
        blocks=int(settings["blocks"]),
        momentum=float(settings["momentum"]),
        window_min=WINDOW,
    )


def box(kind: Kind, tasks: int) -> Box:
    """Where `search` looks: Table 6, but no wider than what trains in seconds."""
    return table_6(
        kind,
        tasks,
        peak_rate=(1e-3, 1.5),
        width=(32, 128),
        lambda_shared=(1e-15, 1e-5),
        lambda_task=(1e-15, 1e-3),
        task_dim=(1, 16),
    )
