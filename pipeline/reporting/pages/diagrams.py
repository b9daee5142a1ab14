"""The paper's two diagrams: the residual block, and the multi-task architectures."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from pipeline.reporting.blocks import Drawing
from pipeline.reporting.drawing import draw, picture
from pipeline.reporting.labels import BLACK, BLUE, GREEN, ORANGE
from pipeline.reporting.paper import Paper

Point = tuple[float, float]


def residual_block(paper: Paper) -> Drawing:
    return picture(
        "residual_block",
        "A residual block, pre-activated: two layers, and a skip connection (blue) around them; "
        "g is the ReLU.",
        _residual_block,
        size=(4.2, 3.2),
        paper=paper.figure("residual_block"),
        compared="the same.",
    )


def _residual_block(axes: Axes) -> None:
    _canvas(axes, (-3.2, 3.2), (-4.5, 0.6))
    axes.text(0, 0.05, "$z^{(k)}$", ha="center", va="bottom", fontsize=12)
    _box(axes, (-2, -1.5), 4, 0.6, "$W_k\\, g(z^{(k)}) + b_k$")
    _box(axes, (-2, -2.6), 4, 0.6, "$W_{k+1}\\, g(z^{(k+1)}) + b_{k+1}$")
    _arrow(axes, (0, 0), (0, -0.9))
    _arrow(axes, (0, -1.5), (0, -2.0))
    _arrow(axes, (0, -2.6), (0, -3.15))
    _arrow(axes, (0, -3.45), (0, -3.95))
    axes.text(0, -4.0, "$z^{(k+2)}$", ha="center", va="top", fontsize=12)
    axes.add_patch(Circle((0, -3.3), 0.15, fill=False, color=BLACK, linewidth=1.2))
    axes.text(0, -3.31, "+", ha="center", va="center", fontsize=11)
    axes.add_patch(Circle((0, -0.45), 0.05, color=BLUE))
    axes.plot([0, -2.5, -2.5], [-0.45, -0.45, -3.3], color=BLUE, linewidth=1.5)
    _arrow(axes, (-2.5, -3.3), (-0.15, -3.3), BLUE)


def architectures(paper: Paper) -> Drawing:
    one_hot, learned = "$c_j$", r"$\beta_j$"
    cases = {
        "a) Last layer, one-hot": ("{d_x}", "{m}", one_hot, True, GREEN),
        "b) Last layer, β": ("{d_x}", r"{d_\beta}", learned, True, GREEN),
        "c) Context sensitive": ("{d_x + m}", "", one_hot, False, ORANGE),
        "d) Learned context": (r"{d_x + d_\beta}", "", learned, False, BLUE),
    }
    return draw(
        "architectures",
        "The multi-task architectures. A box is a network that all tasks share, a circle is a dot "
        "product. a and b are two views of the same last-layer network (LL); c is the "
        "context-sensitive network (CS), whose task input is the fixed one-hot vector; d is the "
        "learned-context network (LC), whose task input is learned.",
        cases,
        _architecture,
        size=(3.7, 1.4),
        paper=paper.figure("architectures"),
        compared="the same.",
    )


def _architecture(axes: Axes, case: tuple[str, str, str, bool, str]) -> None:
    inputs, outputs, task, at_end, colour = case
    mapping = rf"$\mathbf{{R}}^{inputs} \to \mathbf{{R}}{outputs and '^'}{outputs}$"
    _canvas(axes, (-1.6, 5.4), (-0.3, 2.1))
    _box(axes, (0, 0), 2.6, 1, mapping)
    if at_end:
        _arrow(axes, (-1, 0.5), (0, 0.5))
        axes.text(-1.08, 0.5, "$x_{ij}$", ha="right", va="center", fontsize=11)
        _arrow(axes, (2.6, 0.5), (3.2, 0.5))
        axes.add_patch(Circle((3.4, 0.5), 0.2, fill=False, color=BLACK, linewidth=1.2))
        axes.text(3.4, 0.5, "·", ha="center", va="center", fontsize=14)
        _arrow(axes, (3.4, 1.35), (3.4, 0.7), colour)
        axes.text(3.4, 1.4, task, ha="center", va="bottom", fontsize=11, color=colour)
        _arrow(axes, (3.6, 0.5), (4.4, 0.5))
    else:
        _arrow(axes, (-1, 0.75), (0, 0.75))
        _arrow(axes, (-1, 0.25), (0, 0.25), colour)
        axes.text(-1.08, 0.78, "$x_{ij}$", ha="right", va="center", fontsize=11)
        axes.text(-1.08, 0.22, task, ha="right", va="center", fontsize=11, color=colour)
        _arrow(axes, (2.6, 0.5), (4.4, 0.5))
    axes.text(4.5, 0.5, "$y_{ij}$", ha="left", va="center", fontsize=11)


def _canvas(axis: Axes, x: Point, y: Point) -> None:
    axis.set(xlim=x, ylim=y, aspect="equal")
    axis.axis("off")


def _box(axis: Axes, corner: Point, width: float, height: float, text: str) -> None:
    axis.add_patch(Rectangle(corner, width, height, fill=False, color=BLACK, linewidth=1.2))
    centre = (corner[0] + width / 2, corner[1] + height / 2)
    axis.text(*centre, text, ha="center", va="center", fontsize=11)


def _arrow(axis: Axes, start: Point, end: Point, colour: str = BLACK) -> None:
    style: Any = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    axis.add_patch(FancyArrowPatch(start, end, color=colour, linewidth=1.2, **style))
