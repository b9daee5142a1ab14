"""The search, and its death at every place."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from learned_context.errors import UserError
from learned_context.search.lipo import Trial, best, search
from learned_context.search.log import Log
from tests.learned_context.search.test_space import RANGES, table_6

BOX = table_6("lc", 40, **RANGES)


def objective(hyper):
    """Cheap, with a known optimum: rate 0.1, few task parameters."""
    import math

    return Trial(abs(math.log10(hyper.peak_rate) + 1) + 0.01 * hyper.task_dim)


def lines(path):
    """The log without the seconds, the one thing in it that may differ."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    return [{k: v for k, v in entry.items() if k != "seconds"} for entry in entries]


def test_the_search_finds_the_optimum_and_stays_in_its_box(tmp_path):
    found = search(BOX, objective, 40, seed=1, log=Log(tmp_path / "log"))
    assert best(found).score < 0.2
    for evaluation in found:
        assert 1e-4 <= evaluation.settings["peak_rate"] <= 1.5
        assert isinstance(evaluation.settings["width"], int)


def test_the_same_seed_searches_the_same_points(tmp_path):
    runs = [
        search(BOX, objective, 12, seed, Log(tmp_path / str(n))) for n, seed in enumerate([5, 5, 6])
    ]
    points = [[evaluation.point for evaluation in run] for run in runs]
    assert points[0] == points[1] != points[2]


def test_of_equal_scores_the_first_is_the_best(tmp_path):
    found = search(BOX, lambda hyper: Trial(0.5), 4, 1, Log(tmp_path / "log"))
    assert best(found) is found[0]


def test_a_longer_search_begins_with_the_shorter_ones_points(tmp_path):
    log = Log(tmp_path / "log")
    short = search(BOX, objective, 5, 1, log)
    calls = []

    def counted(hyper):
        calls.append(hyper)
        return objective(hyper)

    assert search(BOX, counted, 8, 1, log)[:5] == short
    assert len(calls) == 3


def test_diverged_trials_are_recorded_and_do_not_stop_the_search(tmp_path):
    path = tmp_path / "log"
    search(BOX, lambda hyper: Trial(1.5, restarts=3, diverged=True), 6, 1, Log(path))
    assert [(line["diverged"], line["restarts"]) for line in lines(path)] == [(True, 3)] * 6


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_short_is_evaluated_again(tmp_path, cut):
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    search(BOX, objective, 6, 1, Log(whole))
    damaged.write_bytes(whole.read_bytes()[:-cut])
    search(BOX, objective, 6, 1, Log(damaged))
    assert lines(damaged) == lines(whole)


def test_the_log_of_another_search_is_refused(tmp_path):
    search(BOX, objective, 3, 1, Log(tmp_path / "log"))
    with pytest.raises(UserError, match="line 2: the point is not the one this search asks for"):
        search(BOX, objective, 3, 2, Log(tmp_path / "log"))


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "log"
    search(BOX, objective, 3, 1, Log(path))
    path.write_text(path.read_text().replace('"score"', '"scoer"', 1))
    with pytest.raises(UserError, match="log: line 1: not an evaluation of a search"):
        search(BOX, objective, 3, 1, Log(path))


SCRIPT = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from tests.learned_context.search.test_lipo import BOX, objective
    from learned_context.search.lipo import search
    from learned_context.search.log import Log

    def slow(hyper):
        time.sleep(0.03)
        return objective(hyper)

    search(BOX, slow, 15, 1, Log(Path(sys.argv[1])))
    """
)


@pytest.mark.parametrize(
    "evaluations",
    [1, pytest.param(4, marks=pytest.mark.slow), 9, pytest.param(14, marks=pytest.mark.slow)],
)
def test_a_killed_search_ends_as_if_it_had_not_been(tmp_path, evaluations):
    quiet, killed = tmp_path / "quiet", tmp_path / "killed"
    search(BOX, objective, 15, 1, Log(quiet))
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(killed)])
    while not killed.exists() or killed.read_bytes().count(b"\n") < evaluations:
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = killed.read_bytes().count(b"\n")
    assert evaluations <= done < 15
    search(BOX, objective, 15, 1, Log(killed))
    assert lines(killed) == lines(quiet)
