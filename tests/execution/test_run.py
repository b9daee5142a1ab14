from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.execution.small_project import STAGES, Project


def same_record(one: Project, other: Project) -> None:
    a, b = one.record(), other.record()
    for record in (a, b):  # DVC appends to it in the order in which stages end
        record["out/.gitignore"] = "\n".join(sorted(record["out/.gitignore"].splitlines()))
    assert a == b


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_a_run_leaves_what_repro_leaves(project: Project, finished: Project, jobs: str) -> None:
    report = project.call("run", "--jobs", jobs)
    assert "6 stages run" in report
    assert "DVC's own work took" in report
    same_record(project, finished)
    project.check_clean()
    assert project.read("scratch/logs/results.table.log") == "working on table\nend\n"


def test_stages_below_an_identical_output_stay_as_they_are(finished: Project) -> None:
    # The command reads no parameter, so its results do not change with it.
    finished.write("params.yaml", finished.read("params.yaml").replace("rate: 2", "rate: 3"))
    report = finished.call("run", "--jobs", "1")
    assert "train@b ran" in report
    assert "results/dvc.yaml:repeats@b unchanged" in report
    assert "1 stages run, 2 unchanged" in report
    finished.check_clean()


def test_a_failed_stage_stops_the_run_and_is_named_with_its_log(project: Project) -> None:
    project.write("fail-train-a", "")
    report = project.call("run", "--jobs", "1", code=1)
    assert "Failed: train@a: its command ended with code 3; see scratch/logs/train@a.log" in report
    assert "    working on train-a" in report
    assert not (project.root / "out" / "repeats-a.json").exists()


def test_keep_going_runs_all_that_does_not_need_the_failed_stage(project: Project) -> None:
    project.write("fail-train-a", "")
    report = project.call("run", "--jobs", "2", "--keep-going", code=1)
    assert "3 stages run, 2 skipped, 1 failed" in report
    assert (project.root / "out" / "repeats-b.json").exists()


def test_a_missing_output_is_a_failure(project: Project) -> None:
    text = project.read("dvc.yaml").replace("- out/prepare.bin", "- out/prepare.bin\n      - no")
    project.write("dvc.yaml", text)
    report = project.call("run", "--jobs", "1", code=1)
    assert "Failed: prepare: output 'no' does not exist" in report


def test_a_dependency_that_changes_during_the_run_is_not_recorded(project: Project) -> None:
    project.write("hold", "")
    running = project.start("run", "--jobs", "1", "prepare")
    wait_for(project.root / "scratch" / "progress" / "prepare.txt")  # the log is buffered
    project.write("source.txt", "changed in the middle\n")
    (project.root / "hold").unlink()
    report, _ = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "its dependency source.txt changed while it ran; nothing is recorded" in report
    assert not (project.root / "dvc.lock").exists()


def wait_for(path: Path, seconds: float = 120) -> None:
    give_up = time.monotonic() + seconds
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < give_up, f"{path} did not appear"
        time.sleep(0.05)


def test_other_dvc_commands_work_during_a_run_but_no_second_run(project: Project) -> None:
    project.write("hold", "")
    running = project.start("run", "--jobs", "1", "prepare")
    try:
        wait_for(project.root / "scratch" / "progress" / "prepare.txt")
        assert "prepare" in project.dvc("status", "--json")
        assert "another run is active" in project.call("run", "--jobs", "1", code=2)
        assert set(project.planned()) == STAGES
    finally:
        running.terminate()
        running.communicate(timeout=60)
    assert running.returncode == 128 + 15


def test_a_run_waits_for_a_lock_of_dvc(project: Project) -> None:
    holder = """
import sys
from dvc.repo import Repo
with Repo(".").lock:
    print("locked", flush=True)
    sys.stdin.read()
"""
    command = [project.command()[0], "-c", holder]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=project.root, **pipes) as other:
        other.stdout.readline()
        running = project.start("run", "--jobs", "1", "prepare")
        assert "Waiting for DVC's lock" in running.stdout.readline()
        other.stdin.close()
    report, _ = running.communicate(timeout=120)
    assert "1 stages run" in report


def test_the_run_cache_restores_what_ran_before(new_project: Callable[[str], Project]) -> None:
    project = new_project("cached")
    shutil.rmtree(project.root / "results")
    project.write("dvc.yaml", CACHED)
    project.dvc("repro")
    first = project.read("dvc.lock")
    project.write("source.txt", "another source\n")
    project.dvc("repro")
    project.write("source.txt", "source\n")
    assert "copy restored" in project.call("run", "--jobs", "1")
    assert project.read("dvc.lock") == first


CACHED = """
stages:
  copy:
    cmd: cp source.txt copy.txt
    deps: [source.txt]
    outs: [copy.txt]
"""
