"""Disks that are full or may not be written, and a study that is small enough to break often."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pipeline.__main__ import main
from tests import small_study
from tests.conftest import ROOT
from tests.execution.conftest import finished, finished_template, template  # noqa: F401

Mount = Callable[..., Path]


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mount a small disk of its own at a folder; gone when the test ends."""
    with ExitStack() as mounted:

        def make(folder: Path, *options: str) -> Path:
            folder.mkdir(parents=True, exist_ok=True)
            command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
            if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
                pytest.skip(
                    "this user may not mount a disk: run the tests as root to have this one"
                )
            mounted.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return folder

        yield make


def remount(folder: Path, *options: str) -> None:
    words = ["mount", "-o", ",".join(("remount", *options)), str(folder)]
    subprocess.run(words, check=True)


@contextmanager
def full(folder: Path, left: int = 0) -> Iterator[None]:
    """Fill the disk at `folder` until so many bytes are left; free them in the end."""
    filler = folder / "filler"
    space = os.statvfs(folder)
    with filler.open("wb") as file:
        file.write(bytes(max(0, space.f_bavail * space.f_frsize - left)))
    try:
        yield
    finally:
        filler.unlink()


@pytest.fixture(scope="session")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny study after download, prepare, tune and train of one network, without DVC."""
    folder = small_study.make_project(tmp_path_factory.mktemp("faults") / "study")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for words in STAGES:
            assert main(words) == 0
    finally:
        os.chdir(before)
    return folder


STAGES = (
    ["download", "frequency"],
    ["prepare", "frequency"],
    ["tune", "frequency", "lc"],
    ["train", "frequency", "lc"],
)
OUTPUTS = {
    "download": "raw/frequency/paper/GENERATED.txt",
    "prepare": "data/frequency/table.parquet",
    "tune": "results/tune/frequency/lc.json",
    "train": "data/frequency/models/train-lc.safetensors",
}


@pytest.fixture
def study(study_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as the working directory."""
    shutil.copytree(study_template, tmp_path / "study", ignore=shutil.ignore_patterns(".git"))
    monkeypatch.chdir(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def failure(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The one line on stderr of a command that must fail as a user's mistake does."""

    def call(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 2
        line = capsys.readouterr().err
        assert line.startswith("error: ") and line.count("\n") == 1, line
        return line.removeprefix("error: ").rstrip("\n")

    return call


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A verb as a process of its own, to be killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder,
        env=small_study.environment() | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def leftovers(folder: Path) -> list[Path]:
    """What a write that was cut off would leave."""
    return [path for path in folder.rglob("*.tmp") if ".git" not in path.parts]
