"""The runner and `dvc repro` in one repository at the same time: never two on one stage."""

from __future__ import annotations

import json
import subprocess

from tests.execution.small_project import BIN, ENVIRONMENT, Project
from tests.execution.test_interruptions import commands_of, until
from tests.execution.test_run import wait_for


def start_repro(project: Project, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(BIN / "dvc"), "repro", *arguments],
        cwd=project.root,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def check_prepared(project: Project, finished: Project) -> None:
    """The stage is recorded, and its outputs are those of a repository that nobody disturbed."""
    assert "Data and pipelines are up to date" in project.dvc("repro", "prepare")
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
    project.write("pause", "8")
    running = project.start("run", "--jobs", "1", "prepare")
    wait_for(project.root / "scratch" / "progress" / "prepare.txt")
    refused = project.dvc("repro", "prepare", code=255)
    assert "is busy, it is being blocked by" in refused
    assert "python -m pipeline run, stage prepare" in refused
    assert "Traceback" not in refused
    report, _ = running.communicate(timeout=60)
    assert running.returncode == 0, report
    assert not any(busy(project).values())
    check_prepared(project, finished)


def test_a_run_beside_repro_is_refused_and_the_next_one_finds_it_done(
    project: Project, finished: Project
) -> None:
    project.write("pause", "10")
    with start_repro(project, "prepare") as other:
        until(lambda: commands_of(project), "dvc repro does not start its stage")
        report = project.call("run", "--jobs", "1", "prepare", code=1)
        output, _ = other.communicate(timeout=60)
    assert "Failed: prepare: " in report
    assert "is busy, it is being blocked by: " in report and "repro prepare" in report
    assert "Traceback" not in report
    assert other.returncode == 0, output
    assert "Nothing to run" in project.call("run", "--jobs", "1", "prepare")
    check_prepared(project, finished)


def test_of_two_repros_one_is_refused_and_nothing_is_lost(
    project: Project, finished: Project
) -> None:
    project.write("pause", "6")
    with start_repro(project, "prepare") as first:
        until(lambda: commands_of(project), "dvc repro does not start its stage")
        refused = project.dvc("repro", "prepare", code=255)
        output, _ = first.communicate(timeout=60)
    assert "is busy, it is being blocked by" in refused and "Traceback" not in refused
    assert first.returncode == 0, output
    check_prepared(project, finished)


def test_repro_goes_on_where_a_run_was_killed(project: Project, finished: Project) -> None:
    project.write("pause", "60")
    running = project.start("run", "--jobs", "1", "prepare")
    wait_for(project.root / "scratch" / "progress" / "prepare.txt")
    running.kill()
    running.communicate()
    until(lambda: not commands_of(project), "the command outlives its run")
    assert any(busy(project).values()), "the killed run could not take its entries back"
    (project.root / "pause").unlink()
    project.dvc("repro", "prepare")
    check_prepared(project, finished)
