"""Task explorer: the map of every dataset's tasks, to move in; and the same maps as a picture.

All from the LC networks with two task parameters of the dimension study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from learned_context.metrics import significant
from pipeline.reporting.blocks import Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.countries import task_name
from pipeline.reporting.drawing import Ramp, draw, shade, shades
from pipeline.reporting.explorer import Explorer
from pipeline.reporting.formatting import plural, show
from pipeline.reporting.labels import BLUE, GREEN, ORANGE, feature_label, with_unit
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.studies import dimension, illustrate
from pipeline.studies.dimension import DimensionOutcome
from pipeline.studies.illustrate import FeaturePlane, TaskExplorer, TaskPoints
from pipeline.tables.description import TableDescription

OPENING = ("death_rate", "HTI 2010")
"""The paper's own example: the year of the earthquake in Haiti."""
LEVEL_COLOURS = (BLUE, ORANGE, GREEN)
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STEPS = len(DIGITS) ** 2 - 1
_shown = partial(significant, digits=4)
"""More digits than a screen shows, and few enough to keep the page small."""


@dataclass(frozen=True)
class TaskMap:
    """What is known of a dataset's tasks and of the network with two task parameters."""

    dataset: str
    info: TableDescription
    network: DimensionOutcome
    explorer: TaskExplorer

    @property
    def beta(self) -> dict[str, list[float]]:
        return self.network.task_parameters or {}

    @property
    def errors(self) -> list[float | None]:
        return [self.network.task_rmse.get(task) for task in self.beta]

    @property
    def worst(self) -> int:
        """The task with the highest error."""
        return max(range(len(self.beta)), key=lambda task: self.errors[task] or 0.0)

    def task_name(self, task: int | np.integer) -> str:
        return task_name(self.dataset, list(self.beta)[task])

    def distances(self) -> np.ndarray:
        """Of every task from every other, in the network's first layer."""
        beta = np.array(list(self.beta.values()))
        between = beta[:, None] - beta[None]
        squared = np.einsum("ijk,kl,ijl->ij", between, np.array(self.explorer.metric), between)
        distances = np.sqrt(np.maximum(squared, 0))
        np.fill_diagonal(distances, np.inf)
        return distances


def story(results: Results) -> Story:
    found = _maps(results)
    if not found:
        return Story("Task explorer", NOTHING)
    tasks = sum(len(one.beta) for one in found.values())
    return Story(
        f"Explore {show(tasks, 0)} tasks on {plural(len(found), 'map')}",
        "Tasks that are close on the map behave alike. Choose a task to see its neighbours, and "
        "move its two parameters to see how the prediction changes.",
    )


def explorer(results: Results) -> Explorer | Text:
    found = _maps(results)
    if not found:
        return missing("The explorer needs results/dimension and results/illustrate.")
    dataset, task = OPENING
    return Explorer(
        "Every point is a task at its two task parameters; choose one on the map, by its name, or "
        "with the arrow keys. The orange cross shows where the sliders are, and the solid curves "
        "are what the network predicts there; dotted curves are the chosen task's. Filled points "
        "are its training rows, open ones its test rows. The address of this page keeps what you "
        "choose.",
        [_content(results, one) for one in found.values()],
        shades(32),
        {"dataset": dataset, "task": task},
    )


def maps(results: Results) -> Drawing | Text:
    found = {results.label(dataset): one for dataset, one in _maps(results).items()}
    if not found:
        return missing("The maps need results/dimension and results/illustrate.")

    def paint(axes: Axes, one: TaskMap) -> None:
        first, second = zip(*one.beta.values(), strict=True)
        errors = [0.0 if error is None else error for error in one.errors]
        ranks = np.argsort(np.argsort(errors)) / max(1, len(errors) - 1)
        axes.scatter(first, second, c=[shade(rank, 0, 1) for rank in ranks], s=9, linewidths=0)
        for side in (axes.xaxis, axes.yaxis):
            side.set_major_locator(MaxNLocator(3))
        axes.set(xlabel="β₁", ylabel="β₂")

    return draw(
        "maps",
        "The tasks of every dataset at their two task parameters, coloured by the rank of their "
        "test error. Sign and rotation of the axes are arbitrary.",
        found,
        paint,
        ramp=Ramp("Test error of the task, by rank", "lowest", "highest", shades()),
        on_white=True,
    )


def extremes(results: Results) -> Table:
    """Of every map, what one would look for first."""

    def most_similar(one: TaskMap) -> str:
        far = one.distances()
        return " and ".join(
            one.task_name(task) for task in np.unravel_index(far.argmin(), far.shape)
        )

    return Table.of(
        "extremes",
        "The two most similar tasks, the task farthest from its nearest neighbour, and the one "
        "with the highest test error; distances are those in the network's first layer.",
        _maps(results).values(),
        {
            "Dataset": lambda one: name_cell(results, one.dataset),
            "Tasks": lambda one: number(len(one.beta), 0),
            "Most similar": most_similar,
            "Most isolated": lambda one: one.task_name(one.distances().min(axis=1).argmax()),
            "Highest error": lambda one: one.task_name(one.worst),
            "Its error": lambda one: number(one.errors[one.worst], None),
        },
        cards=True,
    )


def _maps(results: Results) -> dict[str, TaskMap]:
    found = {}
    trained, illustrated = (
        results.found(study, "lc") for study in (dimension.STUDY, illustrate.STUDY)
    )
    for dataset, info in results.infos().items():
        if dataset in trained and dataset in illustrated:
            two, shown = trained[dataset].dimensions.get("2"), illustrated[dataset].explorer
            if two and shown and len(two.task_parameters or ()) > 1:
                found[dataset] = TaskMap(dataset, info, two, shown)
    return found


def _content(results: Results, one: TaskMap) -> dict[str, Any]:
    """What the script reads of a dataset."""
    info, tasks = one.info, list(one.beta)
    columns: dict[str, Sequence[float | None]] = {
        "test error": one.errors,
        "training rows": [info.tasks[task].train for task in tasks],
        "mean of the target": [one.explorer.target_mean.get(task) for task in tasks],
    }
    chosen = one.network.hyperparameters
    return {
        "name": one.dataset,
        "label": results.label(one.dataset),
        "target": with_unit(info.target, info.unit),
        "network": "The network: learned context with two task parameters, from the study of the "
        f"task dimension; {chosen.width} units in each layer; test error "
        f"{show(one.network.rmse)} {info.unit}.".replace(" .", "."),
        "tasks": tasks,
        "names": [task_name(one.dataset, task) for task in tasks],
        "beta": [[_shown(beta[place]) for beta in one.beta.values()] for place in (0, 1)],
        "columns": [
            {"label": name, "values": [None if v is None else _shown(v) for v in values]}
            for name, values in columns.items()
        ],
        "metric": one.explorer.metric,
        "planes": [_plane(one, plane) for plane in one.explorer.planes],
        "points": _points(one.explorer.points, tasks),
    }


def _plane(one: TaskMap, plane: FeaturePlane) -> dict[str, Any]:
    others = " The other features are at their mean or most frequent value, so the points differ "
    others += "from the curve in those features too."
    sizes = " × ".join(str(len(axis)) for axis in plane.beta)
    return {
        "key": plane.feature,
        "feature": feature_label(one.info, plane.feature),
        "grid": [_shown(value) for value in plane.grid],
        "beta": plane.beta,
        "levels": [
            {"label": _level(one, name), "colour": colour, **_packed(np.array(curves).ravel())}
            for (name, curves), colour in zip(plane.levels.items(), LEVEL_COLOURS, strict=False)
        ],
        "note": f"Interpolated between {sizes} values of the two task parameters."
        + (others if len(one.info.features) > 1 else ""),
    }


def _level(one: TaskMap, level: str) -> str:
    """`1` of a feature that is coded in numbers says nothing without the feature's name."""
    points = one.explorer.points
    if not level.isdecimal() or points is None or points.level_feature is None:
        return level
    return f"{feature_label(one.info, points.level_feature)}: {level}"


def _points(points: TaskPoints | None, tasks: list[str]) -> dict[str, Any] | None:
    if points is None:
        return None
    rows = [points.tasks.get(task, []) for task in tasks]
    table = np.array([row for some in rows for row in some])
    if not len(table):
        return None
    return {
        "counts": [len(some) for some in rows],
        "test": "".join("1" if value else "0" for value in table[:, 0]),
        "level": "".join(str(int(value)) for value in table[:, 1]),
        "target": _packed(table[:, 2]),
        "features": {
            name: _packed(table[:, 3 + place]) for place, name in enumerate(points.features)
        },
    }


def _packed(values: np.ndarray) -> dict[str, Any]:
    """4096 steps from the lowest to the highest value, two characters each."""
    low, unit = float(values.min()), float(np.ptp(values)) / STEPS or 1.0
    steps = np.rint((values - low) / unit).astype(int)
    text = "".join(DIGITS[step >> 6] + DIGITS[step & 63] for step in steps.tolist())
    return {"low": low, "unit": unit, "text": text}
