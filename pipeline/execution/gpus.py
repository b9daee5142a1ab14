"""Which GPU a stage uses, and how many stages may share one.

Every GPU of a host has a few places, and each place is a file. A stage holds the lock of its place
while it runs, whoever started it: a thread of a local run or a worker of a Dask cluster. The
system releases the lock however the stage ends, so no worker needs to know of the others.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pipeline.execution.lifeline import locks

POLL_SECONDS = 0.5
VISIBLE = "CUDA_VISIBLE_DEVICES"


class RunIsOverError(Exception):
    """The run ended while one of its stages waited for a GPU."""


@dataclass(frozen=True)
class GpuRules:
    """How the stages of a run use GPUs."""

    device: str
    """The profile's `train.device`."""
    processes: int
    """Stages that may share a GPU: they share its memory too."""
    folder: str
    """Of the lock files."""


@dataclass(frozen=True)
class GpuPlace:
    """What a stage needs to use its place on a GPU."""

    variables: dict[str, str]
    locks: tuple[int, ...]
    """Open files. The command's guard inherits them: the place is taken while it lives."""


NO_GPU = GpuPlace({}, ())


def visible_gpus(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The GPUs that this process may use, without loading a GPU library."""
    chosen = environment.get(VISIBLE)
    if chosen is not None:
        names = [name.strip() for name in chosen.split(",")]
        return tuple(name for name in names if name and name != "-1")
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = [line for line in listing.stdout.splitlines() if line.startswith("GPU ")]
    return tuple(str(number) for number in range(len(found)))


def usable_gpus(device: str) -> tuple[str, ...]:
    """The GPUs of this host that a profile with this device may use: none for `cpu`."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return ()
    found = visible_gpus()
    return found[int(number) :][:1] if number else found


def limited_workers(jobs: int, gpus: Sequence[str], processes: int) -> int:
    """As many workers as there are places on the GPUs."""
    return min(jobs, len(gpus) * processes) if gpus else jobs


@contextmanager
def place_on_gpu(rules: GpuRules, goes_on: Callable[[], bool]) -> Iterator[GpuPlace]:
    """Take a place on a GPU of this host, or wait for one while the run goes on."""
    gpus = usable_gpus(rules.device)
    if not gpus:
        yield NO_GPU
        return
    Path(rules.folder).mkdir(parents=True, exist_ok=True)
    while True:
        # The first place of every GPU before the second of any.
        for place, gpu in product(range(rules.processes), gpus):
            with _lock_file(rules.folder, gpu, place).open("ab") as file:
                if not locks(file):
                    continue
                # `cuda:1` counts all visible GPUs, so they must stay visible.
                variables = {} if ":" in rules.device else {VISIBLE: gpu}
                yield GpuPlace(variables, (file.fileno(),))
                return
        if not goes_on():
            raise RunIsOverError
        time.sleep(POLL_SECONDS)


def _lock_file(folder: str, gpu: str, place: int) -> Path:
    """On a file system that hosts may share: each has its own files."""
    return Path(folder, re.sub(r"[^\w.-]", "_", f"{socket.gethostname()}-{gpu}-{place}"))
