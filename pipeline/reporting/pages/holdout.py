"""Hold-out tasks: Table 5 by both estimators, errors against the share of data, likelihoods."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from pipeline.reporting.blocks import Drawing, Table, Text, missing
from pipeline.reporting.cells import lowest, name_cell, number
from pipeline.reporting.drawing import finish, log_scale, log_ticks, panels, plain, reference_line
from pipeline.reporting.labels import BLACK, BLUE, DIMENSION_COLOURS, ESTIMATORS, GREY, ORANGE
from pipeline.reporting.numbers import ALL, from_results
from pipeline.reporting.results import Results

LINES = {"gauss_newton": "-", "lipo": ":"}
MARKERS = {"gauss_newton": "o", "lipo": "x"}


def table_5(results: Results) -> Table:
    found = from_results(results).holdout
    dimensions = results.settings.profile.holdout.dimensions
    rows = []
    for dataset in results.datasets:
        row = [name_cell(results, dataset)]
        for estimator in ESTIMATORS:
            errors = {
                str(dimension): by_share[ALL]
                for dimension, by_share in found.get(estimator, {}).get(dataset, {}).items()
                if ALL in by_share
            }
            best = lowest(errors, 2)
            for column in map(str, dimensions):
                # The paper's estimator is LIPO: its numbers stand beside ours by LIPO.
                printed = results.paper.value("holdout", dataset, column)
                row.append(
                    number(
                        errors.get(column),
                        2,
                        printed if estimator == "lipo" else None,
                        bold=column in best,
                    )
                )
        rows.append(row)
    return Table(
        "table_5",
        "Table 5. Test error of hold-out tasks fitted on all their training rows, the mean over "
        "the three groups, relative to the LC network of Table 2, for networks with so many task "
        "parameters; the best of each estimator in bold.",
        ("Dataset", *(f"{label} {d}" for label in ESTIMATORS.values() for d in dimensions)),
        rows,
        results.footnotes(),
    )


def errors_by_share(results: Results) -> Drawing | Text:
    found = from_results(results).holdout
    datasets = [d for d in results.datasets if any(d in by_data for by_data in found.values())]
    if not datasets:
        return missing("The hold-out errors need results/adapt and results/train.")
    figure, axes = panels(len(datasets), height=2.0)
    drawn: dict[str, Line2D] = {}
    for axis, dataset in zip(axes, datasets, strict=True):
        shares: set[float] = set()
        for estimator, label in ESTIMATORS.items():
            for dimension, errors in found.get(estimator, {}).get(dataset, {}).items():
                shares |= set(errors)
                (drawn[f"{dimension} task parameters, {label}"],) = axis.plot(
                    list(errors),
                    list(errors.values()),
                    linestyle=LINES[estimator],
                    marker=MARKERS[estimator],
                    color=DIMENSION_COLOURS.get(dimension, GREY),
                )
        reference_line(axis)
        ticks = sorted(shares)
        labels = [f"{share * 100:g}" if share not in (0.05, 0.5, 0.75) else "" for share in ticks]
        log_ticks(axis, ticks, labels)
        log_scale(axis.yaxis)
        axis.set_title(plain(results.label(dataset)))
    names = sorted(drawn, key=lambda name: (name.split(", ")[1], int(name.split()[0])))
    figure.legend(
        [drawn[name] for name in names],
        names,
        loc="outside upper center",
        ncols=min(3, len(datasets)),
    )
    figure.supxlabel("% of the task's training rows", fontsize=8.5)
    figure.supylabel("error relative to LC's base", fontsize=8.5)
    return finish(
        figure,
        "errors_by_share",
        "Test error of hold-out tasks against the share of the task's rows that they are fitted "
        "on, relative to the LC network of Table 2 (dotted line). Solid: Gauss-Newton; dots and "
        "crosses: LIPO.",
    )


def optimisers(results: Results) -> Table:
    """The same objective by two optimisers: which one finds the lower value?"""
    rows = []
    for dataset in results.datasets:
        adapted = results.get("adapt", dataset, "lc")
        for dimension in results.settings.profile.holdout.dimensions:
            fits = [
                fit
                for fit in (adapted or {"fits": []})["fits"]
                if fit["task_dim"] == dimension and fit["share"] == ALL and "lipo" in fit
            ]
            if fits:
                rows.append([name_cell(results, dataset), number(dimension, 0), *_comparison(fits)])
    return Table(
        "optimisers",
        "LIPO, the paper's optimiser of the hold-out objective, beside Gauss-Newton from several "
        "starts, on all training rows. A positive difference means that LIPO stopped above the "
        "optimum: the error is then the optimiser's doing, not the task dimension's.",
        (
            "Dataset",
            "Task parameters",
            "Tasks",
            "Median objective, LIPO",
            "Median difference",
            "Tasks where LIPO is higher",
            "Error, LIPO / Gauss-Newton",
        ),
        rows,
        results.footnotes(),
    )


def _comparison(fits: list[dict[str, Any]]) -> list[Any]:
    lipo = [value for fit in fits for value in fit["lipo"]["objective"]]
    gauss = [value for fit in fits for value in fit["gauss_newton"]["objective"]]
    differences = [a - b for a, b in zip(lipo, gauss, strict=True)]
    higher = sum(d > 1e-3 * max(1.0, abs(b)) for d, b in zip(differences, gauss, strict=True))
    ratio = sum(f["lipo"]["rmse"] for f in fits) / sum(f["gauss_newton"]["rmse"] for f in fits)
    return [
        number(len(lipo), 0),
        number(median(lipo), None),
        number(median(differences), None),
        number(higher, 0),
        number(ratio, 2),
    ]


def likelihoods(results: Results) -> Drawing | Text:
    illustrated = (
        results.get("illustrate", "frequency", "lc") if "frequency" in results.datasets else None
    )
    if not illustrated or "likelihood" not in illustrated:
        return missing("The likelihoods need results/illustrate/frequency/lc.json.")
    content = illustrated["likelihood"]
    count = len(content["true"]["rows"])
    figure, axes = panels(3 * count, columns=3, width=2.9, height=1.45)
    for row in range(count):
        left, middle, right = axes[3 * row : 3 * row + 3]
        left.fill_between(
            content["true"]["grid"], content["true"]["rows"][row], color=BLACK, alpha=0.7
        )
        middle.fill_between(
            content["model"]["grid"], content["model"]["rows"][row], color=BLUE, alpha=0.7
        )
        left.axvline(content["omega"], color=ORANGE, linewidth=1)
        curves = content["curves"]
        for sample in curves["samples"][row]:
            right.plot(curves["grid"], sample, color=BLUE, linewidth=0.6, alpha=0.3)
        right.plot(curves["grid"], curves["truth"], color=BLACK, linewidth=1.4)
        points = np.array(content["points"][: row + 1])
        right.plot(points[:, 0], points[:, 1], "o", color=ORANGE, markersize=6, zorder=5)
        left.set_ylabel(f"{row + 1} point" + "s" * (row > 0))
        for axis in (left, middle):
            axis.set_yticks([])
            axis.set_ylim(bottom=0)
    axes[0].set_title("true function")
    axes[1].set_title("learned context")
    axes[2].set_title("sampled functions")
    for axis, label in zip(axes[-3:], (r"frequency $\omega$", r"$\beta$", "$x$"), strict=True):
        axis.set_xlabel(label)
    return finish(
        figure,
        "likelihoods",
        f"Likelihoods for a new task of the Frequency data with frequency {content['omega']:g}, "
        "given one to four points (rows). Left: the true function's frequency, the orange line is "
        "the truth. Middle: the task parameter of the LC network with one. Right: the true "
        "function in black, the points in orange, and the network with task parameters drawn from "
        "the likelihood in blue.",
    )
