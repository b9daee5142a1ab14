"""What there is to know of a prepared table without opening it: results/data/NAME/table.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import model_validator

from pipeline import checked
from pipeline.checked import Checked, Count, Error
from pipeline.files import Files

TRUE_PARAMETERS = {
    "sine": ("amplitude", "phase"),
    "line": ("slope", "intercept"),
}
"""Of a generated task: the parameters of the function behind it."""


class FeatureDescription(Checked):
    name: str
    kind: Literal["number", "category"]
    unit: str
    categories: list[str] | None = None
    """The levels of a category, in the order of their numbers; a number has none."""


class TaskDescription(Checked):
    train: Count
    test: Count
    frequency: float | None = None
    kind: str | None = None
    slope: float | None = None
    intercept: float | None = None
    amplitude: float | None = None
    phase: float | None = None

    @model_validator(mode="after")
    def _true_parameters(self) -> TaskDescription:
        for name in TRUE_PARAMETERS.get(self.kind or "", ()):
            if getattr(self, name) is None:
                raise ValueError(f"a {self.kind} has no {name}")
        return self


class TableRows(Checked):
    train: Count
    test: Count
    leaked: Count


class TableDescription(Checked):
    dataset: str
    edition: str
    comparable: bool
    differs: str
    """How the edition differs from the paper's data, in a sentence; empty if it does not."""
    raw: dict[str, str]
    """The raw files and their SHA-256."""
    split: str
    keys: dict[str, Any]
    """The dataset's own keys of params.yaml."""
    seeds: dict[str, int]
    features: list[FeatureDescription]
    target: str
    unit: str
    std: Error
    """The target's standard deviation over all rows: errors are divided by it."""
    rows: TableRows
    task: str
    """What a task is: a school, a country, a month."""
    tasks: dict[str, TaskDescription]
    """In the order of the tasks' numbers."""
    content_sha256: str

    @cached_property
    def test_rows(self) -> dict[str, int]:
        """Of every task that has test rows, how many."""
        return {name: task.test for name, task in self.tasks.items() if task.test}

    def error_over_all(self, errors: Mapping[str, float]) -> float:
        """The root mean square error over the test rows of these tasks, from each one's own."""
        squared = sum(self.test_rows[name] * error**2 for name, error in errors.items())
        return math.sqrt(squared / sum(self.test_rows[name] for name in errors))


def read_description(files: Files, dataset: str) -> TableDescription:
    path = files.table_info(dataset)
    remedy = f"restore it with `git checkout {path}` or run `dvc repro --force prepare@{dataset}`"
    return checked.read(path, TableDescription, remedy)
