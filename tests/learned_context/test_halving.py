from dataclasses import asdict, replace

import numpy as np
import pytest

from learned_context.errors import UserError
from learned_context.halving import folds, halvings, mean_trial
from learned_context.search.lipo import Trial
from learned_context.search.log import Log
from learned_context.training.trainer import Hyperparameters

CHOSEN = Hyperparameters(peak_rate=0.1, width=50, lambda_shared=1e-8, lambda_task=1e-6, task_dim=11)


def tried(log, score, seen=None):
    def objective(hyper):
        if seen is not None:
            seen.append(hyper.task_dim)
        return Trial(score(hyper.task_dim))

    return [one.settings["task_dim"] for one in halvings(CHOSEN, objective, log)]


def test_the_number_is_halved_down_to_one_and_all_else_stays(tmp_path):
    found = halvings(CHOSEN, lambda hyper: Trial(0.5, restarts=hyper.task_dim), Log(tmp_path / "a"))
    expected = [asdict(replace(CHOSEN, task_dim=dimension)) for dimension in (11, 5, 2, 1)]
    assert [one.settings for one in found] == expected
    assert [one.restarts for one in found] == [11, 5, 2, 1]


def test_one_parameter_has_no_half(tmp_path):
    one = replace(CHOSEN, task_dim=1)
    assert len(halvings(one, lambda hyper: Trial(1.0), Log(tmp_path / "log"))) == 1


def test_a_killed_one_goes_on(tmp_path):
    path, seen = tmp_path / "log", []
    whole = tried(Log(path), float)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:9])
    assert tried(Log(path), float, seen) == whole
    assert seen == whole[2:] and len(path.read_text().splitlines()) == len(lines)


def test_a_log_of_other_settings_is_refused(tmp_path):
    log = Log(tmp_path / "log")
    tried(log, float)
    with pytest.raises(UserError, match=r"log: line 1: .* delete the file"):
        halvings(replace(CHOSEN, width=51), lambda hyper: Trial(0.0), log)


def test_every_row_is_held_out_once_in_folds_of_about_one_size():
    task = np.repeat(np.arange(90), 2)
    held_out = np.stack(folds(task, np.tile([0, 1], 90), 5))
    assert (held_out.sum(axis=0) == 1).all()
    assert (held_out.sum(axis=1) == 36).all()


def test_rows_that_share_a_place_stay_together():
    place = np.array([0, 0, 1, 1, 1, 2])
    for held_out in folds(np.zeros(6, dtype=np.int64), place, 2):
        assert all(len(set(held_out[place == one])) == 1 for one in range(3))


def test_a_fold_without_rows_is_left_out():
    assert len(folds(np.array([0, 0]), np.array([0, 1]), 5)) == 2


def test_folds_count_by_their_squared_errors():
    found = mean_trial([Trial(0.3, 1), Trial(0.4, 2, diverged=True)])
    assert found == Trial(pytest.approx(np.sqrt(0.125)), 3, diverged=True)
