"""Nothing half-done is recorded, nothing goes on in the background, the next run goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from learned_context.errors import UserError
from pipeline.execution import cluster
from tests.execution.small_project import BIN, ENVIRONMENT, Project
from tests.execution.test_run import wait_for


def commands_of(project: Project) -> list[psutil.Process]:
    """The processes that work on a stage of this repository."""
    found = []
    for process in psutil.process_iter():
        try:
            arguments = " ".join(process.cmdline())
            if "step.py" in arguments and Path(process.cwd()) == project.root:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def until(condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, what
        time.sleep(0.1)


@pytest.fixture
def stale_trainings(finished: Project) -> Project:
    """Both trainings must run again, with the same results."""
    finished.write("params.yaml", new_rates(finished.read("params.yaml")))
    return finished


def new_rates(text: str) -> str:
    return text.replace("1.0e-05", "7").replace("1e-05", "7").replace("rate: 2", "rate: 8")


def expected_record(finished_template: Path) -> dict[str, str]:
    record = Project(finished_template).record()
    return {**record, "dvc.lock": new_rates(record["dvc.lock"])}


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_an_ended_client_leaves_nothing_behind_and_the_next_run_goes_on(
    stale_trainings: Project, finished_template: Path, how: signal.Signals
) -> None:
    project = stale_trainings
    before = project.read("dvc.lock")
    project.write("pause", "60")
    running = project.start("run", "--jobs", "2")
    for name in ("train@a", "train@b"):
        wait_for(project.root / "scratch" / "progress" / f"{name}.txt")
    if how == signal.SIGINT:
        os.killpg(running.pid, how)  # as the terminal does: to the workers as well
    else:
        running.send_signal(how)
    report, _ = running.communicate(timeout=60)
    until(lambda: not commands_of(project), "commands outlive the run")
    if how == signal.SIGINT:
        assert running.returncode == 130
        assert "Interrupted: what had ended is recorded; the next run goes on" in report
        assert "Traceback" not in report
    (project.root / "pause").unlink()
    assert project.read("dvc.lock") == before
    assert "2 stages run, 3 unchanged" in project.call("run", "--jobs", "2")
    assert project.record() == expected_record(finished_template)
    project.check_clean()


@contextmanager
def external_cluster(
    project: Project, environment: dict[str, str] = ENVIRONMENT, protocol: str = "tcp"
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """`dask scheduler` and two `dask worker` processes, as a user would start them."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [str(BIN / "dask"), *arguments],
            cwd=project.root / "scratch",
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        return process

    address = f"{protocol}://127.0.0.1:{port}"
    options = ["--protocol", protocol, "--no-dashboard"]
    start("scheduler", "--host", "127.0.0.1", "--port", port, *options)
    options += ["--nthreads", "1", "--no-nanny"]
    workers = [start("worker", address, *options) for _ in range(2)]
    try:
        yield address, workers
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_killed_worker_of_an_existing_cluster_loses_nothing(
    stale_trainings: Project, finished_template: Path
) -> None:
    project = stale_trainings
    with external_cluster(project) as (address, workers):
        project.write("pause", "2")
        running = project.start("run", "--scheduler", address)
        wait_for(project.root / "scratch" / "progress" / "train@a.txt", 60)
        victim = next(w for w in workers if psutil.Process(w.pid).children())
        os.kill(victim.pid, signal.SIGKILL)
        report, _ = running.communicate(timeout=90)
        assert running.returncode == 0, report
        assert "2 stages run, 3 unchanged" in report
    (project.root / "pause").unlink()
    assert project.record() == expected_record(finished_template)
    project.check_clean()


def test_workers_of_an_existing_cluster_stop_when_the_client_is_killed(project: Project) -> None:
    with external_cluster(project) as (address, _):
        project.write("pause", "60")
        running = project.start("run", "--scheduler", address, "prepare")
        wait_for(project.root / "scratch" / "progress" / "prepare.txt", 60)
        running.kill()
        running.communicate()
        until(lambda: not commands_of(project), "the command outlives its client")


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(UserError, match=r"no Dask scheduler answers there .*docs/cluster.md"),
        cluster.connect("tcp://127.0.0.1:9", 1),
    ):
        pass


def test_a_cluster_that_cannot_import_the_pipeline_is_refused_before_anything_is_removed(
    stale_trainings: Project,
) -> None:
    project = stale_trainings
    before = sorted(path.name for path in (project.root / "out").iterdir())
    bare = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"}
    with external_cluster(project, bare) as (address, _):
        output = project.call("run", "--scheduler", address, code=2)
    assert "cannot import the pipeline; start the scheduler and the workers with PYTH" in output
    assert sorted(path.name for path in (project.root / "out").iterdir()) == before
