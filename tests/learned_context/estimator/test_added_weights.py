"""The weights of voices for added tasks, and the prior of their parameters."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from learned_context.estimator import LearnedContextRegressor, added_tasks, recipe
from learned_context.estimator.added_tasks import NETWORKS, Arrival
from learned_context.estimator.model import Ensemble, Spread, Weights
from learned_context.estimator.voices import LinearVoice, NetworkVoice
from tests.learned_context.estimator.conftest import QUICK, curves

FEATURES = ["x", "side"]


def arrival(count: int, errors: dict[str, float]) -> Arrival:
    """Ten tasks of three rows, and voices with these errors."""
    y = np.zeros(30)
    predicted = {name: Spread(y + error, np.zeros(30)) for name, error in errors.items()}
    return Arrival(count, np.repeat(np.arange(10), 3), y, predicted)


def test_the_better_voice_gets_the_weight_of_its_number_of_rows() -> None:
    """Known tasks have a say in it, but not for a task with a single row."""
    one = arrival(1, {NETWORKS: 3.0, "slopes": 1.0})
    ten = arrival(10, {NETWORKS: 1.0, "slopes": 3.0})
    known = {NETWORKS: 0.8, "slopes": 0.2}
    found = added_tasks.weights([one, ten], known, np.random.default_rng(0))
    assert found[1] == pytest.approx({NETWORKS: 0.0, "slopes": 1.0})
    assert found[10] == pytest.approx({NETWORKS: 0.95, "slopes": 0.05})


def test_tasks_are_resampled_and_not_rows() -> None:
    """One unusual task among ten decides in some samples only, however many rows it has."""
    y = np.zeros(100)
    task = np.repeat(np.arange(10), 10)
    networks, slopes = np.where(task == 0, 10.0, 0.5), np.ones(100)
    none = np.zeros(100)
    one = Arrival(1, task, y, {NETWORKS: Spread(networks, none), "slopes": Spread(slopes, none)})
    found = added_tasks.weights([one], {}, np.random.default_rng(0))[1]
    without = 0.9**10
    assert found[NETWORKS] == pytest.approx(without, abs=0.1)


def test_an_unusual_task_does_not_outweigh_all_others() -> None:
    """Networks are better by a tenth in nine tasks, and worse in one, where errors are tenfold.

    It has more rows than the others, which does not count.
    """
    task = np.append(np.repeat(np.arange(10), 2), np.zeros(10, dtype=np.int64))
    networks, slopes = np.where(task == 0, 11.0, 0.9), np.where(task == 0, 10.0, 1.0)
    predicted = {
        NETWORKS: Spread(networks, np.zeros(30)),
        "slopes": Spread(slopes, np.zeros(30)),
    }
    one = Arrival(1, task, np.zeros(30), predicted)
    assert one.of_each_task() == pytest.approx(np.stack([networks[:20:2], slopes[:20:2]]))
    found = added_tasks.weights([one], {}, np.random.default_rng(0))[1]
    by_squares = recipe.weights(one.of_each_task() ** 2, np.random.default_rng(0))
    assert by_squares[0] < 0.5 < 0.55 < found[NETWORKS]


def test_networks_share_their_weight_as_for_known_tasks() -> None:
    known = {"light": 0.6, "strong": 0.2, "slopes": 0.2}
    together = added_tasks.together(known, ["light", "strong"])
    assert together == pytest.approx({NETWORKS: 0.8, "slopes": 0.2})
    assert added_tasks.apart(together, known, ["light", "strong"]) == pytest.approx(known)
    simple = added_tasks.apart({NETWORKS: 0.4, "slopes": 0.6}, known, ["light", "strong"])
    assert simple == pytest.approx({"light": 0.3, "strong": 0.1, "slopes": 0.6})


@pytest.mark.parametrize(("tasks", "sizes"), [(7, [2, 2, 2]), (8, [3, 3, 2]), (200, [67])])
def test_folds_of_tasks_are_apart_and_no_more_than_enough(tasks: int, sizes: list[int]) -> None:
    found = list(added_tasks.folds(tasks, 3, np.random.default_rng(0)))
    assert [len(own) for own in found] == sizes
    assert len(np.unique(np.concatenate(found))) == sum(sizes)
    assert len(list(added_tasks.folds(tasks, 1, np.random.default_rng(0)))) == 1


def test_a_mixture_has_the_moments_of_its_parts() -> None:
    random = np.random.default_rng(0)
    parts = [(0.25, 1.0, 2.0), (0.75, -1.0, 0.5)]
    found = Spread.mixed([(w, Spread(np.array([m]), np.array([v]))) for w, m, v in parts])
    which = random.uniform(size=200_000) < 0.25
    drawn = np.where(which, *(random.normal(m, np.sqrt(v), 200_000) for _, m, v in parts))
    assert found.mean[0] == pytest.approx(drawn.mean(), abs=0.02)
    assert found.uncertain[0] == pytest.approx(drawn.var(), abs=0.03)


def test_weights_of_the_nearest_number_of_rows() -> None:
    weights = Weights((1.0, 0.0), {1: (0.2, 0.8), 10: (0.6, 0.4), 80: (1.0, 0.0)})
    assert weights.of(0) == (1.0, 0.0)
    assert [weights.of(rows)[0] for rows in (1, 3, 4, 28, 29, 1000)] == [0.2, 0.2, 0.6, 0.6, 1, 1]
    assert Weights((1.0,)).of(5) == (1.0,)


@pytest.fixture(scope="module")
def lines() -> LearnedContextRegressor:
    """A linear target, of tasks that differ in their intercepts, and networks hardly trained."""
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(15), 20)
    x = random.normal(size=(300, 1))
    y = 3 * x[:, 0] + random.normal(size=15)[task] + random.normal(0, 0.1, 300)
    settings = {**QUICK, "epochs": 1, "members": 1}
    return LearnedContextRegressor(**settings).fit(x, y, task)


def test_a_linear_truth_gives_the_linear_voices_the_weight(lines: LearnedContextRegressor) -> None:
    ensemble = lines.model_.ensemble
    is_linear = [isinstance(voice, LinearVoice) for voice in ensemble.voices]
    for rows in (1, 2, 5, 10):
        assert np.dot(ensemble.weights.of(rows), is_linear) > 0.8
    added = copy(lines).add_task(99, [[0.0]], [5.0])
    assert added.predict([[1.0]], 99)[0] == pytest.approx(8, abs=0.8)


def with_unused_linear_voice(estimator: LearnedContextRegressor) -> Ensemble:
    """The linear voice counts for tasks that are added with one row, and for no others."""
    ensemble = estimator.model_.ensemble
    is_linear = np.array([isinstance(voice, LinearVoice) for voice in ensemble.voices])
    assert is_linear.any() and not is_linear.all()
    known = np.where(is_linear, 0, ensemble.weights.known)
    one = is_linear / is_linear.sum()
    return replace(ensemble, weights=Weights(tuple(known / known.sum()), {1: tuple(one)}))


def test_voices_of_added_tasks_do_not_change_known_ones(lines: LearnedContextRegressor) -> None:
    x, task = np.linspace(-2, 2, 40)[:, None], np.arange(40) % 15
    whole = with_unused_linear_voice(lines)
    kept = [n for n, voice in enumerate(whole.voices) if isinstance(voice, NetworkVoice)]
    networks = Ensemble.of(
        [whole.voices[n] for n in kept],
        Weights(tuple(whole.weights.known[n] for n in kept)),
        [whole.posteriors[n] for n in kept],
    )
    found = []
    for ensemble in (whole, networks):
        own = copy(lines)
        own.model_ = replace(lines.model_, ensemble=ensemble)
        own.set_params(unknown="prior")
        found.append(
            [
                own.predict(x, task),
                *own.predict(x, task, return_std=True),
                *own.predict_interval(x, task),
                own.predict(x, 77),
                own.nearest_tasks(3).to_numpy(),
            ]
        )
    for left, right in zip(*found, strict=True):
        assert (left == right).all()


def test_a_task_has_the_weights_of_its_rows_also_when_updated(
    lines: LearnedContextRegressor,
) -> None:
    own = copy(lines)
    own.model_ = replace(lines.model_, ensemble=with_unused_linear_voice(lines))
    before = own.predict([[0.5]], 3)
    own.add_task(99, [[0.0]], [1.0])
    own.update_task(3, [[0.0]], [1.0])
    assert own.predict([[0.5]], 3) == pytest.approx(own.predict([[0.5]], 99), abs=1e-6)
    assert own.predict([[0.5]], 3) == pytest.approx(2.5, abs=0.2)
    assert own.predict([[0.5]], 3) != pytest.approx(before, abs=0.01)


def test_a_task_with_as_many_rows_as_fitted_ones_is_like_them(
    lc: LearnedContextRegressor,
) -> None:
    weights = lc.model_.ensemble.weights
    assert list(weights.added) == [1, 2, 5, 10, 40]
    assert weights.added[40] == weights.known


def test_the_prior_of_new_tasks_is_wider_by_what_few_rows_leave_uncertain() -> None:
    wider = []
    for rows in (4, 40):
        data = curves(range(12), rows)
        estimator = LearnedContextRegressor(**{**QUICK, "epochs": 20})
        estimator.fit(data[FEATURES], data.y, data.well)
        model = estimator.model_
        voice = model.ensemble.voices[model.main]
        (prior,), (new,) = voice.priors()[:1], voice.priors_of_new_tasks()[:1]
        lack = new.covariance - prior.covariance
        assert (np.linalg.eigvalsh(lack) > 0).all()
        assert (prior.mean == new.mean).all()
        wider.append(np.trace(lack) / np.trace(prior.covariance))
    assert wider[0] > wider[1]


def test_expectation_maximisation_finds_the_spread_of_the_tasks() -> None:
    """Estimates of theta ~ N(0, 4) from rows with precision 1 have the variance 4 * 0.8."""
    random = np.random.default_rng(0)
    estimates = 0.8 * (random.normal(0, 2, 4000) + random.normal(0, 1, 4000))
    data = curves(range(6), 8)
    estimator = LearnedContextRegressor(**{**QUICK, "epochs": 2})
    estimator.fit(data[FEATURES], data.y, data.well)
    ensemble = estimator.model_.ensemble
    network = next(voice for voice in ensemble.voices if isinstance(voice, NetworkVoice))
    voice = replace(network, population=estimates[None, :, None], uncertain=np.zeros((1, 1, 1)))
    precisions = np.full((1, 4000, 1, 1), 1 + 1 / np.var(estimates, ddof=1))
    (prior,) = voice.with_wider_prior(precisions).priors_of_new_tasks()
    assert prior.covariance[0, 0] == pytest.approx(4, rel=0.05)


def test_a_saved_estimator_adds_tasks_as_before(
    lines: LearnedContextRegressor, tmp_path: Path
) -> None:
    lines.save(tmp_path / "model")
    back = LearnedContextRegressor.load(tmp_path / "model")
    assert back.model_.ensemble.weights == lines.model_.ensemble.weights
    before, after = (one.add_task(99, [[0.3]], [2.0]) for one in (copy(lines), back))
    assert before.predict([[1.0]], 99) == after.predict([[1.0]], 99)
