"""Theory: the paper's constructions, computed, and its two diagrams, drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from pipeline.models.theory import PYRAMID_BIAS, pyramid, sine_family_rmse, task_indicator
from pipeline.reporting.blocks import Drawing, Mark
from pipeline.reporting.drawing import WIDE, draw, picture
from pipeline.reporting.formatting import show
from pipeline.reporting.labels import BLACK, BLUE, GREEN, ORANGE, SKY
from pipeline.reporting.paper import Paper

SHOWN_BETAS = (0.0, -0.3, 0.4)
COLOURS = (BLACK, ORANGE, SKY)
TASKS, DELTA = 4, 0.25  # of the indicator
SINES = 8


def pyramid_network(paper: Paper) -> Drawing:
    x = np.linspace(-0.6, 3.2, 761)

    def paint(axes: Axes, task_weights: np.ndarray) -> None:
        network = pyramid(task_weights)
        for beta, colour in zip(SHOWN_BETAS, COLOURS, strict=True):
            response = network(np.column_stack([x, np.full_like(x, beta)]))
            width, order = (2.4, 2) if beta == 0 else (1.4, 3)
            axes.plot(x, response, color=colour, linewidth=width, zorder=order)
        axes.set(xlabel="x", ylabel="y")

    return draw(
        "pyramid",
        "The pyramid network of Appendix A with the task parameter at three values. It translates "
        "the base shape (the bold line), or, with L = b₁, dilates it by 1 + β.",
        {"Translation: L = (1, 1, 1, 1)": np.ones(4), "Dilation: L = b₁": PYRAMID_BIAS},
        paint,
        size=(3.6, 2.2),
        legend=[
            Mark(f"β = {show(beta, 1)}", colour, line="-")
            for beta, colour in zip(SHOWN_BETAS, COLOURS, strict=True)
        ],
        paper=paper.figure("pyramid"),
        compared="the same network, computed from the weights that Appendix A gives.",
    )


def indicator() -> Drawing:
    beta = np.linspace(0.4, TASKS + 0.6, 841)
    response = task_indicator(TASKS, DELTA)(beta[:, None])
    colours = (BLUE, ORANGE, GREEN, BLACK)

    def paint(axes: Axes) -> None:
        for task, colour in zip(range(TASKS), colours, strict=True):
            axes.plot(beta, response[:, task], color=colour)
            axes.annotate(
                f"output {task + 1}", (task + 1, 1.04), ha="center", color=colour, fontsize=8
            )
        axes.set(xlabel="task parameter β", ylabel="output", ylim=(-0.05, 1.2))

    return picture(
        "indicator",
        f"Theorem 2: the first two layers of its proof, for {TASKS} tasks and δ = {DELTA:g}. At "
        "β = j the j-th output is one and the others are zero: a scalar becomes the one-hot "
        "indicator of the task.",
        paint,
        size=(WIDE, 2.0),
    )


def sine_family() -> Drawing:
    features = range(SINES + 1)
    errors = [sine_family_rmse(SINES, count) for count in features]

    def paint(axes: Axes) -> None:
        axes.plot(list(features), errors, marker="D", color=GREEN)
        axes.set(xlabel="features of the last-layer network", ylabel="lowest possible RMSE")
        axes.set_ylim(bottom=-0.02)

    return picture(
        "sine_family",
        f"Proposition 3: on the {SINES} tasks sin(jx) no last-layer network with fewer than "
        f"{SINES} features is exact. This is the lowest error that any of them can have.",
        paint,
        size=(WIDE, 2.3),
    )
