"""The check on a terminal; plain lines where the output is not one."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipeline.reporting.checking import Check
from pipeline.reporting.verdicts import VERDICTS, Compared, counts

COLOURS = {"matches": "green", "better": "green", "differs": "red"}
RULINGS = {"holds": "green", "does not hold": "red"}


def show(check: Check, everything: bool = False, console: Console | None = None) -> None:
    console = console or Console()
    if console.is_terminal:
        _tables(check, everything, console)
    else:
        _lines(check, everything, console)
    found = counts(check.numbers)
    summary = ", ".join(f"{found[name]} {name}" for name in VERDICTS)
    console.print(f"{len(check.numbers)} numbers: {summary}", soft_wrap=True, highlight=False)
    if check.unexplained:
        console.print(
            f"{len(check.unexplained)} differences have no note in reports/paper.yaml",
            soft_wrap=True,
            highlight=False,
        )


def _shown(check: Check, everything: bool) -> list[Compared]:
    return [c for c in check.numbers if everything or c.verdict == "differs"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _lines(check: Check, everything: bool, console: Console) -> None:
    for c in _shown(check, everything):
        line = f"{c.verdict}: {c.cell}: ours {_number(c.ours)}, paper {_number(c.paper)}"
        line += f", allowed ±{_number(c.allowed)}" + (f"; {c.note}" if c.note else "")
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for judged in check.sentences:
        line = f"{judged.ours.ruling}: {judged.sentence.name}: {judged.ours.evidence}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _tables(check: Check, everything: bool, console: Console) -> None:
    shown = _shown(check, everything)
    if shown:
        table = Table("cell", "ours", "paper", "ratio", "allowed ±", "verdict", "note")
        for c in shown:
            colour = COLOURS.get(c.verdict, "dim")
            values = [_number(v) for v in (c.ours, c.paper, c.ratio, c.allowed)]
            verdict = f"[{colour}]{c.verdict}[/]"
            table.add_row(escape(c.cell), *values, verdict, escape(c.note))
        console.print(table)
    table = Table("sentence of the paper", "ours", "evidence")
    for judged in check.sentences:
        colour = RULINGS.get(judged.ours.ruling, "dim")
        table.add_row(
            escape(f"“{judged.sentence.quote}” ({judged.sentence.section})"),
            f"[{colour}]{judged.ours.ruling}[/]",
            escape(judged.ours.evidence),
        )
    console.print(table)
