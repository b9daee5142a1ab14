"""repeats: the tuned network trained again with other seeds (Table 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from pipeline.checked import Checked, Count, Error
from pipeline.studies.framework.results import StudyResult
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study, Upstream

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.studies.train import TrainResult
    from pipeline.studies.tune import TuneResult


class RepeatedTraining(Checked):
    seed: Count
    rmse: Error
    restarts: Count
    epochs: Count
    peak_rate: float


class RepeatsResult(StudyResult):
    min: Error
    max: Error
    diverged: Count
    """Restarts of all trainings together."""
    trainings: Annotated[list[RepeatedTraining], Field(min_length=1)]
    """The first is the base study's."""

    @model_validator(mode="after")
    def _summed_up(self) -> RepeatsResult:
        errors = [training.rmse for training in self.trainings]
        restarts = sum(training.restarts for training in self.trainings)
        if (self.min, self.max, self.diverged) != (min(errors), max(errors), restarts):
            raise ValueError("min, max, diverged: are not those of the trainings")
        return self

    def expected(self, basis: Basis) -> Expectations:
        yield Expectation("trainings", len(self.trainings), basis.settings.profile.repeats)
        yield Expectation("trainings.0.rmse", self.trainings[0].rmse, basis.inputs["base"].rmse)
        for number, training in enumerate(self.trainings):
            seed = basis.seed("train", self.model, 1.0, number)
            yield Expectation(f"trainings.{number}.seed", training.seed, seed)


def compute(experiment: Experiment, tuned: TuneResult, base: TrainResult) -> RepeatsResult:
    count, model = experiment.settings.profile.repeats, experiment.model
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()
    seeds = {str(n): experiment.seed("train", model, 1.0, n) for n in range(1, count)}
    outcomes = [base, *experiment.train_again(seeds, rows, test, tuned.best)]
    fields = RepeatedTraining.model_fields
    trainings = [
        RepeatedTraining(**{name: getattr(outcome, name) for name in fields})
        for outcome in outcomes
    ]
    return RepeatsResult(
        **experiment.head,
        fraction=1.0,
        min=min(training.rmse for training in trainings),
        max=max(training.rmse for training in trainings),
        diverged=sum(training.restarts for training in trainings),
        trainings=trainings,
    )


STUDY = Study(
    name="repeats",
    title="train a tuned network with other seeds",
    result=RepeatsResult,
    compute=compute,
    cost=lambda work: (work.settings.profile.repeats - 1) * work.training(),
    inputs={"tuned": Upstream("tune"), "base": Upstream("train")},
    params=("categories", "network", "schedule", "seeds.train"),
    profile=("train", "repeats"),
)
