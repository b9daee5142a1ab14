"""dimension: networks with 1, 2, 4, 8, 16 task parameters, all else from the base study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from pydantic import model_validator

from learned_context import metrics
from pipeline.checked import ByTask
from pipeline.studies.framework.results import (
    ChosenSettings,
    Dimension,
    StudyResult,
    TrainingOutcome,
)
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study, Upstream, needs_task_parameters

if TYPE_CHECKING:
    from learned_context.training.trainer import Trained
    from pipeline.studies.framework.experiment import Experiment, TestedTraining
    from pipeline.studies.tune import TuneResult


MOST_DRAWN = 2
"""The paper draws one or two task parameters."""


class DimensionOutcome(TrainingOutcome):
    task_parameters: ByTask | None = None
    """Of the networks that are drawn."""


class DimensionResult(StudyResult):
    dimensions: dict[Dimension, DimensionOutcome]

    @model_validator(mode="after")
    def _as_many_as_said(self) -> DimensionResult:
        for dimension, outcome in self.dimensions.items():
            parameters = (outcome.task_parameters or {}).values()
            if any(len(values) != int(dimension) for values in parameters):
                raise ValueError(f"dimensions.{dimension}: a task has more or fewer parameters")
        return self

    def expected(self, basis: Basis) -> Expectations:
        sizes = [str(size) for size in basis.settings.profile.dimensions]
        yield Expectation("dimensions", list(self.dimensions), sizes)
        for size, part in self.dimensions.items():
            where, tuned = f"dimensions.{size}", basis.inputs["tuned"].best
            seed = basis.seed("train", self.model, "dimension", int(size))
            yield Expectation(f"{where}.seed", part.seed, seed)
            settings = tuned.model_copy(update={"task_dim": int(size)})
            yield Expectation(f"{where}.hyperparameters", part.hyperparameters, settings)


def side_by_side(
    experiment: Experiment, rows: np.ndarray, planned: Mapping[str, tuple[ChosenSettings, int]]
) -> dict[str, Trained]:
    """On a GPU, the networks that the checkpoint has not yet, by name: settings and seed of each.

    One small network leaves a GPU idle. A CPU core gains nothing, and trains one after the other.
    """
    from learned_context.side_by_side import train_dimensions
    from learned_context.training.plan import Hyperparameters

    missing = {name: one for name, one in planned.items() if not experiment.checkpoint.has(name)}
    if not missing or experiment.device.type == "cpu":
        return {}
    label = f"{experiment.dataset} {experiment.model} {len(missing)} trainings side by side"
    trained = train_dimensions(
        experiment.rows.take(rows),
        len(experiment.tasks),
        experiment.model,
        [Hyperparameters(**settings.model_dump()) for settings, _ in missing.values()],
        experiment.final_plan(len(rows)),
        [seed for _, seed in missing.values()],
        experiment.device,
        experiment.progress.training(label),
    )
    return dict(zip(missing, trained, strict=True))


def compute(experiment: Experiment, tuned: TuneResult) -> DimensionResult:
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()

    def task_parameters(training: TestedTraining) -> dict[str, list[float]] | None:
        beta = training.trained.network.views["beta"].cpu().tolist()
        if len(beta[0]) > MOST_DRAWN:
            return None
        return {
            task: [metrics.significant(value) for value in values]
            for task, values in zip(experiment.tasks, beta, strict=True)
        }

    planned = {
        str(dimension): (
            tuned.best.model_copy(update={"task_dim": dimension}),
            experiment.seed("train", experiment.model, "dimension", dimension),
        )
        for dimension in experiment.settings.profile.dimensions
    }
    trained = side_by_side(experiment, rows, planned)
    found = {
        name: experiment.train(
            name,
            rows,
            test,
            settings,
            seed,
            f"with {name} task parameters",
            DimensionOutcome,
            trained=trained.get(name),
            task_parameters=task_parameters,
        )
        for name, (settings, seed) in planned.items()
    }
    return DimensionResult(**experiment.head, fraction=1.0, dimensions=found)


STUDY = Study(
    name="dimension",
    title="train with more and fewer task parameters",
    result=DimensionResult,
    compute=compute,
    cost=lambda work: len(work.settings.profile.dimensions) * work.training(),
    why_not=needs_task_parameters,
    networks="several",
    inputs={"tuned": Upstream("tune")},
    params=("categories", "network", "schedule", "seeds.train"),
    profile=("train", "dimensions"),
)
