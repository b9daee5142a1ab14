"""clean: networks trained without the training rows that the test part holds.

On Sarcos the official test rows are among the training rows, so every published test error,
the paper's included, is measured on rows that were trained on. This study retrains with the
base study's settings on the other rows and tests on the same test rows. On a dataset without
such a leak it only says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from learned_context.errors import UserError
from pipeline.studies.framework.results import StudyResult, TrainingOutcome
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study, Upstream
from pipeline.tables.description import TableRows

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.studies.tune import TuneResult


class CleanResult(StudyResult):
    rows: TableRows
    models: dict[str, TrainingOutcome]

    def expected(self, basis: Basis) -> Expectations:
        params, rows = basis.settings.params, basis.table.rows
        kept = rows.model_copy(update={"train": rows.train - rows.leaked})
        yield Expectation("rows", self.rows, kept)
        leaks = rows.leaked / rows.test > params.leak_share
        yield Expectation("models", list(self.models), list(params.models) if leaks else [])
        for name, part in self.models.items():
            seed = basis.seed("train", name, "clean")
            yield Expectation(f"models.{name}.seed", part.seed, seed)
            best = basis.inputs["tuned"][name].best
            yield Expectation(f"models.{name}.hyperparameters", part.hyperparameters, best)


def compute(experiment: Experiment, tuned: Mapping[str, TuneResult]) -> CleanResult:
    prepared, params = experiment.prepared, experiment.settings.params
    rows, test = prepared.train_rows(), prepared.test_rows()
    clean = rows[~prepared.frame["leaked"].to_numpy()[rows]]
    leaked = len(rows) - len(clean)
    if not len(clean):
        raise UserError(f"{experiment.dataset}: every training row is also a test row")
    models = {}
    if leaked / len(test) > params.leak_share:
        for model, search in tuned.items():
            seed, label = experiment.seed("train", model, "clean"), "without the leaked rows"
            models[model] = experiment.train(
                model, clean, test, search.best, seed, label, TrainingOutcome, model
            )
    return CleanResult(
        **experiment.head,
        fraction=1.0,
        rows=TableRows(train=len(clean), leaked=leaked, test=len(test)),
        models=models,
    )


STUDY = Study(
    name="clean",
    title="train without the rows that the test part holds",
    result=CleanResult,
    compute=compute,
    cost=lambda work: 0.0,  # few datasets have a leak
    by_model=False,
    inputs={"tuned": Upstream("tune", every_model=True)},
    params=("categories", "leak_share", "network", "schedule", "seeds.train"),
    profile=("train",),
)
