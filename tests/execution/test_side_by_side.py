"""The runner and `dvc repro` in one repository at the same time: never two on one stage."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import chdir, contextmanager

import pytest
from dvc.repo import Repo

from tests.execution.small_project import BIN, ENVIRONMENT, Project
from tests.execution.test_interruptions import commands_of, until
from tests.execution.test_run import wait_for


@contextmanager
def held_repro(project: Project) -> Iterator[subprocess.Popen[bytes]]:
    """`dvc repro`, in the middle of its stage until the block ends."""
    project.write("hold", "")
    command = [str(BIN / "dvc"), "repro", "prepare"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=project.root, env=ENVIRONMENT, **quiet) as process:
        try:
            until(lambda: commands_of(project), "dvc repro does not start its stage", 120)
            yield process
        finally:
            (project.root / "hold").unlink()


def check_prepared(project: Project, finished: Project) -> None:
    """The stage is recorded, and its outputs are those of a repository that nobody disturbed."""
    with chdir(project.root), Repo(str(project.root)) as repo:
        assert repo.reproduce(["prepare"]) == []
    for name in ("out/prepare.bin", "out/prepare.json"):
        assert project.read(name) == finished.read(name)
    entry = project.read("dvc.lock").partition("  prepare:")[2]
    assert entry and entry in finished.read("dvc.lock")


def busy(project: Project) -> dict[str, object]:
    table: dict[str, object] = json.loads(project.read(".dvc/tmp/rwlock"))
    return table


def test_repro_beside_a_run_is_refused_and_the_run_ends_as_if_alone(
    project: Project, finished: Project
) -> None:
    project.write("hold", "")
    running = project.start("run", "--jobs", "1", "prepare")
    wait_for(project.root / "scratch" / "progress" / "prepare.txt")
    refused = project.dvc("repro", "prepare", code=255)
    assert "is busy, it is being blocked by" in refused
    assert "python -m pipeline run, stage prepare" in refused
    assert "Traceback" not in refused
    (project.root / "hold").unlink()
    report, _ = running.communicate(timeout=60)
    assert running.returncode == 0, report
    assert not any(busy(project).values())
    check_prepared(project, finished)


def test_a_run_beside_repro_is_refused_and_the_next_one_finds_it_done(
    project: Project, finished: Project
) -> None:
    with held_repro(project) as other:
        report = project.call("run", "--jobs", "1", "prepare", code=1)
    assert "Failed: prepare: " in report
    assert "is busy, it is being blocked by: " in report and "repro prepare" in report
    assert "Traceback" not in report
    assert other.returncode == 0
    assert "Nothing to run" in project.call("run", "--jobs", "1", "prepare")
    check_prepared(project, finished)


@pytest.mark.slow
def test_of_two_repros_one_is_refused_and_nothing_is_lost(
    project: Project, finished: Project
) -> None:
    with held_repro(project) as first:
        refused = project.dvc("repro", "prepare", code=255)
    assert "is busy, it is being blocked by" in refused and "Traceback" not in refused
    assert first.returncode == 0
    check_prepared(project, finished)


def test_repro_goes_on_where_a_run_was_killed(project: Project, finished: Project) -> None:
    project.write("hold", "")
    running = project.start("run", "--jobs", "1", "prepare")
    wait_for(project.root / "scratch" / "progress" / "prepare.txt")
    running.kill()
    running.communicate()
    until(lambda: not commands_of(project), "the command outlives its run")
    assert any(busy(project).values()), "the killed run could not take its entries back"
    (project.root / "hold").unlink()
    project.dvc("repro", "prepare")
    check_prepared(project, finished)
