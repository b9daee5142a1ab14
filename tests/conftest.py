"""Fixtures that several test modules use."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from pipeline.datasets import sources
from pipeline.datasets.fetch import fetch
from tests import small_study

ROOT = Path(__file__).parent.parent
Once = Callable[[str, Callable[[Path], object]], Path]
MIRROR = "LEARNED_CONTEXT_MIRROR"

# The same examples in every run, and as much time as a busy machine needs for one.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not _has_gpu():
        skip = pytest.mark.skip(reason="torch finds no CUDA device")
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(skip)
    if not os.environ.get(MIRROR):
        skip = pytest.mark.skip(reason=f"{MIRROR} is not set")
        for item in items:
            if "mirror" in item.keywords:
                item.add_marker(skip)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not os.environ.get(MIRROR):
        terminalreporter.write_line(
            f"tests on the real raw files were skipped: {MIRROR} is not set"
        )


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Builds a folder once for all workers of a run: read it or copy it, never change it."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def get(name: str, build: Callable[[Path], object]) -> Path:
        folder, done = base / name, base / f"{name}.done"
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers wait here
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                build(folder)
                done.touch()
        return folder

    return get


@pytest.fixture(scope="session")
def finished_study(once: Once) -> Path:
    """A tiny study of one dataset with its report, sealed and committed; do not change it."""
    return once("finished-study", small_study.make_finished)


@pytest.fixture(scope="session")
def mirror() -> str:
    """The folder or URL with the real raw files."""
    address = os.environ.get(MIRROR)
    if not address:
        pytest.skip(f"{MIRROR} is not set")
    return address


@pytest.fixture(scope="session")
def raw_files(
    mirror: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], list[Path]]:
    """The real files of one edition, fetched and checked."""
    folder = tmp_path_factory.mktemp("raw")
    known = sources.load(ROOT / "raw" / "sources.yaml")

    def get(dataset: str, edition: str) -> list[Path]:
        paths = []
        for source in known.edition(dataset, edition).files:
            path = folder / dataset / edition / source.name
            fetch(source, path, folder / "none", "", mirror)
            paths.append(path)
        return paths

    return get


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch copy of what a stage reads, as the working directory; no mirror is set."""
    monkeypatch.delenv(MIRROR, raising=False)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "raw").mkdir()
    shutil.copy(ROOT / "raw" / "sources.yaml", tmp_path / "raw")
    monkeypatch.chdir(tmp_path)
    return tmp_path
