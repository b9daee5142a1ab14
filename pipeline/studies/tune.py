"""tune: choose a network's hyperparameters by LIPO, on the validation part (Appendix C)."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from pipeline.checked import Checked, Count
from pipeline.studies.framework import plans
from pipeline.studies.framework.results import ROUNDED, ChosenSettings, Plan, StudyResult
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study

if TYPE_CHECKING:
    from learned_context.search.log import Evaluation
    from pipeline.studies.framework.experiment import Experiment


class SearchRows(Checked):
    fit: Count
    validation: Count


class SearchRange(Checked):
    """One dimension of the box that LIPO searched (Table 6)."""

    name: str
    low: int | float
    high: int | float
    logarithmic: bool
    integer: bool


class SearchTrial(Checked):
    settings: ChosenSettings
    score: float
    restarts: Count
    diverged: bool


class SearchRecord(Checked):
    """One search: every trial in order, and the settings that it chose."""

    seed: Count
    rows: SearchRows
    plan: Plan
    space: list[SearchRange]
    best: ChosenSettings
    """Those of the best finalist, or trial if there are no finals, at the rate that held."""
    score: float
    evaluations: Annotated[list[SearchTrial], Field(min_length=1)]
    final_plan: Plan | None = None
    """Of the finalists and of the final training; a search without finals has neither."""
    finalists: list[SearchTrial] | None = None
    """The best trials again, in full."""
    lowered: Count | None = None
    """How often the best finalist's rate was lowered until openings in a row held."""

    @model_validator(mode="after")
    def _chose_the_best(self) -> SearchRecord:
        best = min(self.finalists or self.evaluations, key=lambda trial: trial.score)
        plan = self.final_plan or self.plan
        steps = best.restarts + (self.lowered or 0)
        rate = best.settings.peak_rate * float(plan.get("retry_rate", math.nan)) ** steps
        settings = best.settings.model_copy(update={"peak_rate": self.best.peak_rate})
        same_rate = math.isclose(self.best.peak_rate, rate, rel_tol=ROUNDED)
        if not (same_rate and self.best == settings and self.score == best.score):
            raise ValueError("best: has not the lowest score, or not the rate that held")
        return self


class TuneResult(StudyResult, SearchRecord):
    def expected(self, basis: Basis) -> Expectations:
        yield Expectation("seed", self.seed, basis.seed("search", self.model, 1.0))
        rows = self.rows.fit + self.rows.validation
        yield Expectation("rows", rows, basis.table.rows.train)


def compute(experiment: Experiment) -> TuneResult:
    return TuneResult(**experiment.head, fraction=1.0, **dict(search(experiment, 1.0)))


def search(experiment: Experiment, fraction: float) -> SearchRecord:
    """Search on a fraction of the training rows; every evaluation is kept as it comes."""
    from learned_context.search import lipo
    from learned_context.search.finals import finals, lowered
    from learned_context.search.log import Log
    from learned_context.search.space import table_6
    from learned_context.search.tuning import settled, trial
    from learned_context.training.plan import Hyperparameters

    settings, model = experiment.settings, experiment.model
    fit, validation = experiment.prepared.search_rows(fraction, settings.params.validation)
    seed, plan = experiment.seed("search", model, fraction), experiment.search_plan(len(fit))
    space = {**dict(settings.params.space), "width": plans.width_range(settings)}
    box = table_6(model, len(experiment.tasks), **space)
    rows = experiment.rows.take(fit), experiment.rows.take(validation)
    label = f"{experiment.dataset} {model} search on {fraction:.0%}"
    report = experiment.progress.training(label)
    tasks, device, budget = len(experiment.tasks), experiment.device, settings.profile.search
    evaluate = trial(*rows, tasks, model, plan, seed, device, report)
    log = Log(experiment.checkpoint.log(f"search-{fraction}"))
    evaluations = lipo.search(box, evaluate, budget.evaluations, seed, log)
    in_full = experiment.final_plan(len(fit) + len(validation))
    evaluate = trial(*rows, tasks, model, in_full, seed, device, report)
    log = Log(experiment.checkpoint.log(f"finals-{fraction}"))
    finalists = finals(evaluations, budget.finalists, plan, evaluate, log)
    best = lipo.best(finalists or evaluations)
    steps = None
    if finalists:
        training = (rows[0], tasks, model, Hyperparameters(**settled(best, in_full)), in_full)
        steps = lowered(*training, budget.openings, seed, device, report)
    return SearchRecord(
        seed=seed,
        rows=SearchRows(fit=len(fit), validation=len(validation)),
        plan=asdict(plan),
        space=[SearchRange(**asdict(dimension)) for dimension in box.dimensions],
        best=ChosenSettings(**settled(best, in_full, steps or 0)),
        score=best.score,
        evaluations=[_recorded(one) for one in evaluations],
        final_plan=asdict(in_full) if finalists else None,
        finalists=[_recorded(one) for one in finalists] or None,
        lowered=steps,
    )


def _recorded(evaluation: Evaluation) -> SearchTrial:
    return SearchTrial(
        settings=ChosenSettings.model_validate(evaluation.settings),
        score=evaluation.score,
        restarts=evaluation.restarts,
        diverged=evaluation.diverged,
    )


STUDY = Study(
    name="tune",
    title="search a network's hyperparameters",
    result=TuneResult,
    compute=compute,
    cost=lambda work: work.search(),
    base=True,
    params=("categories", "network", "schedule", "seeds.search", "space", "validation"),
    profile=("search", "train"),
)
