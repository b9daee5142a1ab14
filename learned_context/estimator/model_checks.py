"""What a model file must be: parts that were written together agree, numbers are possible ones.

A file that someone changed, or another program wrote, may be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from learned_context.columns import Columns, Encoding
from learned_context.estimator.added_levels import AddedLevels
from learned_context.estimator.labels import read_labels
from learned_context.estimator.model import Model
from learned_context.estimator.task_fit import TaskPosterior
from learned_context.estimator.voices import LinearVoice, NetworkVoice, Voice
from learned_context.new_tasks.objective import Floats

Problems = Iterator[tuple[str, bool]]
"""What may be wrong, and whether it is."""
WHOLE_NUMBERS = ("rows", "slopes", "features")
"""Arrays by the end of their name; all others are of single or double precision."""


def check_arrays(arrays: Mapping[str, Tensor]) -> None:
    for name, array in arrays.items():
        is_whole = name.rpartition(".")[2] in WHOLE_NUMBERS
        allowed = (torch.int64,) if is_whole else (torch.float32, torch.float64)
        if array.dtype not in allowed:
            raise ValueError(f"{name} has the wrong type {str(array.dtype).removeprefix('torch.')}")


def check(model: Model, columns: Columns, added: AddedLevels) -> None:
    # In this order: later ones rely on earlier ones.
    for problem, is_there in _problems(model, columns, added):
        if is_there:
            raise ValueError(problem)


def _problems(model: Model, columns: Columns, added: AddedLevels) -> Problems:
    yield "the columns' levels are not as they are written", not _are_levels(columns, added)
    inputs, tasks = len(columns.encoded_names), len(model.labels)
    scaler = model.scaler
    shapes = {scaler.x_mean.shape, scaler.x_std.shape}
    yield "the scaler has another number of features", shapes != {(inputs,)}
    is_scale = np.isfinite([scaler.y_mean, scaler.y_std]).all() and scaler.y_std > 0
    is_scale &= np.isfinite(scaler.x_mean).all() and (scaler.x_std > 0).all()
    yield "the scaler is not made of numbers above zero", not is_scale
    yield "labels repeat", not model.labels.values.is_unique
    sort = read_labels(model.labels.tolist(), tasks)[1]
    yield "labels are of another sort", sort != model.labels.sort
    yield "there are not as many labels as tasks", model.rows.shape != (tasks,)
    is_count = (model.rows >= 0).all() and (model.rows[model.base :] > 0).all()
    yield "rows are not counts", not is_count
    yield "there is no noise", not 0 < model.calibration.noise < np.inf
    yield "weights are not shares", not _are_shares(np.array(model.ensemble.weights.known))
    for rows, weights in model.ensemble.weights.added.items():
        yield f"added_weights of {rows} rows are not shares", not _are_shares(np.array(weights))
    for place, parts in enumerate(
        zip(model.ensemble.voices, model.ensemble.posteriors, strict=True)
    ):
        for problem, is_there in _problems_of_part(*parts, tasks, model.base, inputs):
            yield f"part {place} {problem}", is_there


def _problems_of_part(
    voice: Voice, posterior: TaskPosterior, tasks: int, base: int, inputs: int
) -> Problems:
    shape = (voice.members, tasks, posterior.weights.shape[2], voice.size)
    is_shape = posterior.means.shape == shape and posterior.weights.shape == shape[:3]
    is_shape &= voice.population.shape[1] == base <= tasks
    yield "has another number of tasks", not is_shape
    yield "has another number of features", voice.inputs != inputs
    arrays = [voice.population, posterior.means, posterior.weights]
    is_finite = bool(torch.isfinite(voice.shared).all()) and all(
        np.isfinite(a).all() for a in arrays
    )
    yield "has weights that are not numbers", not is_finite
    yield "has no noise", not 0 < voice.noise < np.inf
    yield "has modes whose weights are not shares", not _are_shares(posterior.weights)
    if isinstance(voice, NetworkVoice):
        size = (voice.members, voice.size, voice.size)
        yield "has another size of uncertain", voice.uncertain.shape != size
        is_prior = _are_covariances(voice.uncertain)
        yield "has an uncertain prior that is no covariance", not is_prior
    if isinstance(voice, LinearVoice):
        yield "is not a whole mixed model", not _is_whole(voice)
    if posterior.covariances is None:
        yield "lacks its covariances", voice.adapts and base > 1
    else:
        is_size = posterior.covariances.shape == (*shape, voice.size)
        yield "has covariances of another size", not is_size
        yield "has covariances that are none", not _are_covariances(posterior.covariances)


def _are_levels(columns: Columns, added: AddedLevels) -> bool:
    """Names and levels are texts, and each is there once."""
    by_name = dict(zip(columns.names, columns.levels, strict=True))
    every = [(*(levels or ()), *added.of.get(name, ())) for name, levels in by_name.items()]
    return (
        all(by_name.get(name) is not None for name in added.of)
        and columns.encoding in get_args(Encoding)
        and all(_are_different_texts(texts) for texts in (columns.names, *every))
    )


def _are_different_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and len(set(values)) == len(values)


def _are_shares(weights: Floats) -> bool:
    """Along the last axis."""
    return bool((weights >= 0).all() and np.allclose(weights.sum(axis=-1), 1.0))


def _are_covariances(matrices: Floats) -> bool:
    """Of the last two axes: symmetric, and no variance is below zero but for rounding."""
    if not np.isfinite(matrices).all() or not (matrices == np.swapaxes(matrices, -1, -2)).all():
        return False
    values = np.linalg.eigvalsh(matrices)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    return bool((values >= -1e-9 * largest).all())


def _is_whole(voice: LinearVoice) -> bool:
    columns = len(voice.fixed) - 1
    whole = [
        voice.slopes.ndim == 1 and voice.size == len(voice.slopes) + 1,
        ((voice.slopes >= 0) & (voice.slopes < columns)).all(),
        voice.covariance.shape == (voice.size, voice.size),
        _are_covariances(voice.covariance),
    ]
    if voice.logarithm:
        own = voice.logarithm
        whole += [
            bool(np.isfinite(list(asdict(own).values())).all()),
            own.y_std > 0 and own.std > 0 and own.low < own.high,
        ]
    for basis in voice.bases:
        points, used = len(basis.points), len(basis.features)
        numbers = torch.cat([basis.points.flatten(), basis.lengths, basis.root.flatten()])
        whole += [
            basis.points.shape == (points, used) and basis.root.shape == (points, points),
            basis.lengths.shape == (used,) and bool((basis.lengths > 0).all()),
            ((basis.features >= 0) & (basis.features < voice.inputs)).all(),
            bool(torch.isfinite(numbers).all()),
        ]
    return all(whole)
