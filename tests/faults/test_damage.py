"""Files cut short or with flipped bytes: named with a remedy, and the remedy works."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from learned_context.errors import UserError
from learned_context.training.storage import load_network
from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.tables.prepared import Prepared
from tests.execution.small_project import Project
from tests.faults.conftest import OUTPUTS
from tests.faults.test_kills import kill_in, results

Failure = Callable[..., str]
MODEL = OUTPUTS["train"]


def cut(path: Path, share: float = 0.5) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def flip(path: Path, place: int, count: int = 1) -> None:
    content = bytearray(path.read_bytes())
    for index in range(place, min(place + count, len(content))):
        content[index] ^= 0xFF
    path.write_bytes(bytes(content))


def test_a_table_that_was_cut_short(study: Path, failure: Failure) -> None:
    expected = results(study)
    cut(study / "data/frequency/table.parquet")
    message = failure("train", "frequency", "lc")
    assert message.startswith("data/frequency/table.parquet: not a readable parquet table (")
    assert message.endswith("delete it and run `dvc repro`")
    assert main(["prepare", "frequency"]) == 0
    assert main(["train", "frequency", "lc"]) == 0
    assert results(study) == expected


def test_a_table_with_a_damaged_index(study: Path, failure: Failure) -> None:
    path = study / "data/frequency/table.parquet"
    flip(path, path.stat().st_size - 60, 40)
    message = failure("train", "frequency", "lc")
    assert message.startswith("data/frequency/table.parquet: not a readable parquet table (")


def test_flipped_bytes_of_a_table_or_network_are_an_error_or_leave_it_readable(
    study: Path,
) -> None:
    """Never another exception. That the values changed is for DVC to see: the next test."""
    for path, read in (
        (study / "data/frequency/table.parquet", lambda: Prepared.read(Files(study), "frequency")),
        (study / MODEL, lambda: load_network(study / MODEL)),
    ):
        whole = path.read_bytes()
        errors = 0
        for place in range(0, len(whole), max(1, len(whole) // 150)):
            flip(path, place, 8)
            try:
                read()
            except UserError as error:
                assert str(path) in str(error)
                assert "dvc repro" in str(error) or "write it again" in str(error)
                errors += 1
            path.write_bytes(whole)
        assert errors, "no damage was noticed"


def test_a_flipped_byte_in_a_cached_output_is_seen_and_mended(finished: Project) -> None:
    before = finished.record()
    path = finished.root / "out" / "train-a.bin"
    path.chmod(0o644)
    flip(path, 3)
    assert (
        finished.plan()["stages"][0]["reason"] == "its output out/train-a.bin is not what it wrote"
    )
    finished.call("run", "--jobs", "1")
    assert finished.record() == before
    finished.check_clean()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_network_that_was_cut_short(study: Path, share: float) -> None:
    cut(study / MODEL, share)
    with pytest.raises(UserError, match=r"train-lc\.safetensors: not a readable model file \("):
        load_network(study / MODEL)


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "another"])
def test_a_damaged_search_result(study: Path, failure: Failure, damage: str) -> None:
    expected = results(study)
    path = study / OUTPUTS["tune"]
    if damage == "cut":
        cut(path)
    elif damage == "empty":
        path.write_text("{}")
    elif damage == "flipped":
        flip(path, 40, 3)
    else:
        path.write_text('["not", "a", "result"]')
    message = failure("train", "frequency", "lc")
    assert message.startswith("results/tune/frequency/lc.json: ")
    assert (
        damage == "flipped"
        or "`python -m pipeline tune frequency lc`" in message
        or damage == "cut"
    )
    assert main(["tune", "frequency", "lc"]) == 0
    assert main(["train", "frequency", "lc"]) == 0
    assert results(study) == expected


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_search_log(study: Path, failure: Failure, damage: str) -> None:
    expected = results(study)
    (study / OUTPUTS["tune"]).unlink()
    kill_in(study, ["tune", "frequency", "lc"], 2)
    (log,) = (study / "scratch").rglob("*.jsonl")
    if damage == "cut":  # what a kill leaves: the line is dropped and its evaluation runs again
        log.write_bytes(log.read_bytes()[:-20])
    else:
        flip(log, 5, 3)
        message = failure("tune", "frequency", "lc")
        assert f"{log.relative_to(study)}: line 1: not an evaluation of a search" in message
        assert "delete the file and run the stage again" in message
        log.unlink()
    assert main(["tune", "frequency", "lc"]) == 0
    assert results(study) == expected


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"rmse": 1', '{"rmse": "low"}', "NaN"])
@pytest.mark.parametrize(
    "verb",
    [
        ["check"],
        pytest.param(["report", "--readme"], marks=pytest.mark.slow),
        pytest.param(["check", "--write"], marks=pytest.mark.slow),
    ],
)
def test_a_damaged_result_stops_the_check_and_the_report(
    study: Path, failure: Failure, verb: list[str], content: str
) -> None:
    path = study / "results/train/frequency/lc.json"
    whole = path.read_text()
    path.write_text(content)
    message = failure(*verb)
    assert message.startswith("results/train/frequency/lc.json: ")
    assert "git checkout" in message
    assert not (study / "reports/paper_check.json").exists()
    path.write_text(whole)
    assert main(["check", "--write"]) == 0


PAGE = {"label": "Overview", "group": "", "order": 1, "about": "All."}
NOTEBOOK = {"cells": [], "metadata": {"page": PAGE}, "nbformat": 4, "nbformat_minor": 5}
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a readable notebook ("),
        ("{", "not a readable notebook ("),
        ("[" * 5000, "not a readable notebook ("),
        ("[]", "not a readable notebook;"),
        (json.dumps(NOTEBOOK | {"metadata": []}), "not a readable notebook;"),
        (json.dumps(NOTEBOOK | {"cells": 3}), "not a readable notebook ("),
        (json.dumps(NOTEBOOK | {"nbformat": 99}), "not a readable notebook ("),
        (
            json.dumps(NOTEBOOK | {"nbformat_minor": 4, "cells": [CELL | {"source": "1/0"}]}),
            "cell 1 ends with ZeroDivisionError: division by zero; correct the cell, or ",
        ),
    ],
)
def test_a_damaged_notebook(study: Path, failure: Failure, content: str, message: str) -> None:
    path = study / "reports/notebooks/index.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    found = failure("report", "index")
    assert found.startswith(f"reports/notebooks/index.ipynb: {message}")
    assert "restore it with `git checkout reports/notebooks/index.ipynb`" in found


def test_a_page_whose_notebook_is_gone(study: Path, failure: Failure) -> None:
    path = study / "reports/notebooks/index.ipynb"
    path.unlink()
    (study / "reports/index.html").write_text("rendered before")
    assert failure("report", "index") == (
        "reports/notebooks/index.ipynb: does not exist; "
        "restore it with `git checkout reports/notebooks/index.ipynb`"
    )


def test_a_number_that_was_lost_from_a_result_is_named(study: Path, failure: Failure) -> None:
    path = study / "results/train/frequency/lc.json"
    content = json.loads(path.read_text())
    del content["curve"]["loss"]
    path.write_text(json.dumps(content))
    assert failure("check").startswith(
        "results/train/frequency/lc.json: curve.loss: missing; restore it"
    )


def test_a_damaged_lock_file_is_refused_and_restored_from_git(finished: Project) -> None:
    before = finished.record()
    cut(finished.root / "dvc.lock", 0.6)
    message = finished.call("run", "--jobs", "1", code=2)
    assert "dvc.lock" in message and "Traceback" not in message
    finished.git("checkout", "dvc.lock")
    assert "Nothing to run" in finished.call("run", "--jobs", "1")
    assert finished.record() == before


def test_dates_in_the_future_or_the_past_change_nothing(finished: Project) -> None:
    """As after the clock was set back: contents decide, not dates."""
    for path in [*finished.root.glob("out/*"), *finished.root.glob("*.*")]:
        os.utime(path, (4e9, 4e9))
    assert finished.planned() == {}
    finished.write("source.txt", "sourcE\n")  # as long as before
    os.utime(finished.root / "source.txt", (1e9, 1e9))
    assert finished.planned()["prepare"] == "stale"
    finished.call("run", "--jobs", "1", "prepare")
    assert "Nothing to run" in finished.call("run", "--jobs", "1", "prepare")


def test_a_cache_entry_that_was_damaged_does_not_come_back_as_a_result(finished: Project) -> None:
    before = finished.record()
    shutil.rmtree(finished.root / "out")
    for path in (finished.root / ".dvc" / "cache" / "files").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            cut(path)
    finished.git("checkout", "out")
    finished.call("run", "--jobs", "1", "--missing")
    assert finished.record() == before
