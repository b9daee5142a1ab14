"""Plots for people: the map of the tasks, and the response as a task parameter moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from learned_context.estimator.regressor import LearnedContextRegressor

MOST_NAMES = 40
"""With more tasks than this no point is named, unless names are asked for."""


def task_map(estimator: LearnedContextRegressor) -> pd.DataFrame:
    """Two coordinates a task: its two parameters, or the principal components of all networks'.

    The components are those of what the tasks bring to the networks: there distances have a
    meaning, while the parameters' own axes are arbitrary.
    """
    check_is_fitted(estimator)
    model = estimator.model_
    index = pd.Index(model.labels.values, name="task")
    voice = model.ensemble.voices[model.main]
    single = len(model.ensemble.voices) == 1 and voice.members == 1
    if single and voice.adapts and voice.size <= 2:
        points = model.ensemble.posteriors[0].means[0, :, 0]
        names = ["beta_0", "beta_1"]
    else:
        contexts = model.contexts()
        axes = np.linalg.svd(contexts[: model.base], full_matrices=False)[2][:2]
        points, names = contexts @ axes.T, ["component 1", "component 2"]
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(len(points))])
    return pd.DataFrame(points, index=index, columns=names)


def plot_task_map(
    estimator: LearnedContextRegressor,
    color: pd.Series | Sequence[Any] | None = None,
    names: bool | Sequence[Any] | None = None,
    near: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Every task as a point.

    `color` is a Series by label, or one value a task, numbers or categories. `names` are the
    labels to write, or all or none of them; None for all when they are few. Lines join the task
    `near` and those nearest to it. Tasks added after the fit have a black edge.
    """
    points, ax = task_map(estimator), ax or _new_axes()
    x, y = points.to_numpy().T
    added = np.arange(len(points)) >= estimator.model_.base
    edges = ["black" if one else "none" for one in added]
    if color is None:
        ax.scatter(x, y, s=24, edgecolors=edges)
    else:
        _scatter_colored(ax, x, y, _one_a_task(color, points.index), edges)
    if names is None:
        names = len(points) <= MOST_NAMES
    shown = set(_labels_to_write(estimator, names, points.index))
    if near is not None:
        for other in estimator.nearest_tasks(near).index:
            ax.plot(*points.loc[[near, other]].to_numpy().T, color="grey", linewidth=0.8, zorder=0)
            shown |= {near, other}
    for label in shown:
        ax.annotate(str(label), points.loc[label], xytext=(4, 3), textcoords="offset points")
    ax.set_xlabel(points.columns[0])
    ax.set_ylabel(points.columns[1])
    return ax


def plot_response(
    estimator: LearnedContextRegressor,
    feature: str | int = 0,
    dimension: int = 0,
    values: Sequence[float] | None = None,
    deviations: Sequence[float] = (-2, -1, 0, 1, 2),
    ax: Axes | None = None,
) -> Axes:
    """Predictions along a numeric feature, one line for each value of a task parameter.

    The parameter of the main network (see `task_parameters_`) moves by these numbers of standard
    deviations of the fitted tasks about their mean; the other parameters and features are at
    theirs. `values` of the feature: by default two standard deviations to either side.
    """
    check_is_fitted(estimator)
    model, ax = estimator.model_, ax or _new_axes()
    voice, scaler = model.ensemble.voices[model.main], model.scaler
    names = voice.parameter_names if voice.adapts else []
    if not 0 <= dimension < len(names):
        raise ValueError(f"a {estimator.kind} network has {len(names)} task parameters")
    place = estimator.columns_.place(feature)
    mean, std = scaler.x_mean[place], scaler.x_std[place]
    if np.isinf(std):
        raise ValueError(f"feature {feature!r} had one value in the fitted rows: it is ignored")
    grid = np.linspace(mean - 2 * std, mean + 2 * std, 200) if values is None else np.array(values)
    x = torch.zeros(len(grid), len(scaler.x_mean), device=model.device)
    x[:, place] = torch.from_numpy((grid - mean) / std).to(x)
    base = voice.population[0]
    for deviation, color in zip(deviations, _colors(len(deviations)), strict=True):
        theta = base.mean(axis=0)
        theta[dimension] += deviation * base[:, dimension].std()
        response = model.original(model.response(x, theta))
        ax.plot(grid, response, color=color, label=f"{deviation:+g} std")
    ax.legend(title=names[dimension])
    ax.set_xlabel(estimator.columns_.names[feature] if isinstance(feature, int) else feature)
    ax.set_ylabel("prediction")
    return ax


def _labels_to_write(
    estimator: LearnedContextRegressor, names: bool | Sequence[Any], known: pd.Index
) -> list[Any]:
    if isinstance(names, bool):
        return list(known) if names else []
    chosen = [names] if isinstance(names, str) else list(names)
    for label in chosen:
        if label not in known:
            raise ValueError(estimator.model_.labels.unknown(label))
    return chosen


def _one_a_task(color: pd.Series | Sequence[Any], labels: pd.Index) -> pd.Series:
    if isinstance(color, pd.Series):
        return color.reindex(labels)
    if len(color) != len(labels):
        raise ValueError(f"color has {len(color)} values for {len(labels)} tasks")
    return pd.Series(list(color), index=labels)


def _scatter_colored(
    ax: Axes, x: NDArray[Any], y: NDArray[Any], color: pd.Series, edges: list[str]
) -> None:
    if pd.api.types.is_numeric_dtype(color.dtype):
        drawn = ax.scatter(x, y, c=color.to_numpy(), s=24, edgecolors=edges, cmap="viridis")
        ax.figure.colorbar(drawn, ax=ax, label=str(color.name or ""))
        return
    levels = color.astype(str).unique()
    for level, shade in zip(levels, _colors(len(levels)), strict=True):
        own = np.flatnonzero(color.astype(str) == level)
        own_edges = [edges[place] for place in own]
        ax.scatter(x[own], y[own], s=24, color=shade, edgecolors=own_edges, label=level)
    ax.legend(title=str(color.name or ""))


def _colors(count: int) -> NDArray[np.float64]:
    from matplotlib import colormaps

    return np.asarray(colormaps["viridis"](np.linspace(0, 0.9, count)))


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]
