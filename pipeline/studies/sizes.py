"""sizes: tuned and trained again on a fraction of every task's training rows (Table 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.studies.framework.results import PartRows, Plan, Share, StudyResult, TrainingOutcome
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.costs import Work
from pipeline.studies.plumbing.study import Study
from pipeline.studies.tune import SearchRecord, search

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment


class SizeOutcome(TrainingOutcome):
    rows: PartRows
    plan: Plan
    search: SearchRecord


class SizesResult(StudyResult):
    fractions: dict[Share, SizeOutcome]

    def expected(self, basis: Basis) -> Expectations:
        fractions = [str(share) for share in basis.settings.params.fractions]
        yield Expectation("fractions", list(self.fractions), fractions)
        for share, part in self.fractions.items():
            where, search, share_ = f"fractions.{share}", part.search, float(share)
            yield Expectation(
                f"{where}.seed", part.seed, basis.seed("train", self.model, share_, 0)
            )
            seed = basis.seed("search", self.model, share_)
            yield Expectation(f"{where}.search.seed", search.seed, seed)
            yield Expectation(f"{where}.hyperparameters", part.hyperparameters, search.best)
            rows = search.rows.fit + search.rows.validation
            yield Expectation(f"{where}.search.rows", rows, part.rows.train)


def compute(experiment: Experiment) -> SizesResult:
    prepared, test = experiment.prepared, experiment.prepared.test_rows()
    found: dict[str, SizeOutcome] = {}
    for fraction in experiment.settings.params.fractions:
        rows = prepared.train_rows(fraction)
        tuned = search(experiment, fraction)
        outcome = experiment.train(
            f"train-{fraction}",
            rows,
            test,
            tuned.best,
            experiment.seed("train", experiment.model, fraction, 0),
            f"on {fraction:.0%}",
            TrainingOutcome,
        )
        described = experiment.described(rows, test)
        found[str(fraction)] = SizeOutcome(**described, **dict(outcome), search=tuned)
    return SizesResult(**experiment.head, fractions=found)


def cost(work: Work) -> float:
    shares = work.settings.params.fractions
    return sum(work.search(share) + work.training(share) for share in shares)


STUDY = Study(
    name="sizes",
    title="tune and train a network on fewer rows",
    result=SizesResult,
    compute=compute,
    cost=cost,
    params=(
        "categories",
        "fractions",
        "network",
        "schedule",
        "seeds.search",
        "seeds.train",
        "space",
        "validation",
    ),
    profile=("train", "search"),
)
