import numpy as np
import torch

from learned_context.search.log import Evaluation
from learned_context.search.tuning import DIVERGED_SCORE, settled, trial
from learned_context.training.trainer import Hyperparameters, Plan
from tests.learned_context.training.test_trainer import HYPER, PLAN, waves


def evaluate(hyper, plan=PLAN):
    rows = waves()
    odd = np.arange(len(rows)) % 5 == 0
    return trial(rows.take(~odd), rows.take(odd), 6, "lc", plan, 1, torch.device("cpu"))(hyper)


def test_the_score_is_the_validation_error_in_units_of_the_deviation():
    found = evaluate(HYPER)
    assert 0 < found.score < 0.5
    assert not found.diverged


def test_a_trial_that_diverges_scores_badly_but_finitely():
    wild = Hyperparameters(1e9, 16, 1e-8, task_dim=2)
    found = evaluate(wild, Plan(epochs=20, batches=6, max_restarts=1))
    assert (found.score, found.restarts, found.diverged) == (DIVERGED_SCORE, 2, True)


def test_what_is_settled_on_is_the_rate_that_did_not_diverge():
    settings = {"peak_rate": 1.5, "width": 60}
    tried = Evaluation((0.0,), settings, score=0.1, restarts=8, diverged=False, seconds=1.0)
    assert settled(tried, PLAN) == {"peak_rate": 0.645701, "width": 60}
    calm = Evaluation((0.0,), settings, score=0.1, restarts=0, diverged=False, seconds=1.0)
    assert settled(calm, PLAN) == settings
