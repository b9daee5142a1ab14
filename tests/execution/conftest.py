"""Fixtures: the small repository as it is, and after `dvc repro`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.execution.small_project import MAIN, RESULTS_FILE, ROOT_FILE, STEP, Project


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once and copied: `dvc init` takes a second."""
    root = tmp_path_factory.mktemp("template")
    project = Project(root)
    project.git("init", "-q")
    project.dvc("init", "-q")
    # Each command would start a process in the background that looks for a new version.
    project.write(".dvc/config", "[core]\n    check_update = false\n")
    (root / "scratch").mkdir()
    (root / "results").mkdir()
    project.write("dvc.yaml", ROOT_FILE)
    project.write("results/dvc.yaml", RESULTS_FILE)
    project.write("params.yaml", "wait: 0\nmodels:\n  a: {rate: 1.0e-05}\n  b: {rate: 2}\n")
    project.write("source.txt", "source\n")
    project.write("step.py", STEP)
    project.write("scratch/main.py", MAIN)
    project.write(".gitignore", "/scratch/\n")
    project.write(".dvcignore", "scratch/\n")
    return root


@pytest.fixture
def new_project(template: Path, tmp_path: Path) -> Callable[[str], Project]:
    def make(name: str) -> Project:
        shutil.copytree(template, tmp_path / name)
        return Project(tmp_path / name)

    return make


@pytest.fixture
def project(new_project: Callable[[str], Project]) -> Project:
    return new_project("project")


@pytest.fixture(scope="session")
def finished_template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after `dvc repro`, committed."""
    root = tmp_path_factory.mktemp("finished") / "project"
    shutil.copytree(template, root)
    done = Project(root)
    done.dvc("repro", "--all-pipelines")
    done.git("add", ".")
    done.git("commit", "-q", "-m", "results")
    return root


@pytest.fixture
def finished(finished_template: Path, tmp_path: Path) -> Project:
    shutil.copytree(finished_template, tmp_path / "finished", copy_function=shutil.copy2)
    return Project(tmp_path / "finished")
