"""The paper check: every number and every sentence, as one JSON-like object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.reporting.claims import SENTENCES
from pipeline.reporting.labels import DATASETS
from pipeline.reporting.numbers import Numbers, from_paper, from_results
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Judged, judge_all
from pipeline.reporting.verdicts import Compared, compare_all, counts


@dataclass(frozen=True)
class Check:
    profile: str
    numbers: list[Compared]
    sentences: list[Judged]

    @property
    def unexplained(self) -> list[Compared]:
        return [compared for compared in self.numbers if compared.unexplained]

    def as_json(self) -> dict[str, Any]:
        rulings = [judged.ours.ruling for judged in self.sentences]
        return {
            "profile": self.profile,
            "counts": counts(self.numbers),
            "unexplained": len(self.unexplained),
            "sentence_counts": {
                name: rulings.count(name) for name in ("holds", "does not hold", "cannot be judged")
            },
            "numbers": [compared.as_json() for compared in self.numbers],
            "sentences": [judged.as_json() for judged in self.sentences],
        }


def check(results: Results, numbers: Numbers | None = None) -> Check:
    ours = numbers or from_results(results)
    return Check(
        results.settings.params.profile,
        compare_all(results, ours),
        judge_all(SENTENCES, ours.of(DATASETS), from_paper(results.paper)),
    )
