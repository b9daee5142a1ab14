"""A plan as a table to read, or as JSON."""

from __future__ import annotations

from functools import partial
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from pipeline.execution.addresses import kind, short_name
from pipeline.execution.display import duration
from pipeline.execution.dvc_adapter.repository import relative
from pipeline.execution.planning import PlannedStage, RunPlan

NAMES_SHOWN = 3
OTHER_COLUMNS = 42
"""Characters for the times and what they rest on, beside the names."""


def as_json(plan: RunPlan, workers: int) -> dict[str, Any]:
    return {
        "stages": [
            {
                "stage": step.address,
                "role": step.role,
                "reason": step.reason,
                "seconds": step.seconds,
                "basis": step.basis,
                "needs": sorted(step.needs),
            }
            for step in plan.steps.values()
        ],
        "restore": [relative(out) for out in plan.restore],
        "fresh": plan.fresh,
        "workers": workers,
        "total_seconds": plan.total_seconds,
        "wall_seconds": plan.wall_seconds(workers),
    }


def show(plan: RunPlan, workers: int, console: Console) -> None:
    say = partial(console.print, soft_wrap=True)
    if plan.restore:
        say(f"{len(plan.restore)} missing outputs come back from DVC's cache.")
    if not plan.work:
        say(f"Nothing to run: {plan.fresh} stages are up to date.")
        return
    groups: dict[tuple[str, str], list[PlannedStage]] = {}
    for step in plan.work:
        why = "below another stage" if step.role == "downstream" else step.reason
        groups.setdefault((kind(step.address), why), []).append(step)
    # A stage's name is what one types to run it: it stays whole on a narrow terminal.
    widest = max(len(short_name(step.address)) for step in plan.work)
    if console.width < widest + OTHER_COLUMNS:
        for (_, why), steps in groups.items():
            total = duration(sum(step.seconds for step in steps))
            say(escape(f"{', '.join(_names(steps))}: {total}, {why}"))
    else:
        console.print(_table(groups, widest))
    if checked := len(plan.steps) - len(plan.work):
        say(f"{checked} further stages run only if a rebuilt input differs.")
    say(
        f"{len(plan.work)} stages to run, {plan.fresh} up to date: "
        f"{duration(plan.total_seconds)} of work, "
        f"{duration(plan.wall_seconds(workers))} on {workers} workers."
    )


def _table(groups: dict[tuple[str, str], list[PlannedStage]], widest: int) -> Table:
    stages = Column("stages, and why", min_width=widest, overflow="fold")
    table = Table(stages, "each", "together", "rests on", show_lines=True)
    for (_, why), steps in groups.items():
        seconds = [step.seconds for step in steps]
        table.add_row(
            "\n".join([*map(escape, _names(steps)), f"[dim]{escape(why)}[/]"]),
            duration(sum(seconds) / len(seconds)),
            duration(sum(seconds)),
            ", ".join(sorted({step.basis for step in steps})),
        )
    return table


def _names(steps: list[PlannedStage]) -> list[str]:
    names = [short_name(step.address) for step in steps]
    more = len(names) - NAMES_SHOWN
    return names[:NAMES_SHOWN] + ([f"and {more} more"] if more > 0 else [])
