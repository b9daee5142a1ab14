"""Numbers and names as cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pipeline.reporting.blocks import DASH, Cell, Table
from pipeline.reporting.formatting import show
from pipeline.reporting.results import Results


def name_cell(results: Results, dataset: str) -> Cell:
    """Links to the glossary where the data are not the paper's file."""
    label = results.label(dataset)
    return Cell(label, address=f"data.html#{dataset}" if "†" in label else "")


def number(
    value: float | None, decimals: int | None = 3, paper: float | None = None, bold: bool = False
) -> Cell:
    """A number with this many decimals; with None, three significant digits."""
    printed = "" if paper is None else show(paper, decimals)
    if value is None:
        return Cell("–", paper=printed)
    return Cell(show(value, decimals), value, printed, bold)


def dataset_table(
    results: Results,
    name: str,
    caption: str,
    columns: Sequence[str],
    cells: Callable[[str], Iterable[Cell]],
    groups: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """A row for each dataset: its name, then its cells. Each group has all the columns."""
    header = tuple(columns) if groups is None else tuple(columns) * len(groups)
    spans = [(group, len(columns)) for group in groups or ()]
    rows = [[name_cell(results, dataset), *cells(dataset)] for dataset in results.datasets]
    return Table(
        name, caption, ("Dataset", *header), rows, notes, [("", 1), *spans] if spans else ()
    )


def text(value: str) -> Cell:
    return Cell(value) if value else DASH


def lowest(values: Mapping[str, float], decimals: int = 3) -> set[str]:
    """The best of a row, and what cannot be told apart from it as printed."""
    best = show(min(values.values(), default=0.0), decimals)
    return {name for name, value in values.items() if show(value, decimals) == best}
