"""The paper's sentences as checks: put to our numbers, and to the paper's own tables.

A sentence is judged on the datasets that are comparable, ours and the paper's numbers alike, and a
second time on all ten. One about "all" or "most" datasets needs at least half of the paper's ten;
one about a named dataset needs that dataset. Where the paper shows a figure and prints no number,
its word is taken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pipeline.reporting.labels import dataset_label
from pipeline.reporting.numbers import Numbers

Ruling = Literal["holds", "does not hold", "cannot be judged"]
Outcome = Literal[
    "holds in both", "only in the paper", "only here", "in neither", "cannot be judged"
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
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


def sentence(
    section: str, quote: str, criterion: str
) -> Callable[[Callable[[Numbers], Finding]], Sentence]:
    """Makes a sentence of the function that judges it, with the function's name."""
    return lambda judge: Sentence(judge.__name__, section, quote, criterion, judge)


@dataclass(frozen=True)
class Comparison:
    """A sentence on some of the datasets: our numbers and those that the paper prints."""

    ours: Finding
    paper: Finding

    @property
    def outcome(self) -> Outcome:
        if self.ours.ruling == "cannot be judged":
            return "cannot be judged"
        here, there = self.ours.ruling == "holds", self.paper.ruling != "does not hold"
        if here:
            return "holds in both" if there else "only here"
        return "only in the paper" if there else "in neither"


@dataclass(frozen=True)
class Judged:
    sentence: Sentence
    comparable: Comparison
    every: Comparison
    """On all datasets, whatever their edition."""

    @property
    def ours(self) -> Finding:
        return self.comparable.ours

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.sentence.name,
            "section": self.sentence.section,
            "quote": self.sentence.quote,
            "criterion": self.sentence.criterion,
            **_as_json(self.comparable),
            "all_datasets": _as_json(self.every),
        }


def _as_json(compared: Comparison) -> dict[str, Any]:
    return {
        "outcome": compared.outcome,
        "verdict": compared.ours.ruling,
        "evidence": compared.ours.evidence,
        "paper_verdict": compared.paper.ruling,
        "paper_evidence": compared.paper.evidence,
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


def judge_all(
    sentences: tuple[Sentence, ...], ours: Numbers, paper: Numbers, comparable: Container[str]
) -> list[Judged]:
    ours_comparable, paper_comparable = ours.of_paper(comparable), paper.of_paper(comparable)
    return [
        Judged(
            sentence,
            Comparison(sentence.judge(ours_comparable), sentence.judge(paper_comparable)),
            Comparison(sentence.judge(ours), sentence.judge(paper)),
        )
        for sentence in sentences
    ]


def outcome_counts(judged: Iterable[Judged], every: bool = False) -> dict[Outcome, int]:
    """How often each outcome was found, each sentence counted once."""
    found = [(one.every if every else one.comparable).outcome for one in judged]
    return {name: found.count(name) for name in OUTCOMES}


def names(datasets: Iterable[str]) -> str:
    return ", ".join(map(dataset_label, datasets)) or "none"
