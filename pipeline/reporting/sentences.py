"""The paper's sentences as checks: put to our numbers, and to the paper's own tables.

A sentence about "all" or "most" datasets is judged on those that have results, if they are at
least half of the paper's ten; one about a named dataset needs that dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.reporting.labels import dataset_label
from pipeline.reporting.numbers import Numbers

Ruling = Literal["holds", "does not hold", "cannot be judged"]
ENOUGH_DATASETS = 5


@dataclass(frozen=True)
class Finding:
    ruling: Ruling
    evidence: str


@dataclass(frozen=True)
class Sentence:
    name: str
    section: str
    quote: str
    criterion: str  # how the words are made a test
    judge: Callable[[Numbers], Finding]


@dataclass(frozen=True)
class Judged:
    sentence: Sentence
    ours: Finding
    paper: Finding

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.sentence.name,
            "section": self.sentence.section,
            "quote": self.sentence.quote,
            "criterion": self.sentence.criterion,
            "verdict": self.ours.ruling,
            "evidence": self.ours.evidence,
            "paper_verdict": self.paper.ruling,
            "paper_evidence": self.paper.evidence,
        }


def ruling(holds: bool, evidence: str) -> Finding:
    return Finding("holds" if holds else "does not hold", evidence)


def unknown(why: str) -> Finding:
    return Finding("cannot be judged", why)


def too_few(count: int, what: str) -> Finding | None:
    """The finding where too few datasets have what a sentence about many of them needs."""
    if count >= ENOUGH_DATASETS:
        return None
    return unknown(
        f"{count} of the paper's ten datasets have {what}; {ENOUGH_DATASETS} are needed."
    )


def judge_all(sentences: tuple[Sentence, ...], ours: Numbers, paper: Numbers) -> list[Judged]:
    return [Judged(s, s.judge(ours), s.judge(paper)) for s in sentences]


def names(datasets: Iterable[str]) -> str:
    return ", ".join(map(dataset_label, datasets)) or "none"
