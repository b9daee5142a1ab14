"""Drawing with one style, into the same bytes every time."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

os.environ.setdefault("MPLBACKEND", "agg")  # before pyplot looks for a screen

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from pipeline.reporting.blocks import Drawing, Mark, Ramp
from pipeline.reporting.formatting import short, show
from pipeline.reporting.labels import model_style
from pipeline.reporting.svg import GRID, INK, PAPER, SOFT, inline

STYLE = Path(__file__).with_name("assets") / "report.mplstyle"
INKS = {
    INK: (
        "axes.labelcolor",
        "axes.titlecolor",
        "text.color",
        "xtick.labelcolor",
        "ytick.labelcolor",
    ),
    SOFT: ("axes.edgecolor", "xtick.color", "ytick.color"),
    GRID: ("grid.color",),
}


@contextmanager
def style() -> Iterator[None]:
    """Draw with this package's style, whatever the reader's own settings are."""
    mpl.rcdefaults()
    inks: Any = {key: colour for colour, keys in INKS.items() for key in keys}
    with mpl.style.context([STYLE, inks]):
        yield


SEQUENTIAL = "viridis"
SMALL = (2.15, 1.85)  # inches; two are as wide as a phone
LABEL_GAP = 0.11  # of the height of the axes
SHEET = 5 * SMALL[0]
WIDE = 4.4  # wider, and the text would be too small on a phone

Item = TypeVar("Item")
Paint = Callable[[Axes, Item], None]


def draw(
    name: str,
    caption: str,
    items: Mapping[str, Item],
    paint: Paint[Item],
    *,
    size: tuple[float, float] = SMALL,
    columns: int | None = None,
    legend: Sequence[Mark] = (),
    ramp: Ramp | None = None,
    on_white: bool = False,
    paper: str = "",
    compared: str = "",
) -> Drawing:
    """A figure with one panel for each item, title -> item; `paint` draws one of them.

    `columns` are as many as have room on the sheet if nothing else is said.
    On the page each panel is an image of its own, so that a phone can show two in a row. The
    files hold all of them on one sheet.
    """
    columns = max(1, min(columns or int(SHEET / size[0]), len(items)))
    with style():
        panels = []
        for place, (title, item) in enumerate(items.items()):
            tight = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02)
            figure = Figure(figsize=size, layout=tight)
            paint(figure.subplots(), item)
            label = title or caption
            panels.append((title, inline(svg(figure), f"{name}-{place}", label)))
        sheet = _sheet(items, paint, size, columns, legend, ramp)
        return Drawing(
            name,
            caption,
            svg(sheet),
            png(sheet),
            panels,
            columns=columns,
            narrow=min(columns, 2 if size[0] <= SMALL[0] else 1),
            width=round(size[0] * 7.4, 1),
            legend=legend,
            ramp=ramp,
            on_white=on_white,
            paper=paper,
            compared=compared,
        )


def picture(
    name: str, caption: str, paint: Callable[[Axes], None], *, size: tuple[float, float],
    **options: Any,
) -> Drawing:  # fmt: skip
    """A figure with one panel."""
    return draw(name, caption, {"": None}, lambda axes, _: paint(axes), size=size, **options)


def sparkline(name: str, label: str, paint: Callable[[Axes], None]) -> Drawing:
    """A small figure of a card."""
    return picture(name, label, paint, size=(3.3, 1.5))


def _sheet(
    items: Mapping[str, Item],
    paint: Paint[Item],
    size: tuple[float, float],
    columns: int,
    legend: Sequence[Mark],
    ramp: Ramp | None,
) -> Figure:
    rows = math.ceil(len(items) / columns)
    width, height = size
    above = 0.35 * bool(legend or ramp)
    figure = Figure(
        figsize=(columns * width, rows * (height + 0.2) + above),
        layout="constrained",
        facecolor=PAPER,
    )
    axes = list(np.ravel(figure.subplots(rows, columns, squeeze=False)))
    for axis, (title, item) in zip(axes, items.items(), strict=False):
        paint(axis, item)
        axis.set_title(plain(title))
    for unused in axes[len(items) :]:
        unused.remove()
    handles: list[Any] = []
    for mark in legend:
        line: Any = mark.line or "none"
        handles.append(Line2D([], [], color=mark.colour, marker=mark.marker, linestyle=line))
    labels = [plain(mark.label) for mark in legend]
    if ramp:
        ends = Line2D([], [], linestyle="none")
        handles.append(ends)
        labels.append(plain(f"{ramp.label}: {ramp.low} (dark) to {ramp.high} (light)"))
    if handles:
        room = columns * width / 1.6
        figure.legend(
            handles, labels, loc="outside upper left", ncols=max(1, min(len(labels), int(room)))
        )
    figure.draw_without_rendering()  # the layout is found once, not for every format
    figure.set_layout_engine("none")
    return figure


def svg(figure: Figure) -> bytes:
    return _saved(figure, "svg", {"Date": None, "Creator": None})


def png(figure: Figure) -> bytes:
    return _saved(figure, "png", {"Software": None})


def _saved(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    """Without dates, versions or random names."""
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, metadata=metadata)
    return stream.getvalue()


def plain(text: str) -> str:
    """A name that came from data: no formula, whatever it holds, on one line."""
    return " ".join(text.split()).replace("\\", "/").replace("$", r"\$")


def axis_label(text: str, width: int = 30) -> str:
    """A name that came from data, in lines that a small panel has room for."""
    return "\n".join(wrap(plain(text), width))


def shades(count: int = 9) -> list[str]:
    return [to_hex(shade) for shade in colormaps[SEQUENTIAL](np.linspace(0, 0.95, count))]


def colour_bar(label: str, low: float, high: float) -> Ramp:
    return Ramp(label, show(low), show(high), shades())


def shade(value: float, low: float, high: float) -> str:
    place = (value - low) / (high - low) if high > low else 0.5
    return to_hex(colormaps[SEQUENTIAL](0.95 * place))


def reference_line(axes: Axes) -> None:
    axes.axhline(1.0, color=SOFT, linewidth=0.9, linestyle=":", zorder=1)


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]], gap: float = LABEL_GAP) -> None:
    """Write (y, text, colour) at the right edge, moved apart where they would overlap."""
    to_axes = axes.transData + axes.transAxes.inverted()
    low = axes.get_xlim()[0]
    places = sorted((to_axes.transform((low, y))[1], text, colour) for y, text, colour in ends)
    heights = [place for place, *_ in places]
    for _ in range(50):  # push neighbours apart, both by the same
        for i in range(len(heights) - 1):
            overlap = gap - (heights[i + 1] - heights[i])
            if overlap > 1e-9:
                heights[i] -= overlap / 2
                heights[i + 1] += overlap / 2
    for height, (_, text, colour) in zip(heights, places, strict=True):
        axes.text(
            1.02, height, plain(text), color=colour, transform=axes.transAxes, va="center",
            ha="left", fontsize=8, fontweight="bold",
        )  # fmt: skip


def legend_of(models: Iterable[str], line: str = "-", marks: bool = True) -> list[Mark]:
    styles = map(model_style, models)
    return [Mark(s.legend, s.colour, s.marker if marks else "", line) for s in styles]


def plot_models(axes: Axes, curves: Mapping[str, Mapping[Any, float]]) -> None:
    """A line for each model: model -> x -> y."""
    for model, points in curves.items():
        style = model_style(model)
        axes.plot(list(points), list(points.values()), marker=style.marker, color=style.colour)


def label_models(
    axes: Axes, curves: Mapping[str, Mapping[Any, float]], gap: float = LABEL_GAP
) -> None:
    """At the right ends of the lines; call it when the limits of the axes are final."""
    styles = {model: model_style(model) for model in curves}
    ends = [(list(p.values())[-1], styles[m].label, styles[m].colour) for m, p in curves.items()]
    label_ends(axes, ends, gap)


def labelled_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Names at the y axis, the first one on top."""
    axes.set_yticks(range(len(labels)), [plain(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)


def bars(axes: Axes, values: Mapping[str, float], colours: Sequence[str], decimals: int) -> None:
    """Horizontal bars with their values: name -> value."""
    for place, (value, colour) in enumerate(zip(values.values(), colours, strict=True)):
        axes.barh(place, value, color=colour, height=0.65)
        axes.annotate(
            show(value, decimals), (max(0.0, value), place), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    labelled_rows(axes, list(values))


def log_scale(axis: XAxis | YAxis) -> None:
    """Plain numbers at a few places where the values span less than two decades."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    if high <= 20 * low:
        axis.set_major_locator(
            LogLocator(subs=(1.0, 2.0, 5.0), numticks=5) if high > 5 * low else MaxNLocator(4)
        )
    elif high <= 100 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=5))
    else:
        axis.set_major_locator(LogLocator(numticks=5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(NullFormatter())


def log_ticks(axes: Axes, values: Sequence[float], labels: Sequence[str]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(list(values), list(labels))
    axes.minorticks_off()
