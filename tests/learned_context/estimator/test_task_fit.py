"""The noise of a voice: what held-out rows of fitted tasks say of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from learned_context.estimator import linear, task_fit
from learned_context.estimator.voices import LinearVoice
from learned_context.training.data import Tensors

TASKS, BETWEEN, NOISE = 2000, 1.0, 0.2
"""Tasks, the variance of their intercepts, and that of the noise."""
NONE = np.zeros(0, dtype=np.int64)


def intercepts(rows: int, shift: float = 0.0) -> tuple[Tensors, Tensors]:
    """So many rows of every task to fit, and one more."""
    random = np.random.default_rng(0)
    level = random.normal(0, np.sqrt(BETWEEN), TASKS)
    task = np.tile(np.arange(TASKS), rows + 1)
    y = level[task] + random.normal(0, np.sqrt(NOISE), len(task))
    y[rows * TASKS :] += shift
    x = random.normal(size=(len(task), 1))
    whole = [torch.from_numpy(values) for values in (x, task, y)]
    known, new = ([own[part] for own in whole] for part in _parts(rows * TASKS))
    return Tensors(*known), Tensors(*new)


def _parts(first: int) -> tuple[slice, slice]:
    return slice(None, first), slice(first, None)


def lines(rows: int) -> tuple[Tensors, Tensors]:
    """Each task with a slope of its own: with two rows it has as many as parameters."""
    known, new = intercepts(rows)
    slope = np.random.default_rng(1).normal(0, np.sqrt(BETWEEN), TASKS)

    def steeper(own: Tensors) -> Tensors:
        return replace(own, y=own.y + torch.from_numpy(slope)[own.task] * own.x[:, 0])

    return steeper(known), steeper(new)


def with_unknown_noise(known: Tensors) -> LinearVoice:
    """As a network's before it is measured."""
    return replace(linear.fit(known, TASKS, NONE), noise=1.0)


def mean_of(voice: LinearVoice, rows: Tensors) -> np.ndarray:
    theta = torch.from_numpy(voice.population[:, rows.task.numpy()])
    return voice.value(voice.rows(rows.x), theta)[0].numpy()


@pytest.mark.parametrize("rows", [2, 5, 20])
def test_the_uncertainty_of_the_tasks_is_no_noise(rows: int) -> None:
    known, new = intercepts(rows)
    voice = with_unknown_noise(known)
    assert task_fit.noise(voice, known, new) == pytest.approx(NOISE, rel=0.1)
    error = new.y.numpy() - mean_of(voice, new)
    uncertain = 1 / (rows / NOISE + 1 / BETWEEN)
    assert np.mean(error**2) == pytest.approx(NOISE + uncertain, rel=0.1)


@pytest.mark.parametrize("rows", [2, 3])
def test_the_noise_is_found_where_tasks_have_hardly_more_rows_than_parameters(rows: int) -> None:
    known, new = lines(rows)
    voice = replace(linear.fit(known, TASKS, np.array([0])), noise=1.0)
    assert task_fit.noise(voice, known, new) == pytest.approx(NOISE, rel=0.15)


def test_rows_far_from_all_others_are_as_noisy_as_the_target_varies() -> None:
    known, new = intercepts(2, shift=100.0)
    found = task_fit.noise(with_unknown_noise(known), known, new)
    assert found == pytest.approx(float(known.y.var(correction=0)))


def test_of_one_task_all_of_the_error_is_noise() -> None:
    known, new = (Tensors(own.x, own.task * 0, own.y) for own in intercepts(2))
    voice = replace(linear.fit(known, 1, NONE), noise=1.0)
    near = Tensors(new.x, new.task, new.y / 2)
    error = near.y.numpy() - mean_of(voice, near)
    assert task_fit.noise(voice, known, near) == pytest.approx(np.mean(error**2))
