"""Numbers and names as cells of a table."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.reporting.blocks import DASH, Cell
from pipeline.reporting.results import Results


def name_cell(results: Results, dataset: str) -> Cell:
    return Cell(results.label(dataset), title=results.difference(dataset))


def number(
    value: float | None,
    decimals: int | None = 3,
    paper: float | None = None,
    bold: bool = False,
    title: str = "",
) -> Cell:
    """A number with so many decimals; with None, as short as three digits allow."""
    printed = "" if paper is None else show(paper, decimals)
    if value is None:
        return Cell("–", paper=printed, title="no result")
    return Cell(show(value, decimals), value, printed, bold, title)


def show(value: float, decimals: int | None) -> str:
    if decimals is None:
        return f"{value:.3g}"
    return f"{value:,.{decimals}f}".replace(",", " ")


def text(value: str) -> Cell:
    return Cell(value) if value else DASH


def lowest(values: Mapping[str, float], decimals: int = 3) -> set[str]:
    """The best of a row, and what cannot be told apart from it as printed."""
    if not values:
        return set()
    best = show(min(values.values()), decimals)
    return {name for name, value in values.items() if show(value, decimals) == best}
