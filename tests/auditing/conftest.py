"""The finished study with its data, and a clone of it without data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.small_study import git


@pytest.fixture(scope="session")
def audited(finished_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with data; a test that changes it puts everything back."""
    folder = tmp_path_factory.mktemp("audited") / "project"
    shutil.copytree(finished_study, folder, symlinks=True)
    return folder


@pytest.fixture(scope="session")
def clean_clone(finished_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone") / "project"
    git(finished_study, "clone", "--quiet", ".", str(folder))
    return folder


@pytest.fixture
def clone(clean_clone: Path) -> Iterator[Path]:
    """The clone, for a test that may commit changes; they are undone afterwards."""
    before = git(clean_clone, "rev-parse", "HEAD").strip()
    yield clean_clone
    git(clean_clone, "reset", "--quiet", "--hard", before)
    git(clean_clone, "clean", "--quiet", "-fdx")


def findings(folder: Path) -> dict[str, list[str]]:
    """What the last audit found: for every check the places."""
    content = json.loads((folder / "scratch/audit/audit.json").read_text())
    return {
        check["name"]: [finding["where"] for finding in check["findings"]]
        for check in content["checks"]
        if check["findings"]
    }
