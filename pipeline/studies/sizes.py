"""sizes: tuned and trained again on a fraction of every task's training rows (Table 4).

Where a fraction leaves a task few rows, half as many task parameters as the search chose, a quarter
and so on are tried as well, and the best number on held-out rows is used.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from learned_context.networks.registry import architecture
from pipeline.settings import Settings
from pipeline.studies.framework.results import (
    ChosenSettings,
    PartRows,
    Plan,
    Share,
    StudyResult,
    TrainingOutcome,
)
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.costs import Work
from pipeline.studies.plumbing.study import Study
from pipeline.studies.tune import SearchRecord, SearchTrial, search

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment


class SizeOutcome(TrainingOutcome):
    rows: PartRows
    plan: Plan
    search: SearchRecord
    halvings: list[SearchTrial] | None = None
    """The search's settings and those with fewer task parameters; None if a task has many rows."""


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
            tasks = len(basis.table.tasks)
            halves = halves_dimension(basis.settings, self.model, part.rows.train, tasks)
            yield Expectation(f"{where}.halvings", part.halvings is not None, halves)
            if part.halvings:
                first = part.halvings[0].settings
                yield Expectation(f"{where}.halvings.0.settings", first, search.best)
                tried = [trial.settings.task_dim for trial in part.halvings]
                most = search.best.task_dim
                halved = [most // 2**step for step in range(most.bit_length())]
                yield Expectation(f"{where}.halvings: task_dim", tried, halved)
            settings = chosen(search, part.halvings)
            yield Expectation(f"{where}.hyperparameters", part.hyperparameters, settings)
            rows = search.rows.fit + search.rows.validation
            yield Expectation(f"{where}.search.rows", rows, part.rows.train)


def compute(experiment: Experiment) -> SizesResult:
    prepared, test = experiment.prepared, experiment.prepared.test_rows()
    found: dict[str, SizeOutcome] = {}
    for fraction in experiment.settings.params.fractions:
        rows = prepared.train_rows(fraction)
        tuned = search(experiment, fraction)
        tried = None
        if halves_dimension(experiment.settings, experiment.model, len(rows), len(prepared.tasks)):
            tried = halve(experiment, fraction, tuned)
        outcome = experiment.train(
            f"train-{fraction}",
            rows,
            test,
            chosen(tuned, tried),
            experiment.seed("train", experiment.model, fraction, 0),
            f"on {fraction:.0%}",
            TrainingOutcome,
        )
        described = experiment.described(rows, test)
        found[str(fraction)] = SizeOutcome(
            **described, **dict(outcome), search=tuned, halvings=tried
        )
    return SizesResult(**experiment.head, fractions=found)


def halves_dimension(settings: Settings, model: str | None, rows: float, tasks: float) -> bool:
    """Whether a task has so few rows that a search cannot tell how many parameters it needs."""
    adapts = architecture(model or "").has_task_parameters
    return adapts and rows < settings.profile.sizes.few_rows * tasks


def chosen(tuned: SearchRecord, tried: list[SearchTrial] | None) -> ChosenSettings:
    """The best of the halvings, or what the search chose."""
    return min(tried, key=lambda trial: trial.score).settings if tried else tuned.best


def fold_count(settings: Settings) -> int:
    """As large a part of the rows as a search holds out, so that each is held out once."""
    return max(2, round(1 / settings.params.validation))


def halve(experiment: Experiment, fraction: float, tuned: SearchRecord) -> list[SearchTrial]:
    """The search's settings with fewer and fewer task parameters, on all rows in turn."""
    from learned_context.halving import folds, halvings, mean_trial
    from learned_context.search.log import Log
    from learned_context.search.tuning import trial
    from learned_context.training.plan import Hyperparameters
    from pipeline.tables.selection import rank_in_task

    index = experiment.prepared.train_rows(fraction)
    rows, tasks = experiment.rows.take(index), len(experiment.tasks)
    order = experiment.prepared.frame["validation_order"].to_numpy()[index]
    label = f"{experiment.dataset} {experiment.model} with fewer task parameters"
    parts = [
        trial(
            rows.take(~held_out),
            rows.take(held_out),
            tasks,
            experiment.model,
            experiment.final_plan(len(index)),
            tuned.seed,
            experiment.device,
            experiment.progress.training(label),
        )
        for held_out in folds(
            rows.task, rank_in_task(rows.task, order), fold_count(experiment.settings)
        )
    ]
    evaluations = halvings(
        Hyperparameters(**tuned.best.model_dump()),
        lambda hyper: mean_trial([part(hyper) for part in parts]),
        Log(experiment.checkpoint.log(f"halvings-{fraction}")),
    )
    return [
        SearchTrial(
            settings=ChosenSettings.model_validate(one.settings),
            score=one.score,
            restarts=one.restarts,
            diverged=one.diverged,
        )
        for one in evaluations
    ]


def cost(work: Work) -> float:
    return sum(
        work.search(share) + work.training(share) * (1 + _held_out_trainings(work, share))
        for share in work.settings.params.fractions
    )


def _held_out_trainings(work: Work, share: float) -> int:
    """Of a number in the middle of the space: its halvings on every fold."""
    halves = halves_dimension(work.settings, "lc", work.rows * share, work.tasks)
    halvings = round(math.log2(sum(work.settings.params.space.task_dim) / 2)) + 1
    return halvings * fold_count(work.settings) if halves else 0


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
    profile=("train", "search", "sizes"),
)
