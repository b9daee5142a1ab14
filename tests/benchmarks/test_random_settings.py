"""Settings drawn at random, and the rows on which they are scored."""

import numpy as np

from benchmarks.draws import Source
from benchmarks.random_settings import box_of, drawn, parts, summary
from pipeline import settings
from pipeline.files import Files
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
