"""Settings drawn at random, and the rows on which they are scored."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.draws import Source, split_table
from benchmarks.random_settings import (
    box_of,
    drawn,
    estimator_error,
    gaussian_errors,
    parted,
    parts,
    summary,
)
from pipeline import settings
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable
from pipeline.files import Files
from pipeline.tables.prepared import Prepared
from tests.conftest import ROOT


def test_settings_are_of_table_6_within_the_profiles_width_or_the_papers():
    loaded = settings.load(Files(ROOT))
    random = np.random.default_rng(0)
    found = [drawn(box_of(loaded, "lc", 5), random) for _ in range(50)]
    assert {one.task_dim for one in found} == {1, 2, 3, 4, 5}  # no more than tasks
    assert all(50 <= one.width <= loaded.profile.search.width_max for one in found)
    assert min(one.peak_rate for one in found) < 1e-3 < 0.1 < max(one.peak_rate for one in found)
    every_width = box_of(loaded, "lc", 5, loaded.params.space.width)
    wide = [drawn(every_width, random).width for _ in range(50)]
    assert 50 <= min(wide) < 100 and 400 < max(wide) <= 500


def test_no_test_row_scores_a_setting():
    prepared = Source(Files(ROOT), "sine_and_line").draw(0)
    rows = prepared.encode(prepared.frame, "number")
    known, other = parts(prepared, rows, 0.1)
    train = rows.take(prepared.train_rows())
    assert len(known) == 600 and len(known) + len(other) == len(train)
    both = np.concatenate([known.y, other.y])
    assert np.array_equal(np.sort(both), np.sort(train.y))


def test_a_setting_that_diverged_is_not_the_lowest():
    found = summary([{"error": None}, {"error": 0.4}, {"error": 0.3}])
    assert (found["settings"], found["lowest"]) == (3, 0.3)


def measured(values: np.ndarray) -> Prepared:
    """Of every task, at the same times: [task, time]."""
    tasks, times = values.shape
    frame = pd.DataFrame(
        {
            "task": np.repeat([f"place {number}" for number in range(tasks)], times),
            "time": np.tile(np.arange(1.0, times + 1), tasks),
            "target": values.ravel(),
        }
    )
    table = TaskTable(frame, (Feature("time"),), "place", "m", "value", ("task", "time"))
    return split_table(table, "values", TaskShare(0.8), seed=0)


def walks(tasks: int, points: int) -> Prepared:
    """Random walks: a point's best prediction interpolates between its two known neighbours."""
    return measured(np.random.default_rng(0).normal(size=(tasks, points)).cumsum(axis=1))


def test_a_gaussian_of_all_rows_is_as_good_as_can_be():
    prepared = walks(tasks=600, points=10)
    few, other = parted(prepared, 0.25)
    best = []
    for name in prepared.tasks:
        known, wanted = (part[prepared.frame["task"].iloc[part] == name] for part in (few, other))
        at, there = (prepared.frame["time"].iloc[part].to_numpy() for part in (known, wanted))
        pull = np.linalg.inv(np.minimum.outer(at, at))
        covariance = np.minimum.outer(there, at)
        best.extend(there - np.einsum("ij,jk,ik->i", covariance, pull, covariance))
    expected = np.sqrt(np.mean(best))
    assert len(few) == 1200
    found = gaussian_errors(prepared, 0.25)["as they are"]
    assert found == pytest.approx(expected, rel=0.04)
    assert estimator_error(walks(60, 10), 0.25) > 0.95 * expected


def test_a_gaussian_of_cube_roots_is_better_for_cubes_of_lines():
    start, slope = np.random.default_rng(0).normal(size=(2, 1000, 1))
    found = gaussian_errors(measured((start + slope * np.arange(10) / 5) ** 3), 0.25)
    assert found["in cube roots"] < 0.6 * found["as they are"]


def test_tasks_measured_at_points_of_their_own_have_no_gaussian():
    assert gaussian_errors(Source(Files(ROOT), "sine_and_line").draw(0), 0.1) is None


def test_few_tasks_have_no_gaussian():
    assert gaussian_errors(walks(tasks=10, points=10), 0.25) is None


def test_tasks_measured_twice_at_a_point_have_no_gaussian():
    once = walks(tasks=100, points=10)
    twice = replace(once, frame=once.frame.assign(time=np.ceil(once.frame["time"] / 2)))
    assert gaussian_errors(twice, 0.25) is None
