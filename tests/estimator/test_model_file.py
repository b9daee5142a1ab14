"""Save and load: the same estimator again, and clear errors for what is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from pipeline.errors import UserError
from pipeline.estimator import LearnedContextRegressor, model_file
from tests.estimator.conftest import QUICK

FEATURES = ["x", "side"]


@pytest.fixture
def saved(lc: LearnedContextRegressor, new: pd.DataFrame, tmp_path: Path) -> Path:
    few = new[new.well == "w20"].head(2)
    lc.add_task("w20", few[FEATURES], few.y)
    lc.save(tmp_path / "wells.safetensors")
    return tmp_path / "wells.safetensors"


def test_the_same_again(lc: LearnedContextRegressor, saved: Path, known: pd.DataFrame) -> None:
    back = LearnedContextRegressor.load(saved)
    rows, labels = known[FEATURES], np.where(known.index % 5, known.well, "w20")
    for left, right in zip(
        (*lc.predict(rows, labels, return_std=True), *lc.predict_interval(rows, labels)),
        (*back.predict(rows, labels, return_std=True), *back.predict_interval(rows, labels)),
        strict=True,
    ):
        assert (left == right).all()
    assert back.get_params() == lc.get_params()
    pd.testing.assert_frame_equal(back.task_parameters_, lc.task_parameters_)
    for name in ("n_iter_", "n_features_in_", "noise_std_", "loss_curve_", "hyperparameters_"):
        assert getattr(back, name) == getattr(lc, name)
    back.add_task("later", rows.head(4), known.y.head(4))


def test_equal_estimators_are_equal_files(
    lc: LearnedContextRegressor, saved: Path, tmp_path: Path
) -> None:
    LearnedContextRegressor.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("kind", ["cs", "ll", "fs"])
def test_other_kinds_and_arrays(kind: Any, tmp_path: Path) -> None:
    x = np.linspace(0, 1, 40)[:, None]
    task = np.repeat([4, 9], 20)
    settings = {**QUICK, "epochs": np.int64(3), "random_state": np.random.RandomState(0)}
    estimator = LearnedContextRegressor(kind=kind, **settings).fit(x, x[:, 0] + task, task)
    estimator.save(tmp_path / "model")
    back = LearnedContextRegressor.load(str(tmp_path / "model"))
    assert (back.predict(x, task) == estimator.predict(x, task)).all()
    assert not hasattr(back, "feature_names_in_")


def rewritten(path: Path, **changes: Any) -> None:
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()[model_file.KEY])
    save_file(load_file(path), path, metadata={model_file.KEY: json.dumps({**header, **changes})})


def test_a_newer_file(saved: Path) -> None:
    rewritten(saved, format=3)
    with pytest.raises(UserError, match="format 3, but this version reads 2"):
        LearnedContextRegressor.load(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": {}},
        {"labels": ["a"]},
        {"base": 10**6},
        {"noise": -1},
        {"noise": "x"},
        {"settings": {"no": 1}},
        {"columns": {"names": ["x"], "levels": [None]}},
        {"digest": "0"},
    ],
)
def test_a_header_that_does_not_fit(changes: dict[str, Any], saved: Path) -> None:
    rewritten(saved, **changes)
    with pytest.raises(UserError, match=r"wells\.safetensors") as error:
        LearnedContextRegressor.load(saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("place", ["start", "header", "end", "cut", "empty", "text"])
def test_a_damaged_file(place: str, saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    where = {"start": 3, "header": 20, "end": len(content) - 5}.get(place)
    if where is not None:
        content[where] ^= 0x55
    cut = {"cut": bytes(content[:-100]), "empty": b"", "text": b"hello world, not a model"}
    saved.write_bytes(cut.get(place, bytes(content)))
    with pytest.raises(UserError, match=r"wells\.safetensors") as error:
        LearnedContextRegressor.load(saved)
    assert "\n" not in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        LearnedContextRegressor.load(tmp_path / "none")
