"""Task dimension: the error against the number of task parameters, and Sine and line's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pipeline.reporting import drawing, numbers
from pipeline.reporting.blocks import Cell, Drawing, Mark, Table, Text, missing
from pipeline.reporting.cells import dataset_table, number
from pipeline.reporting.formatting import plural
from pipeline.reporting.labels import BLUE, ORANGE, model_style
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.reporting.svg import GRID
from pipeline.studies import dimension
from pipeline.tables.description import TaskDescription

KINDS = {"sine": (BLUE, "o"), "line": (ORANGE, "s")}
# the functions' own parameters: name -> (kind of task, how it is written)
TRUE_PARAMETERS = {
    "slope": ("line", "Lines: slope"),
    "intercept": ("line", "Lines: intercept"),
    "amplitude": ("sine", "Sines: amplitude"),
    "phase": ("sine", "Sines: phase (rad)"),
}
NEAR_BEST = 1.05
Curves = dict[str, dict[int, float]]
Betas = dict[str, list[float]]


def needed(results: Results) -> dict[str, dict[str, int]]:
    """dataset -> model -> the fewest task parameters within 5% of the better network's best."""
    both, *_ = numbers.lc_and_ll(numbers.dimension(results))
    found: dict[str, dict[str, int]] = {}
    for dataset, models in both.items():
        limit = NEAR_BEST * min(min(models[m].values()) for m in numbers.WITH_DIMENSION)
        most = max(max(models[m]) for m in numbers.WITH_DIMENSION)
        found[dataset] = {
            m: min((d for d, error in models[m].items() if error <= limit), default=2 * most)
            for m in numbers.WITH_DIMENSION
        }
    return found


def story(results: Results) -> Story:
    both, fewest, better = numbers.lc_and_ll(numbers.dimension(results))
    if not both:
        return Story("Task dimension", NOTHING)
    count = needed(results)
    fewer = [d for d, row in count.items() if row["lc"] < row["ll"]]
    more = [d for d, row in count.items() if row["lc"] > row["ll"]]
    parameters = plural(min(fewest.values()), "task parameter")
    return Story(
        f"With {parameters}, learned context beats last layer on {len(better)} of "
        f"{plural(len(both), 'dataset')}",
        f"To come within 5% of the better network's lowest error, learned context needs fewer task "
        f"parameters than last layer on {plural(len(fewer), 'dataset')}, "
        + (f"as many on {same}, " if (same := len(count) - len(fewer) - len(more)) else "")
        + f"and more on {len(more)}.",
    )


def errors_table(results: Results) -> Table:
    found = numbers.dimension(results)
    dimensions = results.settings.profile.dimensions
    models = results.taking_part(dimension.STUDY)

    def cells(dataset: str) -> list[Cell]:
        curves = [found.get(dataset, {}).get(model, {}) for model in models]
        return [number(curve.get(count), 2) for curve in curves for count in dimensions]

    return dataset_table(
        results,
        "errors_by_dimension",
        "Test error by the number of task parameters, relative to the LC network of Table 2. The "
        "paper shows these numbers as a figure only.",
        [str(count) for count in dimensions],
        cells,
        groups=[model_style(model).label for model in models],
    )


def errors_figure(results: Results) -> Drawing | Text:
    found = {results.label(d): curves for d, curves in numbers.dimension(results).items()}
    if not found:
        return missing("The error by task dimension needs results/dimension and results/train.")

    def paint(axes: Axes, models: Curves) -> None:
        drawing.plot_models(axes, models)
        drawing.reference_line(axes)
        ticks = sorted({count for errors in models.values() for count in errors})
        drawing.log_ticks(axes, ticks, [str(tick) for tick in ticks])
        axes.set(xlabel="task parameters", ylabel="error / LC's in Table 2")
        drawing.label_models(axes, models)

    return drawing.draw(
        "errors_by_dimension_figure",
        "Test error as a function of the number of task parameters, relative to the LC network of "
        "Table 2 (the dotted line at one).",
        found,
        paint,
        legend=drawing.legend_of(results.taking_part(dimension.STUDY)),
        paper=results.paper.figure("dimension"),
        compared="the same quantities, axes and colours; the paper prints no numbers, so only the "
        "shapes can be compared.",
    )


def sine_and_line(results: Results) -> Drawing | Text:
    tasks, one, two = _sine_and_line(results)
    if not (tasks and one and two):
        return missing("Sine and line's task parameters need that dataset in the dimension study.")

    def paint(axes: Axes, betas: Betas) -> None:
        scalar = len(next(iter(betas.values()))) == 1
        edges = np.histogram_bin_edges([beta[0] for beta in betas.values()], bins=24).tolist()
        for kind, (colour, marker) in KINDS.items():
            shown = [betas[task] for task in betas if _kind(tasks, task) == kind]
            if scalar:
                axes.hist([beta[0] for beta in shown], bins=edges, color=colour, alpha=0.65)
            else:
                x, y = np.array(shown).reshape(-1, 2).T
                axes.scatter(x, y, color=colour, marker=marker, s=22, alpha=0.8, linewidths=0)
        if scalar:
            axes.set(xlabel="task parameter β", ylabel="tasks")
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        else:
            axes.set(xlabel="task parameter β₁", ylabel="task parameter β₂")

    return drawing.draw(
        "sine_and_line",
        "Task parameters of the Sine and line data by the kind of task, of LC networks with one "
        "parameter for each task (a histogram) and with two.",
        {"One task parameter": one, "Two task parameters": two},
        paint,
        size=(3.6, 2.7),
        legend=[Mark(kind, colour, marker) for kind, (colour, marker) in KINDS.items()],
        paper=results.paper.figure("sine_and_line"),
        compared="the same picture: lines and sines separate more easily with two parameters. Sign "
        "and rotation of β are arbitrary, so clusters may be mirrored.",
    )


def sine_and_line_truth(results: Results) -> Drawing | Text:
    tasks, _, two = _sine_and_line(results)
    if not (tasks and two):
        return missing("The functions' own parameters need Sine and line in the dimension study.")

    def paint(axes: Axes, parameter: str) -> None:
        kind, _ = TRUE_PARAMETERS[parameter]
        names = [task for task in two if _kind(tasks, task) == kind]
        values = [getattr(tasks[name], parameter) for name in names]
        x, y = np.array(list(two.values())).T
        axes.scatter(x, y, color=GRID, s=10, linewidths=0)
        x, y = np.array([two[name] for name in names]).reshape(-1, 2).T
        style: Any = {"cmap": drawing.SEQUENTIAL, "marker": KINDS[kind][1], "s": 24}
        dots = axes.scatter(x, y, c=values, linewidths=0, **style)
        figure = axes.get_figure()
        assert figure is not None
        bar = figure.colorbar(dots, ax=axes, location="bottom", shrink=0.9, aspect=25)
        bar.ax.xaxis.set_major_locator(MaxNLocator(4))
        axes.set(xlabel="β₁", ylabel="β₂")

    return drawing.draw(
        "sine_and_line_truth",
        "The two task parameters of the figure above, coloured by the parameters of the functions "
        "that made the data. Tasks of the other kind are pale. The phase is periodic, so its "
        "largest and smallest values meet.",
        {label: name for name, (_, label) in TRUE_PARAMETERS.items()},
        paint,
        size=(2.15, 2.35),
        on_white=True,
        paper=results.paper.figure("sine_and_line_truth"),
        compared="the same four panels; as in the paper, the network has ordered the tasks by "
        "parameters that it was never given.",
    )


def _kind(tasks: dict[str, TaskDescription], task: str) -> str | None:
    return tasks[task].kind if task in tasks else None


def _sine_and_line(results: Results) -> tuple[dict[str, TaskDescription], Betas, Betas]:
    info = results.info("sine_and_line")
    one, two = (numbers.task_parameters(results, "sine_and_line", count) for count in (1, 2))
    return dict(info.tasks) if info else {}, one, two
