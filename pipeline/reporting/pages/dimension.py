"""Task dimension: the error against the number of task parameters, and Sine and line's own."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator

from pipeline.reporting.blocks import Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.drawing import (
    SEQUENTIAL,
    finish,
    legend_above,
    log_ticks,
    panels,
    plain,
    reference_line,
)
from pipeline.reporting.labels import BLUE, MODELS, ORANGE
from pipeline.reporting.numbers import from_results
from pipeline.reporting.results import Results

KINDS = {"sine": (BLUE, "o"), "line": (ORANGE, "s")}
# the functions' own parameters: name -> (kind of task, how it is written)
TRUE_PARAMETERS = {
    "slope": ("line", "line: slope $a_j$"),
    "intercept": ("line", "line: intercept $b_j$"),
    "amplitude": ("sine", "sine: amplitude $c_j$"),
    "phase": ("sine", "sine: phase $d_j$"),
}


def errors_table(results: Results) -> Table:
    found = from_results(results).dimension
    dimensions, models = results.settings.profile.dimensions, results.settings.params.varied
    rows = [
        [
            name_cell(results, dataset),
            *(
                number(found.get(dataset, {}).get(model, {}).get(dimension), 2)
                for model in models
                for dimension in dimensions
            ),
        ]
        for dataset in results.datasets
    ]
    return Table(
        "errors_by_dimension",
        "Test error with so many task parameters, relative to the LC network of Table 2. The paper "
        "shows these numbers as a figure only.",
        ("Dataset", *(f"{MODELS[model].label} {d}" for model in models for d in dimensions)),
        rows,
        results.footnotes(),
    )


def errors_figure(results: Results) -> Drawing | Text:
    found = from_results(results).dimension
    if not found:
        return missing("The error by task dimension needs results/dimension and results/train.")
    figure, axes = panels(len(found))
    for axis, (dataset, models) in zip(axes, found.items(), strict=True):
        for model, errors in models.items():
            style = MODELS[model]
            axis.plot(
                list(errors),
                list(errors.values()),
                marker=style.marker,
                color=style.colour,
                label=f"{style.label}, {style.title}",
            )
        reference_line(axis)
        ticks = sorted({dimension for errors in models.values() for dimension in errors})
        log_ticks(axis, ticks, [str(tick) for tick in ticks])
        axis.set_title(plain(results.label(dataset)))
    legend_above(figure, max(axes, key=lambda axis: len(axis.lines)))
    figure.supxlabel("task parameters", fontsize=8.5)
    figure.supylabel("error relative to LC's base", fontsize=8.5)
    return finish(
        figure,
        "errors_by_dimension_figure",
        "Test error as a function of the number of task parameters, relative to the LC network of "
        "Table 2 (the dotted line at one). LC in blue circles, LL in green diamonds.",
    )


def sine_and_line(results: Results) -> Drawing | Text:
    tasks, one, two = _sine_and_line(results)
    if not (tasks and one and two):
        return missing("Sine and line's task parameters need that dataset in the dimension study.")
    figure, (left, right) = panels(2, width=4.2, height=3.1)
    edges = np.histogram_bin_edges([one[task][0] for task in one], bins=24).tolist()
    for kind, (colour, marker) in KINDS.items():
        names = [task for task in one if tasks.get(task, {}).get("kind") == kind]
        left.hist([one[n][0] for n in names], bins=edges, color=colour, alpha=0.65)
        right.scatter(
            [two[n][0] for n in names],
            [two[n][1] for n in names],
            color=colour,
            marker=marker,
            s=22,
            alpha=0.8,
            linewidths=0,
            label=kind,
        )
    left.set(title="one task parameter", xlabel=r"$\beta$", ylabel="tasks")
    right.set(title="two task parameters", xlabel=r"$\beta_1$", ylabel=r"$\beta_2$")
    left.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    legend_above(figure, right)
    return finish(
        figure,
        "sine_and_line",
        "Task parameters of the Sine and line data, by the kind of task: LC networks with one "
        "parameter for each task (left, a histogram) and with two (right).",
    )


def sine_and_line_truth(results: Results) -> Drawing | Text:
    tasks, _, two = _sine_and_line(results)
    if not (tasks and two):
        return missing("The functions' own parameters need Sine and line in the dimension study.")
    figure, axes = panels(4, columns=4, width=2.6, height=2.5)
    everything = np.array(list(two.values()))
    for axis, (parameter, (kind, label)) in zip(axes, TRUE_PARAMETERS.items(), strict=True):
        names = [task for task in two if tasks.get(task, {}).get("kind") == kind]
        axis.scatter(everything[:, 0], everything[:, 1], color="#dddddd", s=10, linewidths=0)
        dots = axis.scatter(
            [two[n][0] for n in names],
            [two[n][1] for n in names],
            c=[tasks[n][parameter] for n in names],
            cmap=SEQUENTIAL,
            marker=KINDS[kind][1],
            s=24,
            linewidths=0,
        )
        figure.colorbar(dots, ax=axis, location="bottom", shrink=0.85, aspect=25)
        axis.set_title(label)
    return finish(
        figure,
        "sine_and_line_truth",
        "The two-dimensional task parameters of the figure above, coloured by the "
        "parameters of the functions that made the data. Tasks of the other kind are grey; the "
        "phase is periodic.",
    )


Betas = dict[str, list[float]]


def _sine_and_line(results: Results) -> tuple[dict[str, dict[str, float]], Betas, Betas]:
    if "sine_and_line" not in results.datasets:
        return {}, {}, {}
    info = results.info("sine_and_line")
    result = results.get("dimension", "sine_and_line", "lc") or {"dimensions": {}}
    one, two = (
        result["dimensions"].get(dimension, {}).get("task_parameters", {}) for dimension in "12"
    )
    return (info or {"tasks": {}})["tasks"], one, two
