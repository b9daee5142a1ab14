from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learned_context.errors import UserError
from pipeline.datasets import splits
from pipeline.datasets.splits import Given, RowShare, TaskShare, WholeBlocks
from pipeline.tables import selection


def table(sizes: list[int], seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    task = np.repeat([f"task {number:02}" for number in range(len(sizes))], sizes)
    return pd.DataFrame({"task": task, "x": random.normal(size=len(task)), "target": 1.0})


SIZES = [1, 2, 3, 10, 35, 100]
DRAW = [0.16043942255947108, 0.0819090457863193, 0.6461472497350175]
GROUPS_OF_SEVEN = [0, 0, 2, 1, 2, 0, 1]


def split(frame: pd.DataFrame, rule: splits.Rule, seed: int = 2) -> pd.DataFrame:
    return splits.split(frame, ["x"], rule, seed, "toy")


def test_task_share_is_rounded_up() -> None:
    frame = split(table(SIZES), TaskShare(0.8))
    train = frame[frame["part"] == "train"].groupby("task").size()
    assert train.tolist() == [1, 2, 3, 8, 28, 80]


def test_row_share_counts_all_rows() -> None:
    frame = split(table([100] * 80 + [28]), RowShare(1344 / 8028))
    assert (frame["part"] == "test").sum() == 1344


def test_half_a_row_is_rounded_up() -> None:
    assert (split(table([10]), RowShare(0.25))["part"] == "test").sum() == 3
    assert (split(table([10]), RowShare(0.24))["part"] == "test").sum() == 2


def test_a_draw_is_the_same_for_ever() -> None:
    """Another stream would be another split of every dataset, and no other test would see it."""
    draw = splits.generator(2, "part", "toy").random(3)
    np.testing.assert_array_equal(draw, DRAW)
    frame = split(table([2] * 7), TaskShare(0.5))
    assert frame.groupby("task")["group"].first().tolist() == GROUPS_OF_SEVEN


def quarters(years: list[int]) -> pd.DataFrame:
    """One task for each number of years, with four rows a year from 1970."""
    return pd.concat(
        [
            pd.DataFrame({"task": f"task {number}", "x": 1970 + np.arange(4 * count) / 4})
            for number, count in enumerate(years)
        ]
    ).assign(target=1.0)


YEARS = WholeBlocks("x", length=1.0, test=3, at_least=10)


def test_whole_blocks_of_the_long_tasks_are_for_testing() -> None:
    frame = split(quarters([9, 10, 30]), YEARS)
    is_test = frame["part"] == "test"
    block = [frame["task"], np.floor(frame["x"])]
    assert is_test.groupby(frame["task"]).sum().tolist() == [0, 12, 12]
    assert is_test.groupby(block).nunique().max() == 1
    other = split(quarters([9, 10, 30]), YEARS, seed=3)
    assert (other["part"] != frame["part"]).any()


@pytest.mark.parametrize("fraction", [1.0, 0.5, 0.1])
def test_validation_rows_are_whole_blocks_too(fraction: float) -> None:
    frame = split(quarters([9, 20, 30]), YEARS)
    rows = selection.fraction_mask(frame, fraction)
    validation = pd.Series(selection.validation_mask(frame, fraction, 0.2))[rows]
    block = np.floor(frame["x"])[rows]
    task = frame["task"][rows]
    assert validation.groupby([task, block]).nunique().max() == 1
    blocks = block.groupby(task).nunique()
    chosen = block[validation].groupby(task).nunique().reindex(blocks.index, fill_value=0)
    assert chosen.tolist() == np.minimum(np.floor(0.2 * blocks + 0.5), blocks - 1).tolist()


def test_a_fraction_is_of_rows_whatever_the_block() -> None:
    frame = split(quarters([20, 30]), YEARS)
    counts = pd.Series(selection.fraction_mask(frame, 0.1)).groupby(frame["task"]).sum()
    assert counts.tolist() == [7, 11]  # of 68 and 108 training rows


def test_no_task_with_blocks_enough() -> None:
    with pytest.raises(UserError) as caught:
        split(quarters([9, 9]), YEARS)
    assert str(caught.value) == (
        "no task has the 10 blocks of 1 x that its test rows are drawn from; choose another "
        "split, or a whole edition"
    )


def test_rank_of_equal_values_is_shared() -> None:
    task = np.array([1, 0, 1, 1, 0])
    value = np.array([0.5, 0.2, 0.1, 0.5, 0.2])
    assert selection.rank_in_task(task, value).tolist() == [1, 0, 0, 1, 0]
    assert selection.rank_in_task(np.array([], dtype=int), np.array([])).tolist() == []


def test_given_parts_are_kept() -> None:
    raw = table([10, 10, 10]).assign(part=["train"] * 6 + ["test"] * 4 + ["train"] * 20)
    frame = split(raw, Given())
    merged = raw.merge(frame, on=["task", "x"], suffixes=("", "_split"))
    assert (merged["part"] == merged["part_split"]).all()


def test_order_of_the_file_does_not_matter() -> None:
    raw = table(SIZES)
    shuffled = raw.sample(frac=1, random_state=1)
    for rule in (TaskShare(0.8), RowShare(0.2)):
        pd.testing.assert_frame_equal(split(raw, rule), split(shuffled, rule))


def test_seed_and_dataset_change_every_draw() -> None:
    raw = table([40] * 9)
    base = split(raw, TaskShare(0.8))
    for other in (
        split(raw, TaskShare(0.8), seed=3),
        splits.split(raw, ["x"], TaskShare(0.8), 2, "another"),
    ):
        for column in ("part", "size_order", "validation_order", "holdout_order", "group"):
            assert (base[column] != other[column]).any(), column


def test_draws_are_independent_of_each_other() -> None:
    frame = split(table([2000] * 3), TaskShare(0.8))
    train = frame[frame["part"] == "train"]
    orders = train[["size_order", "validation_order", "holdout_order"]]
    correlation = orders.corr().to_numpy() - np.eye(3)
    assert np.abs(correlation).max() < 0.05


def test_orders_count_the_training_rows_of_each_task() -> None:
    frame = split(table(SIZES), TaskShare(0.8))
    for name in selection.ORDERS:
        column = frame[f"{name}_order"]
        assert column.dtype == np.int32
        assert (column[frame["part"] == "test"] == -1).all()
        for _, order in column[frame["part"] == "train"].groupby(frame["task"]):
            assert sorted(order) == list(range(len(order)))


@pytest.mark.parametrize("tasks", [3, 7, 24, 139])
def test_groups_are_of_approximately_equal_size(tasks: int) -> None:
    frame = split(table([2] * tasks), TaskShare(0.5))
    assert frame["group"].dtype == np.int8
    assert frame.groupby("task")["group"].nunique().max() == 1
    sizes = frame.groupby("group")["task"].nunique()
    assert len(sizes) == 3 and sizes.max() - sizes.min() <= 1


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=3, max_size=8),
    shares=st.lists(st.floats(0.005, 1.0), min_size=2, max_size=4),
)
def test_shares_are_nested_and_hold_every_task(sizes: list[int], shares: list[float]) -> None:
    frame = split(table(sizes), TaskShare(0.8))
    previous = None
    for share in sorted(shares):
        mask = selection.fraction_mask(frame, share)
        assert frame[mask]["task"].nunique() == len(sizes)
        assert (frame["part"][mask] == "train").all()
        assert previous is None or mask[previous].all()
        previous = mask


def test_share_of_a_task_is_rounded() -> None:
    order = np.array([-1, 0, 1, 2, 3])
    counts = np.array([4, 4, 4, 4, 4])
    assert selection.within(order, counts, 0.01).tolist() == [False, True, False, False, False]
    assert selection.within(order, counts, 0.4).sum() == 2  # 1.6
    assert selection.within(order, counts, 0.625).sum() == 3  # 2.5
    assert selection.within(order, counts, 1.0).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize("fraction", [1.0, 0.5, 0.1])
def test_validation_part(fraction: float) -> None:
    frame = split(table(SIZES), TaskShare(0.8))
    rows = selection.fraction_mask(frame, fraction)
    validation = selection.validation_mask(frame, fraction, 0.2)
    assert rows[validation].all()
    counts = frame[rows].groupby("task").size()
    expected = np.minimum(np.floor(0.2 * counts + 0.5), counts - 1)
    found = pd.Series(validation).groupby(frame["task"]).sum()
    assert found.tolist() == expected.tolist()


def test_a_leak_is_found_among_very_many_equal_inputs() -> None:
    rows = 200_000  # as pairs, ten thousand million
    raw = pd.DataFrame(
        {
            "task": "a",
            "x": 1.0,
            "target": np.arange(rows) // 3.0,
            "part": np.where(np.arange(rows) % 6 == 1, "test", "train"),
        }
    )
    assert splits.leaked(raw, ["x"]).sum() == pytest.approx(rows / 3, abs=2)


def test_leak_is_found() -> None:
    raw = pd.DataFrame(
        {
            "task": ["a", "a", "a", "b", "a"],
            "x": [1.0, 2.0, 3.0, 1.0, 1.0],
            "target": [5.0, 6.0, 7.0, 5.0, 5.0 + 1e-7],
            "part": ["train", "train", "train", "train", "test"],
        }
    )
    assert splits.leaked(raw, ["x"]).tolist() == [True, False, False, False, False]
    assert splits.without_leak(raw, ["x"])["x"].tolist() == [2.0, 3.0, 1.0, 1.0]
    clean = split(raw, Given(without_leak=True))
    assert clean["x"].tolist() == [1.0, 2.0, 3.0, 1.0] and not clean["leaked"].any()
    raw.loc[4, "target"] = 5.1  # the same inputs with another answer are no leak
    assert not splits.leaked(raw, ["x"]).any()


def rows_twice(difference: float, targets: list[float]) -> pd.DataFrame:
    """The last row is the first one once more, in the test part, its target a little off."""
    return pd.DataFrame(
        {
            "task": "a",
            "x": [*range(len(targets)), 0],
            "target": [*targets, targets[0] + difference],
            "part": ["train"] * len(targets) + ["test"],
        }
    )


def test_equal_targets_are_those_within_a_millionth_of_the_deviation() -> None:
    targets = [0.0, 30.0, 60.0]
    tolerance = 1e-6 * np.std([*targets, 0.0])
    for share, expected in ((0.99, True), (1.01, False), (-0.99, True), (-1.01, False)):
        raw = rows_twice(share * tolerance, targets)
        assert splits.leaked(raw, ["x"]).tolist() == [expected, False, False, False]


def test_a_target_without_deviation_can_leak() -> None:
    assert splits.leaked(rows_twice(0.0, [5.0, 5.0]), ["x"]).tolist() == [True, False, False]


def test_a_task_without_rows_in_the_mask_has_none() -> None:
    frame = pd.DataFrame({"task": ["a", "a", "b", "c"]})
    mask = np.array([True, True, True, False])
    assert selection.counts_per_row(frame, mask).tolist() == [2, 2, 1, 0]


def test_validation_never_takes_all_rows_of_a_task() -> None:
    frame = pd.DataFrame(
        {
            "task": ["a"] * 3 + ["b"],
            "part": "train",
            "size_order": [0, 1, 2, 0],
            "validation_order": [2, 0, 1, 0],
        }
    )
    assert selection.validation_mask(frame, 1.0, 0.9).tolist() == [False, True, True, False]
    alone = frame.iloc[[0, 3]].assign(size_order=0)  # one row a task: every second is taken
    assert selection.validation_mask(alone, 1.0, 0.9).tolist() == [False, True]


def test_two_rows_a_task_still_leave_some_to_validate() -> None:
    frame = pd.DataFrame(
        {
            "task": np.repeat([f"t{number:02}" for number in range(15)], 2),
            "part": "train",
            "size_order": np.tile([0, 1], 15),
            "validation_order": np.tile([1, 0], 15),
        }
    )
    validation = selection.validation_mask(frame, 1.0, 0.2)
    assert np.flatnonzero(validation).tolist() == [4, 9, 14, 19, 24, 29]
    assert frame.loc[~validation, "task"].nunique() == 15
