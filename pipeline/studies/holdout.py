"""holdout: networks trained on two of three task groups, with 2, 4, 8 task parameters."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, ClassVar

from pipeline.checked import Count
from pipeline.settings import SETTINGS_FROM
from pipeline.studies.dimension import side_by_side
from pipeline.studies.framework.results import StudyResult, TrainingOutcome
from pipeline.studies.plumbing.basis import Basis, Expectation, Expectations
from pipeline.studies.plumbing.costs import Work
from pipeline.studies.plumbing.study import Study, Upstream, needs_context
from pipeline.tables.selection import GROUPS

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.studies.sizes import SizesResult


class HoldoutNetwork(TrainingOutcome):
    """A network that has not seen the tasks of `group`; its errors are those of the others."""

    of_all_tasks: ClassVar[bool] = False
    group: Count
    rows: Count


class HoldoutResult(StudyResult):
    networks: list[HoldoutNetwork]

    def expected(self, basis: Basis) -> Expectations:
        planned = list(product(range(GROUPS), basis.settings.profile.holdout.dimensions))
        found = [(one.group, one.hyperparameters.task_dim) for one in self.networks]
        yield Expectation("networks: group, dimension", found, planned)
        best = basis.inputs["sizes"].fractions[str(SETTINGS_FROM)].search.best
        tested = set(basis.table.test_rows)
        left_out = {one.group: tested - one.task_rmse.keys() for one in self.networks}
        for number, one in enumerate(self.networks):
            where, size = f"networks.{number}", one.hyperparameters.task_dim
            seed = basis.seed("train", self.model, "holdout", one.group, size)
            yield Expectation(f"{where}.seed", one.seed, seed)
            settings = best.model_copy(update={"task_dim": size})
            yield Expectation(f"{where}.hyperparameters", one.hyperparameters, settings)
            others = sorted(tested - left_out[one.group])
            yield Expectation(f"{where}.task_rmse", sorted(one.task_rmse), others)
        # Every task is left out by the networks of one group, and of that group alone.
        names = sorted(name for group in left_out.values() for name in group)
        yield Expectation("networks: tasks left out", names, sorted(tested))


def compute(experiment: Experiment, sizes: SizesResult) -> HoldoutResult:
    prepared, model = experiment.prepared, experiment.model
    # Appendix C: copied from the study with 50% of the training rows.
    best = sizes.fractions[str(SETTINGS_FROM)].search.best
    networks = []
    for group in range(GROUPS):
        rows = prepared.group_rows(group, held_out=False, part="train")
        test = prepared.group_rows(group, held_out=False, part="test")
        planned = {
            f"{group}-{dimension}": (
                best.model_copy(update={"task_dim": dimension}),
                experiment.seed("train", model, "holdout", group, dimension),
            )
            for dimension in experiment.settings.profile.holdout.dimensions
        }
        trained = side_by_side(experiment, rows, planned)
        for name, (settings, seed) in planned.items():
            outcome = experiment.train(
                name,
                rows,
                test,
                settings,
                seed,
                f"without group {group}, {settings.task_dim} task parameters",
                TrainingOutcome,
                trained=trained.get(name),
            )
            networks.append(HoldoutNetwork(group=group, rows=len(rows), **dict(outcome)))
    return HoldoutResult(**experiment.head, networks=networks)


def cost(work: Work) -> float:
    networks = GROUPS * len(work.settings.profile.holdout.dimensions)
    return networks * work.training((GROUPS - 1) / GROUPS)


STUDY = Study(
    name="holdout",
    title="train without one group of tasks",
    result=HoldoutResult,
    compute=compute,
    cost=cost,
    why_not=needs_context,
    networks="several",
    inputs={"sizes": Upstream("sizes")},
    params=("categories", "network", "schedule", "seeds.train"),
    profile=("train", "holdout.dimensions"),
)
