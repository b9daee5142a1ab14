"""linear: linear regression and the linear mixed-effect model (Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pipeline.studies.framework.results import PartRows, Scored, StudyResult
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.study import Study

if TYPE_CHECKING:
    from learned_context.rows import Rows
    from pipeline.models.linear import Linear
    from pipeline.studies.framework.experiment import Experiment


class LinearOutcome(Scored):
    converged: bool


class LinearResult(StudyResult):
    rows: PartRows
    lr: LinearOutcome
    lme: LinearOutcome

    def expected(self, basis: Basis) -> Expectations:
        yield Expectation("rows.train", self.rows.train, basis.table.rows.train)


def compute(experiment: Experiment) -> LinearResult:
    from pipeline.models.linear import fit_regression

    prepared = experiment.prepared
    rows = prepared.encode(prepared.frame, "onehot")  # the paper says so for linear models
    train, test = rows.take(prepared.train_rows()), rows.take(prepared.test_rows())

    def fitted(fit: Callable[[Rows, int], Linear]) -> LinearOutcome:
        model = fit(train, len(experiment.tasks))
        scores = experiment.scores(test, model.predict(test))
        return LinearOutcome(**scores, converged=model.converged)

    return LinearResult(
        **experiment.head,
        fraction=1.0,
        rows=PartRows(train=len(train), test=len(test)),
        lr=fitted(fit_regression),
        lme=fitted(_mixed),
    )


def _mixed(rows: Rows, tasks: int) -> Linear:
    """Where the features say the task, nothing is left for its intercept: plain regression."""
    from pipeline.models.linear import fit_mixed, fit_regression

    try:
        return fit_mixed(rows, tasks)
    except np.linalg.LinAlgError:  # a variance of zero between the tasks
        return replace(fit_regression(rows, tasks), converged=False)


STUDY = Study(
    name="linear",
    title="linear regression and the linear mixed model",
    result=LinearResult,
    compute=compute,
    cost=lambda work: 3e-4 * work.rows,
    base=True,
    by_model=False,
)
