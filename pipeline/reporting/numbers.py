"""The numbers behind Tables 2 to 5 and the figures: ours, or the paper's, in one form.

The checks of the paper's sentences ask this form, and so can be put to both.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeVar

from pipeline.reporting.labels import LINEAR
from pipeline.reporting.paper import COLUMNS, COMPARED, Paper
from pipeline.reporting.results import R, Results
from pipeline.settings import Settings
from pipeline.studies import adapt, linear, train
from pipeline.studies import dimension as dimension_study
from pipeline.studies import repeats as repeats_study
from pipeline.studies import sizes as sizes_study
from pipeline.studies.framework.plans import width_range
from pipeline.studies.framework.results import Scored
from pipeline.studies.plumbing.study import Study
from pipeline.tables.description import TableDescription

ByModel = dict[str, dict[str, float]]  # dataset -> model -> value
ByDimension = dict[str, dict[str, dict[int, float]]]  # dataset -> model -> task parameters -> error
Holdout = dict[str, dict[str, dict[int, dict[float, float]]]]
"""estimator -> dataset -> task parameters -> share of the rows -> error"""
ALL = 1.0  # all training rows
WITH_DIMENSION = ("lc", "ll")
"""The paper's networks whose number of task parameters can be chosen: Figure 3."""
GOOD_ENOUGH = 1.2
"""Of a new task's error relative to LC's: "below a 20% error increase", Section 5.7."""
V = TypeVar("V")


@dataclass(frozen=True)
class RepeatsCell:
    """Table 3's cell: relative to LC's base error."""

    low: float
    high: float
    diverged: int


@dataclass
class Numbers:
    std: dict[str, float] = field(default_factory=dict)
    base: ByModel = field(default_factory=dict)
    repeats: dict[str, dict[str, RepeatsCell]] = field(default_factory=dict)
    sizes: dict[float, ByModel] = field(default_factory=dict)
    """share of the rows -> dataset -> model -> error relative to the standard deviation"""
    dimension: ByDimension = field(default_factory=dict)
    """relative to LC's base error, as is the next"""
    holdout: Holdout = field(default_factory=dict)

    def of_paper(self, datasets: Container[str]) -> Numbers:
        """Of these datasets and the paper's models alone: what its sentences are about."""

        def models(row: dict[str, Any]) -> dict[str, Any]:
            return {model: value for model, value in row.items() if model in COLUMNS["base"]}

        def kept(by_dataset: dict[str, Any], keep: Any = models) -> dict[str, Any]:
            return {name: keep(row) for name, row in by_dataset.items() if name in datasets}

        return Numbers(
            kept(self.std, float),
            kept(self.base),
            kept(self.repeats),
            {share: found for share, rows in self.sizes.items() if (found := kept(rows))},
            kept(self.dimension),
            {name: found for name, rows in self.holdout.items() if (found := kept(rows, dict))},
        )


def properties(info: TableDescription | None) -> dict[str, float]:
    """Table 1's row."""
    if info is None:
        return {}
    return {
        "features": len(info.features),
        "tasks": len(info.tasks),
        "train": info.rows.train,
        "test": info.rows.test,
        "std": info.std,
    }


def search_range(settings: Settings, name: str) -> tuple[float, float]:
    """Table 6's row; of the width, what the profile allows."""
    space: tuple[float, float] = getattr(settings.params.space, name)
    return width_range(settings) if name == "width" else space


def from_results(results: Results) -> Numbers:
    """All of it; a page that needs one table's numbers calls that table's function."""
    return Numbers(
        {dataset: info.std for dataset, info in results.infos().items()},
        base(results),
        repeats(results),
        sizes(results),
        dimension(results),
        holdout(results),
    )


def base(results: Results) -> ByModel:
    """Table 2: test errors in the target's unit."""
    found: ByModel = {}
    for dataset in results.datasets:
        for model in results.models:
            outcome = scored(results, dataset, model)
            if outcome:
                found.setdefault(dataset, {})[model] = outcome.rmse
    return found


def scored(results: Results, dataset: str, model: str) -> Scored | None:
    """A model's errors in the base study, linear or not."""
    if model in LINEAR:
        fitted = results.read(linear.STUDY, dataset)
        return getattr(fitted, model) if fitted else None
    return results.read(train.STUDY, dataset, model)


def references(results: Results) -> dict[str, float]:
    """LC's error in Table 2, to which Tables 3 and 5 and the dimension study are relative."""
    return {dataset: result.rmse for dataset, result in results.found(train.STUDY, "lc").items()}


def _relative(
    results: Results, study: Study[R], value: Callable[[R, float], V]
) -> dict[str, dict[str, V]]:
    """dataset -> model -> `value` of the study's result and of LC's error in Table 2"""
    found: dict[str, dict[str, V]] = {}
    for dataset, reference in references(results).items():
        for model in results.taking_part(study):
            result = results.read(study, dataset, model)
            if result:
                found.setdefault(dataset, {})[model] = value(result, reference)
    return found


def repeats(results: Results) -> dict[str, dict[str, RepeatsCell]]:
    return _relative(
        results,
        repeats_study.STUDY,
        lambda result, lc: RepeatsCell(result.min / lc, result.max / lc, result.diverged),
    )


def repeated_errors(results: Results) -> dict[str, dict[str, list[float]]]:
    """dataset -> model -> the errors of its trainings relative to LC's base error"""
    return _relative(
        results, repeats_study.STUDY, lambda result, lc: [one.rmse / lc for one in result.trainings]
    )


def sizes(results: Results) -> dict[float, ByModel]:
    found: dict[float, ByModel] = {}
    for dataset in results.datasets:
        for model in results.taking_part(sizes_study.STUDY):
            full = results.read(train.STUDY, dataset, model)
            smaller = results.read(sizes_study.STUDY, dataset, model)
            errors = {ALL: full.normalised} if full else {}
            if smaller:
                errors |= {float(s): one.normalised for s, one in smaller.fractions.items()}
            for share, error in errors.items():
                found.setdefault(share, {}).setdefault(dataset, {})[model] = error
    return found


def mean_rise(
    found: dict[float, ByModel], least: float, models: Sequence[str]
) -> tuple[dict[str, float], int]:
    """Each model's mean rise of error / std from all rows to the least share; of how many datasets.

    Datasets where a model is missing do not count.
    """
    full, small = found.get(ALL, {}), found.get(least, {})
    both = [d for d in full if all(m in full[d] and m in small.get(d, {}) for m in models)]
    return {m: fmean(small[d][m] - full[d][m] for d in both) for m in models if both}, len(both)


def dimension(results: Results) -> ByDimension:
    return _relative(
        results,
        dimension_study.STUDY,
        lambda result, lc: {int(d): outcome.rmse / lc for d, outcome in result.dimensions.items()},
    )


def holdout(results: Results) -> Holdout:
    """The mean over the three groups, as the paper averages "over all iterations"."""
    found: Holdout = {}
    for dataset, reference in references(results).items():
        result = results.read(adapt.STUDY, dataset, "lc")
        groups: dict[tuple[str, int, float], list[float]] = {}
        for fit in result.fits if result else ():
            for estimator, adapted in (("lipo", fit.lipo), ("gauss_newton", fit.gauss_newton)):
                if adapted:
                    key = (estimator, fit.task_dim, fit.share)
                    groups.setdefault(key, []).append(adapted.rmse)
        for (estimator, count, share), errors in groups.items():
            by_dataset = found.setdefault(estimator, {}).setdefault(dataset, {})
            by_dataset.setdefault(count, {})[share] = fmean(errors) / reference
    return found


def on_all_rows(found: Holdout, estimator: str) -> dict[str, dict[int, float]]:
    """Table 5: dataset -> task parameters -> error relative to LC's base error."""
    rows = {
        dataset: {count: errors[ALL] for count, errors in by_count.items() if ALL in errors}
        for dataset, by_count in found.get(estimator, {}).items()
    }
    return {dataset: row for dataset, row in rows.items() if row}


def best_errors(found: Holdout, estimator: str) -> dict[str, float]:
    """dataset -> the error in Table 5 with the best number of task parameters"""
    return {d: min(row.values()) for d, row in on_all_rows(found, estimator).items()}


def several_dimensions(found: Holdout, estimator: str) -> dict[str, dict[int, float]]:
    """The rows of Table 5 with more than one number of task parameters."""
    return {d: row for d, row in on_all_rows(found, estimator).items() if len(row) > 1}


def largest_over_smallest(rows: dict[str, dict[int, float]]) -> float:
    """The mean over datasets of the error with most task parameters / with fewest."""
    return fmean(row[max(row)] / row[min(row)] for row in rows.values())


def lc_and_ll(found: ByDimension) -> tuple[ByDimension, dict[str, int], list[str]]:
    """Datasets with both networks, their fewest task parameters, and where LC is better then."""
    both = {
        dataset: models for dataset, models in found.items() if set(WITH_DIMENSION) <= set(models)
    }
    fewest = {d: min(set(models["lc"]) & set(models["ll"])) for d, models in both.items()}
    better = [d for d, models in both.items() if models["lc"][fewest[d]] < models["ll"][fewest[d]]]
    return both, fewest, better


def task_parameters(results: Results, dataset: str, count: int) -> dict[str, list[float]]:
    """task -> its parameters, of the LC network with this many of them."""
    result = results.read(dimension_study.STUDY, dataset, "lc")
    outcome = result.dimensions.get(str(count)) if result else None
    return dict(outcome.task_parameters or {}) if outcome else {}


def scalar_parameters(results: Results, dataset: str) -> dict[str, float]:
    """task -> its one task parameter."""
    return {task: values[0] for task, values in task_parameters(results, dataset, 1).items()}


def from_paper(paper: Paper) -> Numbers:
    """What the paper prints; its figures' numbers are not printed."""
    numbers, printed = Numbers(), {name: table.values for name, table in paper.tables.items()}
    numbers.std = {dataset: row["std"] for dataset, row in printed["datasets"].items()}
    numbers.base = printed["base"]
    for dataset, row in printed["repeats"].items():
        numbers.repeats[dataset] = {
            model: RepeatsCell(
                row[f"{model} min"], row[f"{model} max"], int(row[f"{model} diverged"])
            )
            for model in COMPARED
        }
    for dataset, row in printed["sizes"].items():
        for column, value in row.items():
            model, share = column.split()
            numbers.sizes.setdefault(float(share), {}).setdefault(dataset, {})[model] = value
    numbers.holdout = {
        "lipo": {
            dataset: {int(column): {ALL: value} for column, value in row.items()}
            for dataset, row in printed["holdout"].items()
        }
    }
    return numbers
