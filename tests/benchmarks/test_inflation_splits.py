"""The study of split rules, on three countries."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks import inflation_splits
from benchmarks.inflation_splits import study, summary
from benchmarks.paper_budget import CaseTraining
from learned_context.training.trainer import Hyperparameters, Plan
from pipeline.datasets.table import Feature, TaskTable

RAW = {"cpi.csv": "a" * 64}
LC = CaseTraining(Hyperparameters(0.05, 8, 1e-8, 1e-6, 2), Plan(epochs=6, batches=2), seed=0)


@pytest.fixture
def table():
    time = 1985 + np.arange(4 * 30) / 4
    frame = pd.concat(
        [
            pd.DataFrame({"task": name, "time": time, "target": level + slope * (time - 1985)})
            for name, level, slope in (("AUS", 5.0, 2.0), ("NOR", 9.0, 3.0), ("TUR", 0.0, 4.0))
        ]
    )
    return TaskTable(frame, (Feature("time"),), "index", "", "country")


def test_every_rule_has_an_error_for_every_split_and_model(table, tmp_path, monkeypatch):
    path = tmp_path / "splits.json"
    wanted = {"lr": 3, "lme": 3, "lc": 1}
    report = study(lambda: table, {"lc": LC}, wanted, path, RAW)
    found = report["errors"]
    assert set(found) == {"years", "quarters", "two_years"}
    assert all({m: len(e) for m, e in rule.items()} == wanted for rule in found.values())
    assert len({error for rule in found.values() for error in rule["lr"]}) == 9
    assert all(rule["lme"][0] < rule["lr"][0] for rule in found.values())
    # what the file holds is not computed again, and more splits leave the first as they are
    path.write_text(json.dumps(report))
    calls = []

    def counted(prepared, model, seed, trainings):
        calls.append((model, seed))
        return 1.0

    monkeypatch.setattr(inflation_splits, "error", counted)
    more = study(lambda: table, {"lc": LC}, wanted | {"lr": 4}, path, RAW)["errors"]
    assert calls == [("lr", 3)] * 3
    assert more["years"]["lr"][:3] == found["years"]["lr"]
    # nor is a table needed for it
    assert study(lambda: pytest.fail("read"), {"lc": LC}, wanted, path, RAW)["errors"] == found
    # a network that the study trains in another way is trained again, and the others are kept
    calls.clear()
    other = replace(LC, seed=1)
    again = study(lambda: table, {"lc": other}, wanted, path, RAW)
    assert calls == [("lc", 0)] * 3 and again["settings"]["lc"]["seed"] == 1
    assert again["errors"]["quarters"]["lr"] == found["quarters"]["lr"]
    assert study(lambda: table, {}, {"lr": 3}, path, RAW) == again
    # errors of other rows are not kept
    calls.clear()
    study(lambda: table, {}, {"lr": 1}, path, {"cpi.csv": "b" * 64})
    assert calls == [("lr", 0)] * 3


def test_the_papers_error_in_deviations():
    line = summary([9.0, 11.0, 10.0], printed=12.0)
    assert (line["splits"], line["mean"], line["std"], line["deviations"]) == (3, 10.0, 1.0, 2.0)
