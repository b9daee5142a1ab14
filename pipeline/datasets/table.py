"""One table shape for all datasets: task, features, target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd


@dataclass(frozen=True)
class Feature:
    name: str
    kind: Literal["number", "category"] = "number"
    unit: str = ""


@dataclass(frozen=True)
class TaskTable:
    """What a dataset's module makes of its raw files.

    `frame` has the columns `task` (text), one for each feature, and `target`; numbers are
    float64, categories are text. `part` ("train" or "test") is there where the dataset comes
    with an official split. `key` names the columns that must identify a row; empty where the
    source has no such key.
    """

    frame: pd.DataFrame
    features: tuple[Feature, ...]
    target: str
    unit: str
    task: str
    key: Sequence[str] = ()
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is known of a task besides its rows, such as a generated task's true parameters."""
