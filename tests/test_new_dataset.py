"""CONTRIBUTING.md's recipe for a dataset: its module and three entries, and nothing else."""

import hashlib
import json

import numpy as np
import pandas as pd

from tests import small_study

MODULE = '''
"""tides: the water's level in six harbours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.8)


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    frame = pd.read_csv(path).rename(columns={"harbour": "task", "level": "target"})
    return TaskTable(frame, (Feature("hour", unit="h"),), "level", "m", "harbour")
'''


def tides() -> bytes:
    hour = np.arange(20.0)
    harbours = [
        pd.DataFrame({"harbour": f"harbour {n}", "hour": hour, "level": np.sin(hour / 2 + n)})
        for n in range(6)
    ]
    return pd.concat(harbours).to_csv(index=False).encode()


def test_a_new_dataset_goes_through_download_prepare_and_a_study(tmp_path):
    entry = {"tides": {"edition": "first"}}
    folder = small_study.make_project(
        tmp_path / "project", datasets=["tides"], models=["lc"], base_only=[], dataset=entry
    )
    (folder / "pipeline/datasets/tides.py").write_text(MODULE.lstrip())
    registry = folder / "pipeline/datasets/registry.py"
    registry.write_text(
        registry.read_text().replace('    "sarcos",\n', '    "sarcos",\n    "tides",\n')
    )
    raw = folder / "raw/by_hand/tides/tides.csv"
    raw.parent.mkdir(parents=True)
    raw.write_bytes(tides())
    file = {"name": raw.name, "addresses": [], "sha256": hashlib.sha256(tides()).hexdigest()}
    edition = {"comparable": False, "differs": "Not the paper's.", "rows": 120, "tasks": 6}
    edition |= {"licence": "ours", "citation": "none", "by_hand": "us", "files": [file]}
    small_study.change(folder / "raw/sources.yaml", {"dataset.tides": {"first": edition}})

    small_study.pipeline(folder, "dvc")  # the pipeline files need no change
    small_study.run(folder, "linear@tides")
    table = json.loads((folder / "results/data/tides/table.json").read_text())
    assert table["rows"] == {"train": 96, "test": 24, "leaked": 0}
    result = json.loads((folder / "results/linear/tides/linear.json").read_text())
    assert result["dataset"] == "tides"
