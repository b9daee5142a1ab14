"""Fixtures that several test modules use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.datasets import sources
from pipeline.datasets.fetch import fetch

ROOT = Path(__file__).parent.parent
MIRROR = "LEARNED_CONTEXT_MIRROR"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get(MIRROR):
        skip = pytest.mark.skip(reason=f"{MIRROR} is not set")
        for item in items:
            if "mirror" in item.keywords:
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not os.environ.get(MIRROR):
        terminalreporter.write_line(
            f"tests on the real raw files were skipped: {MIRROR} is not set"
        )


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
