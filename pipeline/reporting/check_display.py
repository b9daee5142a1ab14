"""The check on a terminal; plain lines where the output is not one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipeline.reporting.checking import Check
from pipeline.reporting.sentences import outcome_counts
from pipeline.reporting.verdicts import Compared, counts

COLOURS = {
    **dict.fromkeys(("matches", "agrees", "better", "holds in both"), "green"),
    **dict.fromkeys(("worse", "differs", "only in the paper"), "red"),
}


def show(check: Check, everything: bool = False, console: Console | None = None) -> None:
    console = console or Console()
    if console.is_terminal:
        _tables(check, everything, console)
    else:
        _lines(check, everything, console)
    for line in summary(check):
        console.print(line, soft_wrap=True, highlight=False)


def summary(check: Check) -> list[str]:
    """Results, inputs and sentences, each counted apart."""
    lines = [
        f"results: {_listed(counts(check.numbers))}",
        f"inputs: {_listed(counts(check.numbers, 'input'))}",
        f"numbers that need an explanation: {_listed(check.explained)}",
        f"pairs of networks that Table 3 separates: {_listed(check.pairs)}",
        f"sentences, comparable datasets: {_listed(outcome_counts(check.sentences))}",
        f"sentences, all datasets: {_listed(outcome_counts(check.sentences, every=True))}",
    ]
    if check.unexplained:
        lines.append(
            f"{len(check.unexplained)} numbers that need an explanation have no note in "
            "reports/paper.yaml"
        )
    return lines


def _listed(found: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.items())


def _shown(check: Check, everything: bool) -> list[Compared]:
    return [c for c in check.numbers if everything or c.is_open]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _lines(check: Check, everything: bool, console: Console) -> None:
    lines = []
    for c in _shown(check, everything):
        line = f"{c.verdict}: {c.cell}: ours {_number(c.ours)}, paper {_number(c.paper)}"
        lines.append(line + f", allowed ±{_number(c.allowed)}" + (f"; {c.note}" if c.note else ""))
    for one in check.sentences:
        lines.append(f"{one.comparable.outcome}: {one.sentence.name}: {one.ours.evidence}")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _tables(check: Check, everything: bool, console: Console) -> None:
    shown = _shown(check, everything)
    if shown:
        table = Table("cell", "ours", "paper", "ratio", "allowed ±", "verdict", "note")
        for c in shown:
            values = [_number(v) for v in (c.ours, c.paper, c.ratio, c.allowed)]
            table.add_row(escape(c.cell), *values, _coloured(c.verdict), escape(c.note))
        console.print(table)
    table = Table("sentence of the paper", "outcome", "evidence")
    for one in check.sentences:
        said = escape(f"“{one.sentence.quote}” ({one.sentence.section})")
        table.add_row(said, _coloured(one.comparable.outcome), escape(one.ours.evidence))
    console.print(table)


def _coloured(outcome: str) -> str:
    return f"[{COLOURS.get(outcome, 'dim')}]{outcome}[/]"
