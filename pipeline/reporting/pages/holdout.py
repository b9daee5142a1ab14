"""Hold-out tasks: Table 5 by both estimators, errors against the share of data, likelihoods."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
from matplotlib.axes import Axes

from pipeline.reporting import numbers
from pipeline.reporting.blocks import DASH, Cell, Drawing, Mark, Table, Text, missing
from pipeline.reporting.cells import dataset_table, lowest, name_cell, number
from pipeline.reporting.drawing import draw, log_scale, log_ticks, reference_line
from pipeline.reporting.formatting import listed, percent, plural, show
from pipeline.reporting.labels import BLACK, BLUE, DIMENSION_COLOURS, ESTIMATORS, GREY, ORANGE
from pipeline.reporting.numbers import ALL, GOOD_ENOUGH
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.studies import adapt, illustrate
from pipeline.studies.adapt import AdaptedTasks

LINES = {"gauss_newton": "-", "lipo": ":"}
MARKERS = {"gauss_newton": "o", "lipo": "x"}
ByShare = dict[str, dict[int, dict[float, float]]]


def largest_over_smallest(results: Results, estimator: str) -> float | None:
    """The mean over datasets of the error with most task parameters / with fewest."""
    rows = numbers.several_dimensions(numbers.holdout(results), estimator)
    return numbers.largest_over_smallest(rows) if rows else None


def story(results: Results) -> Story:
    best = numbers.best_errors(numbers.holdout(results), "gauss_newton")
    if not best:
        return Story("Hold-out tasks", NOTHING)
    near = [d for d, ratio in best.items() if ratio < GOOD_ENOUGH]
    answer = (
        f"On {len(near)} of {plural(len(best), 'dataset')} the error of new tasks is within "
        f"{percent(GOOD_ENOUGH - 1)} of that of a network trained with all tasks."
    )
    gauss, lipo = (largest_over_smallest(results, name) for name in ("gauss_newton", "lipo"))
    if gauss and lipo:
        answer += (
            f" From the fewest to the most task parameters, the error changes on average by a "
            f"factor of {show(lipo, 2)} with LIPO, the paper's optimiser, and of "
            f"{show(gauss, 2)} with Gauss-Newton on the same objective and networks."
        )
    return Story(
        f"A frozen network learns new tasks on {len(near)} of {plural(len(best), 'dataset')}",
        answer,
    )


def table_5(results: Results) -> Table:
    dimensions = [str(count) for count in results.settings.profile.holdout.dimensions]
    found = numbers.holdout(results)
    every = {estimator: numbers.on_all_rows(found, estimator) for estimator in ESTIMATORS}

    def cells(dataset: str) -> Iterator[Cell]:
        for estimator, rows in every.items():
            errors = {str(count): error for count, error in rows.get(dataset, {}).items()}
            best = lowest(errors, 2)
            for column in dimensions:
                printed = results.paper.value("holdout", dataset, column)
                # The paper's estimator is LIPO: its numbers belong to ours by LIPO.
                paper = printed if estimator == "lipo" else None
                yield number(errors.get(column), 2, paper, bold=column in best)

    return dataset_table(
        results,
        "table_5",
        "Table 5. Test error of hold-out tasks fitted on all their training rows: the mean over "
        "the three groups, relative to the LC network of Table 2, by the number of task "
        "parameters. Bold: the lowest of each estimator.",
        dimensions,
        cells,
        groups=[f"{label}, task parameters" for label in ESTIMATORS.values()],
    )


def errors_by_share(results: Results) -> Drawing | Text:
    found = numbers.holdout(results)
    items: dict[str, ByShare] = {}
    for dataset in results.datasets:
        by_estimator = {e: found[e][dataset] for e in ESTIMATORS if dataset in found.get(e, {})}
        if by_estimator:
            items[results.label(dataset)] = by_estimator
    if not items:
        return missing("The hold-out errors need results/adapt and results/train.")

    def paint(axes: Axes, by_estimator: ByShare) -> None:
        shares: set[float] = set()
        for estimator, by_dimension in by_estimator.items():
            for count, errors in by_dimension.items():
                shares |= set(errors)
                axes.plot(
                    list(errors), list(errors.values()), MARKERS[estimator] + LINES[estimator],
                    markersize=3.5, color=DIMENSION_COLOURS.get(count, GREY),
                )  # fmt: skip
        reference_line(axes)
        ticks = sorted(shares)
        labels = [f"{s * 100:g}" if s not in (0.05, 0.5, 0.75) else "" for s in ticks]
        log_ticks(axes, ticks, labels)
        log_scale(axes.yaxis)
        axes.set(xlabel="% of the task's rows", ylabel="error / LC's in Table 2")

    dimensions = sorted({d for by in items.values() for rows in by.values() for d in rows})
    lipo_shares = sorted(results.settings.profile.holdout.lipo.shares)
    return draw(
        "errors_by_share",
        "Test error of hold-out tasks against the share of the task's training rows that they are "
        "fitted on, relative to the LC network of Table 2 (the dotted line at one).",
        items,
        paint,
        legend=[
            Mark(f"{label}, {plural(d, 'task parameter')}", DIMENSION_COLOURS.get(d, GREY),
                 MARKERS[name], LINES[name])
            for name, label in ESTIMATORS.items()
            for d in dimensions
            if any(d in by.get(name, {}) for by in items.values())
        ],
        paper=results.paper.figure("holdout"),
        compared="the same experiment. The paper has LIPO only, at every share; here LIPO was run "
        f"at {listed([percent(s) for s in lipo_shares])} of the rows, and Gauss-Newton, which is "
        "ours, at every share.",
    )  # fmt: skip


def optimisers(results: Results) -> Table:
    """The same objective by two optimisers: which one finds the lower value?"""
    rows, base = [], numbers.base(results)
    by_lipo = numbers.on_all_rows(numbers.holdout(results), "lipo")
    for dataset, adapted in results.found(adapt.STUDY, "lc").items():
        for dimension in results.settings.profile.holdout.dimensions:
            pairs = [
                (fit.lipo, fit.gauss_newton)
                for fit in adapted.fits
                if fit.task_dim == dimension and fit.share == ALL and fit.lipo
            ]
            if pairs:
                own = base.get(dataset, {}).get("lc")
                groups = [show(lipo.rmse / own, 2) for lipo, _ in pairs] if own else []
                ours = by_lipo.get(dataset, {}).get(dimension)
                printed = _printed_error(results, dataset, dimension)
                rows.append(
                    [
                        name_cell(results, dataset),
                        number(dimension, 0),
                        *_comparison(pairs),
                        Cell(", ".join(groups) or DASH.text),
                        number(ours * own / printed, 2) if ours and own and printed else DASH,
                    ]
                )
    return Table(
        "optimisers",
        "LIPO, the paper's optimiser of the hold-out objective, and Gauss-Newton from several "
        "starts, on all training rows. A positive difference means that LIPO stopped above the "
        "optimum: the error is then due to the optimiser, not to the task dimension. Differences "
        "below a thousandth of the objective are shown as 0. Last, by LIPO: the error of every "
        "group of tasks that was held out together, relative to the LC network of Table 2, and the "
        "mean error itself relative to the paper's.",
        (
            "Dataset",
            "Task parameters",
            "Tasks",
            "Median objective, LIPO",
            "Median difference",
            "Tasks where LIPO is higher",
            "Error, LIPO / Gauss-Newton",
            "Error by group",
            "Error / the paper's",
        ),
        rows,
    )


def _printed_error(results: Results, dataset: str, dimension: int) -> float | None:
    """The paper's, in the target's unit: its Table 5 has it relative to its Table 2."""
    relative = results.paper.value("holdout", dataset, str(dimension))
    base = results.paper.value("base", dataset, "lc")
    return relative * base if relative and base and results.comparable(dataset) else None


def _comparison(pairs: list[tuple[AdaptedTasks, AdaptedTasks]]) -> list[Cell]:
    lipo = [value for a, _ in pairs for value in a.objective]
    gauss = [value for _, b in pairs for value in b.objective]
    gaps = [(a - b, 1e-3 * max(1.0, abs(b))) for a, b in zip(lipo, gauss, strict=True)]
    differences = [gap if abs(gap) > small else 0.0 for gap, small in gaps]
    higher = sum(gap > 0 for gap in differences)
    ratio = sum(a.rmse for a, _ in pairs) / sum(b.rmse for _, b in pairs)
    return [
        number(len(lipo), 0),
        number(median(lipo), None),
        number(median(differences), None),
        number(higher, 0),
        number(ratio, 2),
    ]


def likelihoods(results: Results) -> Drawing | Text:
    illustrated = results.read(illustrate.STUDY, "frequency", "lc")
    if not illustrated or not illustrated.likelihood:
        return missing("The likelihoods need results/illustrate/frequency/lc.json.")
    content = illustrated.likelihood

    def paint(axes: Axes, place: tuple[int, int]) -> None:
        row, column = place
        if column < 2:
            density = (content.true, content.model)[column]
            axes.fill_between(
                density.grid, density.rows[row], color=(GREY, BLUE)[column], alpha=0.8, linewidth=0
            )
            axes.set_yticks([])
            axes.set_ylim(bottom=0)
            axes.set_ylabel("likelihood")
            axes.set_xlabel(("frequency ω", "task parameter β")[column])
            if column == 0:
                axes.axvline(content.omega, color=ORANGE, linewidth=1.2)
            return
        curves = content.curves
        for sample in curves.samples[row]:
            axes.plot(curves.grid, sample, color=BLUE, linewidth=0.5, alpha=0.25)
        axes.plot(curves.grid, curves.truth, color=BLACK, linewidth=1.4)
        points = np.array(content.points[: row + 1])
        axes.plot(points[:, 0], points[:, 1], "o", color=ORANGE, markersize=6, zorder=5)
        everything = [*curves.truth, *(v for samples in curves.samples for s in samples for v in s)]
        axes.set_ylim(min(everything) - 0.05, max(everything) + 0.05)
        axes.set(xlabel="x", ylabel="y")

    names = ("true function", "learned context", "sampled functions")
    return draw(
        "likelihoods",
        f"Likelihoods for a new task of the Frequency data with frequency {show(content.omega)}, "
        "given one to four points. First column: the true function's frequency; the orange line is "
        "the truth. Second: the task parameter of the LC network with one. Third: the true "
        "function as a bold line, the points in orange, and the network with task parameters drawn "
        "from the likelihood in blue.",
        {
            f"{plural(row + 1, 'point')}, {names[column]}": (row, column)
            for row in range(len(content.true.rows))
            for column in range(3)
        },
        paint,
        size=(2.9, 1.75),
        columns=3,
        paper=results.paper.figure("likelihoods"),
        compared=_modes(content.model.rows, content.true.rows),
    )


def _modes(model: list[list[float]], true: list[list[float]]) -> str:
    """How many separate peaks the likelihoods have, point by point."""
    ours, theirs = ([_peaks(row) for row in rows] for rows in (model, true))
    said = ", ".join(map(str, ours))
    extra = [n + 1 for n, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a > b]
    text = f"the network's likelihood has {said} separate peaks after one, two, three, four points"
    if extra:
        text += (
            f", more than the true function's ({', '.join(map(str, theirs))}): here the map from "
            "frequency to β is not one-to-one, and some frequencies have two task parameters"
        )
    return text + "."


def _peaks(row: list[float]) -> int:
    """Stretches above 5% of the highest value."""
    above = np.array(row) > 0.05 * max(row)
    return int(above[0]) + int(np.sum(above[1:] & ~above[:-1]))
