"""train: the final network of the base study, on all training rows (Table 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field, model_validator

from learned_context import metrics
from pipeline.checked import Checked, Count, Floats, same_length
from pipeline.studies.framework.results import PartRows, Plan, StudyResult, TrainingOutcome
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study, Upstream

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment, TestedTraining
    from pipeline.studies.tune import TuneResult


class TrainingCurve(Checked):
    epoch: list[int]
    loss: Floats
    rate: Floats

    @model_validator(mode="after")
    def _one_length(self) -> TrainingCurve:
        same_length(self.epoch, self.loss, self.rate)
        return self


class SquareHistogram(Checked):
    """Observed against predicted values of the test rows: [column, row, count]."""

    low: float
    high: float
    bins: Annotated[int, Field(ge=1, le=1000)]
    cells: list[Annotated[list[Count], Field(min_length=3, max_length=3)]]

    @model_validator(mode="after")
    def _inside(self) -> SquareHistogram:
        if not self.low < self.high:
            raise ValueError("low is not below high")
        if any(max(i, j) >= self.bins or not count for i, j, count in self.cells):
            raise ValueError("cells: one is outside the bins or empty")
        return self


class TrainedOutcome(TrainingOutcome):
    curve: TrainingCurve
    observed_predicted: SquareHistogram


class TrainResult(StudyResult, TrainedOutcome):
    rows: PartRows
    plan: Plan

    def expected(self, basis: Basis) -> Expectations:
        yield Expectation("seed", self.seed, basis.seed("train", self.model, 1.0, 0))
        yield Expectation("hyperparameters", self.hyperparameters, basis.inputs["tuned"].best)
        yield Expectation("rows.train", self.rows.train, basis.table.rows.train)


def compute(experiment: Experiment, tuned: TuneResult) -> TrainResult:
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()
    outcome = experiment.train(
        "network",
        rows,
        test,
        tuned.best,
        experiment.seed("train", experiment.model, 1.0, 0),
        "",
        TrainedOutcome,
        curve=_curve,
        observed_predicted=_histogram,
    )
    described = experiment.described(rows, test)
    return TrainResult(**experiment.head, fraction=1.0, **described, **dict(outcome))


def _curve(training: TestedTraining, points: int = 100) -> TrainingCurve:
    """The loss and the rate over the epochs, thinned to what a figure can show."""
    trained = training.trained
    last = len(trained.losses) - 1
    epochs = sorted({round(step) for step in np.linspace(0, last, min(points, last + 1))})
    return TrainingCurve(
        epoch=[epoch + 1 for epoch in epochs],
        loss=[metrics.significant(trained.losses[epoch], 5) for epoch in epochs],
        rate=[metrics.significant(trained.rates[epoch], 5) for epoch in epochs],
    )


def _histogram(training: TestedTraining) -> SquareHistogram:
    return SquareHistogram(**metrics.histogram(training.observed.y, training.predicted))


STUDY = Study(
    name="train",
    title="train a network with the tuned hyperparameters",
    result=TrainResult,
    compute=compute,
    cost=lambda work: work.training(),
    networks="one",
    base=True,
    inputs={"tuned": Upstream("tune")},
    params=("categories", "network", "schedule", "seeds.train"),
    profile=("train",),
)
