"""Sine and line: half of the tasks are affine functions, half are sine waves (generated)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.datasets.frequency import long_frame, sizes
from pipeline.datasets.splits import Given, generator
from pipeline.datasets.table import Feature, TaskTable
from pipeline.settings import DatasetKeys

SPLIT = Given()


def generate(keys: DatasetKeys, seed: int) -> TaskTable:
    tasks, train_rows, test_rows, noise = sizes(keys, "sine_and_line")
    random = generator(seed, "generate", "sine_and_line")
    lines = tasks // 2
    sines = tasks - lines
    slope, intercept = random.uniform(-3.0, 3.0, size=(2, lines))
    amplitude = random.uniform(0.1, 5.0, size=sines)
    phase = random.uniform(0.0, np.pi, size=sines)
    x = random.uniform(-5.0, 5.0, size=(tasks, train_rows + test_rows))
    y = np.concatenate(
        [
            slope[:, None] * x[:lines] + intercept[:, None],
            amplitude[:, None] * np.sin(x[lines:] + phase[:, None]),
        ]
    )
    y += random.normal(0.0, noise, size=x.shape)
    width = len(str(max(lines, sines)))
    known: dict[str, dict[str, Any]] = {}
    for number in range(lines):
        known[f"line {number + 1:0{width}}"] = {
            "kind": "line",
            "slope": float(slope[number]),
            "intercept": float(intercept[number]),
        }
    for number in range(sines):
        known[f"sine {number + 1:0{width}}"] = {
            "kind": "sine",
            "amplitude": float(amplitude[number]),
            "phase": float(phase[number]),
        }
    return TaskTable(
        frame=long_frame(list(known), x, y, train_rows),
        features=(Feature("x"),),
        target="y",
        unit="",
        task="function",
        tasks=known,
    )
