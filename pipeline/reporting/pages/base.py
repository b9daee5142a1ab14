"""Base performance: Table 2, predictions against observations, errors task by task."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from pipeline.reporting import drawing, numbers
from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import dataset_table, lowest, name_cell, number, text
from pipeline.reporting.countries import task_name
from pipeline.reporting.formatting import listed, plural
from pipeline.reporting.labels import (
    LINEAR,
    NOT_IN_PAPER,
    PAPERS_MODELS,
    dataset_label,
    model_style,
    with_unit,
)
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.reporting.svg import SOFT
from pipeline.studies import train
from pipeline.studies.train import SquareHistogram

WORST = 3


def best_models(row: dict[str, float]) -> set[str]:
    """Of one dataset: the best of the paper's models, and the best of all, with ties as printed."""
    return lowest({m: error for m, error in row.items() if m in PAPERS_MODELS}) | lowest(row)


def story(results: Results) -> Story:
    found = {dataset: best_models(row) for dataset, row in numbers.base(results).items()}
    best = {d: winners & {*PAPERS_MODELS} for d, winners in found.items()}
    if not any(best.values()):
        return Story("Base performance", NOTHING)
    papers = [m for m in results.models if m in PAPERS_MODELS]
    wins = {m: [d for d, winners in best.items() if m in winners] for m in papers}
    ranked = sorted((m for m in wins if wins[m]), key=lambda m: -len(wins[m]))
    first = ranked[0]
    parts = [
        f"{model_style(m).label} on {len(wins[m])} ({listed([dataset_label(d) for d in wins[m]])})"
        for m in ranked
    ]
    tied = [dataset_label(dataset) for dataset, winners in best.items() if len(winners) > 1]
    ours = [m for m in results.models if m not in papers]
    return Story(
        f"{'Of the paper’s models, the' if ours else 'The'} {model_style(first).title} network has "
        f"the lowest test error on {len(wins[first])} of {plural(len(best), 'dataset')}",
        f"Datasets on which a model has the lowest error: {listed(parts)}."
        + (f" A tie counts for both models: {listed(tied)}." if tied else "")
        + "".join(_of_ours(model, found) for model in ours),
    )


def _of_ours(model: str, found: dict[str, set[str]]) -> str:
    label = model_style(model).label
    better = [dataset_label(dataset) for dataset, winners in found.items() if model in winners]
    where = f"{len(better)} ({listed(better)})" if better else "none"
    return f" {label}, which we added, is as good or better on {where}."


def table_2(results: Results) -> Table:
    errors, styles = numbers.base(results), list(map(model_style, results.models))

    def cells(dataset: str) -> Iterator[Cell]:
        found = errors.get(dataset, {})
        best = best_models(found)
        for model in results.models:
            printed = results.paper.value("base", dataset, model)
            yield number(found.get(model), 3, printed, bold=model in best)
        yield text(_unit(results, dataset))

    return dataset_table(
        results,
        "table_2",
        "Table 2. Root mean squared error on the test rows. Bold: the lowest of its row, and what "
        "equals it in three decimals. LR and FS ignore the task.",
        (*(s.label + ("" if s.in_paper else "*") for s in styles), "Unit"),
        cells,
        notes=[
            f"* {style.label}, {style.title}: {NOT_IN_PAPER}. Where it has the lowest error, the "
            "best of the paper's models is bold, too."
            for style in styles
            if not style.in_paper
        ],
    )


def observed_predicted(results: Results) -> Drawing | Text:
    """A density rather than dots: some test parts have more than 100,000 rows."""
    trained, infos = results.found(train.STUDY, "lc"), results.infos()
    found = {
        results.label(d): (with_unit(info.target, info.unit), trained[d].observed_predicted)
        for d, info in infos.items()
        if d in trained
    }
    if not found:
        return missing("Predicted against observed needs results/train.")

    def paint(axes: Axes, item: tuple[str, SquareHistogram]) -> None:
        target, histogram = item
        low, high = histogram.low, histogram.high
        density = np.full((histogram.bins, histogram.bins), np.nan)
        for observed, predicted, count in histogram.cells:
            density[predicted, observed] = np.log10(count)
        axes.imshow(
            density, origin="lower", extent=(low, high, low, high), cmap=drawing.SEQUENTIAL,
            interpolation="nearest", aspect="equal", zorder=2, vmin=0, vmax=top,
        )  # fmt: skip
        axes.plot([low, high], [low, high], color=SOFT, linewidth=0.9, linestyle=":", zorder=3)
        axes.set(xlabel=drawing.axis_label(f"observed {target}"), ylabel="predicted")

    most = max(count for _, histogram in found.values() for *_, count in histogram.cells)
    top = float(np.log10(most)) or 1.0
    style = model_style("lc")
    return drawing.draw(
        "observed_predicted_lc",
        f"Predicted against observed values on the test rows, {style.title} ({style.label}) "
        "networks. On the dotted line a prediction is exact.",
        found,
        paint,
        size=(2.15, 2.15),
        ramp=drawing.colour_bar("Test rows in a cell, logarithmic", 1, most),
        on_white=True,
    )


def task_errors(results: Results) -> Drawing | Text:
    models = [model for model in results.models if model not in ("lr", "fs")]
    found: dict[str, tuple[str, dict[str, np.ndarray]]] = {}
    for dataset in results.datasets:
        errors = {model: _task_rmse(results, dataset, model) for model in models}
        values = {m: np.sort(list(by_task.values())) for m, by_task in errors.items() if by_task}
        if values:
            found[results.label(dataset)] = (_unit(results, dataset), values)
    if not found:
        return missing("Errors by task need results/train and results/linear.")

    def paint(axes: Axes, item: tuple[str, dict[str, np.ndarray]]) -> None:
        unit, values = item
        for model, ordered in values.items():
            style = model_style(model)
            share = (np.arange(len(ordered)) + 0.5) / len(ordered)
            axes.plot(ordered, 100 * share, color=style.colour, linestyle=_line(model))
        drawing.log_scale(axes.xaxis)
        axes.set_ylim(0, 100)
        axes.set(xlabel=with_unit("RMSE of a task", unit), ylabel="% of tasks below")

    return drawing.draw(
        "task_errors",
        "Test error task by task: the share of the tasks whose error is below the value on the "
        "axis. A line further left is better; a long tail to the right is a few tasks that fail.",
        found,
        paint,
        legend=[mark for m in models for mark in drawing.legend_of([m], _line(m), marks=False)],
    )


def _line(model: str) -> str:
    return "--" if model in LINEAR else "-"


def _unit(results: Results, dataset: str) -> str:
    info = results.info(dataset)
    return info.unit if info else ""


def worst_tasks(results: Results) -> Table:
    rows = []
    for dataset, trained in results.found(train.STUDY, "lc").items():
        errors, last_layer = trained.task_rmse, _task_rmse(results, dataset, "ll")
        info = results.info(dataset)
        for task in sorted(errors, key=lambda task: (-errors[task], task))[:WORST]:
            about = info.tasks.get(task) if info else None
            rows.append(
                [
                    name_cell(results, dataset),
                    Cell(task_name(dataset, task)),
                    number(about.train if about else None, 0),
                    number(errors[task], None),
                    number(errors[task] / trained.rmse, 2),
                    number(last_layer.get(task), None),
                ]
            )
    return Table(
        "worst_tasks",
        f"The {WORST} tasks of each dataset on which the LC network does worst.",
        ("Dataset", "Task", "Training rows", "LC's error", "Relative to all tasks", "LL's error"),
        rows,
    )


def _task_rmse(results: Results, dataset: str, model: str) -> dict[str, float]:
    outcome = numbers.scored(results, dataset, model)
    return dict(outcome.task_rmse) if outcome else {}
