"""The mixed model of curves: its basis, its likelihood, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_limits

from learned_context.estimator import LearnedContextRegressor, added_tasks, curves, linear
from learned_context.estimator.curves import Curves
from learned_context.estimator.kernel_basis import JITTER, KernelBasis, spread_points
from learned_context.estimator.voices import LinearVoice
from learned_context.metrics import rmse
from learned_context.training.data import Tensors

NONE = np.zeros(0, dtype=np.int64)


def drawn(tasks: int, rows: int, seed: int = 0, noise: float = 0.1) -> Tensors:
    """A shared wave, and in every task a height and a slope that go together."""
    random = np.random.default_rng(seed)
    task = np.repeat(np.arange(tasks), rows)
    x = random.uniform(-1.7, 1.7, (tasks * rows, 1))
    size = random.normal(size=tasks)[task]
    y = np.sin(2 * x[:, 0]) + 0.5 * size * (1.7 + x[:, 0]) + random.normal(0, noise, len(task))
    return Tensors(*(torch.from_numpy(a) for a in (x.astype("f4"), task, y.astype("f4"))))


def test_the_basis_is_the_kernel_at_its_points_and_close_to_it_between() -> None:
    x = torch.linspace(-2, 2, 41, dtype=torch.float64)[:, None]
    basis = KernelBasis.of(np.array([0]), x[::4], torch.tensor([0.7], dtype=torch.float64))
    kernel = torch.exp(-((x - x.T) ** 2) / 2 / 0.7**2)
    found = basis.columns(x) @ basis.columns(x).T
    assert found[::4, ::4].numpy() == pytest.approx(kernel[::4, ::4].numpy(), abs=10 * JITTER)
    assert found.numpy() == pytest.approx(kernel.numpy(), abs=0.01)


def test_points_of_a_basis_are_different_rows() -> None:
    x = np.repeat(np.arange(5.0), 20)[:, None]
    found = spread_points(x, 48, np.random.default_rng(0))
    assert sorted(found[:, 0]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("own", [np.array([0]), np.array([0, 1]), NONE])
def test_the_likelihood_is_that_of_the_normal_distribution_of_all_rows(own: np.ndarray) -> None:
    random = np.random.default_rng(0)
    x, y = torch.from_numpy(random.normal(size=(30, 2))), torch.from_numpy(random.normal(size=30))
    task = torch.from_numpy(random.integers(0, 4, 30))
    model = Curves(2, own, 800, seed=0)
    likelihood = curves._Likelihood(x, task, y, own, random)
    found = []
    for shift in (0.0, 0.3):
        scales = model._scales(torch.from_numpy(model.centre + shift))
        columns = torch.cat([x, *(basis.columns(x) for basis in likelihood.bases(scales))], 1)
        f = np.column_stack([np.ones(30), columns])
        used = [0, *(own + 1), *range(3 + len(likelihood.points[0][1]), f.shape[1])]
        mean, of_task = (variances.numpy() for variances in likelihood.variances(scales))
        same = task[:, None] == task
        covariance = f * mean @ f.T + np.where(same, f[:, used] * of_task @ f[:, used].T, 0)
        covariance += float(scales.noise) * np.eye(30)
        exact = multivariate_normal(np.zeros(30), covariance).logpdf(y)
        found.append(float(likelihood(scales)) + exact)
    assert found[0] == pytest.approx(15 * np.log(2 * np.pi) * -1, abs=1e-6)
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def test_new_tasks_by_curves_are_better_than_by_lines() -> None:
    rows = drawn(30, 8)
    test = drawn(30, 20, seed=1)
    voices: dict[str, LinearVoice] = {
        "curves": Curves(1, np.array([0]), 800, seed=0).fit(rows, 30),
        "lines": linear.fit(rows, 30, np.array([0])),
    }
    few = torch.arange(len(test)) % 20 < 2
    parts = [Tensors(test.x[m], test.task[m], test.y[m]) for m in (few, ~few)]
    errors = {
        name: rmse(parts[1].y.numpy(), added_tasks.spread(voice, *parts).mean)
        for name, voice in voices.items()
    }
    assert errors["curves"] < 0.35 < 0.6 < errors["lines"]


def test_what_tasks_differ_in_may_be_correlated() -> None:
    """The height and the slope are one number: the covariance says so, and one row tells both."""
    voice = Curves(1, np.array([0]), 800, seed=0).fit(drawn(60, 8), 60)
    both = voice.covariance[:2, :2]
    assert both[0, 1] / np.sqrt(both[0, 0] * both[1, 1]) > 0.5
    alone = Curves(1, np.array([0]), 800, seed=0).fit(drawn(2, 8), 2)
    few = alone.covariance[:2, :2]
    assert abs(few[0, 1]) / np.sqrt(few[0, 0] * few[1, 1]) < 0.3


def test_the_later_fits_begin_where_the_first_ended() -> None:
    rows, model = drawn(20, 8), Curves(1, np.array([0]), 800, seed=0)
    first, second = model.fit(rows, 20), model.fit(rows, 20)
    assert model.steps == curves.LATER_STEPS
    assert second.noise == pytest.approx(first.noise, rel=0.1)
    again = Curves(1, np.array([0]), 800, seed=0).fit(rows, 20)
    assert (again.fixed == first.fixed).all() and (again.population == first.population).all()


def test_the_number_of_threads_changes_no_bit() -> None:
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(40), 30)
    x = random.normal(size=(1200, 30))
    y = x[:, 0] + np.sin(x[:, 1]) + random.normal(size=40)[task] + random.normal(0, 0.1, 1200)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            estimator = LearnedContextRegressor(
                quality="fast", epochs=1, width=8, random_state=0
            ).fit(x, y, task)
        found.append([voice.population for voice in estimator.model_.ensemble.voices])
    assert len(found[0]) > 2
    assert all((one == two).all() for one, two in zip(*found, strict=True))


def test_only_features_that_vary_within_tasks_have_curves_of_tasks() -> None:
    task = np.repeat(np.arange(5), 10)
    random = np.random.default_rng(0)
    x = np.column_stack(
        [random.normal(size=50), task, random.normal(size=50) > 0, np.full(50, 0.1)]
    )
    assert list(curves.varying(x, task, np.array([False, False, True, False]))) == [0]


def test_without_such_features_a_task_has_an_intercept_alone() -> None:
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(20), 5)
    x = np.repeat(random.normal(size=20), 5)[:, None]
    y = np.sin(2 * x[:, 0]) + random.normal(size=20)[task] + random.normal(0, 0.1, 100)
    rows = Tensors(*(torch.from_numpy(a) for a in (x.astype("f4"), task, y.astype("f4"))))
    voice = Curves(1, NONE, 800, seed=0).fit(rows, 20)
    assert voice.size == 1 and len(voice.bases) == 1 and voice.inputs == 1


def test_smoothness_is_found_from_some_rows_of_every_kind_of_table() -> None:
    random = np.random.default_rng(0)
    few_tasks = curves._some_rows(np.repeat(np.arange(3), 5000), 800, random)
    assert list(np.bincount(np.repeat(np.arange(3), 5000)[few_tasks])) == [266, 266, 266]
    many = np.repeat(np.arange(500), 100)
    found = np.bincount(many[curves._some_rows(many, 800, random)])
    assert found.sum() == 800 and set(found[found > 0]) == {curves.ROWS_OF_TASK}
    assert len(curves._some_rows(np.arange(50), 800, random)) == 50


def test_of_many_features_the_most_varying_have_curves() -> None:
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(10), 20)
    x = random.normal(size=(200, 40)) + 2 * random.normal(size=(10, 40))[task] * (
        np.arange(40) > 15
    )
    found = curves.varying(x, task, np.zeros(40, dtype=bool))
    assert len(found) == curves.MOST_OWN and set(range(16)) <= set(found)
    assert list(found) == sorted(found)


def test_very_many_tasks_are_left_to_the_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = drawn(12, 6)
    x, task, y = (own.numpy() for own in (data.x, data.task, data.y))
    settings = {"quality": "fast", "epochs": 2, "width": 8, "random_state": 0}
    assert "curves" in LearnedContextRegressor(**settings).fit(x, y, task).scores_
    monkeypatch.setattr(linear, "MOST_NUMBERS", 10_000)
    assert "curves" not in LearnedContextRegressor(**settings).fit(x, y, task).scores_
