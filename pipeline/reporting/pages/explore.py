"""Task explorer: the map of every dataset's tasks, to move in; and the same maps as a picture.

All from the LC networks with two task parameters of the dimension study.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator

from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.drawing import SEQUENTIAL, finish, panels, plain
from pipeline.reporting.explorer import Explorer
from pipeline.reporting.results import Results

SHADES = 32


def explorer(results: Results) -> Explorer | Text:
    found = _maps(results)
    if not found:
        return missing("The explorer needs results/dimension and results/illustrate.")
    shades = colormaps[SEQUENTIAL](np.linspace(0, 0.95, SHADES))
    return Explorer(
        "Every point is a task at its two task parameters; choose one on the map, by its name, or "
        "by the arrow keys. The orange cross is where the sliders stand, and the blue curve is "
        "what the network predicts there; the dotted curve is the chosen task's.",
        list(found.values()),
        [to_hex(shade) for shade in shades],
    )


def maps(results: Results) -> Drawing | Text:
    found = _maps(results)
    if not found:
        return missing("The maps need results/dimension and results/illustrate.")
    figure, axes = panels(len(found), height=2.3)
    for axis, content in zip(axes, found.values(), strict=True):
        errors = [np.nan if e is None else e for e in content["columns"][0]["values"]]
        first, second = content["beta"]
        dots = axis.scatter(first, second, c=errors, cmap=SEQUENTIAL, s=9, linewidths=0)
        bar = figure.colorbar(dots, ax=axis, location="bottom", shrink=0.85, aspect=25)
        bar.ax.xaxis.set_major_locator(MaxNLocator(3))
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(MaxNLocator(3))
        axis.set_title(plain(content["label"]))
    return finish(
        figure,
        "maps",
        "The tasks of every dataset at their two task parameters, coloured by their test error.",
    )


def extremes(results: Results) -> Table:
    """Of every map, what one would look for first."""
    rows = []
    for dataset, content in _maps(results).items():
        tasks, errors = content["tasks"], content["columns"][0]["values"]
        far = _distances(content)
        nearest = far.min(axis=1)
        pair, alone = np.unravel_index(far.argmin(), far.shape), int(nearest.argmax())
        worst = max(range(len(tasks)), key=lambda task: errors[task] or 0.0)
        rows.append(
            [
                name_cell(results, dataset),
                number(len(tasks), 0),
                Cell(" and ".join(tasks[task] for task in pair)),
                Cell(tasks[alone]),
                Cell(tasks[worst]),
                number(errors[worst], None),
            ]
        )
    return Table(
        "extremes",
        "The two tasks most alike, the task farthest from its nearest one, and the one with the "
        "highest test error; distances are those of the network's first layer.",
        ("Dataset", "Tasks", "Most alike", "Most alone", "Worst", "Its error"),
        rows,
        results.footnotes(),
    )


def _maps(results: Results) -> dict[str, dict[str, Any]]:
    """dataset -> what the explorer's script reads."""
    found = {}
    for dataset in results.datasets:
        info = results.info(dataset)
        trained = results.get("dimension", dataset, "lc") or {"dimensions": {}}
        two = trained["dimensions"].get("2", {})
        illustrated = (results.get("illustrate", dataset, "lc") or {}).get("explorer")
        if info and illustrated and len(two.get("task_parameters", ())) > 1:
            found[dataset] = _map(results.label(dataset), info, two, illustrated)
    return found


def _map(
    label: str, info: dict[str, Any], two: dict[str, Any], illustrated: dict[str, Any]
) -> dict[str, Any]:
    tasks = list(two["task_parameters"])
    target = info.get("target", "target") + (f" ({info['unit']})" if info.get("unit") else "")
    columns: dict[str, list[float | None]] = {
        "test error": [two["task_rmse"].get(task) for task in tasks],
        "training rows": [info["tasks"][task]["train"] for task in tasks],
        "mean of the target": [illustrated["target_mean"][task] for task in tasks],
    }
    return {
        "label": label,
        "target": target,
        "tasks": tasks,
        "beta": [
            [_short(beta[place]) for beta in two["task_parameters"].values()] for place in (0, 1)
        ],
        "columns": [
            {"label": name, "values": [None if v is None else _short(v) for v in values]}
            for name, values in columns.items()
        ],
        "metric": illustrated["metric"],
        "response": _response(info, illustrated.get("response")),
    }


def _response(info: dict[str, Any], response: dict[str, Any] | None) -> dict[str, Any] | None:
    """The curves in thousandths of their range, which take half of the space."""
    if response is None:
        return None
    values = np.array(response["values"])
    low, unit = float(values.min()), float(np.ptp(values)) / 1000 or 1.0
    others = " The other features are at their mean or most frequent value."
    level = f" The curve is for {response['level']}." if response["level"] else ""
    sizes = " × ".join(str(len(axis)) for axis in response["beta"])
    return {
        "feature": response["feature"],
        "grid": response["grid"],
        "beta": response["beta"],
        "low": low,
        "unit": _short(unit),
        "steps": np.rint((values - low) / _short(unit)).astype(int).tolist(),
        "note": f"Interpolated between {sizes} values of the two task parameters."
        + (others if len(info["features"]) > 1 else "")
        + level,
    }


def _distances(content: dict[str, Any]) -> np.ndarray:
    beta = np.array(content["beta"]).T
    between = beta[:, None] - beta[None]
    squared = np.einsum("ijk,kl,ijl->ij", between, np.array(content["metric"]), between)
    distances = np.sqrt(np.maximum(squared, 0))
    np.fill_diagonal(distances, np.inf)
    return distances


def _short(value: float) -> float:
    """Four digits are more than a screen shows, and keep the page small."""
    return float(f"{value:.4g}")
