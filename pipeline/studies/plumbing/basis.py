"""What a result follows from, so that the audit can compare it with the files it was made from.

Seeds, budgets and row counts follow from files in git. A study states in `StudyResult.expected`
what its result must therefore hold; the audit reports a seed or a choice of hyperparameters that
no study states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pipeline.settings import Settings
from pipeline.studies.framework.plans import seed_for
from pipeline.tables.description import TableDescription


class Expectation(NamedTuple):
    """One value of a result, and what other files say it must be."""

    where: str
    found: Any
    expected: Any
    tolerance: float = 0.0
    """The relative difference that rounding makes."""


Expectations = Iterator[Expectation]


@dataclass(frozen=True)
class Basis:
    settings: Settings
    table: TableDescription
    inputs: Mapping[str, Any]
    """The results that the study reads, by the names of its declaration."""

    def seed(self, purpose: Literal["search", "train"], *parts: object) -> int:
        return seed_for(self.settings, purpose, self.table.dataset, *parts)
