"""One cell: one contestant on one dataset, split and track; computed once, kept as a small file.

A cell's key names everything that its numbers depend on. A file with another key is outdated and
is computed again, so a run can be stopped, continued and extended at any time.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import textwrap
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from benchmarks.arena import tracks
from benchmarks.arena.contestants import Contestant, Fitted, LabelledRows
from benchmarks.arena.datasets import ArenaTable
from learned_context.errors import UserError
from learned_context.files import write_bytes

Track = Literal["known", "new"]
FIT_SECONDS = 300
"""Processor time of one fit; what takes longer has failed."""
ROUNDED = 6
"""Significant digits of what is kept."""


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Score(Record):
    """One set of test rows."""

    rows: int
    rmse: float
    fit_seconds: float
    """Processor time; in track 2 what the new tasks take: a new fit, or the adaptation."""
    predict_seconds: float
    coverage: float | None = None
    """Share of test rows inside the 90% interval."""
    width: float | None = None
    """Mean width of the 90% interval, in standard deviations of the dataset's target."""


class ArenaCell(Record):
    """What one run left behind. `scores` has one entry in track 1, under "all", and one for each
    number of arriving rows in track 2; it is empty if the run failed, and `failure` says why."""

    key: str
    scores: dict[str, Score] = {}
    failure: str | None = None


@dataclass(frozen=True)
class Place:
    """Which cell."""

    track: Track
    contestant: str
    dataset: str
    split: int

    @property
    def name(self) -> str:
        dataset = self.dataset.replace("/", "__")
        return f"{self.track}/{self.contestant}/{dataset}/{self.split}"

    def path(self, folder: Path) -> Path:
        return folder / f"{self.name}.json"


def cell_key(place: Place, contestant: Contestant, table_digest: str) -> str:
    """Of the method's code and version, the rows and the rules."""
    try:
        release = version(contestant.package) if contestant.package else ""
    except PackageNotFoundError:
        raise UserError(f"{contestant.package} is not installed; run `make arena`") from None
    rules = (tracks.TEST_SHARE, tracks.HELD_OUT_SHARE, tracks.MOST_HELD_OUT, tracks.ARRIVING)
    told = (
        place,
        release,
        *map(code_digest, contestant.code),
        table_digest,
        rules if place.track == "new" else rules[0],
        FIT_SECONDS,
    )
    return hashlib.sha256(repr(told).encode()).hexdigest()[:20]


@cache
def code_digest(part: Hashable) -> str:
    """`source_digest`, once: the code that runs is the code that was loaded."""
    return source_digest(part)


def source_digest(part: object) -> str:
    """Of the code alone: comments, docstrings and formatting do not outdate a cell."""
    if isinstance(part, Path):
        files = sorted(part.rglob("*.py")) if part.is_dir() else [part]
        trees = {str(path.relative_to(part)): path.read_text() for path in files}
    else:
        trees = {"": textwrap.dedent(inspect.getsource(part))}  # type: ignore[arg-type]
    told = hashlib.sha256()
    for name, text in trees.items():
        told.update(f"{name}\n{ast.dump(_without_docstrings(ast.parse(text)))}\n".encode())
    return told.hexdigest()


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                line
                for line in body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
            ]
    return tree


def read_cell(folder: Path, place: Place, key: str) -> ArenaCell | None:
    """The cell, or None if it was never computed or is outdated."""
    path = place.path(folder)
    if not path.exists():
        return None
    cell = ArenaCell.model_validate_json(path.read_text())
    return cell if cell.key == key else None


def write_cell(folder: Path, place: Place, cell: ArenaCell) -> None:
    write_bytes(place.path(folder), f"{cell.model_dump_json(exclude_defaults=True)}\n".encode())


def pack(cells: Iterable[tuple[Place, ArenaCell]], packed: Path) -> None:
    """All cells as one file that git keeps, a line each: a run can then go on anywhere."""
    lines = [
        f"{json.dumps(place.name)}: {cell.model_dump_json(exclude_defaults=True)}"
        for place, cell in sorted(cells, key=lambda one: one[0].name)
    ]
    write_bytes(packed, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def unpack(packed: Path, folder: Path) -> None:
    """Put the packed cells where `read_cell` looks, except where there is one already."""
    if not packed.exists():
        return
    for name, content in json.loads(packed.read_text()).items():
        path = folder / f"{name}.json"
        if not path.exists():
            write_bytes(path, f"{json.dumps(content)}\n".encode())


def compute_cell(place: Place, contestant: Contestant, table: ArenaTable, key: str) -> ArenaCell:
    rows = LabelledRows(table.features, table.task, table.target)
    measure = Measure(contestant, rows, place.split)
    scores = measure.known() if place.track == "known" else measure.new()
    for name, score in scores.items():
        if not np.isfinite(score.rmse):
            return ArenaCell(key=key, failure=f"predictions are not finite ({name})")
    return ArenaCell(key=key, scores=scores)


class Measure:
    """One contestant on one split: what it predicts, and the processor time that takes."""

    def __init__(self, contestant: Contestant, rows: LabelledRows, split: int) -> None:
        self.contestant, self.rows, self.split = contestant, rows, split
        self.spread = float(np.std(rows.target))

    def known(self) -> dict[str, Score]:
        parts = tracks.known_tasks(self.rows.task, self.split)
        fit = partial(self.contestant.make().fit, self.rows.take(parts.train), self.split)
        return {"all": self._score(fit, self.rows.take(parts.test))}

    def new(self) -> dict[str, Score]:
        parts = tracks.new_tasks(self.rows.task, self.split)
        base = self.rows.take(parts.base)
        fitted = self.contestant.make()
        if not fitted.refits_new_tasks:
            fitted.fit(base, self.split)
        scores = {}
        for count, places in parts.arriving.items():
            arriving, test = self.rows.take(places), self.rows.take(parts.test[count])
            if fitted.refits_new_tasks:
                rows = base.joined(arriving)
                scores[str(count)] = self._score(partial(fitted.fit, rows, self.split), test)
            else:
                scores[str(count)] = self._score(partial(fitted.with_new_tasks, arriving), test)
        return scores

    def _score(self, prepare: Callable[[], Fitted], test: LabelledRows) -> Score:
        started = time.process_time()
        fitted = prepare()
        ready = time.process_time()
        predicted = fitted.predict(test)
        score = Score(
            rows=len(test),
            rmse=_rounded(np.sqrt(np.mean((predicted.mean - test.target) ** 2))),
            fit_seconds=round(ready - started, 3),
            predict_seconds=round(time.process_time() - ready, 3),
        )
        if predicted.lower is None or predicted.upper is None:
            return score
        inside = (test.target >= predicted.lower) & (test.target <= predicted.upper)
        width = np.mean(predicted.upper - predicted.lower) / self.spread
        return score.model_copy(
            update={"coverage": _rounded(inside.mean()), "width": _rounded(width)}
        )


def _rounded(value: float) -> float:
    return float(f"{value:.{ROUNDED}g}")
