from dataclasses import asdict, replace

import pytest
import torch

from learned_context.errors import UserError
from learned_context.search.finals import candidates, finals, lowered, opening
from learned_context.search.lipo import Trial
from learned_context.search.log import Evaluation, Log
from learned_context.training.trainer import Hyperparameters, Plan, train
from tests.learned_context.training.test_trainer import HYPER, PLAN, waves

WILD = Hyperparameters(peak_rate=1.0, width=16, lambda_shared=1e-8, task_dim=2)


@pytest.mark.parametrize("plan", [PLAN, Plan(epochs=47, batches=4, warmup=0.13, window=0.2)])
def test_an_opening_is_the_beginning_of_the_training(plan):
    whole = train(waves(), 6, "lc", HYPER, plan, seed=3)
    first = train(waves(), 6, "lc", HYPER, opening(plan), seed=3)
    warmup = plan.rates(1.0).warmup
    assert first.losses == whole.losses[: 2 * warmup]
    assert first.rates == whole.rates[: 2 * warmup]
    assert first.rates[warmup] == HYPER.peak_rate


def steps(hyper, openings, plan=PLAN):
    return lowered(waves(), 6, "lc", hyper, plan, openings, 1, torch.device("cpu"))


def restarts(steps):
    hyper = replace(WILD, peak_rate=WILD.peak_rate * PLAN.retry_rate**steps)
    return sum(train(waves(), 6, "lc", hyper, PLAN, seed).restarts for seed in range(100, 110))


def test_a_rate_that_holds_is_kept():
    assert steps(HYPER, openings=3) == 0
    assert steps(WILD, openings=0) == 0


def test_the_rate_is_lowered_until_openings_in_a_row_hold():
    few, many = steps(WILD, openings=1), steps(WILD, openings=6)
    assert 0 < few <= many
    assert restarts(many) <= min(3, restarts(few))


def test_a_rate_that_never_holds_is_lowered_as_often_as_a_training_restarts():
    assert steps(replace(WILD, peak_rate=1e9), 2, replace(PLAN, max_restarts=3)) == 3


def trial(rate, score, restarts=0, diverged=False, width=0.0):
    settings = asdict(replace(WILD, peak_rate=rate))
    return Evaluation((rate, width), settings, score, restarts, diverged, seconds=1.0)


TRIALS = [trial(0.1, 0.5), trial(0.2, 1.5, 4, True), trial(0.4, 0.3, 2), trial(0.8, 0.4)]


def test_the_best_trials_go_on_at_the_rate_that_did_not_diverge(tmp_path):
    seen = []

    def objective(hyper):
        seen.append(hyper.peak_rate)
        return Trial(hyper.peak_rate, restarts=1)

    log = Log(tmp_path / "finals.jsonl")
    found = finals(TRIALS, 2, PLAN, objective, log)
    assert seen == [pytest.approx(0.4 * 0.81), 0.8]
    assert [one.point for one in found] == [(0.4, 0.0), (0.8, 0.0)]
    assert [one.restarts for one in found] == [1, 1]
    # what the log holds is not evaluated again
    assert finals(TRIALS, 3, PLAN, objective, log)[:2] == found
    assert seen[2:] == [0.1]
    with pytest.raises(UserError, match="line 1: not the settings of this search's finalist"):
        finals(TRIALS[:1], 1, PLAN, objective, log)


def test_of_near_trials_the_best_is_the_candidate():
    near = [trial(0.4, 0.35, width=0.0), trial(0.42, 0.31), trial(0.4, 0.36, width=50.0)]
    far = trial(0.1, 0.9, width=100.0)
    found = candidates([*TRIALS, *near, far])
    assert [one.score for one in found] == [0.3, 0.36, 0.4, 0.5, 0.9]


def test_a_search_in_which_all_diverged_has_no_finalist(tmp_path):
    assert finals(TRIALS[1:2], 3, PLAN, lambda hyper: Trial(0.0), Log(tmp_path / "log")) == []
