from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from learned_context.errors import UserError
from pipeline import checked
from pipeline.commands.prepare import describe
from pipeline.datasets import splits
from pipeline.datasets.table import Feature, TaskTable
from pipeline.files import Files, write_json
from pipeline.tables.description import TableDescription
from pipeline.tables.prepared import Prepared

ORIGIN = {
    "dataset": "toy",
    "edition": "own",
    "comparable": False,
    "differs": "",
    "raw": {},
    "split": "TaskShare",
    "keys": {},
    "seeds": {"data": 1, "split": 1},
    "content_sha256": "0",
}


@pytest.fixture
def prepared() -> Prepared:
    random = np.random.default_rng(0)
    raw = pd.DataFrame(
        {
            "task": np.repeat(["a", "b", "c"], [10, 20, 30]),
            "size": random.normal(size=60),
            "colour": random.choice(["red", "green", "blue"], size=60),
            "target": random.normal(size=60),
        }
    )
    features = (Feature("size"), Feature("colour", "category"))
    table = TaskTable(raw, features, "y", "", "letter")
    frame = splits.split(raw, ["size", "colour"], splits.TaskShare(0.8), 1, "toy")
    return Prepared(frame, TableDescription.model_construct(**ORIGIN, **describe(table, frame)))


def test_selections_part_the_rows(prepared: Prepared) -> None:
    assert len(prepared.train_rows()) == 48 and len(prepared.test_rows()) == 12
    assert not set(prepared.train_rows()) & set(prepared.test_rows())
    fit, validation = prepared.search_rows(0.5, 0.2)
    assert sorted([*fit, *validation]) == prepared.train_rows(0.5).tolist()
    assert set(prepared.train_rows(0.1)) < set(prepared.train_rows(0.5))


def test_groups_part_the_tasks(prepared: Prepared) -> None:
    for group in range(3):
        held = prepared.group_rows(group, held_out=True, part="train")
        base = prepared.group_rows(group, held_out=False, part="train")
        assert sorted([*held, *base]) == prepared.train_rows().tolist()
        few = prepared.group_rows(group, held_out=True, part="train", share=0.25)
        assert set(few) < set(held)
        test = prepared.group_rows(group, held_out=True, part="test")
        tasks = set(prepared.frame["task"].iloc[held])
        assert len(tasks) == 1 and set(prepared.frame["task"].iloc[test]) == tasks


def test_encoding(prepared: Prepared) -> None:
    frame = prepared.frame.iloc[prepared.test_rows()]
    onehot = prepared.encode(frame)
    assert prepared.encoded_names() == ["size", "colour=blue", "colour=green", "colour=red"]
    assert onehot.x.dtype == np.float64 and onehot.x.shape == (12, 4)
    assert (onehot.x[:, 1:].sum(axis=1) == 1).all()
    number = prepared.encode(frame, "number")
    assert prepared.encoded_names("number") == ["size", "colour"]
    assert (number.x[:, 1] == onehot.x[:, 1:].argmax(axis=1)).all()
    assert number.task.dtype == np.int64
    assert [prepared.tasks[code] for code in number.task] == frame["task"].tolist()


def test_damaged_files(prepared: Prepared, tmp_path: Path) -> None:
    files = Files(tmp_path)
    table, info = files.table("toy"), files.table_info("toy")
    checked.write(info, prepared.info)
    with pytest.raises(UserError, match=r"table.parquet: does not exist; `dvc repro` makes it"):
        Prepared.read(files, "toy")
    table.parent.mkdir(parents=True)
    table.write_bytes(b"PAR1")
    with pytest.raises(UserError, match=r"table.parquet: not a readable parquet table \("):
        Prepared.read(files, "toy")
    prepared.frame.drop(columns="group").to_parquet(table)
    with pytest.raises(UserError) as caught:
        Prepared.read(files, "toy")
    assert str(caught.value) == f"{table}: no column 'group'; delete it and run `dvc repro`"
    write_json(
        info,
        {key: value for key, value in checked.as_json(prepared.info).items() if key != "tasks"},
    )
    with pytest.raises(UserError) as caught:
        Prepared.read(files, "toy")
    assert str(caught.value).startswith(f"{info}: tasks: missing; ")
