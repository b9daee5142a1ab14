"""The workers: a local Dask cluster, or one that is already there."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline.errors import UserError

CONNECT_SECONDS = 15


@contextmanager
def connect(scheduler: str | None, jobs: int, scratch: Path) -> Iterator[Any]:
    """Give a Dask client of the scheduler at this address, or of `jobs` processes here."""
    if scheduler:
        yield from _existing(scheduler)
    else:
        yield from _local(jobs, scratch)


def _existing(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise UserError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); start one "
            "with `dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
        ) from error
    with client:
        _check_workers(client, scheduler)
        yield client


def _check_workers(client: Any, scheduler: str) -> None:
    """Before any output is removed: there are workers, and they can import this project."""
    root = Path(__file__).resolve().parents[2]
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise UserError(
            f"--scheduler {scheduler}: has no workers; start some with "
            f"`PYTHONPATH={root} dask worker {scheduler} --nthreads 1`"
        ) from None
    for where, found in (
        ("the scheduler", {"": client.run_on_scheduler(_can_import)}),
        ("a worker", client.run(_can_import)),
    ):
        if not all(found.values()):
            raise UserError(
                f"--scheduler {scheduler}: {where} cannot import the pipeline; start the scheduler "
                f"and the workers with PYTHONPATH={root}"
            )


def _local(jobs: int, scratch: Path) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "distributed.comm.timeouts.connect": "60s",
        # A worker only waits for its command: looking at itself would cost the command's time.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.system-monitor.interval": "5s",
    }
    # Ctrl-C reaches every process of the terminal; only the client shall act on it.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with dask.config.set(settings):
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,  # the memory is the commands', not the workers'
                local_directory=str(scratch / "dask"),
                silence_logs=logging.CRITICAL,
            )
    finally:
        signal.signal(signal.SIGINT, handler)
    with cluster, Client(cluster) as client:
        yield client


def _can_import() -> bool:
    from importlib.util import find_spec

    return find_spec("pipeline") is not None


# The check itself must reach a worker that cannot import this module.
_can_import.__module__ = "__main__"


def slots(client: Any) -> int:
    """How many commands the workers can run at once; workers may come and go."""
    return max(1, sum(client.nthreads().values()))
