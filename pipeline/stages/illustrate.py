"""illustrate: what the report's figures need of the trained networks, as numbers."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pipeline.adaptation import illustrations
from pipeline.stages.experiment import ENGINE, Experiment, read_result
from pipeline.tables.metrics import significant
from pipeline.training.storage import load_network
from pipeline.training.trainer import Trained

CODE = (*ENGINE, "pipeline/adaptation", "pipeline/stages/illustrate.py")
COUNTRIES = ("ETH", "HTI", "IND", "NGA", "NOR", "ZMB")
HIGHLIGHTED = {"death_rate": [f"{country} 2010" for country in COUNTRIES]}
"""Tasks whose curves the report shows by name."""
HOURS = (8, 12, 17, 22)
MOST_TASKS, GRID = 60, 60
EXPLORED, EXPLORED_GRID = 21, 40
"""Values of each of two task parameters, and of the feature; the report interpolates."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "illustrate", CODE)
    files = experiment.files
    models = files.models(experiment.name) / "dimension-lc"
    with experiment.record(files.result("illustrate", experiment.name, "lc")) as result:
        result.update(experiment.provenance(model="lc"))
        if experiment.name in OBSERVED:
            result["observed"] = OBSERVED[experiment.name](experiment.prepared.frame)
        dimensions = read_result(files.result("dimension", experiment.name, "lc"), "dimensions")
        networks = {d: load_network(models / f"{d}.safetensors") for d in "12" if d in dimensions}
        result["task_uncertainty"] = {
            d: _uncertainty(experiment, network, dimensions[d]["rmse"])
            for d, network in networks.items()
        }
        if "1" in networks:
            result.update(_curves(experiment, networks["1"]))
        if "2" in networks:
            result["explorer"] = _explorer(experiment, networks["2"])
        if "1" in networks and experiment.name == "frequency":
            result["likelihood"] = illustrations.likelihoods(
                networks["1"],
                experiment.prepared.info["keys"]["noise"],
                dimensions["1"]["rmse"],
                experiment.prepared.info["seeds"]["data"],
            )


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


OBSERVED = {"bike_sharing": _by_hour, "death_rate": _points, "inflation": _yearly}
"""What the paper's figures show of the data itself, summarised or for a few tasks."""


def _uncertainty(experiment: Experiment, trained: Trained, rmse: float) -> dict[str, list[float]]:
    rows = experiment.rows.take(experiment.prepared.train_rows())
    stds = illustrations.posterior_stds(trained, rows, (rmse / trained.scaler.y_std) ** 2)
    return {task: _rounded(values) for task, values in zip(experiment.tasks, stds, strict=True)}


class Line(NamedTuple):
    """Inputs along the first number; other features at their mean or most frequent value."""

    feature: str
    grid: np.ndarray
    level_feature: str | None
    inputs: dict[str, np.ndarray]  # for each level of a feature that has two or three


def _line(experiment: Experiment, points: int) -> Line | None:
    frame, features = experiment.prepared.frame, experiment.prepared.info["features"]
    numbers = [feature["name"] for feature in features if feature["kind"] == "number"]
    if not numbers:
        return None
    by_level = [f for f in features if len(f.get("categories", ())) in (2, 3)]
    level_feature = by_level[0]["name"] if by_level else None
    columns: dict[str, Any] = {"task": experiment.tasks[0], "target": 0.0}
    for feature in features:
        values, is_number = frame[feature["name"]], feature["kind"] == "number"
        columns[feature["name"]] = values.mean() if is_number else values.mode().iloc[0]
    grid = np.linspace(frame[numbers[0]].min(), frame[numbers[0]].max(), points)
    columns[numbers[0]] = grid
    inputs = {}
    for level in by_level[0]["categories"] if by_level else [""]:
        line = pd.DataFrame(columns | ({level_feature: level} if level_feature else {}))
        inputs[level] = experiment.prepared.encode(line, experiment.settings.params.categories).x
    return Line(numbers[0], grid, level_feature, inputs)


def _curves(experiment: Experiment, scalar: Trained) -> dict[str, Any]:
    """The fitted response of the network with one task parameter."""
    line = _line(experiment, GRID)
    if line is None:
        return {}
    beta = illustrations.parameters(scalar)
    shown = set(illustrations.spread(beta[:, 0], MOST_TASKS).tolist())
    shown |= {
        experiment.tasks.index(task)
        for task in HIGHLIGHTED.get(experiment.name, ())
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
    rows = experiment.rows.take(experiment.prepared.train_rows())
    means = np.bincount(rows.task, rows.y) / np.bincount(rows.task)
    context = pair.network.views["L"].double().cpu().numpy()  # beta adds `context @ beta`
    found: dict[str, Any] = {
        "target_mean": dict(zip(experiment.tasks, _rounded(means), strict=True)),
        "metric": [_rounded(row) for row in context.T @ context],
    }
    line = _line(experiment, EXPLORED_GRID)
    if line is not None:
        beta = illustrations.parameters(pair)
        axes = np.linspace(beta.min(axis=0), beta.max(axis=0), EXPLORED).T
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        level, x = next(iter(line.inputs.items()))
        found["response"] = {
            "feature": line.feature,
            "level": f"{line.level_feature} {level}" if line.level_feature else "",
            "grid": _rounded(line.grid),
            "beta": [_rounded(axis) for axis in axes],
            "values": [_rounded(curve, 4) for curve in illustrations.responses(pair, x, points)],
        }
    return found


def _rounded(values: np.ndarray, digits: int = 5) -> list[float]:
    return [significant(value, digits) for value in values]
