"""Search and training: Table 6, the chosen hyperparameters, the search's path, the curves."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from learned_context.networks.registry import ARCHITECTURES
from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.drawing import draw, legend_of, log_scale
from pipeline.reporting.formatting import listed, percent, plural, short, show
from pipeline.reporting.labels import HYPERPARAMETERS, dataset_label, model_style
from pipeline.reporting.numbers import search_range
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.studies import train, tune
from pipeline.studies.framework.plans import width_range
from pipeline.studies.train import TrainResult
from pipeline.studies.tune import TuneResult


def story(results: Results) -> Story:
    tuned = results.every(tune.STUDY, results.networks)
    if not tuned:
        return Story("Search and training", NOTHING)
    trials = [trial for result in tuned.values() for trial in result.evaluations]
    diverged = sum(trial.diverged for trial in trials)
    low, high = width_range(results.settings)
    widest = [
        place for place, result in tuned.items() if result.best.width > low + 0.95 * (high - low)
    ]
    paper = results.paper.value("space", "width", "high")
    limit = (
        f" The profile limits the width to {high}; the paper's range ends at {paper:.0f}."
        if paper is not None and high < paper
        else ""
    )
    at_limit = listed(sorted({dataset_label(d) for d, _ in widest}))
    return Story(
        f"{len(widest)} of {plural(len(tuned), 'search', 'searches')} chose nearly the largest "
        "width allowed",
        f"Each search had {results.settings.profile.search.evaluations} trials. "
        f"{percent(diverged / len(trials))} of all {show(len(trials), 0)} trials diverged at every "
        f"learning rate that was tried. {plural(len(widest), 'search', 'searches')} chose a width "
        "within 5% of the upper limit"
        f"{f' ({at_limit})' if widest else ''}.{limit}",
    )


def table_6(results: Results) -> Table:
    settings = results.settings
    rows = []
    for name, label in HYPERPARAMETERS.items():
        row = [Cell(label)]
        for value, column in zip(search_range(settings, name), ("low", "high"), strict=True):
            paper = results.paper.value("space", name, column)
            row.append(Cell(short(value), value, "" if paper is None else short(paper)))
        rows.append([*row, Cell(f"space.{name}")])
    return Table(
        "table_6",
        "Table 6. The search space. The number of task parameters is also limited to the number of "
        f"tasks; the profile {settings.params.profile} limits the layer size to "
        f"{width_range(settings)[1]}.",
        ("Name", "Min", "Max", "Key in params.yaml"),
        rows,
    )


def chosen(results: Results) -> Table:
    def of_tasks(tuned: TuneResult, value: float) -> float | None:
        return value if ARCHITECTURES[str(tuned.model)].has_task_parameters else None

    return Table.of(
        "chosen",
        "The hyperparameters that each search chose, which the paper does not print. The "
        "validation error is relative to the target's standard deviation.",
        results.every(tune.STUDY, results.networks).values(),
        {
            "Dataset": lambda tuned: name_cell(results, tuned.dataset),
            "Model": lambda tuned: model_style(str(tuned.model)).label,
            "Peak rate": lambda tuned: number(tuned.best.peak_rate, None),
            "Width": lambda tuned: number(tuned.best.width, 0),
            "λα": lambda tuned: number(tuned.best.lambda_shared, None),
            "λβ": lambda tuned: number(of_tasks(tuned, tuned.best.lambda_task), None),
            "Task parameters": lambda tuned: number(of_tasks(tuned, tuned.best.task_dim), 0),
            "Validation error": lambda tuned: number(tuned.score, 3),
            "Trials": lambda tuned: number(len(tuned.evaluations), 0),
            "Diverged": lambda tuned: number(sum(one.diverged for one in tuned.evaluations), 0),
        },
        sortable=True,
    )


def path(results: Results) -> Drawing | Text:
    found: dict[str, dict[str, TuneResult]] = {}
    for (dataset, model), tuned in results.every(tune.STUDY, results.networks).items():
        found.setdefault(results.label(dataset), {})[model] = tuned
    if not found:
        return missing("The search's path needs results/tune.")

    def paint(axes: Axes, models: dict[str, TuneResult]) -> None:
        for model, tuned in models.items():
            colour = model_style(model).colour
            trials = dict(enumerate(tuned.evaluations, start=1))
            lowest = np.minimum.accumulate([trial.score for trial in trials.values()])
            axes.step(list(trials), lowest, where="post", color=colour)
            for marker, diverged in ((".", False), ("x", True)):
                places = [place for place, trial in trials.items() if trial.diverged == diverged]
                if places:
                    scores = [trials[place].score for place in places]
                    axes.plot(places, scores, marker, color=colour, alpha=0.45, markersize=4)
        log_scale(axes.yaxis)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set(xlabel="trial", ylabel="validation error / std")

    return draw(
        "search_path",
        "The search's path: every trial as a dot (a diverged one as a cross) and the best so far "
        "as a line. Errors on the validation rows, relative to the target's standard deviation.",
        found,
        paint,
        legend=legend_of(results.networks, marks=False),
    )


def training_curves(results: Results) -> Drawing | Text:
    found: dict[str, tuple[str, dict[str, TrainResult]]] = {}
    for what in ("loss", "rate"):
        for model in results.networks:
            for dataset, result in results.found(train.STUDY, model).items():
                title = f"{results.label(dataset)}, {what}"
                found.setdefault(title, (what, {}))[1][model] = result
    if not found:
        return missing("The training curves need results/train.")

    def paint(axes: Axes, item: tuple[str, dict[str, TrainResult]]) -> None:
        what, trained = item
        for model, result in trained.items():
            curve = result.curve
            values = curve.loss if what == "loss" else curve.rate
            axes.plot(curve.epoch, values, color=model_style(model).colour, linewidth=1.1)
        log_scale(axes.yaxis)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set(xlabel="epoch", ylabel="loss / variance" if what == "loss" else "learning rate")

    return draw(
        "training_curves",
        "Training of the networks of Table 2: the loss (mean squared error in units of the "
        "target's variance), then the learning rate, both logarithmic. The rate rises during the "
        "warm-up and halves whenever the loss has converged.",
        found,
        paint,
        legend=legend_of(results.networks, marks=False),
    )
