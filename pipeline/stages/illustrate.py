"""illustrate: what the report's figures need of the trained networks, as numbers."""

from __future__ import annotations

import argparse
from typing import Any

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
MOST_TASKS = 60
GRID = 60


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
        result["task_uncertainty"] = {
            dimension: _uncertainty(experiment, dimension, dimensions[dimension]["rmse"])
            for dimension in ("1", "2")
            if dimension in dimensions
        }
        if "1" in dimensions:
            scalar = load_network(models / "1.safetensors")
            result.update(_curves(experiment, scalar))
            if experiment.name == "frequency":
                result["likelihood"] = illustrations.likelihoods(
                    scalar,
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


def _uncertainty(experiment: Experiment, dimension: str, rmse: float) -> dict[str, list[float]]:
    folder = experiment.files.models(experiment.name) / "dimension-lc"
    trained = load_network(folder / f"{dimension}.safetensors")
    rows = experiment.rows.take(experiment.prepared.train_rows())
    stds = illustrations.posterior_stds(trained, rows, (rmse / trained.scaler.y_std) ** 2)
    return {
        task: [significant(std, 5) for std in values]
        for task, values in zip(experiment.tasks, stds, strict=True)
    }


def _curves(experiment: Experiment, scalar: Trained) -> dict[str, Any]:
    """The fitted response of the network with one task parameter, along the first number."""
    info, frame = experiment.prepared.info, experiment.prepared.frame
    numbers = [feature for feature in info["features"] if feature["kind"] == "number"]
    if not numbers:
        return {}
    along = numbers[0]["name"]
    by_level = [f for f in info["features"] if len(f.get("categories", ())) in (2, 3)]
    level_feature = by_level[0]["name"] if by_level else None
    levels = by_level[0]["categories"] if by_level else [""]
    grid = np.linspace(frame[along].min(), frame[along].max(), GRID)
    inputs = {level: _line(experiment, along, grid, level_feature, level) for level in levels}

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
        for level, x in inputs.items()
    }
    moved = np.linspace(beta.min(), beta.max(), 31)
    response = illustrations.responses(scalar, inputs[levels[0]], moved[:, None])
    return {
        "curves": {
            "feature": along,
            "grid": _rounded(grid),
            "level_feature": level_feature,
            "tasks": {
                experiment.tasks[number]: {
                    level: _rounded(values[place]) for level, values in curves.items()
                }
                for place, number in enumerate(numbers_shown)
            },
        },
        "response": {
            "feature": along,
            "grid": _rounded(grid),
            "beta": _rounded(moved),
            "values": [_rounded(values) for values in response],
        },
    }


def _line(
    experiment: Experiment, along: str, grid: np.ndarray, level_feature: str | None, level: str
) -> np.ndarray:
    """Inputs along one feature; the others stay at their mean or most frequent value."""
    frame = experiment.prepared.frame
    columns: dict[str, Any] = {"task": experiment.tasks[0], "target": 0.0}
    for feature in experiment.prepared.info["features"]:
        values = frame[feature["name"]]
        columns[feature["name"]] = (
            values.mean() if feature["kind"] == "number" else values.mode().iloc[0]
        )
    columns[along] = grid
    if level_feature:
        columns[level_feature] = level
    line = pd.DataFrame(columns)
    return experiment.prepared.encode(line, experiment.settings.params.categories).x


def _rounded(values: np.ndarray) -> list[float]:
    return [significant(value, 5) for value in values]
