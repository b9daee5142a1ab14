"""A full disk, a disk that may not be written: one line of error, and the next run repairs it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.__main__ import main
from tests.commands.test_download import LINES, unpinned_inflation
from tests.execution.small_project import Project
from tests.execution.test_run import same_record
from tests.faults.conftest import OUTPUTS, STAGES, Mount, full, leftovers, remount

Failure = Callable[..., str]
FOLDERS = {
    "download": ["raw/frequency"],
    "prepare": ["data/frequency"],
    "tune": ["scratch", "results/tune/frequency"],
    "train": ["data/frequency/models", "results/train/frequency"],
}
"""Where a stage writes."""
CASES = [
    pytest.param(words, folder, id=f"{words[0]} into {folder}")
    for words in STAGES
    for folder in FOLDERS[words[0]]
]


def emptied(study: Path, words: list[str], folder: str, mount: Mount, *options: str) -> Path:
    """The stage's folder on a disk of its own, with all that it holds but the stage's outputs."""
    kept = study.parent / "kept"
    (study / folder).mkdir(parents=True, exist_ok=True)
    shutil.copytree(study / folder, kept)
    disk = mount(study / folder, "size=256k", *options)
    shutil.copytree(kept, disk, dirs_exist_ok=True)
    (study / OUTPUTS[words[0]]).unlink(missing_ok=True)
    return disk


@pytest.mark.parametrize(("words", "folder"), CASES)
@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_stage_that_cannot_write_says_so_and_its_next_run_succeeds(
    study: Path, mount: Mount, failure: Failure, words: list[str], folder: str, fault: str
) -> None:
    expected = (study / OUTPUTS[words[0]]).read_bytes()
    disk = emptied(study, words, folder, mount)
    if fault == "full":
        with full(disk):
            message = failure(*words)
        assert "No space left on device" in message and "free some space there" in message
    else:
        remount(disk, "ro")
        message = failure(*words)
        remount(disk, "rw")
        assert "Read-only file system" in message and "allow writing there" in message
    assert str(folder) in message or str(study) in message, "the place is named"
    assert leftovers(study) == []
    assert main(words) == 0
    assert (study / OUTPUTS[words[0]]).read_bytes() == expected


def test_a_download_onto_a_full_disk_keeps_no_half_file(
    project: Path, mount: Mount, failure: Failure
) -> None:
    """A real download: the file comes in pieces, and the disk is full after some of them."""
    unpinned_inflation(project, 60, LINES)
    disk = mount(project / "raw" / "inflation", "size=64k")
    with full(disk, left=1024):
        message = failure("download", "inflation")
    assert "No space left on device" in message and "oecd_dp_live_cpi_idx2015_q.csv" in message
    assert [path for path in disk.rglob("*") if path.is_file()] == []
    assert main(["download", "inflation"]) == 0


def on_disk(source: Project, disk: Path) -> Project:
    shutil.copytree(source.root, disk / "project", symlinks=True)
    return Project(disk / "project")


def test_a_run_on_a_full_disk_fails_clearly_and_the_next_run_repairs_it(
    template: Path, finished: Project, mount: Mount, tmp_path: Path
) -> None:
    disk = mount(tmp_path / "disk", "size=24m")
    project = on_disk(Project(template), disk)
    with full(disk, left=256 * 1024):
        # The log of the first stage takes what is left.
        project.write("step.py", project.read("step.py") + 'print("x" * 400_000, flush=True)\n')
        report = project._run(project.command("run", "--jobs", "1"), code=1)
    assert "Failed: prepare" in report
    assert "Traceback" not in report.partition("Failed: ")[0]
    project.write("step.py", finished.read("step.py"))
    assert "6 stages run" in project.call("run", "--jobs", "1")
    same_record(project, finished)


def test_a_cache_that_may_not_be_written_fails_the_stage_and_the_next_run_repairs_it(
    template: Path, finished: Project, mount: Mount, tmp_path: Path
) -> None:
    shutil.copytree(template, tmp_path / "project")
    project = Project(tmp_path / "project")
    cache = mount(project.root / ".dvc" / "cache", "size=1m", "ro")
    report = project.call("run", "--jobs", "1", "prepare", code=1)
    assert "Failed: prepare: " in report and "Read-only file system" in report
    assert "Traceback" not in report
    assert not (project.root / "dvc.lock").exists(), "nothing is recorded"
    refused = project.dvc("repro", "prepare", code=255)
    assert "Read-only file system" in refused and "Traceback" not in refused
    remount(cache, "rw")
    assert "6 stages run" in project.call("run", "--jobs", "2")
    same_record(project, finished)
    project.check_clean()
