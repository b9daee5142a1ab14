"""Task parameters: what they mean on Inflation and Bike sharing, and how sure they are.

All from the LC networks with one task parameter of the dimension study (Appendix D).
"""

from __future__ import annotations

from statistics import median

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from pipeline.reporting.blocks import Cell, Drawing, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.drawing import SEQUENTIAL, finish, panels, plain
from pipeline.reporting.labels import BLACK, BLUE, GREEN, GREY, ORANGE, SKY
from pipeline.reporting.numbers import scalar_parameters
from pipeline.reporting.results import Results


def inflation(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "inflation")
    illustrated = results.get("illustrate", "inflation", "lc") if beta else None
    if not (beta and illustrated):
        return missing(
            "Inflation's curves need that dataset in results/dimension and results/illustrate."
        )
    figure, (left, right) = panels(2, width=4.4, height=3.0, sharey=True)
    scale = Normalize(min(beta.values()), max(beta.values()))
    colour = colormaps[SEQUENTIAL]
    curves, observed = illustrated["curves"], illustrated["observed"]
    for task, value in beta.items():
        line = [np.nan if mean is None else mean for mean in observed["tasks"][task]]
        left.plot(observed["grid"], line, color=colour(scale(value)), linewidth=0.8)
        for fitted in curves["tasks"].get(task, {}).values():
            right.plot(curves["grid"], fitted, color=colour(scale(value)), linewidth=0.8)
    left.set(title="data", xlabel="year", ylabel="price index, 2015 = 100")
    right.set(title="fitted", xlabel="year")
    figure.colorbar(ScalarMappable(scale, SEQUENTIAL), ax=right, label=r"task parameter $\beta$")
    return finish(
        figure,
        "inflation",
        "Inflation: the yearly price index of every country (left) and the fitted network (right), "
        "coloured by the country's task parameter.",
    )


def bike_sharing(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "bike_sharing")
    illustrated = results.get("illustrate", "bike_sharing", "lc") if beta else None
    if not (beta and illustrated):
        return missing(
            "Bike sharing's months need that dataset in results/dimension and results/illustrate."
        )
    months = sorted(beta)
    places = np.arange(len(months))
    figure, (above, below) = panels(2, columns=1, width=7.5, height=2.1, sharex=True)
    observed = illustrated["observed"]
    for hour, colour in zip(observed["hours"], (BLUE, SKY, ORANGE, GREY), strict=True):
        trips = [observed["tasks"][month].get(hour, [np.nan, np.nan]) for month in months]
        mean, spread = np.array(trips).T
        above.plot(places, mean, color=colour, label=f"{hour}:00")
        above.fill_between(
            places, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0
        )
    above.legend(ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    above.set_ylabel("trips an hour")
    below.plot(places, [beta[month] for month in months], marker="o", color=BLUE)
    below.set_ylabel(r"task parameter $\beta$")
    below.set_xticks(places[::3], [plain(month) for month in months[::3]])
    return finish(
        figure,
        "bike_sharing",
        "Bike sharing, working days. Above: the mean number of trips at four hours of the day for "
        "each month; bands are one standard deviation. Below: the task parameter of each month. "
        "The line connects months that the model takes to be independent.",
    )


def responses(results: Results) -> Drawing | Text:
    found = []
    for dataset in results.datasets:
        illustrated = results.get("illustrate", dataset, "lc")
        if illustrated and illustrated.get("response"):
            found.append((dataset, illustrated["response"]))
    if not found:
        return missing("The network's response to its task parameter needs results/illustrate.")
    figure, axes = panels(len(found))
    for axis, (dataset, response) in zip(axes, found, strict=True):
        scale = Normalize(min(response["beta"]), max(response["beta"]))
        for beta, values in zip(response["beta"], response["values"], strict=True):
            axis.plot(
                response["grid"], values, color=colormaps[SEQUENTIAL](scale(beta)), linewidth=1
            )
        axis.set(title=plain(results.label(dataset)))
        axis.set_xlabel(plain(response["feature"]))
    return finish(
        figure,
        "responses",
        "What the one task parameter does: the network's response to one feature, the others at "
        "their mean or most frequent value, from the lowest task parameter (dark) to the highest "
        "(light).",
    )


def uncertainty(results: Results) -> Drawing | Text:
    found = []
    for dataset in results.datasets:
        beta, deviation = scalar_parameters(results, dataset), _deviations(results, dataset)
        both = [(beta[task], deviation[task][0]) for task in beta if task in deviation]
        if both:
            found.append((dataset, sorted(both)))
    if not found:
        return missing("The task parameters' uncertainty needs results/illustrate and /dimension.")
    figure, axes = panels(len(found))
    for axis, (dataset, pairs) in zip(axes, found, strict=True):
        values, spread = np.array(pairs).T
        places = np.arange(len(values))
        axis.fill_between(
            places, values - 2 * spread, values + 2 * spread, color=GREEN, alpha=0.35, linewidth=0
        )
        axis.plot(places, values, color=BLACK, linewidth=0.9)
        axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axis.set_title(plain(results.label(dataset)))
    figure.supxlabel("tasks, in the order of their parameter", fontsize=8.5)
    figure.supylabel(r"$\beta$", fontsize=8.5)
    return finish(
        figure,
        "uncertainty",
        "How sure the one task parameter is: its value (line) and two posterior standard "
        "deviations to either side (band), by the Laplace approximation.",
    )


def uncertainty_table(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        beta, deviation = scalar_parameters(results, dataset), _deviations(results, dataset)
        spread = float(np.std(list(beta.values()))) if beta else 0.0
        if deviation and spread:
            typical = median(values[0] for values in deviation.values())
            least = max(deviation, key=lambda task: (deviation[task][0], task))
            rows.append(
                [
                    name_cell(results, dataset),
                    number(spread, None),
                    number(typical, None),
                    number(typical / spread, 2),
                    Cell(least),
                    number(deviation[least][0], None),
                ]
            )
    return Table(
        "uncertainty_table",
        "The spread of the tasks' parameters beside the uncertainty of one of them.",
        (
            "Dataset",
            "Spread over tasks",
            "Median posterior std",
            "Ratio",
            "Least sure task",
            "Its std",
        ),
        rows,
        results.footnotes(),
    )


def _deviations(results: Results, dataset: str) -> dict[str, list[float]]:
    illustrated = results.get("illustrate", dataset, "lc")
    return dict(illustrated["task_uncertainty"].get("1", {})) if illustrated else {}
