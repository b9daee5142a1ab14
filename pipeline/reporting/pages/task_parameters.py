"""Task parameters: what they mean on three datasets, and how certain they are.

All from the LC networks with one task parameter of the dimension study (Appendix D).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pipeline.reporting import drawing, labels
from pipeline.reporting.blocks import Drawing, Mark, Ramp, Table, Text, missing
from pipeline.reporting.cells import name_cell, number
from pipeline.reporting.countries import COUNTRIES, task_name
from pipeline.reporting.formatting import listed, plural, show
from pipeline.reporting.numbers import scalar_parameters
from pipeline.reporting.results import Results
from pipeline.reporting.story import NOTHING, Story
from pipeline.reporting.svg import SOFT
from pipeline.studies import illustrate

ARBITRARY = "The sign of β is arbitrary: another seed may mirror the picture."
HIGHLIGHTED = {
    "ETH": labels.BLUE,
    "HTI": labels.ORANGE,
    "ZMB": labels.GREEN,
    "NOR": labels.PURPLE,
    "IND": labels.YELLOW,
    "NGA": labels.SKY,
}
YEAR = "2010"
LINES = {"male": "--", "female": "-"}
MARKERS = {"male": "o", "female": "s"}


def story(results: Results) -> Story:
    ratios = {one.dataset: one.ratio for one in _certainty(results)}
    if not ratios:
        return Story("Task parameters", NOTHING)
    clear = [d for d, ratio in ratios.items() if ratio < 0.5]
    vague = [labels.dataset_label(d) for d in ratios if d not in clear]
    return Story(
        f"One number for each task orders the tasks on {len(clear)} of "
        f"{plural(len(ratios), 'dataset')}",
        "The task parameter follows what a person would have named: when prices began to rise, how "
        "busy a month was, how high mortality is. Its posterior standard deviation is less "
        f"than half of the spread between tasks on {plural(len(clear), 'dataset')}"
        + (f"; not so on {listed(vague)}." if vague else "."),
    )


def inflation(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "inflation")
    illustrated = _illustrated(results, "inflation") if beta else None
    observed = illustrated.observed if illustrated else None
    curves = illustrated.curves if illustrated else None
    if not (curves and isinstance(observed, illustrate.YearlyMeans)):
        return missing("Inflation's curves need its results/dimension and results/illustrate.")
    low, high = min(beta.values()), max(beta.values())
    data = {
        task: (observed.grid, [np.nan if mean is None else mean for mean in means])
        for task, means in observed.tasks.items()
    }
    fitted = {
        task: (curves.grid, line)
        for task, levels in curves.tasks.items()
        for line in levels.values()
    }

    def paint(axes: Axes, lines: dict[str, tuple[list[float], list[float]]]) -> None:
        for task, value in sorted(beta.items(), key=lambda item: item[1]):
            if task in lines:
                axes.plot(*lines[task], color=drawing.shade(value, low, high), linewidth=0.8)
        axes.set(xlabel="year", ylabel="price index (2015 = 100)")
        axes.set_ylim(top=max(max(line) for _, line in fitted.values()) * 1.1)

    return drawing.draw(
        "inflation",
        "Inflation: the yearly price index of every country, and the fitted network's curves, "
        f"coloured by the country's task parameter. {ARBITRARY}",
        {"Data": data, "Fitted network": fitted},
        paint,
        size=(3.7, 2.8),
        ramp=drawing.colour_bar("Task parameter β", low, high),
        on_white=True,
        paper=results.paper.figure("inflation"),
        compared="the same picture, up to the sign of β: one end is countries whose prices rose in "
        "the 1970s, the other those where the rise began in the 1990s.",
    )


def bike_sharing(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "bike_sharing")
    illustrated = _illustrated(results, "bike_sharing") if beta else None
    observed = illustrated.observed if illustrated else None
    if not isinstance(observed, illustrate.HourlyTrips):
        return missing("Bike sharing's months need its results/dimension and results/illustrate.")
    months = sorted(beta)
    places = np.arange(len(months))
    hours = dict(
        zip(observed.hours, (labels.BLUE, labels.SKY, labels.ORANGE, labels.GREY), strict=True)
    )

    def paint(axes: Axes, trips: bool) -> None:
        if trips:
            for hour, colour in hours.items():
                pairs = [observed.tasks[month].get(hour, [np.nan, np.nan]) for month in months]
                mean, spread = np.array(pairs).T
                axes.plot(places, mean, color=colour)
                low, high = mean - spread, mean + spread
                axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.set_ylabel("trips an hour, working days")
            ends = [(observed.tasks[months[-1]].get(h, [0.0])[0], f"{h}:00", c)
                    for h, c in hours.items()]  # fmt: skip
            drawing.label_ends(axes, ends, 0.07)
        else:
            axes.plot(places, [beta[month] for month in months], marker="o", color=labels.BLUE)
            axes.set_ylabel("task parameter β")
        axes.set_xticks(places[::6], [drawing.plain(month) for month in months[::6]])
        axes.set_xlabel("month")

    return drawing.draw(
        "bike_sharing",
        "Bike sharing. First: the mean number of trips at four hours of the working days of each "
        "month; bands are one standard deviation. Second: the task parameter of each month. The "
        f"line connects months that the model takes to be independent. {ARBITRARY}",
        {"Trips by month": True, "Task parameter by month": False},
        paint,
        size=(3.9, 2.7),
        legend=[Mark(f"{hour}:00", colour, line="-") for hour, colour in hours.items()],
        paper=results.paper.figure("bike_sharing"),
        compared="the same: the parameter follows the trips at the busiest hours, through the "
        "seasons and the growth from the first year to the second.",
    )


def death_rate(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "death_rate")
    if not beta:
        return missing("Death rate's parameters need that dataset in results/dimension.")
    countries: dict[str, list[tuple[int, float]]] = {}
    for task, value in beta.items():
        country, _, year = task.partition(" ")
        if year.isdecimal():
            countries.setdefault(country, []).append((int(year), value))

    def paint(axes: Axes) -> None:
        ends = []
        for country, points in sorted(countries.items(), key=lambda item: item[0] in HIGHLIGHTED):
            years, values = zip(*sorted(points), strict=True)
            if country in HIGHLIGHTED:
                colour = HIGHLIGHTED[country]
                axes.plot(years, values, marker="o", color=colour, linewidth=2)
                ends.append((values[-1], COUNTRIES.get(country, country), colour))
            else:
                axes.plot(years, values, color=labels.GREY, linewidth=0.4, alpha=0.45)
        axes.set_xticks(sorted({year for points in countries.values() for year, _ in points}))
        axes.set(xlabel="year", ylabel="task parameter β")
        drawing.label_ends(axes, ends, 0.06)

    return drawing.picture(
        "death_rate",
        "Death rate: the task parameter of every country and year. Each is a task of its own for "
        f"the model; a line connects the tasks of one country. {ARBITRARY}",
        paint,
        size=(drawing.WIDE, 3.1),
        paper=results.paper.figure("death_rate"),
        compared="the same, up to the sign: Haiti in 2010, the year of the earthquake, stands out, "
        "and most countries drift towards lower death rates.",
    )


def death_rate_curves(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "death_rate")
    illustrated = _illustrated(results, "death_rate") if beta else None
    tasks = [f"{country} {YEAR}" for country in HIGHLIGHTED if f"{country} {YEAR}" in beta]
    observed = illustrated.observed if illustrated else None
    curves = illustrated.curves if illustrated else None
    if not (tasks and curves and isinstance(observed, illustrate.DeathRatePoints)):
        return missing("Death rate's curves need its results/dimension and results/illustrate.")

    def paint(axes: Axes, task: str) -> None:
        colour = HIGHLIGHTED[task.split()[0]]
        rows = observed.tasks.get(task, [])
        for sex, line in LINES.items():
            if sex in curves.tasks.get(task, {}):
                axes.plot(curves.grid, curves.tasks[task][sex], linestyle=line, color=colour)
            for part, tint in (("train", labels.BLACK), ("test", colour)):
                shown = [(age, rate) for age, s, p, rate in rows if (s, p) == (sex, part)]
                axes.plot(
                    [age for age, _ in shown], [rate for _, rate in shown], MARKERS[sex],
                    color=tint, markersize=4, markeredgewidth=0, alpha=0.85,
                )  # fmt: skip
        axes.set(xlabel="age (years)", ylabel="probability of dying")

    return drawing.draw(
        "death_rate_curves",
        f"Death rate, {YEAR}: data and fitted network for six countries.",
        {f"{task_name('death_rate', task)}, β = {show(beta[task], 2)}": task for task in tasks},
        paint,
        size=(2.9, 2.2),
        legend=[
            Mark("training rows, male", labels.BLACK, "o"),
            Mark("training rows, female", labels.BLACK, "s"),
            Mark("test rows: coloured", labels.ORANGE, "o"),
            Mark("network, male", labels.GREY, line="--"),
            Mark("network, female", labels.GREY, line="-"),
        ],
        paper=results.paper.figure("death_rate_curves"),
        compared="the same countries, year, marks and lines. As in the paper, no other task looks "
        "like Haiti in 2010, and its curve misses the test rows.",
    )


def responses(results: Results) -> Drawing | Text:
    found: dict[str, tuple[str, str, illustrate.ScalarResponse]] = {}
    for dataset, info in results.infos().items():
        illustrated = _illustrated(results, dataset)
        if illustrated and illustrated.response:
            label = labels.feature_label(info, illustrated.response.feature)
            target = labels.with_unit(info.target, info.unit)
            found[results.label(dataset)] = (label, target, illustrated.response)
    if not found:
        return missing("The network's response to its task parameter needs results/illustrate.")

    def paint(axes: Axes, item: tuple[str, str, illustrate.ScalarResponse]) -> None:
        feature, target, response = item
        low, high = min(response.beta), max(response.beta)
        for beta, values in zip(response.beta, response.values, strict=True):
            axes.plot(response.grid, values, color=drawing.shade(beta, low, high), linewidth=1)
        axes.set(xlabel=drawing.axis_label(feature), ylabel=drawing.axis_label(target, 22))
        axes.xaxis.set_major_locator(MaxNLocator(4))

    return drawing.draw(
        "responses",
        "What the one task parameter does: the network's response to one feature, from the lowest "
        "task parameter to the highest. The other features are at their mean or most frequent "
        f"value. {ARBITRARY}",
        found,
        paint,
        ramp=Ramp("Task parameter β", "lowest", "highest", drawing.shades()),
        on_white=True,
    )


def uncertainty(results: Results) -> Drawing | Text:
    found = {}
    for dataset in results.datasets:
        beta, deviation = scalar_parameters(results, dataset), _deviations(results, dataset)
        both = [(beta[task], deviation[task][0]) for task in beta if task in deviation]
        if both:
            found[results.label(dataset)] = np.array(sorted(both)).T
    if not found:
        return missing("The task parameters' uncertainty needs results/illustrate and /dimension.")

    def paint(axes: Axes, pairs: np.ndarray) -> None:
        values, spread = pairs
        places = np.arange(1, len(values) + 1)
        low, high = values - 2 * spread, values + 2 * spread
        axes.fill_between(places, low, high, color=labels.GREEN, alpha=0.4, linewidth=0)
        axes.plot(places, values, color=labels.BLACK, linewidth=0.9)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set(xlabel="tasks, in order of β", ylabel="task parameter β")

    return drawing.draw(
        "uncertainty",
        "Uncertainty of the task parameter: its value (line) and two posterior standard deviations "
        "to either side (band), by the Laplace approximation.",
        found,
        paint,
        legend=[Mark("β", SOFT, line="-"), Mark("± 2 standard deviations", labels.GREEN, "s")],
    )


def uncertainty_table(results: Results) -> Table:
    return Table.of(
        "uncertainty_table",
        "The spread of the parameters over the tasks, and the uncertainty of a single one.",
        _certainty(results),
        {
            "Dataset": lambda one: name_cell(results, one.dataset),
            "Spread over tasks": lambda one: number(one.spread, None),
            "Median posterior std": lambda one: number(one.typical, None),
            "Ratio": lambda one: number(one.ratio, 2),
            "Least certain task": lambda one: task_name(one.dataset, one.least_certain),
            "Its std": lambda one: number(one.deviation, None),
        },
        cards=True,
    )


@dataclass(frozen=True)
class Certainty:
    """How far the tasks of a dataset are apart, and how well each of them is known."""

    dataset: str
    spread: float
    typical: float  # the median of the posterior standard deviations
    least_certain: str
    deviation: float  # of that task

    @property
    def ratio(self) -> float:
        return self.typical / self.spread


def _certainty(results: Results) -> list[Certainty]:
    found = []
    for dataset in results.datasets:
        beta, deviation = scalar_parameters(results, dataset), _deviations(results, dataset)
        spread = float(np.std(list(beta.values()))) if beta else 0.0
        if deviation and spread:
            least = max(deviation, key=lambda task: (deviation[task][0], task))
            typical = median(values[0] for values in deviation.values())
            found.append(Certainty(dataset, spread, typical, least, deviation[least][0]))
    return found


def _deviations(results: Results, dataset: str) -> dict[str, list[float]]:
    illustrated = _illustrated(results, dataset)
    return dict(illustrated.task_uncertainty.get("1", {})) if illustrated else {}


def _illustrated(results: Results, dataset: str) -> illustrate.IllustrateResult | None:
    return results.read(illustrate.STUDY, dataset, "lc")
