"""The leaderboard's arithmetic, on tables that can be checked by hand."""

import pytest

from benchmarks.arena.cells import ArenaCell, Place, Score
from benchmarks.arena.summary import (
    critical_difference,
    dataset_results,
    duels,
    losses,
    runs_of,
    targets,
    track_table,
)
from pipeline.reporting.arena_layout import ArenaResult


def score(rmse, coverage=None):
    return Score(rows=10, rmse=rmse, fit_seconds=2.0, predict_seconds=0.5, coverage=coverage)


def splits(*errors):
    return dict(enumerate(map(score, errors)))


def test_errors_are_relative_to_the_best_and_ties_share_a_rank():
    found = dataset_results({"lightgbm": splits(2, 8), "a": splits(1, 4), "b": splits(4, 1)})
    assert {name: result.relative for name, result in found.items()} == {
        "lightgbm": 2.0, "a": 1.0, "b": 1.0,
    }  # fmt: skip
    assert [result.rank for result in found.values()] == [3, 1.5, 1.5]
    assert found["a"].fit_seconds == 2.0
    assert found["a"].rmse == 2.0  # the geometric mean


def test_fewer_splits_are_compared_on_the_same_splits():
    """The first split is a quarter as hard: one run there does not look better for it."""
    found = dataset_results({"lightgbm": splits(1, 4), "b": splits(3, 12), "a": splits(0.5)})
    assert [found[name].rmse for name in ("lightgbm", "b", "a")] == [2.0, 6.0, 1.0]
    assert found["a"].splits == 1


def test_one_failed_split_is_a_failed_dataset_and_the_last_rank():
    found = dataset_results({"lightgbm": splits(1, 1), "a": {0: score(0.1), 1: "time-out"}})
    assert found["a"] == ArenaResult(splits=2, failure="time-out", rank=2.0)
    assert found["lightgbm"].relative == 1.0


def test_duels_count_the_splits_that_both_have():
    runs = {
        "one": {"lightgbm": splits(1, 9), "a": splits(2)},
        "two": {"lightgbm": splits(2), "a": splits(2)},
        "three": {"lightgbm": splits(2), "a": {0: "failed"}},
        "four": {"lightgbm": splits(2)},
    }
    table = duels(runs)
    assert table["lightgbm"]["a"].model_dump() == {"at_least_as_good": 3, "datasets": 3}
    assert table["a"]["lightgbm"].model_dump() == {"at_least_as_good": 1, "datasets": 3}


def test_nemenyis_critical_difference_is_demsars():
    """Demsar (2006, Section 3.2.2): four methods on fourteen datasets differ beyond 1.25."""
    row = {name: ArenaResult(splits=1, relative=1.0 + place) for place, name in enumerate("abcd")}
    row["d"] = ArenaResult(splits=1, failure="failed")
    found = critical_difference({str(number): row for number in range(14)})
    assert found.difference == pytest.approx(2.569 * (4 * 5 / (6 * 14)) ** 0.5, rel=1e-3)
    assert found.mean_ranks == [1, 2, 3, 4]
    assert found.groups == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert found.friedman_p < 1e-6


def test_a_contestant_that_was_left_out_somewhere_is_not_in_the_critical_difference():
    full = {name: ArenaResult(splits=1, relative=1.0) for name in "abc"}
    found = critical_difference({"one": {**full, "d": full["a"]}, "two": full})
    assert found.contestants == ["a", "b", "c"]
    assert found.groups == [["a", "b", "c"]]


def arena():
    """Ours is best on one and two, beaten by two percent on three."""
    errors = {"one": (1, 2, 3), "two": (1, 3, 2), "three": (1.02, 1, 2)}
    runs = {
        name: {
            "ours": {0: score(mine, coverage=0.9 if name != "two" else 0.5)},
            "lightgbm": splits(tree),
            "mixed-intercept": splits(mixed),
        }
        for name, (mine, tree, mixed) in errors.items()
    }
    return track_table(runs)


def test_targets_say_what_was_measured():
    found = {
        target.what: target for target in targets(arena(), {"5": arena()}, {"one", "two"}, {"one"})
    }
    assert found["best mean rank"].met and found["best mean rank"].measured == "1.33"
    assert not found["at least as good as lightgbm"].met
    assert found["at least as good as lightgbm"].measured == "2 of 3 (67%)"
    assert found["at least as good as mixed-intercept"].met
    assert found["mean error relative to the best"].measured == "1.007"
    assert found["best or within 1% on the paper's six datasets"].measured == "2 (one, two)"
    assert found["best on the datasets"].measured == "2 of 3 (67%)"
    assert found["90% intervals cover 85 to 95% of the test rows"].measured == "2 of 3"
    assert found["time on each of the pipeline's datasets"].measured == "2.5 s (one)"


def test_without_our_cells_there_is_nothing_to_claim():
    table = track_table({"one": {"lightgbm": splits(1), "a": splits(2)}})
    assert targets(table, {}, set(), set()) == []
    assert losses({"known": table}) == []


def test_losses_name_the_winner():
    (loss,) = losses({"known": arena()})
    assert (loss.dataset, loss.best, loss.relative) == ("three", "lightgbm", 1.02)


def test_a_failure_of_ours_is_a_loss():
    runs = {"one": {"ours": {0: "ValueError"}, "lightgbm": splits(1)}}
    (loss,) = losses({"known": track_table(runs)})
    assert (loss.relative, loss.best) == (None, "lightgbm")


def test_runs_are_of_one_track_and_one_number_of_rows():
    cells = [
        (Place("new", "a", "one", 0), ArenaCell(key="", scores={"1": score(1), "2": score(2)})),
        (Place("new", "b", "one", 0), ArenaCell(key="", failure="failed")),
        (Place("new", "b", "two", 0), ArenaCell(key="", failure="failed")),
        (Place("known", "a", "one", 0), ArenaCell(key="", scores={"all": score(3)})),
    ]
    found = runs_of(cells, "new", "2")
    assert found == {"one": {"a": {0: score(2)}, "b": {0: "failed"}}}
