"""What the paper prints, from reports/paper.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field, model_validator

from learned_context.errors import UserError
from pipeline.files import Files
from pipeline.reporting.labels import HYPERPARAMETERS, PAPERS_MODELS
from pipeline.settings import Section, load_section

COMPARED = ("lc", "cs", "ll")
COLUMNS = {
    "datasets": ("features", "tasks", "train", "test", "std"),
    "base": PAPERS_MODELS,
    "repeats": tuple(f"{m} {what}" for m in COMPARED for what in ("min", "max", "diverged")),
    "sizes": tuple(f"{m} {share}" for share in ("1.0", "0.5", "0.1") for m in COMPARED),
    "holdout": ("2", "4", "8"),
    "space": ("low", "high"),
}
"""The paper's six tables, Table 1 to Table 6."""


class PaperTable(Section):
    title: str
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

    @property
    def values(self) -> dict[str, dict[str, float]]:
        """row -> column -> printed number"""
        columns = self.columns
        return {name: dict(zip(columns, row, strict=True)) for name, row in self.rows.items()}

    def rounding(self, column: str) -> float:
        """Half of the last digit that is printed; a count is exact."""
        decimals = self.decimals[self.columns.index(column)] if self.decimals else 0
        return 0.5 * 10.0**-decimals if decimals else 0.0


class Tolerance(Section):
    cells: str
    edition: str | None = None  # all of them
    relative: Annotated[float, Field(ge=0)] = 0.0
    absolute: Annotated[float, Field(ge=0)] = 0.0
    bound: bool = False
    """The paper's number is an upper bound: how far ours is below it means nothing."""
    given: bool = False
    """That it agrees is no result: our rows were chosen by it, or it holds by construction."""
    reason: Annotated[str, Field(min_length=1)]


class Note(Section):
    cell: str
    profile: str | None = None  # all of them
    note: Annotated[str, Field(min_length=1)]
    in_part: bool = False
    """It explains a part of the difference, and says which."""
    command: Annotated[str, Field(min_length=1)]
    """What prints the evidence."""

    @property
    def text(self) -> str:
        return "Understood in part. " * self.in_part + self.note


Kind = Literal["input", "result"]


@dataclass(frozen=True)
class PaperCell:
    """One printed number and how near to it ours must be."""

    table: str
    row: str
    column: str
    value: float
    allowed: float
    reason: str
    bound: bool = False
    given: bool = False
    note: str = ""
    in_part: bool = False
    command: str = ""

    @property
    def name(self) -> str:
        return f"{self.table}/{self.row}/{self.column}"

    @property
    def kind(self) -> Kind:
        """What went into the study (sizes, ranges, how often it restarted), or came out of it."""
        is_input = self.table in ("datasets", "space") or self.column.endswith("diverged")
        return "input" if is_input or self.given else "result"

    @property
    def same_as(self) -> str:
        """The cell whose verdict this one shares.

        Table 4's networks on all rows are those of Table 2, and the two ends of an interval of
        Table 3 are one result.
        """
        model, _, what = self.column.partition(" ")
        if (self.table, what) == ("sizes", "1.0"):
            return f"base/{self.row}/{model}"
        return f"repeats/{self.row}/{model} min" if (self.table, what) == ("repeats", "max") else ""


class PaperFigure(Section):
    number: Annotated[int, Field(ge=1)]
    caption: Annotated[str, Field(min_length=1)]


class Paper(Section):
    tables: dict[str, PaperTable]
    tolerances: tuple[Tolerance, ...]
    notes: tuple[Note, ...] = ()
    figures: dict[str, PaperFigure] = Field(default_factory=dict)

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
            if not any(fnmatchcase(name, t.cells) for t in self.tolerances if t.edition is None):
                raise ValueError(f"tolerances: none fits {name}")
        for note in self.notes:
            if not any(fnmatchcase(name, note.cell) for name in names):
                raise ValueError(f"notes: {note.cell!r} fits no cell")
        return self

    def _values(self) -> Iterator[tuple[str, str, str, str, float]]:
        for table_name, table in self.tables.items():
            for row, values in table.values.items():
                for column, value in values.items():
                    yield f"{table_name}/{row}/{column}", table_name, row, column, value

    def cells(
        self, profile: str = "", editions: Mapping[str, str] | None = None
    ) -> Iterator[PaperCell]:
        """Every printed number, with what holds for this profile and these datasets' editions."""
        notes = [note for note in self.notes if note.profile in (None, profile)]
        for name, table_name, row, column, value in self._values():
            edition = (editions or {}).get(row)
            tolerance = next(
                t
                for t in self.tolerances
                if fnmatchcase(name, t.cells) and t.edition in (None, edition)
            )
            found = [note for note in notes if fnmatchcase(name, note.cell)]
            yield PaperCell(
                table_name,
                row,
                column,
                value,
                tolerance.relative * abs(value)
                + tolerance.absolute
                + self.tables[table_name].rounding(column),
                tolerance.reason,
                tolerance.bound,
                tolerance.given,
                " ".join(note.text for note in found),
                any(note.in_part for note in found),
                "; ".join(dict.fromkeys(note.command for note in found)),
            )

    def figure(self, name: str) -> str:
        """A figure's number and caption, as a line below ours."""
        figure = self.figures.get(name)
        return f"Figure {figure.number} of the paper: “{figure.caption}”" if figure else ""

    def value(self, table: str, row: str, column: str) -> float | None:
        """A printed number, or None for a dataset that is not the paper's."""
        return self.tables[table].values.get(row, {}).get(column)

    def error_range(
        self, dataset: str, model: str, std: float | None
    ) -> tuple[float, float] | None:
        """Between which numbers Table 2's error is, as far as the paper tells.

        Table 4 prints the same error relative to the target's deviation, and both are rounded.
        `std`: the deviation with more digits than Table 1 prints, or None if it is not known.
        """
        printed = self.value("base", dataset, model)
        if printed is None:
            return None
        half = self.tables["base"].rounding(model)
        both = printed - half, printed + half
        relative = self.value("sizes", dataset, f"{model} 1.0")
        if relative is None or std is None:
            return both
        half = self.tables["sizes"].rounding(f"{model} 1.0")
        low = max(both[0], (relative - half) * std)
        high = min(both[1], (relative + half) * std)
        return (low, high) if low < high else both


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
