"""adapt: every held-out task's parameters by MAP, the shared network frozen (Table 5)."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from learned_context import metrics
from pipeline.checked import Checked, Count, Error, Some, same_length
from pipeline.studies.framework.results import StudyResult
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.costs import Work
from pipeline.studies.plumbing.study import Study, Upstream, needs_context
from pipeline.tables.selection import GROUPS

if TYPE_CHECKING:
    from pipeline.models.held_out import Adapted, HeldOut
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.studies.holdout import HoldoutNetwork, HoldoutResult


SOLVER = 3e-4
"""Seconds of LIPO's solver for one point."""
ROUNDED = 1e-4
"""Errors of held-out tasks are kept with five digits."""


class AdaptedTasks(Checked):
    """One estimator on one group: errors and objectives in the order of the group's tasks."""

    rmse: Error
    task_rmse: list[float | None]
    """None for a task without test rows."""
    objective: Some

    @model_validator(mode="after")
    def _one_each(self) -> AdaptedTasks:
        same_length(self.task_rmse, self.objective)
        return self


class AdaptFit(Checked):
    group: Count
    task_dim: Annotated[int, Field(ge=1)]
    share: Error
    rows: Count
    gauss_newton: AdaptedTasks
    lipo: AdaptedTasks | None = None

    @model_validator(mode="after")
    def _same_tasks(self) -> AdaptFit:
        if self.lipo:
            same_length(self.lipo.objective, self.gauss_newton.objective)
        return self


class AdaptResult(StudyResult):
    settings: dict[str, Any]
    """The profile's section `holdout`."""
    groups: list[list[str]]
    fits: list[AdaptFit]

    def expected(self, basis: Basis) -> Expectations:
        holdout = basis.settings.profile.holdout
        yield Expectation("settings", self.settings, holdout.model_dump(mode="json"))
        names = sorted(name for group in self.groups for name in group)
        yield Expectation("groups", names, sorted(basis.table.tasks))
        planned = list(product(range(GROUPS), holdout.dimensions, holdout.shares))
        found = [(fit.group, fit.task_dim, fit.share) for fit in self.fits]
        yield Expectation("fits: group, dimension, share", found, planned)
        by_lipo = [fit.share in holdout.lipo.shares for fit in self.fits]
        yield Expectation("fits: lipo", [fit.lipo is not None for fit in self.fits], by_lipo)
        for number, fit in enumerate(self.fits):
            for method in ("gauss_newton", "lipo"):
                tasks: AdaptedTasks | None = getattr(fit, method)
                if tasks is None:
                    continue
                errors = zip(self.groups[fit.group], tasks.task_rmse, strict=True)
                total = basis.table.error_over_all({k: v for k, v in errors if v is not None})
                yield Expectation(f"fits.{number}.{method}.rmse", tasks.rmse, total, ROUNDED)
        for network in basis.inputs["holdout"].networks:
            left_out = {n for n in self.groups[network.group] if n in basis.table.test_rows}
            others = set(basis.table.test_rows) - left_out
            yield Expectation("groups", sorted(network.task_rmse), sorted(others))


def compute(experiment: Experiment, holdout: HoldoutResult) -> AdaptResult:
    section = experiment.settings.profile.holdout
    groups = [_tasks(experiment, group) for group in range(GROUPS)]
    fits = []
    for network in holdout.networks:
        held_out = _open(experiment, network, groups)
        dimension = network.hyperparameters.task_dim
        for share in section.shares:
            adapt = partial(_adapt, experiment, held_out, network.group, dimension, share)
            name = f"{network.group}-{dimension}-{share}"
            fits.append(experiment.checkpoint.part(name, AdaptFit, adapt))
    return AdaptResult(
        **experiment.head,
        settings=section.model_dump(mode="json"),
        groups=[[experiment.tasks[number] for number in numbers] for numbers in groups],
        fits=fits,
    )


def _tasks(experiment: Experiment, group: int) -> np.ndarray:
    rows = experiment.prepared.group_rows(group, held_out=True, part="train")
    return np.unique(experiment.rows.task[rows])


def _open(experiment: Experiment, network: HoldoutNetwork, groups: list[np.ndarray]) -> HeldOut:
    from pipeline.models.held_out import HeldOut

    group = network.group
    trained = experiment.upstream_network(f"{group}-{network.hyperparameters.task_dim}")
    base = np.concatenate([tasks for number, tasks in enumerate(groups) if number != group])
    # s^2 is the base group's test error variance; the network works in standardised units.
    noise = (network.rmse / trained.scaler.y_std) ** 2
    return HeldOut(trained, base, groups[group], noise)


def _adapt(
    experiment: Experiment, held_out: HeldOut, group: int, dimension: int, share: float
) -> AdaptFit:
    """Both estimators on the same rows of the same tasks."""
    from learned_context.new_tasks.gauss_newton import Effort

    section, prepared = experiment.settings.profile.holdout, experiment.prepared
    rows = experiment.rows.take(
        prepared.group_rows(group, held_out=True, part="train", share=share)
    )
    test = experiment.rows.take(prepared.group_rows(group, held_out=True, part="test"))
    seed = experiment.seed("train", "adapt", group, dimension, share)
    effort = Effort(**section.gauss_newton.model_dump(), seed=seed)
    lipo = None
    if share in section.lipo.shares:
        lipo = _summary(held_out.by_lipo(rows, test, section.lipo.evaluations, seed))
    return AdaptFit(
        group=group,
        task_dim=dimension,
        share=share,
        rows=len(rows),
        gauss_newton=_summary(held_out.by_gauss_newton(rows, test, effort)),
        lipo=lipo,
    )


def _summary(adapted: Adapted) -> AdaptedTasks:
    return AdaptedTasks(
        rmse=adapted.rmse,
        task_rmse=[
            metrics.significant(error, 5) if np.isfinite(error) else None
            for error in adapted.task_rmse
        ],
        objective=[metrics.significant(value, 6) for value in adapted.objective],
    )


def cost(work: Work) -> float:
    """Every task is held out once for each number of task parameters and each share."""
    section = work.settings.profile.holdout
    newton, lipo = section.gauss_newton, section.lipo
    seconds = 0.0
    for share in section.shares:
        seconds += work.passes(work.tasks * 2 * newton.candidates * newton.rows)
        seconds += 2 * work.passes(work.rows * share * newton.starts * newton.steps)
    for share in lipo.shares:
        asked = lipo.evaluations * work.tasks
        seconds += work.passes(work.rows * share * lipo.evaluations) + asked * SOLVER
    return len(section.dimensions) * seconds


STUDY = Study(
    name="adapt",
    title="estimate the parameters of the held-out tasks",
    result=AdaptResult,
    compute=compute,
    cost=cost,
    why_not=needs_context,
    inputs={"holdout": Upstream("holdout", networks=True)},
    params=("categories", "seeds.train"),
    profile=("holdout", "train.device"),
)
