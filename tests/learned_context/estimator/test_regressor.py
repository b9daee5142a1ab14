"""The estimator as a member of scikit-learn: inputs, routing, reproducibility, search."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.metrics import r2_score

from learned_context.columns import Columns
from learned_context.estimator import LearnedContextRegressor, recipe
from learned_context.estimator.fitting import Part, choose_folds, thinned
from learned_context.estimator.plots import plot_response
from learned_context.estimator.voices import NetworkVoice
from learned_context.rows import Rows
from learned_context.training.trainer import train_members
from tests.learned_context.estimator.conftest import NOISE, PAPER, QUICK, curves

FEATURES = ["x", "side"]


def test_learns_the_tasks(lc: LearnedContextRegressor) -> None:
    test = curves(range(20), 50, seed=1)
    error = test.y - lc.predict(test[FEATURES], test.well)
    assert np.sqrt(np.mean(error**2)) < 1.6 * NOISE
    assert lc.score(test[FEATURES], test.y, test.well) == pytest.approx(
        r2_score(test.y, lc.predict(test[FEATURES], test.well))
    )


@pytest.mark.parametrize("kind", ["cs", "ll", "fs"])
def test_other_kinds(kind: Any, known: pd.DataFrame) -> None:
    estimator = LearnedContextRegressor(kind=kind, **QUICK).fit(known[["x"]], known.y, known.well)
    mean, std = estimator.predict(known[["x"]], known.well, return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all()
    assert estimator.score(known[["x"]], known.y, known.well) > (0.5 if kind == "fs" else 0.9)


def test_same_seed_same_bits(known: pd.DataFrame) -> None:
    first, second = (
        LearnedContextRegressor(**{**QUICK, "epochs": 5}).fit(known[["x"]], known.y, known.well)
        for _ in range(2)
    )
    assert (
        first.predict(known[["x"]], known.well) == second.predict(known[["x"]], known.well)
    ).all()


def test_the_number_of_jobs_changes_no_bit(known: pd.DataFrame) -> None:
    settings = {**QUICK, "epochs": 5}
    first, *others = (
        LearnedContextRegressor(**settings, n_jobs=jobs).fit(known[["x"]], known.y, known.well)
        for jobs in (None, 3, -1)
    )
    rows = known[["x"]], known.well
    for other in others:
        assert (first.predict(*rows) == other.predict(*rows)).all()
        assert first.weights_.equals(other.weights_)


def test_threads_do_not_disturb_each_other(
    lc: LearnedContextRegressor, known: pd.DataFrame, new: pd.DataFrame
) -> None:
    expected = copy(lc).add_tasks(new[FEATURES], new.y, new.well).predict(new[FEATURES], new.well)

    def work(_: int) -> Any:
        own = copy(lc).add_tasks(new[FEATURES], new.y, new.well)
        return own.predict(new[FEATURES], new.well)

    with ThreadPoolExecutor(4) as pool:
        assert all((found == expected).all() for found in pool.map(work, range(8)))


def test_the_weights_are_shares_and_follow_the_scores(lc: LearnedContextRegressor) -> None:
    assert lc.weights_.sum() == pytest.approx(1)
    assert lc.weights_.idxmax() == lc.scores_.idxmin()
    networks = sum(voice.members for voice in lc.model_.ensemble.voices if voice.inputs == 2)
    assert networks >= 2


def test_members_share_the_networks(known: pd.DataFrame) -> None:
    for members in (1, 5):
        settings = {**QUICK, "epochs": 5, "members": members}
        fitted = LearnedContextRegressor(**settings).fit(known[["x"]], known.y, known.well)
        voices = fitted.model_.ensemble.voices
        assert sum(v.members for v in voices if isinstance(v, NetworkVoice)) == members


def test_the_paper_s_training_is_the_study_s(known: pd.DataFrame) -> None:
    fitted = LearnedContextRegressor(**{**PAPER, "epochs": 6}).fit(
        known[["x"]], known.y, known.well
    )
    (voice,) = fitted.model_.ensemble.voices
    assert isinstance(voice, NetworkVoice)
    shape = voice.network.shape
    assert not shape.last_relu and not shape.intercepts and voice.members == 1
    codes, _ = pd.factorize(known.well, sort=True)
    rows = Rows(known[["x"]].to_numpy(), codes.astype(np.int64), known.y.to_numpy())
    training = recipe.sgd(fitted.get_params(), len(rows), 20)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    (own,) = np.random.SeedSequence([seed, 1, *b"sgd"]).generate_state(1)
    study = train_members(rows, 20, "lc", training.hyper, training.plan, [int(own)])[0]
    assert torch.equal(study.network.flat, voice.network.flat[0])


def test_pickles_load_on_the_cpu(lc: LearnedContextRegressor, known: pd.DataFrame) -> None:
    back = pickle.loads(pickle.dumps(lc))  # noqa: S301
    assert (
        back.predict(known[FEATURES], known.well) == lc.predict(known[FEATURES], known.well)
    ).all()
    state = lc.__getstate__()
    assert state["model_"].device.type == "cpu"


@pytest.mark.parametrize("device", ["cuda", "cuda:9"])
def test_pickles_of_a_gpu_that_is_not_here_are_on_the_cpu(
    lc: LearnedContextRegressor, known: pd.DataFrame, device: str
) -> None:
    state = {**lc.__getstate__(), "device": device}
    back = LearnedContextRegressor.__new__(LearnedContextRegressor)
    back.__setstate__(state)
    assert back.device == device
    assert np.isfinite(back.predict(known[FEATURES], known.well)).all()
    if not torch.cuda.is_available():
        assert back.model_.device.type == "cpu"


def test_progress_is_shown_on_request(
    known: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    for verbose in (False, True):
        settings = {**QUICK, "epochs": 3, "verbose": verbose}
        LearnedContextRegressor(**settings).fit(known[["x"]], known.y, known.well)
        shown = capsys.readouterr()
        assert not shown.out
        assert ("100%" in shown.err) == verbose


def test_folds_take_the_same_share_of_every_task_and_leave_a_row() -> None:
    random = np.random.default_rng(0)
    task = np.repeat(np.arange(30), np.arange(30) + 1)
    folds = choose_folds(task, 3, random)
    held_out = np.sum(folds, axis=0)
    assert held_out.max() == 1
    for fold in folds:
        own = np.bincount(task[fold], minlength=30)
        assert (np.abs(own - 0.1 * np.bincount(task)) < 1).all() and own[0] == 0
    for rows in (2, 3, 7):
        for fold in choose_folds(np.arange(rows), 2, random):  # a single row for every task
            assert 0 < fold.sum() < rows


def test_large_tables_are_thinned_by_task() -> None:
    random = np.random.default_rng(0)
    many = Rows(np.zeros((1000, 1)), np.repeat(np.arange(100), 10), np.zeros(1000))
    kept = thinned(many, 600, random)
    assert 590 <= len(kept) <= 600
    assert set(np.bincount(kept.task)[np.unique(kept.task)]) == {10}
    few = Rows(np.zeros((1000, 1)), np.repeat(np.arange(4), 250), np.zeros(1000))
    assert len(thinned(few, 100, random)) == 100
    assert thinned(few, 1000, random) is few


def test_a_row_is_predicted_alike_alone_and_among_others(
    lc: LearnedContextRegressor, known: pd.DataFrame
) -> None:
    together = lc.predict(known[FEATURES], known.well)
    alone = [lc.predict(known[FEATURES].iloc[[i]], known.well.iloc[[i]])[0] for i in (0, 7, 600)]
    assert (together[[0, 7, 600]] == alone).all()


def test_features_by_name(lc: LearnedContextRegressor, known: pd.DataFrame) -> None:
    assert list(lc.feature_names_in_) == FEATURES and lc.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        lc.predict(known[["side", "x"]], known.well)


def test_categories_make_a_difference_where_there_is_one() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=300), "side": random.choice(["a", "b"], 300)})
    frame["up"] = random.uniform(size=300) < 0.5
    y = np.where(frame.side == "a", 1.0, -1.0) + frame.up
    for side in (frame.side, frame.side.astype("category"), frame.side.astype("string")):
        own = frame.assign(side=side)
        assert LearnedContextRegressor(**QUICK).fit(own, y).score(own, y) > 0.98


def test_a_rare_level_is_no_outlier() -> None:
    names = ["a", "b", "c"] * 1000 + ["rare", "rarer", "rarest"]
    frame = pd.DataFrame({"side": names, "constant": "same"})
    columns = Columns.fit(frame)
    rows = Rows(columns.encode(frame), np.zeros(len(frame), int), np.arange(len(frame)) * 1.0)
    part = Part.of(rows, 1, columns.indicators, torch.device("cpu"))
    assert np.abs(part.data.x.numpy()).max() < 6  # standardised, an indicator would be 55
    assert (part.data.x[:, -1] == 0).all()


@pytest.mark.parametrize("rare", ["level", "number"])
@pytest.mark.parametrize("seed", [3, 7])  # with these the only other row is held out
def test_the_noise_is_sane_when_a_feature_is_constant_but_for_a_row_held_out(
    rare: str, seed: int
) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=100)
    y = np.sin(x) + 0.1 * random.normal(size=100)
    other: Any = np.full(100, "ok", dtype=object) if rare == "level" else np.full(100, 0.1)
    other[3] = "bad" if rare == "level" else 0.2
    settings = {**QUICK, "random_state": seed, "width": 16}
    frame = pd.DataFrame({"x": x, "other": other})
    estimator = LearnedContextRegressor(**settings).fit(frame, y, np.repeat(list("abcde"), 20))
    assert estimator.noise_std_ < 0.75 * y.std()


@pytest.mark.parametrize("value", [1.0, 0.1, "same"])
def test_a_constant_feature_is_ignored(value: Any, known: pd.DataFrame) -> None:
    frame = known[["x"]].assign(bar=value)
    estimator = LearnedContextRegressor(**QUICK).fit(frame, known.y, known.well)
    expected = estimator.predict(frame, known.well)
    if value == "same":
        assert np.isfinite(expected).all()
        return
    for other in (0.2, -30.0, 1e12):
        assert (estimator.predict(frame.assign(bar=other), known.well) == expected).all()
    with pytest.raises(ValueError, match="one value in the fitted rows"):
        plot_response(estimator, "bar")


def test_too_many_levels_are_an_error() -> None:
    frame = pd.DataFrame({"name": [f"row {number}" for number in range(1001)]})
    with pytest.raises(ValueError, match="'name' has 1001 categories, more than 1000"):
        LearnedContextRegressor(**QUICK).fit(frame, np.arange(1001.0))


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a"],
        [7, -3],
        [0.5, 2.0],
        [True, False],
        np.array(["b", "a"]),
        pd.Series(["b", "a"], dtype="category"),
        pd.Series(["b", "a"], dtype="string"),
    ],
)
def test_any_labels(labels: Any) -> None:
    x = np.linspace(-1, 1, 80)[:, None]
    task = pd.Series(labels).repeat(40).reset_index(drop=True)
    y = x[:, 0] + np.repeat([0.0, 3.0], 40)
    estimator = LearnedContextRegressor(**QUICK).fit(x, y, task=list(task))
    by_array = estimator.predict(x, task=task.to_numpy())
    assert (by_array == estimator.predict(x, task=task)).all()
    assert estimator.score(x, y, task) > 0.9
    assert estimator.predict(x[:3], task=list(labels)[1]).mean() > 1.5  # one label for all rows
    assert (estimator.predict(x, task=task.to_frame()) == by_array).all()
    assert estimator.tasks_ == sorted(pd.Series(labels))


def test_clone_has_the_settings_and_nothing_else(lc: LearnedContextRegressor) -> None:
    copied = clone(lc)
    assert copied.get_params() == lc.get_params()
    assert not hasattr(copied, "model_")


def test_search_is_never_worse_than_the_given_settings(known: pd.DataFrame) -> None:
    bad = {**PAPER, "epochs": 10, "peak_rate": 1e-5}
    plain = LearnedContextRegressor(**bad).fit(known[["x"]], known.y, known.well)
    found = LearnedContextRegressor(search=3, **bad).fit(known[["x"]], known.y, known.well)
    assert len(found.search_results_) == 3 and plain.search_results_.empty
    assert found.scores_["searched"] < found.scores_["sgd"] == plain.scores_["sgd"]
    assert list(found.hyperparameters_) == ["searched"]
    assert found.noise_std_ < plain.noise_std_


def test_the_noise_is_that_of_new_rows(lc: LearnedContextRegressor) -> None:
    test = curves(range(20), 50, seed=1)
    error = np.sqrt(np.mean((test.y - lc.predict(test[FEATURES], test.well)) ** 2))
    assert 0.75 * error < lc.noise_std_ < 1.35 * error
