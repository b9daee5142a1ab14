"""Task parameters of the Death rate data: six countries highlighted, as in Appendix D."""

from __future__ import annotations

from pipeline.reporting.blocks import Drawing, Text, missing
from pipeline.reporting.drawing import finish, panels, plain
from pipeline.reporting.labels import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, YELLOW
from pipeline.reporting.numbers import scalar_parameters
from pipeline.reporting.results import Results

HIGHLIGHTED = {
    "ETH": BLUE,
    "HTI": ORANGE,
    "ZMB": GREEN,
    "NOR": PURPLE,
    "IND": YELLOW,
    "NGA": SKY,
}
YEAR = "2010"
LINES = {"male": "--", "female": "-"}
MARKERS = {"male": "o", "female": "s"}


def parameters(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "death_rate")
    if not beta:
        return missing("Death rate's parameters need that dataset in results/dimension.")
    countries: dict[str, list[tuple[int, float]]] = {}
    for task, value in beta.items():
        country, _, year = task.partition(" ")
        if year.isdecimal():
            countries.setdefault(country, []).append((int(year), value))
    figure, (axis,) = panels(1, width=7.0, height=3.4)
    for country, points in sorted(countries.items(), key=lambda item: item[0] in HIGHLIGHTED):
        years, values = zip(*sorted(points), strict=True)
        if country in HIGHLIGHTED:
            colour = HIGHLIGHTED[country]
            axis.plot(years, values, marker="o", color=colour, linewidth=2, label=country)
        else:
            axis.plot(years, values, color="#bbbbbb", linewidth=0.5)
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axis.set_xticks(sorted({year for points in countries.values() for year, _ in points}))
    axis.set(xlabel="year", ylabel=r"task parameter $\beta$")
    return finish(
        figure,
        "death_rate",
        "Death rate: the task parameter of every country and year. Each is a task of its own for "
        "the model; a line connects the tasks of one country. Six countries are highlighted.",
    )


def curves(results: Results) -> Drawing | Text:
    beta = scalar_parameters(results, "death_rate")
    illustrated = results.get("illustrate", "death_rate", "lc") if beta else None
    tasks = [f"{country} {YEAR}" for country in HIGHLIGHTED if f"{country} {YEAR}" in beta]
    if not (tasks and illustrated):
        return missing(
            "Death rate's curves need that dataset in results/dimension and results/illustrate."
        )
    figure, axes = panels(len(tasks), columns=3, width=2.9, height=2.2)
    fitted = illustrated["curves"]
    for axis, task in zip(axes, tasks, strict=True):
        colour = HIGHLIGHTED[task.split()[0]]
        rows = illustrated["observed"]["tasks"].get(task, [])
        for sex, line in LINES.items():
            if sex in fitted["tasks"].get(task, {}):
                axis.plot(fitted["grid"], fitted["tasks"][task][sex], linestyle=line, color=colour)
            for part, shade in (("train", BLACK), ("test", colour)):
                shown = [(age, rate) for age, s, p, rate in rows if (s, p) == (sex, part)]
                axis.plot(
                    [age for age, _ in shown],
                    [rate for _, rate in shown],
                    MARKERS[sex],
                    color=shade,
                    markersize=4,
                    markeredgewidth=0,
                    alpha=0.85,
                )
        axis.set_title(plain(task.split()[0]) + rf", $\beta$ = {beta[task]:.2f}")
    figure.supxlabel("age", fontsize=8.5)
    figure.supylabel("probability of dying", fontsize=8.5)
    return finish(
        figure,
        "death_rate_curves",
        f"Death rate, {YEAR}: data and fitted network for the six countries. Black: training rows; "
        "coloured: test rows. Males: circles and dashed lines; females: squares and solid lines.",
    )
