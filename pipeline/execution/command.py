"""What a worker does: run the command of one stage and say how it ended.

Every process of a command holds the locked log file open. A second attempt, after a worker or
a client was killed, therefore waits until the last process of the first one is gone.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import NamedTuple

from pipeline.execution import guard
from pipeline.execution.gpus import GpuPlace, GpuRules, RunIsOverError, place_on_gpu
from pipeline.execution.lifeline import is_alive, locks_within

# The stages are the unit of parallelism; a worker is one thread.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
POLL_SECONDS = 0.5
PATIENCE = 60.0


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know of a stage."""

    address: str
    commands: tuple[tuple[str, ...], ...]
    folder: str
    variables: dict[str, str]
    log: str
    removed_first: tuple[str, ...]
    run_lock: str
    run_id: str
    gpus: GpuRules


class CommandResult(NamedTuple):
    code: int
    seconds: float


def execute(job: Job) -> CommandResult:
    """Run the commands one after the other until one fails."""
    Path(job.log).parent.mkdir(parents=True, exist_ok=True)
    with Path(job.log).open("ab") as log:
        if not locks_within(log, PATIENCE):
            raise RuntimeError(
                f"{job.log}: processes of an earlier attempt at {job.address} are still running; "
                "end them and run again"
            )
        log.truncate(0)
        for path in map(Path, job.removed_first):
            _remove(path)  # DVC has done so; what is here now comes from a killed attempt
        try:
            with place_on_gpu(job.gpus, partial(_goes_on, job)) as place:
                started = time.monotonic()
                codes = (_run(job, place, command, log) for command in job.commands)
                code = next((code for code in codes if code), 0)
                return CommandResult(code, time.monotonic() - started)
        except RunIsOverError:
            return CommandResult(-signal.SIGKILL, 0.0)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _run(job: Job, place: GpuPlace, command: tuple[str, ...], log: BufferedWriter) -> int:
    guarded = [sys.executable, "-I", "-S", guard.__file__, *command]
    with subprocess.Popen(
        guarded,
        cwd=job.folder,
        env=_environment(job, place),
        pass_fds=place.locks,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        while True:
            try:
                return process.wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if not _goes_on(job):
                    process.stdin.close()  # the guard kills the command


def _goes_on(job: Job) -> bool:
    return is_alive(Path(job.run_lock), job.run_id)


def _environment(job: Job, place: GpuPlace) -> dict[str, str]:
    environment = {**os.environ, **ONE_THREAD, **job.variables, **place.variables}
    # `python` in a command means the interpreter of this project.
    environment["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
    )
    return environment
