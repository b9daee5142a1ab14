"""Parkinson: a symptom score of 42 patients from measures of their voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pipeline.datasets import reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.8)

VOICE = (
    "Jitter(%)",
    "Jitter(Abs)",
    "Jitter:RAP",
    "Jitter:PPQ5",
    "Jitter:DDP",
    "Shimmer",
    "Shimmer(dB)",
    "Shimmer:APQ3",
    "Shimmer:APQ5",
    "Shimmer:APQ11",
    "Shimmer:DDA",
    "NHR",
    "HNR",
    "RPDE",
    "DFA",
    "PPE",
)


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    raw = reading.read_csv(path, ["subject#", "total_UPDRS", *VOICE])
    subject = reading.numbers(path, raw, "subject#", 1, 42).astype(int)
    columns = {
        "task": subject.map("patient {:02}".format),
        "target": reading.numbers(path, raw, "total_UPDRS"),
    }
    columns |= {name: reading.numbers(path, raw, name) for name in VOICE}
    return TaskTable(
        frame=pd.DataFrame(columns),
        features=tuple(Feature(name) for name in VOICE),
        target="total UPDRS",
        unit="points",
        task="patient",
    )
