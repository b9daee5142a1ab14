"""Search and training: Table 6, the chosen hyperparameters, the search's path, the curves."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.drawing import finish, legend_above, log_scale, panels, plain
from pipeline.reporting.labels import HYPERPARAMETERS, MODELS
from pipeline.reporting.results import Result, Results


def table_6(results: Results) -> Table:
    settings = results.settings
    rows = []
    for name, label in HYPERPARAMETERS.items():
        low, high = getattr(settings.params.space, name)
        if name == "width":
            high = max(low, min(high, settings.profile.search.width_max))
        low_cell, high_cell = (
            number(value, None, results.paper.value("space", name, column))
            for value, column in ((low, "low"), (high, "high"))
        )
        rows.append([Cell(label), low_cell, high_cell, Cell(f"space.{name}")])
    return Table(
        "table_6",
        "Table 6. The search space. The number of task parameters is also limited to the number of "
        f"tasks; the profile {settings.params.profile} limits the layer size to "
        f"{settings.profile.search.width_max}.",
        ("Name", "Min", "Max", "Key"),
        rows,
    )


def chosen(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        for model in results.settings.params.models:
            tuned = results.get("tune", dataset, model)
            if tuned is None:
                continue
            best, trials = tuned["best"], tuned["evaluations"]
            uses_tasks = model in ("lc", "ll")
            rows.append(
                [
                    name_cell(results, dataset),
                    Cell(MODELS[model].label),
                    number(best["peak_rate"], None),
                    number(best["width"], 0),
                    number(best["lambda_shared"], None),
                    number(best["lambda_task"] if uses_tasks else None, None),
                    number(best["task_dim"] if uses_tasks else None, 0),
                    number(tuned["score"], None),
                    number(len(trials), 0),
                    number(sum(trial["diverged"] for trial in trials), 0),
                ]
            )
    return Table(
        "chosen",
        "The hyperparameters that each search chose, which the paper does not print.",
        (
            "Dataset",
            "Model",
            "Peak rate",
            "Width",
            "λα",
            "λβ",
            "Task parameters",
            "Validation error",
            "Trials",
            "Diverged",
        ),
        rows,
        ("The validation error is relative to the standard deviation.", *results.footnotes()),
    )


def path(results: Results) -> Drawing | Text:
    found = _by_dataset(results, "tune")
    if not found:
        return missing("The search's path needs results/tune.")
    figure, axes = panels(len(found))
    for axis, (dataset, models) in zip(axes, found.items(), strict=True):
        for model, tuned in models.items():
            style = MODELS[model]
            scores = [trial["score"] for trial in tuned["evaluations"]]
            trials = range(1, len(scores) + 1)
            axis.step(
                trials,
                np.minimum.accumulate(scores),
                where="post",
                color=style.colour,
                label=style.label,
            )
            kept = [
                (t, s)
                for t, s, e in zip(trials, scores, tuned["evaluations"], strict=True)
                if not e["diverged"]
            ]
            lost = [
                (t, s)
                for t, s, e in zip(trials, scores, tuned["evaluations"], strict=True)
                if e["diverged"]
            ]
            for points, marker in ((kept, "."), (lost, "x")):
                if points:
                    axis.plot(
                        *zip(*points, strict=True),
                        marker,
                        color=style.colour,
                        alpha=0.45,
                        markersize=4,
                    )
        log_scale(axis.yaxis)
        axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axis.set_title(plain(results.label(dataset)))
    legend_above(figure, max(axes, key=lambda axis: len(axis.lines)))
    figure.supxlabel("trial", fontsize=8.5)
    figure.supylabel("validation error", fontsize=8.5)
    return finish(
        figure,
        "search_path",
        "The search's path: every trial as a dot (a diverged one as a cross) and the best so far "
        "as a line. Errors on the validation rows, relative to the standard deviation.",
    )


def training_curves(results: Results) -> Drawing | Text:
    found = _by_dataset(results, "train")
    if not found:
        return missing("The training curves need results/train.")
    columns = min(5, len(found))
    height = 2 * -(-len(found) // columns)
    figure, axes = panels(height * columns, columns=columns, height=1.55)
    for index, (dataset, models) in enumerate(found.items()):
        upper = axes[2 * columns * (index // columns) + index % columns]
        lower = axes[2 * columns * (index // columns) + columns + index % columns]
        for model, trained in models.items():
            style, curve = MODELS[model], trained["curve"]
            upper.plot(
                curve["epoch"], curve["loss"], color=style.colour, label=style.label, linewidth=1.1
            )
            lower.plot(curve["epoch"], curve["rate"], color=style.colour, linewidth=1.1)
        for axis in (upper, lower):
            log_scale(axis.yaxis)
        upper.tick_params(labelbottom=False)
        lower.sharex(upper)
        upper.set_title(plain(results.label(dataset)))
        if index % columns == 0:
            upper.set_ylabel("loss")
            lower.set_ylabel("rate")
    for axis in axes:
        if not axis.lines:
            axis.remove()
    legend_above(figure, axes[0])
    figure.supxlabel("epoch", fontsize=8.5)
    return finish(
        figure,
        "training_curves",
        "Training of the networks of Table 2: the loss (above; mean squared error in units of the "
        "target's variance) and the learning rate (below), both logarithmic. The rate rises during "
        "the warm-up and halves whenever the loss has converged.",
    )


def _by_dataset(results: Results, study: str) -> dict[str, dict[str, Result]]:
    found: dict[str, dict[str, Result]] = {}
    for dataset in results.datasets:
        for model in results.settings.params.models:
            result = results.get(study, dataset, model)
            if result:
                found.setdefault(dataset, {})[model] = result
    return found
