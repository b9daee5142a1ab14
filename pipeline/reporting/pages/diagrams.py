"""The paper's two diagrams: the residual block, and the multi-task architectures."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from pipeline.reporting.blocks import Drawing
from pipeline.reporting.drawing import finish, panels
from pipeline.reporting.labels import BLACK, BLUE, GREEN, ORANGE

Point = tuple[float, float]


def residual_block() -> Drawing:
    figure, (axis,) = panels(1, width=4.6, height=3.6)
    _canvas(axis, (-3.2, 3.2), (-4.3, 0.5))
    axis.text(0, 0.05, "$z^{(k)}$", ha="center", va="bottom", fontsize=12)
    _box(axis, (-2, -1.5), 4, 0.6, "$W_k\\, g(z^{(k)}) + b_k$")
    _box(axis, (-2, -2.6), 4, 0.6, "$W_{k+1}\\, g(z^{(k+1)}) + b_{k+1}$")
    _arrow(axis, (0, 0), (0, -0.9))
    _arrow(axis, (0, -1.5), (0, -2.0))
    _arrow(axis, (0, -2.6), (0, -3.15))
    _arrow(axis, (0, -3.45), (0, -3.95))
    axis.text(0, -4.0, "$z^{(k+2)}$", ha="center", va="top", fontsize=12)
    axis.add_patch(Circle((0, -3.3), 0.15, fill=False, color=BLACK, linewidth=1.2))
    axis.text(0, -3.31, "+", ha="center", va="center", fontsize=11)
    axis.add_patch(Circle((0, -0.45), 0.05, color=BLUE))
    axis.plot([0, -2.5, -2.5], [-0.45, -0.45, -3.3], color=BLUE, linewidth=1.5)
    _arrow(axis, (-2.5, -3.3), (-0.15, -3.3), BLUE)
    return finish(
        figure,
        "residual_block",
        "A residual block, pre-activated: two layers, and a skip connection (blue) around them; "
        "g is the ReLU.",
    )


def architectures() -> Drawing:
    figure, axes = panels(4, columns=2, width=4.1, height=1.55)
    cases = (
        ("a) last layer, one-hot", r"$\mathbf{R}^{d_x} \to \mathbf{R}^{m}$", "$c_j$", True, GREEN),
        (
            "b) last layer, β",
            r"$\mathbf{R}^{d_x} \to \mathbf{R}^{d_\beta}$",
            r"$\beta_j$",
            True,
            GREEN,
        ),
        ("c) context sensitive", r"$\mathbf{R}^{d_x + m} \to \mathbf{R}$", "$c_j$", False, ORANGE),
        (
            "d) learned context",
            r"$\mathbf{R}^{d_x + d_\beta} \to \mathbf{R}$",
            r"$\beta_j$",
            False,
            BLUE,
        ),
    )
    for axis, (title, mapping, task, at_end, colour) in zip(axes, cases, strict=True):
        _canvas(axis, (-1.6, 5.4), (-0.3, 1.9))
        axis.set_title(title, loc="left", fontsize=9)
        _box(axis, (0, 0), 2.6, 1, mapping)
        if at_end:
            _arrow(axis, (-1, 0.5), (0, 0.5))
            axis.text(-1.08, 0.5, "$x_{ij}$", ha="right", va="center", fontsize=11)
            _arrow(axis, (2.6, 0.5), (3.2, 0.5))
            axis.add_patch(Circle((3.4, 0.5), 0.2, fill=False, color=BLACK, linewidth=1.2))
            axis.text(3.4, 0.5, "·", ha="center", va="center", fontsize=14)
            _arrow(axis, (3.4, 1.35), (3.4, 0.7), colour)
            axis.text(3.4, 1.4, task, ha="center", va="bottom", fontsize=11, color=colour)
            _arrow(axis, (3.6, 0.5), (4.4, 0.5))
        else:
            _arrow(axis, (-1, 0.75), (0, 0.75))
            _arrow(axis, (-1, 0.25), (0, 0.25), colour)
            axis.text(-1.08, 0.78, "$x_{ij}$", ha="right", va="center", fontsize=11)
            axis.text(-1.08, 0.22, task, ha="right", va="center", fontsize=11, color=colour)
            _arrow(axis, (2.6, 0.5), (4.4, 0.5))
        axis.text(4.5, 0.5, "$y_{ij}$", ha="left", va="center", fontsize=11)
    return finish(
        figure,
        "architectures",
        "The multi-task architectures. A box is a network that all tasks share, a circle is a dot "
        "product. a and b are two views of the same last-layer network (LL); c is the "
        "context-sensitive network (CS), whose task input is the fixed one-hot vector; d is the "
        "learned-context network (LC), whose task input is learned.",
    )


def _canvas(axis: Axes, x: Point, y: Point) -> None:
    axis.set(xlim=x, ylim=y, aspect="equal")
    axis.axis("off")


def _box(axis: Axes, corner: Point, width: float, height: float, text: str) -> None:
    axis.add_patch(Rectangle(corner, width, height, fill=False, color=BLACK, linewidth=1.2))
    centre = (corner[0] + width / 2, corner[1] + height / 2)
    axis.text(*centre, text, ha="center", va="center", fontsize=11)


def _arrow(axis: Axes, start: Point, end: Point, colour: str = BLACK) -> None:
    axis.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=9,
            shrinkA=0,
            shrinkB=0,
            color=colour,
            linewidth=1.2,
        )
    )
