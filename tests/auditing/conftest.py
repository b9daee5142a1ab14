"""A whole study of one dataset with its report, committed, and a clone of it without data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import small_study
from tests.auditing.tamperings import commit, git, undo


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_study.make_project(tmp_path_factory.mktemp("audited"), datasets=["frequency"])
    (folder / "results/benchmarks").mkdir(exist_ok=True)
    (folder / "results/benchmarks/speed.json").write_text('{"ratio": 1.25}\n')
    small_study.run(folder, "*")
    for words in (["report", "--readme"], ["audit", "--seal"]):
        small_study.pipeline(folder, *words)
    commit(folder)
    return folder


@pytest.fixture(scope="session")
def clean_clone(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone") / "project"
    git(audited, "clone", "--quiet", ".", str(folder))
    return folder


@pytest.fixture
def clone(clean_clone: Path) -> Iterator[Path]:
    """The clone, for a test that commits one change; it is undone afterwards."""
    before = _head(clean_clone)
    yield clean_clone
    if _head(clean_clone) != before:
        undo(clean_clone)
    git(clean_clone, "reset", "--quiet", "--hard")
    git(clean_clone, "clean", "--quiet", "-fdx")


def findings(folder: Path) -> dict[str, list[str]]:
    """What the last audit found: for every check the places."""
    content = json.loads((folder / "scratch/audit/audit.json").read_text())
    return {
        check["name"]: [finding["where"] for finding in check["findings"]]
        for check in content["checks"]
        if check["findings"]
    }


def _head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")
