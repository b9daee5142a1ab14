"""Fill the missing cells, the cheapest first, each in its own process on one thread.

A process of its own gives each cell a limit on processor time (not on the clock: other programs
on the machine do not change the outcome) and keeps a crash of a native library from the rest.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.arena import tracks
from benchmarks.arena.cells import (
    FIT_SECONDS,
    ArenaCell,
    Place,
    cell_key,
    compute_cell,
    read_cell,
    write_cell,
)
from benchmarks.arena.contestants import Contestant
from benchmarks.arena.datasets import ArenaTable


@dataclass(frozen=True)
class CellJob:
    place: Place
    contestant: Contestant
    table: ArenaTable
    key: str

    @property
    def cost(self) -> float:
        """Roughly: what orders the queue. Later splits wait until the first is nearly done."""
        fits = len(tracks.ARRIVING) if self.place.track == "new" else 1
        return self.contestant.cost * len(self.table.target) * fits * (1 + 10 * self.place.split)


def places(
    contestants: Mapping[str, Contestant], tables: Mapping[str, ArenaTable]
) -> Iterator[Place]:
    """All cells that the arena consists of."""
    for contestant in contestants.values():
        for dataset, table in tables.items():
            if contestant.takes_part("known", len(table.target)):
                for split in range(contestant.known_splits):
                    yield Place("known", contestant.name, dataset, split)
            if contestant.takes_part("new", len(table.target)):
                for split in range(contestant.new_splits):
                    yield Place("new", contestant.name, dataset, split)


def missing_jobs(
    folder: Path, contestants: Mapping[str, Contestant], tables: Mapping[str, ArenaTable]
) -> list[CellJob]:
    digests = {name: table.digest for name, table in tables.items()}
    jobs = []
    for place in places(contestants, tables):
        contestant = contestants[place.contestant]
        key = cell_key(place, contestant, digests[place.dataset])
        if read_cell(folder, place, key) is None:
            jobs.append(CellJob(place, contestant, tables[place.dataset], key))
    return sorted(jobs, key=lambda job: job.cost)


def fill(folder: Path, jobs: Iterable[CellJob], workers: int) -> None:
    """Run the jobs; each leaves its cell, also if it fails, so that no job is tried twice."""
    running: dict[int, tuple[CellJob, float]] = {}
    waiting = list(jobs)
    total = len(waiting)
    while waiting or running:
        while waiting and len(running) < workers:
            job = waiting.pop(0)
            for module in job.contestant.preload:
                import_module(module)
            running[_started(folder, job)] = (job, time.monotonic())
        process, status, usage = os.wait4(-1, 0)
        if process not in running:
            continue
        job, _ = running.pop(process)
        if status:
            write_cell(folder, job.place, ArenaCell(key=job.key, failure=_reason(status)))
        cell = read_cell(folder, job.place, job.key)
        done = total - len(waiting) - len(running)
        place = job.place
        outcome = "no cell" if cell is None else cell.failure or _errors(cell)
        print(
            f"{done}/{total} {place.track} {place.contestant} {place.dataset} {place.split}: "
            f"{outcome} ({usage.ru_utime:.1f} s)",
            flush=True,
        )


def _started(folder: Path, job: CellJob) -> int:
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        fits = len(tracks.ARRIVING) if job.place.track == "new" else 1
        used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
        limit = used + FIT_SECONDS * fits
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
        _quiet()
        try:
            cell = compute_cell(job.place, job.contestant, job.table, job.key)
        except Exception as error:
            cell = ArenaCell(key=job.key, failure=f"{type(error).__name__}: {str(error)[:200]}")
        write_cell(folder, job.place, cell)
        status = 0
    finally:
        os._exit(status)


def _quiet() -> None:
    """What the libraries print is no part of the result; numbers come by the cell."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _reason(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return "the process ended early"
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return f"time-out: more than {FIT_SECONDS} s of processor time for a fit"
    return f"ended by {signal.Signals(number).name}"


def _errors(cell: ArenaCell) -> str:
    return ", ".join(f"{name} {score.rmse:.5g}" for name, score in cell.scores.items())
