"""The workers: threads of this process, or those of a Dask cluster that is already there.

A worker only starts the command of a stage and waits for it, so a local run needs no server: no
other user of the machine can reach it. Whoever reaches a Dask scheduler can run code as the
workers' user, so a scheduler on another host must use TLS.
"""

from __future__ import annotations

import ipaddress
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from learned_context.errors import UserError

CONNECT_SECONDS = 15
HOW_TO_USE_TLS = "start the scheduler and the workers with TLS (docs/cluster.md says how)"


class LocalWorkers:
    """As much of a Dask client as the runner needs."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._threads = ThreadPoolExecutor(jobs)

    def nthreads(self) -> dict[str, int]:
        return {"local": self.jobs}

    def submit(self, function: Callable[[Any], Any], job: Any, **_: Any) -> Future[Any]:
        return self._threads.submit(function, job)


@contextmanager
def connect(scheduler: str | None, jobs: int) -> Iterator[Any]:
    """Give a Dask client of the scheduler at this address, or `jobs` workers of this process."""
    if scheduler is None:
        yield LocalWorkers(jobs)
        return
    from distributed import Client

    check_address(scheduler)
    if not scheduler.lower().startswith("tls://"):
        print(
            f"warning: --scheduler {scheduler} has no TLS: every user of this machine can run code "
            f"as the workers' user; {HOW_TO_USE_TLS}",
            file=sys.stderr,
        )
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except TypeError as error:  # what Dask raises without a certificate
        raise UserError(
            f"--scheduler {scheduler}: no certificate is configured for this client; set the "
            "variables of docs/cluster.md"
        ) from error
    except (OSError, ValueError) as error:
        raise UserError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); {HOW_TO_USE_TLS}"
        ) from error
    with client:
        _check_workers(client, scheduler)
        yield client


def check_address(scheduler: str) -> None:
    """Refuse what is not an address, and a connection without TLS to another host."""
    try:
        parts = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
        host = parts.hostname if parts.scheme in ("tcp", "tls") and parts.port else None
    except ValueError:
        host = None
    if host is None:
        raise UserError(
            f"--scheduler {scheduler}: not an address of the form tls://HOST:PORT; {HOW_TO_USE_TLS}"
        )
    if parts.scheme != "tls" and not _is_loopback(host):
        raise UserError(
            f"--scheduler {scheduler}: without TLS, anyone who can reach this port can run code as "
            f"the workers' user; {HOW_TO_USE_TLS} and give its address as tls://..."
        )


def _is_loopback(host: str) -> bool:
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        raise UserError(f"--scheduler: host {host!r} is not known ({error})") from error
    return all(ipaddress.ip_address(entry[4][0]).is_loopback for entry in found)


def _check_workers(client: Any, scheduler: str) -> None:
    """Before any output is removed: there are workers, and they can import this project."""
    root = Path(__file__).resolve().parents[2]
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise UserError(
            f"--scheduler {scheduler}: has no workers; start some (docs/cluster.md says how)"
        ) from None
    for where, found in (
        ("the scheduler", {"": client.run_on_scheduler(_can_import)}),
        ("a worker", client.run(_can_import)),
    ):
        if not all(found.values()):
            raise UserError(
                f"--scheduler {scheduler}: {where} cannot import the pipeline; start the scheduler "
                f"and the workers with PYTHONPATH={shlex.quote(str(root))}"
            )


def _can_import() -> bool:
    from importlib.util import find_spec

    return find_spec("pipeline") is not None


# The check itself must reach a worker that cannot import this module.
_can_import.__module__ = "__main__"


def slots(client: Any) -> int:
    """How many commands the workers can run at once; workers may come and go."""
    return max(1, sum(client.nthreads().values()))
