"""Theory: the paper's constructions, computed, and its two diagrams, drawn."""

from __future__ import annotations

import numpy as np

from pipeline.models.theory import PYRAMID_BIAS, pyramid, sine_family_rmse, task_indicator
from pipeline.reporting.blocks import Drawing
from pipeline.reporting.drawing import finish, panels
from pipeline.reporting.labels import BLACK, BLUE, GREEN, ORANGE, SKY

SHOWN_BETAS = (0.0, -0.3, 0.4)
COLOURS = (BLACK, ORANGE, SKY)


def pyramid_network() -> Drawing:
    x = np.linspace(-0.6, 3.2, 761)
    cases = {"translation: $L = (1, 1, 1, 1)$": np.ones(4), "dilation: $L = b_1$": PYRAMID_BIAS}
    figure, axes = panels(2, columns=1, width=6.4, height=1.9)
    for axis, (title, task_weights) in zip(axes, cases.items(), strict=True):
        network = pyramid(task_weights)
        for beta, colour in zip(SHOWN_BETAS, COLOURS, strict=True):
            response = network(np.column_stack([x, np.full_like(x, beta)]))
            axis.plot(
                x,
                response,
                color=colour,
                linewidth=2.4 if beta == 0 else 1.4,
                label=rf"$\beta = {beta:g}$",
                zorder=2 if beta == 0 else 3,
            )
        axis.set(title=title, ylabel="$y$")
        axis.legend(loc="upper right")
    axes[-1].set_xlabel("$x$")
    return finish(
        figure,
        "pyramid",
        "Appendix A: the pyramid network with the task parameter at three values. Above it "
        "translates the base shape (the bold line); below, with L = b1, it dilates it by 1 + β.",
    )


def indicator(tasks: int = 4, delta: float = 0.25) -> Drawing:
    beta = np.linspace(0.4, tasks + 0.6, 841)
    response = task_indicator(tasks, delta)(beta[:, None])
    figure, (axis,) = panels(1, width=6.4, height=1.9)
    for task, colour in zip(range(tasks), (BLUE, ORANGE, GREEN, BLACK), strict=True):
        axis.plot(beta, response[:, task], color=colour, label=f"$c_{task + 1}$")
    axis.set(xlabel=r"task parameter $\beta$", ylabel="output")
    axis.legend(ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    return finish(
        figure,
        "indicator",
        f"Theorem 2: the first two layers of its proof, for {tasks} tasks and δ = {delta:g}. At "
        "β = j the j-th output is one and the others zero: a scalar becomes the one-hot indicator.",
    )


def sine_family(tasks: int = 8) -> Drawing:
    features = range(tasks + 1)
    figure, (axis,) = panels(1, width=5.2, height=2.1)
    errors = [sine_family_rmse(tasks, count) for count in features]
    axis.plot(list(features), errors, marker="D", color=GREEN)
    axis.set(xlabel="features of the last-layer network", ylabel="lowest possible RMSE")
    axis.set_ylim(bottom=-0.02)
    return finish(
        figure,
        "sine_family",
        f"Proposition 3: on the {tasks} tasks sin(jx) no last-layer network "
        f"with fewer than {tasks} features is exact; this is the lowest error that any can have.",
    )
