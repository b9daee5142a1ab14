"""The paper check: inputs, results and sentences, each counted apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pipeline.reporting import verdicts
from pipeline.reporting.claims import SENTENCES
from pipeline.reporting.labels import DATASETS
from pipeline.reporting.numbers import Numbers, from_paper, from_results
from pipeline.reporting.results import Results
from pipeline.reporting.sentences import Judged, judge_all, outcome_counts


@dataclass(frozen=True)
class Check:
    profile: str
    numbers: list[verdicts.Compared]
    rankings: list[verdicts.Ranking]
    sentences: list[Judged]

    @property
    def results(self) -> dict[verdicts.Verdict, int]:
        return verdicts.counts(self.numbers)

    @property
    def judged(self) -> int:
        """Results that can be compared with the paper's."""
        return sum(self.results[name] for name in verdicts.JUDGED)

    @property
    def agreeing(self) -> int:
        return self.results["matches"] + self.results["better"]

    @property
    def unexplained(self) -> list[verdicts.Compared]:
        return [compared for compared in self.numbers if compared.unexplained]

    @property
    def explained(self) -> dict[str, int]:
        """The numbers that need an explanation, by what the notes say of them."""
        open_ones = [compared for compared in self.numbers if compared.is_open]
        in_part = sum(one.in_part for one in open_ones)
        unexplained = len(self.unexplained)
        in_full = len(open_ones) - in_part - unexplained
        return {"explained": in_full, "explained in part": in_part, "unexplained": unexplained}

    @property
    def pairs(self) -> dict[str, int]:
        """Of two networks that Table 3 separates on a comparable dataset."""
        in_paper = sum(len(one.paper) for one in self.rankings)
        same = sum(len(one.kept) for one in self.rankings)
        reverse = sum(len(one.reversed) for one in self.rankings)
        return {"same": same, "not separated": in_paper - same - reverse, "reversed": reverse}

    def as_json(self) -> dict[str, Any]:
        return {
            "profile": self.profile,
            "results": self.results,
            "inputs": verdicts.counts(self.numbers, "input"),
            **self.explained,
            "pairs_of_table_3": self.pairs,
            "sentences": outcome_counts(self.sentences),
            "sentences_on_all_datasets": outcome_counts(self.sentences, every=True),
            "numbers": [asdict(compared) for compared in self.numbers],
            "ranking_of_each": [asdict(ranking) for ranking in self.rankings],
            "sentence_of_each": [judged.as_json() for judged in self.sentences],
        }


def check(results: Results, numbers: Numbers | None = None) -> Check:
    ours = numbers or from_results(results)
    comparable = [d for d in results.datasets if d in DATASETS and results.comparable(d)]
    return Check(
        results.settings.params.profile,
        verdicts.compare_all(results, ours),
        verdicts.rankings(results, ours),
        judge_all(SENTENCES, ours.of_paper(DATASETS), from_paper(results.paper), comparable),
    )
