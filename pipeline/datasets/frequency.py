"""Frequency: sine waves that differ in their frequency alone (generated)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learned_context.errors import UserError
from pipeline.datasets.splits import Given, generator
from pipeline.datasets.table import Feature, TaskTable
from pipeline.settings import DatasetKeys

SPLIT = Given()


def sizes(keys: DatasetKeys, dataset: str) -> tuple[int, int, int, float]:
    """Tasks, training rows a task, test rows a task, and the noise's standard deviation."""
    for name in ("tasks", "train_rows", "test_rows", "noise"):
        if getattr(keys, name) is None:
            raise UserError(f"params.yaml: dataset.{dataset}.{name}: missing; a number is needed")
    assert keys.tasks and keys.train_rows and keys.test_rows and keys.noise is not None
    return keys.tasks, keys.train_rows, keys.test_rows, keys.noise


def long_frame(names: list[str], x: np.ndarray, y: np.ndarray, train_rows: int) -> pd.DataFrame:
    """One row a point: `x` and `y` are [task, row], the first `train_rows` columns train."""
    tasks, rows = x.shape
    part = np.where(np.arange(rows) < train_rows, "train", "test")
    return pd.DataFrame(
        {
            "task": np.repeat(names, rows),
            "x": x.ravel(),
            "target": y.ravel(),
            "part": np.tile(part, tasks),
        }
    )


def generate(keys: DatasetKeys, seed: int) -> TaskTable:
    tasks, train_rows, test_rows, noise = sizes(keys, "frequency")
    random = generator(seed, "generate", "frequency")
    omega = random.uniform(0.5, 4.0, size=tasks)
    x = random.uniform(0.0, 1.0, size=(tasks, train_rows + test_rows))
    y = 0.5 * np.sin(2 * np.pi * omega[:, None] * x) + 0.5
    y += random.normal(0.0, noise, size=x.shape)
    width = len(str(tasks))
    names = [f"wave {number:0{width}}" for number in range(1, tasks + 1)]
    return TaskTable(
        frame=long_frame(names, x, y, train_rows),
        features=(Feature("x"),),
        target="y",
        unit="",
        task="wave",
        tasks={name: {"frequency": float(w)} for name, w in zip(names, omega, strict=True)},
    )
