"""What the paper prints, from reports/paper.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field, model_validator

from pipeline.errors import UserError
from pipeline.files import Files
from pipeline.reporting.labels import HYPERPARAMETERS, MODELS
from pipeline.settings import Section, load_section

COMPARED = ("lc", "cs", "ll")
COLUMNS = {
    "datasets": ("features", "tasks", "train", "test", "std"),
    "base": tuple(MODELS),
    "repeats": tuple(f"{m} {what}" for m in COMPARED for what in ("min", "max", "diverged")),
    "sizes": tuple(f"{m} {share}" for share in ("1.0", "0.5", "0.1") for m in COMPARED),
    "holdout": ("2", "4", "8"),
    "space": ("low", "high"),
}
"""The paper's six tables, Table 1 to Table 6."""


class PaperTable(Section):
    title: str
    lower_is_better: bool
    columns: tuple[str, ...]
    decimals: tuple[Annotated[int, Field(ge=0, le=15)], ...] | None = None
    rows: dict[str, tuple[float, ...]]

    @model_validator(mode="after")
    def _full(self) -> PaperTable:
        for name, row in self.rows.items():
            if len(row) != len(self.columns):
                raise ValueError(f"rows.{name}: {len(row)} values for {len(self.columns)} columns")
        if self.decimals is not None and len(self.decimals) != len(self.columns):
            raise ValueError("decimals: one for every column is needed")
        return self


class Tolerance(Section):
    cells: str
    relative: Annotated[float, Field(ge=0)] = 0.0
    absolute: Annotated[float, Field(ge=0)] = 0.0
    reason: str


class Note(Section):
    cell: str
    profile: str | None = None  # all of them
    note: Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class PaperCell:
    """One printed number and how near to it ours must be."""

    table: str
    row: str
    column: str
    value: float
    allowed: float
    reason: str
    lower_is_better: bool
    note: str

    @property
    def name(self) -> str:
        return f"{self.table}/{self.row}/{self.column}"


class Paper(Section):
    tables: dict[str, PaperTable]
    tolerances: tuple[Tolerance, ...]
    notes: tuple[Note, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Paper:
        for name, columns in COLUMNS.items():
            if name not in self.tables or sorted(self.tables[name].columns) != sorted(columns):
                raise ValueError(f"tables.{name}: needed, with the columns {', '.join(columns)}")
        for name in self.tables:
            if name not in COLUMNS:
                raise ValueError(f"tables: unknown {name!r}; valid: {', '.join(COLUMNS)}")
        for name in self.tables["space"].rows:
            if name not in HYPERPARAMETERS:
                valid = ", ".join(HYPERPARAMETERS)
                raise ValueError(f"tables.space.rows: unknown {name!r}; valid: {valid}")
        names = [name for name, *_ in self._values()]
        for name in names:
            if not any(fnmatchcase(name, tolerance.cells) for tolerance in self.tolerances):
                raise ValueError(f"tolerances: none fits {name}")
        for note in self.notes:
            if not any(fnmatchcase(name, note.cell) for name in names):
                raise ValueError(f"notes: {note.cell!r} fits no cell")
        return self

    def _values(self) -> Iterator[tuple[str, str, str, str, int, float]]:
        for table_name, table in self.tables.items():
            for row, values in table.rows.items():
                for index, (column, value) in enumerate(zip(table.columns, values, strict=True)):
                    yield f"{table_name}/{row}/{column}", table_name, row, column, index, value

    def cells(self, profile: str = "") -> Iterator[PaperCell]:
        """Every printed number, with the notes that hold for results of this profile."""
        notes = [note for note in self.notes if note.profile in (None, profile)]
        for name, table_name, row, column, index, value in self._values():
            table = self.tables[table_name]
            tolerance = next(t for t in self.tolerances if fnmatchcase(name, t.cells))
            rounding = 0.5 * 10.0 ** -table.decimals[index] if table.decimals else 0.0
            is_count = table.decimals is not None and table.decimals[index] == 0
            yield PaperCell(
                table_name,
                row,
                column,
                value,
                tolerance.relative * abs(value)
                + tolerance.absolute
                + (0.0 if is_count else rounding),
                tolerance.reason,
                table.lower_is_better,
                " ".join(note.note for note in notes if fnmatchcase(name, note.cell)),
            )

    def value(self, table: str, row: str, column: str) -> float | None:
        """A printed number, or None for a dataset that is not the paper's."""
        printed = self.tables[table]
        if row not in printed.rows or column not in printed.columns:
            return None
        return printed.rows[row][printed.columns.index(column)]


def load_paper(files: Files) -> Paper:
    path = files.root / "reports" / "paper.yaml"
    paper = load_section(path, Paper)
    profiles = sorted(profile.stem for profile in (files.root / "profiles").glob("*.yaml"))
    for note in paper.notes:
        if note.profile is not None and note.profile not in profiles:
            raise UserError(
                f"{path}: notes: no profile {note.profile!r}; valid: {', '.join(profiles)}"
            )
    return paper
