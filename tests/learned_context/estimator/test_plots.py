"""The plots show what they say; how they look is for people to judge."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from learned_context.estimator import LearnedContextRegressor, plot_response, plot_task_map
from learned_context.estimator.plots import task_map
from tests.learned_context.estimator.conftest import PAPER, QUICK

FEATURES = ["x", "side"]


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    pyplot.close("all")
    matplotlib.use(before)


def test_the_map_names_the_tasks(lc: LearnedContextRegressor) -> None:
    ax = plot_task_map(lc)
    assert {text.get_text() for text in ax.texts} == set(lc.tasks_)
    assert len(ax.collections[0].get_offsets()) == 20
    assert [text.get_text() for text in plot_task_map(lc, names=["w03"]).texts] == ["w03"]
    assert not plot_task_map(lc, names=False).texts


def test_the_map_names_those_asked_for(lc: LearnedContextRegressor) -> None:
    for names in (lc.task_parameters_.index[:2], ["w00", "w01"]):
        ax = plot_task_map(lc, names=names)
        assert sorted(text.get_text() for text in ax.texts) == ["w00", "w01"]
    assert [text.get_text() for text in plot_task_map(lc, names="w05").texts] == ["w05"]
    with pytest.raises(ValueError, match="'zz' is not known"):
        plot_task_map(lc, names=["zz"])


def test_the_map_joins_the_nearest_and_marks_the_added(
    lc: LearnedContextRegressor, new: pd.DataFrame
) -> None:
    lc.add_tasks(new[FEATURES], new.y, new.well)
    ax = plot_task_map(lc, near="w20", names=False)
    assert len(ax.lines) == 5 and len(ax.texts) == 6


def test_the_map_is_coloured_by_numbers_or_categories(lc: LearnedContextRegressor) -> None:
    depth = pd.Series(np.arange(19.0), index=lc.tasks_[:19], name="depth")
    ax = plot_task_map(lc, color=depth)
    assert ax.figure.axes[1].get_ylabel() == "depth"
    legend = plot_task_map(lc, color=["even", "odd"] * 10).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["even", "odd"]
    with pytest.raises(ValueError, match="2 values for 20 tasks"):
        plot_task_map(lc, color=[1, 2])


@pytest.mark.parametrize("kind", ["lc", "cs", "ll"])
def test_more_parameters_are_shown_by_their_principal_components(kind: str) -> None:
    x = np.linspace(-1, 1, 60)[:, None]
    task = np.arange(60) % 6
    settings = {**QUICK, "kind": kind, "task_dim": 3, "epochs": 5}
    estimator = LearnedContextRegressor(**settings).fit(x, x[:, 0] + task, task)
    points = task_map(estimator)
    assert list(points.columns) == ["component 1", "component 2"]
    assert points.iloc[:, 0].std() >= points.iloc[:, 1].std()
    plot_task_map(estimator)


def test_the_response_moves_with_the_parameter(lc: LearnedContextRegressor) -> None:
    ax = plot_response(lc, "x", dimension=1, values=[-1, 0, 1], deviations=[-1, 0, 1])
    lines = [line.get_ydata() for line in ax.lines]
    assert len(lines) == 3 and ax.get_xlabel() == "x"
    assert np.abs(np.asarray(lines[0]) - np.asarray(lines[2])).max() > 1e-3


def test_the_response_at_a_task_is_its_prediction(known: pd.DataFrame) -> None:
    one = LearnedContextRegressor(**{**PAPER, "epochs": 5}).fit(known[["x"]], known.y, known.well)
    rows = pd.DataFrame({"x": [-1.0, 0.5]})
    x, _ = one._rows(rows, "w05")
    beta = one.task_parameters_.iloc[5].to_numpy().copy()
    assert len(one.model_.ensemble.voices) == 1 and one.model_.ensemble.voices[0].members == 1
    response = one.model_.original(one.model_.response(x, beta))
    assert response == pytest.approx(one.predict(rows, "w05"), abs=1e-5)


def test_the_response_refuses(lc: LearnedContextRegressor) -> None:
    for feature, dimension, message in (
        ("z", 0, "no feature 'z'"),
        (9, 0, "no feature 9"),
        ("side", 0, "is a category"),
        ("x", 3, "has 3 task parameters"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_response(lc, feature, dimension)
