"""Errors of predictions, overall and per task. Depends on numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def rmse(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Root mean squared error."""
    return float(np.sqrt(np.mean((observed - predicted) ** 2)))


def task_rmse(
    observed: NDArray[np.float64],
    predicted: NDArray[np.float64],
    task: NDArray[np.int64],
    tasks: int,
) -> NDArray[np.float64]:
    """The error of each task; NaN for a task without rows."""
    squared = np.bincount(task, weights=(observed - predicted) ** 2, minlength=tasks)
    rows = np.bincount(task, minlength=tasks)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(squared / rows))


def significant(value: float, digits: int = 7) -> float:
    """Rounded to what float32 arithmetic supports, so that result files stay small."""
    return float(f"{value:.{digits}g}")


def histogram(
    observed: NDArray[np.float64], predicted: NDArray[np.float64], bins: int = 40
) -> dict[str, Any]:
    """How often which prediction stands beside which observation: [observed, predicted, count]."""
    low, high = float(observed.min()), float(observed.max())
    high = high if high > low else low + 1.0
    counts, _, _ = np.histogram2d(
        observed, np.clip(predicted, low, high), bins=bins, range=[[low, high]] * 2
    )
    cells = [[int(i), int(j), int(counts[i, j])] for i, j in np.argwhere(counts)]
    return {"low": low, "high": high, "bins": bins, "cells": cells}
