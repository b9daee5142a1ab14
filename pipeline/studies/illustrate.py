"""illustrate: what the report's figures need of the trained networks, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from learned_context.metrics import significant
from pipeline.checked import ByTask, Checked, Floats, Pair, Some, same_length
from pipeline.studies.framework.results import Dimension, StudyResult
from pipeline.studies.plumbing.study import Study, Upstream, needs_task_parameters

if TYPE_CHECKING:
    from learned_context.training.trainer import Trained
    from pipeline.studies.dimension import DimensionResult
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.tables.description import FeatureDescription

DeathRatePoint = tuple[float, str, str, float]
"""Age, sex, part, rate."""


class TaskCurves(Checked):
    """The fitted response of some tasks, over the first number among the features."""

    feature: str
    grid: Floats
    level_feature: str | None = None
    """The category whose levels have a curve each."""
    tasks: dict[str, dict[str, Floats]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> TaskCurves:
        same_length(self.grid, *(one for levels in self.tasks.values() for one in levels.values()))
        return self


class ScalarResponse(Checked):
    """The response as the one task parameter moves."""

    feature: str
    grid: Floats
    beta: Some
    values: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> ScalarResponse:
        same_length(self.beta, self.values)
        same_length(self.grid, *self.values)
        return self


class DensityRows(Checked):
    grid: Floats
    rows: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> DensityRows:
        same_length(self.grid, *self.rows)
        return self


class SampledCurves(Checked):
    grid: Floats
    truth: Floats
    samples: list[list[Floats]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> SampledCurves:
        same_length(self.grid, self.truth, *(one for some in self.samples for one in some))
        return self


class WaveLikelihood(Checked):
    """Frequency: the likelihood of a new wave's parameter after one to four points."""

    omega: float
    points: Annotated[list[Pair], Field(min_length=1)]
    true: DensityRows
    model: DensityRows
    curves: SampledCurves

    @model_validator(mode="after")
    def _one_row_a_point(self) -> WaveLikelihood:
        same_length(self.points, self.true.rows, self.model.rows, self.curves.samples)
        return self


class PlaneResponse(Checked):
    """The response at every pair of values of two task parameters; the second changes first."""

    feature: str
    level: str
    grid: Floats
    beta: Annotated[list[Some], Field(min_length=2, max_length=2)]
    values: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> PlaneResponse:
        same_length(range(len(self.beta[0]) * len(self.beta[1])), self.values)
        same_length(self.grid, *self.values)
        return self


class FeaturePlane(Checked):
    """The response along one feature at every pair of two task parameters' values."""

    feature: str
    grid: Floats
    beta: Annotated[list[Some], Field(min_length=2, max_length=2)]
    levels: dict[str, list[Floats]]
    """By the level of a category with two or three of them; the second parameter changes first."""

    @model_validator(mode="after")
    def _on_the_grid(self) -> FeaturePlane:
        for curves in self.levels.values():
            same_length(range(len(self.beta[0]) * len(self.beta[1])), curves)
            same_length(self.grid, *curves)
        return self


class TaskPoints(Checked):
    """Some rows of every task: what the explorer draws over the curves."""

    features: list[str]
    level_feature: str | None = None
    tasks: dict[str, list[Floats]]
    """Rows: 0 for training or 1 for test, the level's number, the target, the features."""

    @model_validator(mode="after")
    def _full_rows(self) -> TaskPoints:
        same_length(
            range(3 + len(self.features)), *(row for rows in self.tasks.values() for row in rows)
        )
        return self


class TaskExplorer(Checked):
    target_mean: dict[str, float]
    metric: Annotated[list[Pair], Field(min_length=2, max_length=2)]
    """B^T B, where B beta is what a task brings (L beta): how far two tasks are apart."""
    response: PlaneResponse | None = None
    """In results of an earlier version, which have neither planes nor points."""
    planes: list[FeaturePlane] = Field(default_factory=list)
    points: TaskPoints | None = None


class YearlyMeans(Checked):
    """Inflation: each country's mean of a year; None without data."""

    grid: Floats
    tasks: dict[str, list[float | None]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> YearlyMeans:
        same_length(self.grid, *self.tasks.values())
        return self


class HourlyTrips(Checked):
    """Bike sharing: mean and deviation of a month's trips at some hours of its working days."""

    hours: Annotated[list[str], Field(min_length=4, max_length=4)]
    tasks: dict[str, dict[str, Pair]]


class DeathRatePoints(Checked):
    """Death rate: the rows of the highlighted tasks."""

    tasks: dict[str, list[Annotated[DeathRatePoint, Field(strict=False)]]]


OBSERVED: dict[str, type[Checked]] = {
    "bike_sharing": HourlyTrips,
    "death_rate": DeathRatePoints,
    "inflation": YearlyMeans,
}
"""Of which datasets a figure shows the data itself."""


class IllustrateResult(StudyResult):
    observed: YearlyMeans | HourlyTrips | DeathRatePoints | None = None
    task_uncertainty: dict[Dimension, ByTask]
    curves: TaskCurves | None = None
    response: ScalarResponse | None = None
    explorer: TaskExplorer | None = None
    likelihood: WaveLikelihood | None = None

    @model_validator(mode="after")
    def _of_this_dataset(self) -> IllustrateResult:
        kind = OBSERVED.get(self.dataset, type(None))
        if not isinstance(self.observed, kind):
            raise ValueError(f"observed: is not what a figure of {self.dataset} shows")
        return self


COUNTRIES = ("ETH", "HTI", "IND", "NGA", "NOR", "ZMB")
HIGHLIGHTED = {"death_rate": [f"{country} 2010" for country in COUNTRIES]}
"""Tasks whose curves the report shows by name."""
HOURS = (8, 12, 17, 22)
MOST_TASKS, GRID = 60, 60
EXPLORED, EXPLORED_GRID = 15, 30
"""Values of each of two task parameters, and of the feature; the report interpolates."""
MOST_FEATURES, MOST_ROWS = 5, 40
"""Of a dataset and of a task, in the explorer."""


def compute(experiment: Experiment, dimension: DimensionResult) -> IllustrateResult:
    from pipeline.models import illustrations

    dataset, prepared = experiment.dataset, experiment.prepared
    found: dict[str, Any] = {}
    if dataset in SUMMARIES:
        found["observed"] = SUMMARIES[dataset](prepared.frame)
    networks = {d: experiment.upstream_network(d) for d in "12" if d in dimension.dimensions}
    found["task_uncertainty"] = {
        d: _uncertainty(experiment, network, dimension.dimensions[d].rmse)
        for d, network in networks.items()
    }
    if "1" in networks:
        found |= _curves(experiment, networks["1"])
    if "2" in networks:
        found["explorer"] = _explorer(experiment, networks["2"])
    if "1" in networks and dataset == "frequency":
        found["likelihood"] = illustrations.likelihoods(
            networks["1"],
            prepared.info.keys["noise"],
            dimension.dimensions["1"].rmse,
            prepared.info.seeds["data"],
        )
    return IllustrateResult(**experiment.head, **found)


def _yearly(frame: pd.DataFrame) -> dict[str, Any]:
    """Inflation: each country's mean of a year."""
    means = frame.groupby([frame["task"].astype(str), np.floor(frame["time"])])["target"].mean()
    table = means.unstack()
    return {
        "grid": _rounded(table.columns.to_numpy()),
        "tasks": {
            task: [None if np.isnan(value) else significant(value, 4) for value in row]
            for task, row in zip(table.index, table.to_numpy(), strict=True)
        },
    }


def _by_hour(frame: pd.DataFrame) -> dict[str, Any]:
    """Bike sharing: mean and deviation of a month's trips at some hours of its working days."""
    days = frame[(frame["workingday"].astype(str) == "1") & frame["hr"].isin(HOURS)]
    groups = days.groupby([days["task"].astype(str), days["hr"].astype(int).astype(str)])["target"]
    found: dict[str, dict[str, list[float]]] = {}
    for (task, hour), trips in groups:
        both = np.array([trips.mean(), trips.std(ddof=0)])
        found.setdefault(str(task), {})[str(hour)] = _rounded(both)
    return {"hours": [str(hour) for hour in HOURS], "tasks": found}


def _points(frame: pd.DataFrame) -> dict[str, Any]:
    """Death rate: the rows of the highlighted tasks, as [age, sex, part, rate]."""
    shown = frame[frame["task"].astype(str).isin(HIGHLIGHTED["death_rate"])]
    found: dict[str, list[list[Any]]] = {}
    for task, rows in shown.groupby(shown["task"].astype(str)):
        columns = (rows["age"], rows["sex"].astype(str), rows["part"].astype(str), rows["target"])
        found[str(task)] = [
            [age, sex, part, significant(rate, 4)]
            for age, sex, part, rate in zip(*columns, strict=True)
        ]
    return {"tasks": found}


SUMMARIES = {"bike_sharing": _by_hour, "death_rate": _points, "inflation": _yearly}
"""What the paper's figures show of the data itself, summarised or for a few tasks."""


def _uncertainty(experiment: Experiment, trained: Trained, rmse: float) -> dict[str, list[float]]:
    from pipeline.models import illustrations

    rows = experiment.rows.take(experiment.prepared.train_rows())
    stds = illustrations.posterior_stds(trained, rows, (rmse / trained.scaler.y_std) ** 2)
    return {task: _rounded(values) for task, values in zip(experiment.tasks, stds, strict=True)}


class Line(NamedTuple):
    """Inputs along one number; other features at their mean or most frequent value."""

    feature: str
    grid: np.ndarray
    level_feature: str | None
    inputs: dict[str, np.ndarray]  # for each level of a feature that has two or three


def _numbers(experiment: Experiment) -> list[str]:
    return [f.name for f in experiment.prepared.info.features if f.kind == "number"]


def _level_feature(experiment: Experiment) -> FeatureDescription | None:
    """The first category with two or three levels: each has a curve of its own."""
    features = experiment.prepared.info.features
    return next((f for f in features if len(f.categories or ()) in (2, 3)), None)


def _line(experiment: Experiment, name: str, points: int) -> Line:
    frame, by_level = experiment.prepared.frame, _level_feature(experiment)
    columns: dict[str, Any] = {"task": experiment.tasks[0], "target": 0.0}
    for feature in experiment.prepared.info.features:
        values, is_number = frame[feature.name], feature.kind == "number"
        columns[feature.name] = values.mean() if is_number else values.mode().iloc[0]
    grid = np.linspace(frame[name].min(), frame[name].max(), points)
    columns[name] = grid
    inputs = {}
    for level in (by_level.categories or ()) if by_level else [""]:
        line = pd.DataFrame(columns | ({by_level.name: level} if by_level else {}))
        inputs[level] = experiment.prepared.encode(line, experiment.settings.params.categories).x
    return Line(name, grid, by_level.name if by_level else None, inputs)


def _curves(experiment: Experiment, scalar: Trained) -> dict[str, Any]:
    """The fitted response of the network with one task parameter."""
    from pipeline.models import illustrations

    if not _numbers(experiment):
        return {}
    line = _line(experiment, _numbers(experiment)[0], GRID)
    beta = illustrations.parameters(scalar)
    shown = set(illustrations.spread(beta[:, 0], MOST_TASKS).tolist())
    shown |= {
        experiment.tasks.index(task)
        for task in HIGHLIGHTED.get(experiment.dataset, ())
        if task in experiment.tasks
    }
    numbers_shown = np.array(sorted(shown))
    curves = {
        level: illustrations.responses(scalar, x, beta[numbers_shown])
        for level, x in line.inputs.items()
    }
    moved = np.linspace(beta.min(), beta.max(), 31)
    response = illustrations.responses(scalar, next(iter(line.inputs.values())), moved[:, None])
    return {
        "curves": {
            "feature": line.feature,
            "grid": _rounded(line.grid),
            "level_feature": line.level_feature,
            "tasks": {
                experiment.tasks[number]: {
                    level: _rounded(values[place]) for level, values in curves.items()
                }
                for place, number in enumerate(numbers_shown)
            },
        },
        "response": {
            "feature": line.feature,
            "grid": _rounded(line.grid),
            "beta": _rounded(moved),
            "values": [_rounded(values) for values in response],
        },
    }


def _explorer(experiment: Experiment, pair: Trained) -> dict[str, Any]:
    """Two task parameters: which tasks are alike, and the response wherever one moves them."""
    from pipeline.models import illustrations

    rows = experiment.rows.take(experiment.prepared.train_rows())
    means = np.bincount(rows.task, rows.y) / np.bincount(rows.task)
    brought = illustrations.brought(pair)
    found: dict[str, Any] = {
        "target_mean": dict(zip(experiment.tasks, _rounded(means), strict=True)),
        "metric": [_rounded(row) for row in brought @ brought.T],
    }
    beta = illustrations.parameters(pair)
    axes = np.linspace(beta.min(axis=0), beta.max(axis=0), EXPLORED).T
    pairs = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    features = _most_effective(experiment, pair, beta.mean(axis=0))
    found["planes"] = []
    for name in features:
        line = _line(experiment, name, EXPLORED_GRID)
        levels = {
            level: [_rounded(curve, 4) for curve in illustrations.responses(pair, x, pairs)]
            for level, x in line.inputs.items()
        }
        plane = {"feature": name, "grid": _rounded(line.grid), "levels": levels}
        found["planes"].append(plane | {"beta": [_rounded(axis) for axis in axes]})
    found["points"] = _some_rows(experiment, features)
    return found


def _most_effective(experiment: Experiment, pair: Trained, beta: np.ndarray) -> list[str]:
    """The numbers along which the average task's response changes most."""
    from pipeline.models import illustrations

    def effect(name: str) -> float:
        x = next(iter(_line(experiment, name, EXPLORED_GRID).inputs.values()))
        return float(np.ptp(illustrations.responses(pair, x, beta[None])))

    return sorted(_numbers(experiment), key=lambda name: -effect(name))[:MOST_FEATURES]


def _some_rows(experiment: Experiment, features: list[str]) -> dict[str, Any]:
    """Rows of every task, evenly spaced in the table: part, level, target, features."""
    frame, by_level = experiment.prepared.frame, _level_feature(experiment)
    found = {}
    for task, rows in frame.groupby(frame["task"].astype(str), sort=False):
        places = np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).astype(int)
        chosen = rows.iloc[places]
        levels = np.zeros(len(chosen))
        if by_level and by_level.categories:
            levels = np.array([by_level.categories.index(str(v)) for v in chosen[by_level.name]])
        test = (chosen["part"].astype(str) == "test").to_numpy()
        columns = (test, levels, chosen["target"], *(chosen[name] for name in features))
        table = np.column_stack([np.asarray(column, dtype=float) for column in columns])
        found[str(task)] = [_rounded(row, 4) for row in table]
    level_feature = {"level_feature": by_level.name} if by_level else {}
    return {"features": features, "tasks": found, **level_feature}


def _rounded(values: np.ndarray, digits: int = 5) -> list[float]:
    return [significant(value, digits) for value in values]


STUDY = Study(
    name="illustrate",
    title="what the figures need of the networks",
    result=IllustrateResult,
    compute=compute,
    cost=lambda work: 1e-5 * work.rows,
    why_not=needs_task_parameters,
    inputs={"dimension": Upstream("dimension", networks=True)},
    params=("categories",),
    profile=("train.device",),
)
