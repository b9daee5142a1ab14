"""The README's picture: one network on many tasks, and how its error compares."""

from __future__ import annotations

from statistics import geometric_mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.reporting import numbers
from pipeline.reporting.drawing import bars, png, shade, style
from pipeline.reporting.labels import BLUE, GREY, model_style
from pipeline.reporting.pages import arena as arena_page
from pipeline.reporting.results import Results
from pipeline.reporting.svg import PAPER
from pipeline.studies import illustrate
from pipeline.studies.illustrate import TaskCurves

MOST_METHODS = 8


def draw(results: Results) -> bytes | None:
    """As PNG; None without the results that it shows."""
    shown = results.read(illustrate.STUDY, "inflation", "lc")
    beta = numbers.scalar_parameters(results, "inflation")
    if not (shown and shown.curves and beta):
        return None
    title, errors = _errors(results)
    with style():
        figure = Figure(figsize=(8.6, 3.3), layout="constrained", facecolor=PAPER)
        left, right = figure.subplots(1, 2)
        _curves(left, shown.curves, beta)
        _bars(right, title, errors)
        return png(figure)


def _curves(axes: Axes, curves: TaskCurves, beta: dict[str, float]) -> None:
    low, high = min(beta.values()), max(beta.values())
    for task, value in sorted(beta.items(), key=lambda item: item[1]):
        for line in curves.tasks.get(task, {}).values():
            axes.plot(curves.grid, line, color=shade(value, low, high), linewidth=0.9)
    axes.set_title(f"One network, {len(beta)} countries, one number each")
    axes.title.set_fontsize(8.5)
    axes.set(xlabel="year", ylabel="price index (2015 = 100)")


def _errors(results: Results) -> tuple[str, dict[str, tuple[float, bool]]]:
    """The arena's mean errors; without it, those of the study's models."""
    arena = arena_page.load(results)
    if arena:
        titles, ours = arena_page.titles(arena), arena_page.ours(arena)
        standings = [
            (titles[one.contestant], (one.mean_relative, one.contestant in ours))
            for one in arena.known.standings
            if one.mean_relative
        ]
        title = f"Mean error / best method's, {len(arena.known.results)} datasets"
        return title, dict(standings[:MOST_METHODS])
    rows = [row for row in numbers.base(results).values() if set(results.models) <= set(row)]
    means = {
        model_style(model).title: (
            geometric_mean(row[model] / min(row.values()) for row in rows),
            model == "lc",
        )
        for model in results.models
        if rows
    }
    ordered = dict(sorted(means.items(), key=lambda item: item[1][0]))
    return f"Mean error / best model's, {len(rows)} datasets", ordered


def _bars(axes: Axes, title: str, errors: dict[str, tuple[float, bool]]) -> None:
    values = {name: value for name, (value, _) in errors.items()}
    bars(axes, values, [BLUE if ours else GREY for _, ours in errors.values()], 2)
    axes.margins(x=0.12)
    axes.set_title(title)
    axes.title.set_fontsize(8.5)
