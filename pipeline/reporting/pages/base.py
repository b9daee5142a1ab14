"""Base performance: Table 2, predictions against observations, errors task by task."""

from __future__ import annotations

import numpy as np

from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import lowest, name_cell, number
from pipeline.reporting.drawing import SEQUENTIAL, finish, legend_above, log_scale, panels, plain
from pipeline.reporting.labels import BLACK, MODELS, dataset_label
from pipeline.reporting.numbers import from_results
from pipeline.reporting.results import Results

WORST = 3
MULTI_TASK = ("lc", "cs", "ll", "lme")


def table_2(results: Results) -> Table:
    base = from_results(results).base
    rows = []
    for dataset in results.datasets:
        found = base.get(dataset, {})
        best = lowest(found)
        rows.append(
            [
                name_cell(results, dataset),
                *(
                    number(
                        found.get(model),
                        3,
                        results.paper.value("base", dataset, model),
                        bold=model in best,
                    )
                    for model in MODELS
                ),
            ]
        )
    return Table(
        "table_2",
        "Table 2. Root mean squared error on the test rows, in the target's unit; the best of each "
        "row in bold. LC, CS, LL and LME are multi-task models, LR and FS ignore the task.",
        ("Dataset", *(style.label for style in MODELS.values())),
        rows,
        results.footnotes(),
    )


def observed_predicted(results: Results, model: str = "lc") -> Drawing | Text:
    """A density rather than dots: some test parts have more than 100,000 rows."""
    found = []
    for dataset in results.datasets:
        trained = results.get("train", dataset, model)
        if trained and "observed_predicted" in trained:
            found.append((dataset, trained["observed_predicted"]))
    if not found:
        return missing("Predicted against observed needs results/train.")
    figure, axes = panels(len(found), height=2.1)
    for axis, (dataset, histogram) in zip(axes, found, strict=True):
        bins, low, high = histogram["bins"], histogram["low"], histogram["high"]
        density = np.full((bins, bins), np.nan)
        for observed, predicted, count in histogram["cells"]:
            density[predicted, observed] = np.log10(count)
        axis.imshow(
            density,
            origin="lower",
            extent=(low, high, low, high),
            cmap=SEQUENTIAL + "_r",
            interpolation="nearest",
            aspect="equal",
            zorder=2,
        )
        axis.plot([low, high], [low, high], color=BLACK, linewidth=0.8, linestyle=":", zorder=3)
        axis.set_title(plain(results.label(dataset)))
    figure.supxlabel("observed", fontsize=8.5)
    figure.supylabel("predicted", fontsize=8.5)
    return finish(
        figure,
        f"observed_predicted_{model}",
        f"Predicted against observed on the test rows, {MODELS[model].label} networks. Darker: "
        "more rows, on a logarithmic scale. On the dotted line a prediction is exact.",
    )


def task_errors(results: Results) -> Drawing | Text:
    found: list[tuple[str, dict[str, np.ndarray]]] = []
    for dataset in results.datasets:
        errors = {model: _task_rmse(results, dataset, model) for model in MULTI_TASK}
        values = {m: np.sort(list(found.values())) for m, found in errors.items() if found}
        if values:
            found.append((dataset, values))
    if not found:
        return missing("Errors by task need results/train and results/linear.")
    figure, axes = panels(len(found))
    for axis, (dataset, values) in zip(axes, found, strict=True):
        for model, sorted_errors in values.items():
            style = MODELS[model]
            share = (np.arange(len(sorted_errors)) + 0.5) / len(sorted_errors)
            axis.plot(sorted_errors, share, color=style.colour, label=style.label)
        log_scale(axis.xaxis)
        axis.set_ylim(0, 1)
        axis.set_title(plain(results.label(dataset)))
    legend_above(figure, max(axes, key=lambda axis: len(axis.lines)))
    figure.supxlabel("RMSE of a task", fontsize=8.5)
    figure.supylabel("share of tasks below", fontsize=8.5)
    return finish(
        figure,
        "task_errors",
        "Test error task by task: the share of tasks whose error is below the value on the axis. "
        "A line further left is better; a long tail to the right is a few tasks that fail.",
    )


def worst_tasks(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        errors = _task_rmse(results, dataset, "lc")
        last_layer = _task_rmse(results, dataset, "ll")
        overall = (results.get("train", dataset, "lc") or {}).get("rmse")
        info = results.info(dataset)
        for task in sorted(errors, key=lambda task: (-errors[task], task))[:WORST]:
            trained_on = info["tasks"].get(task, {}).get("train") if info else None
            rows.append(
                [
                    name_cell(results, dataset),
                    Cell(task),
                    number(trained_on, 0),
                    number(errors[task], None),
                    number(errors[task] / overall if overall else None, 2),
                    number(last_layer.get(task), None),
                ]
            )
    return Table(
        "worst_tasks",
        f"The {WORST} tasks of each dataset on which the LC network does worst.",
        (
            "Dataset",
            "Task",
            "Training rows",
            "LC",
            "relative to all tasks",
            "LL",
        ),
        rows,
        results.footnotes(),
    )


def _task_rmse(results: Results, dataset: str, model: str) -> dict[str, float]:
    if model in ("lr", "lme"):
        result = (results.get("linear", dataset, "linear") or {}).get(model)
    else:
        result = results.get("train", dataset, model)
    return dict(result["task_rmse"]) if result else {}


def summary(results: Results) -> Text:
    base = from_results(results).base
    best = {dataset: min(found, key=lambda model: found[model]) for dataset, found in base.items()}
    counts = {model: sum(winner == model for winner in best.values()) for model in MODELS}
    wins = ", ".join(f"{MODELS[model].label} on {n}" for model, n in counts.items() if n)
    names = ", ".join(dataset_label(dataset) for dataset in results.datasets if dataset not in base)
    sentence = f"Of {len(base)} datasets with results, the lowest error is that of {wins}."
    return Text(
        (
            "All models are tuned, trained on all training rows and compared on the test rows.",
            sentence if base else "No dataset has results yet.",
            *((f"Not run: {names}.",) if names else ()),
        )
    )
