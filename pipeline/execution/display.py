"""What the user sees during a run: a live table in a terminal, else a line per stage."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pipeline.execution.planning import StageOutcome

REFRESHES_PER_SECOND = 2


def duration(seconds: float) -> str:
    """`75.2` -> `1 min 15 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


@dataclass(frozen=True)
class Running:
    address: str
    elapsed: float
    expected: float
    progress: str


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment."""

    done: int
    failed: int
    total: int
    running: tuple[Running, ...]
    seconds_left: float

    @property
    def waiting(self) -> int:
        return self.total - self.done - len(self.running)


class Display:
    """A line for every stage; in a terminal also a live picture, and no line for what is fresh."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live = (
            Live(console=console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)
            if console.is_terminal
            else None
        )

    def live(self) -> AbstractContextManager[object]:
        """While the stages run."""
        return self._live or nullcontext()

    def say(self, text: str) -> None:
        self.console.print(escape(text), highlight=False, soft_wrap=True)

    def finished(self, address: str, outcome: StageOutcome, now: Snapshot) -> None:
        if self._live and outcome.state == "unchanged":
            return
        took = f" in {duration(outcome.seconds)}" if outcome.seconds else ""
        line = f"[{now.done}/{now.total}] {address} {outcome.state}{took}"
        if outcome.state == "failed":
            line += f": {outcome.message}"
        if now.done < now.total:
            line += f"; about {duration(now.seconds_left)} left"
        self.say(line)

    def refresh(self, snapshot: Callable[[], Snapshot]) -> None:
        if self._live:
            self._live.update(render(snapshot()))


def render(now: Snapshot) -> Group:
    """The live picture of a run."""
    failed = f", {now.failed} failed" if now.failed else ""
    head = Text(
        f"{now.done} of {now.total} done{failed}, {len(now.running)} running, {now.waiting} left; "
        f"about {duration(now.seconds_left)} to go"
    )
    bar = Table.grid(expand=True)  # a bar alone does not end its line
    bar.add_row(ProgressBar(total=max(now.total, 1), completed=now.done))
    table = Table.grid(padding=(0, 2))
    for one in now.running:
        expected = f"{duration(one.elapsed)} of about {duration(one.expected)}"
        table.add_row(Text(one.address), Text(expected), Text(one.progress))
    return Group(head, bar, table)
