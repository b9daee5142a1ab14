"""Which GPUs there are, which one a local worker uses, and how many may share one."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence

_worker = threading.local()


def visible_gpus(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The GPUs that this process may use, without loading a GPU library."""
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        names = [name.strip() for name in chosen.split(",")]
        return tuple(name for name in names if name and name != "-1")
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = [line for line in listing.stdout.splitlines() if line.startswith("GPU ")]
    return tuple(str(number) for number in range(len(found)))


def gpu_of_worker(worker: int, gpus: Sequence[str]) -> str:
    """One GPU a worker, shared in turn where there are more workers than GPUs."""
    return gpus[worker % len(gpus)]


def limited_workers(jobs: int, gpus: Sequence[str], processes_a_gpu: int) -> int:
    """Processes that share a GPU also share its memory, so their number is limited."""
    return min(jobs, len(gpus) * processes_a_gpu) if gpus else jobs


def number_worker(numbers: Iterator[int]) -> None:
    """Called once in the thread of every local worker."""
    _worker.number = next(numbers)


def worker_number() -> int:
    return getattr(_worker, "number", 0)
