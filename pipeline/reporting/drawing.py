"""Drawing with one style, into the same bytes every time."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("MPLBACKEND", "agg")  # before pyplot looks for a screen

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from pipeline.reporting.blocks import Drawing
from pipeline.reporting.labels import BLACK

STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": "#555555",
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 160,  # the layout is found at the resolution that is saved
    "savefig.dpi": 160,
    "svg.hashsalt": "learned-context",  # names inside the SVG, the same every time
    "svg.fonttype": "path",  # looks the same where the font is not installed
    "path.simplify_threshold": 0.5,
}
SEQUENTIAL = "viridis"


def use_style() -> None:
    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


def panels(
    count: int, columns: int = 5, width: float = 2.2, height: float = 1.9, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` small panels, row by row."""
    use_style()
    columns = max(1, min(columns, count))
    rows = math.ceil(count / columns)
    size = (max(columns * width, 4.2), rows * height + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, columns, squeeze=False, **options)))
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def plain(text: str) -> str:
    """A name that came from data: no formula, whatever it holds, on one line."""
    return " ".join(text.split()).replace("\\", "/").replace("$", r"\$")


def legend_above(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, len(labels)))


def finish(figure: Figure, name: str, caption: str) -> Drawing:
    """SVG and PNG without dates, versions or random names."""
    svg, png = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is found: do not search for it twice more
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", metadata={"Software": None})
    return Drawing(name, caption, svg.getvalue(), png.getvalue())


def reference_line(axes: Axes, height: float = 1.0) -> None:
    axes.axhline(height, color=BLACK, linewidth=0.9, linestyle=":", zorder=1)


def log_scale(axis: XAxis | YAxis) -> None:
    """Plain numbers at a few places where the values span less than two decades."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    if high > 100 * low:
        return
    if high > 20 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=5))
    elif high > 5 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=5))
    else:
        axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axis.set_minor_formatter(NullFormatter())


def log_ticks(axes: Axes, values: Sequence[float], labels: Sequence[str]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(list(values), list(labels))
    axes.minorticks_off()
