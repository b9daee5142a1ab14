"""A progress bar on the terminal, for `verbose`; needs no package."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from learned_context.training.trainer import Progress

WIDTH = 30


class Bar:
    """Counts work that was announced before; safe to use from several threads."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self.total = self.done = 0.0
        self._lock = threading.Lock()
        self._last = ""

    def expect(self, work: float) -> None:
        with self._lock:
            self.total += work

    def report(self, what: str, steps: int) -> Callable[[Progress], None] | None:
        """A callback for a training with this number of steps of each member."""
        if not self.shown:
            return None

        def tell(progress: Progress) -> None:
            self.advance(what, steps / progress.epochs)

        return tell

    def advance(self, what: str, work: float) -> None:
        with self._lock:
            self.done = min(self.done + work, 0.99 * self.total)  # the total is an estimate
            self._show(what)

    def end(self) -> None:
        if self.shown:
            self.done = self.total
            self._show("done")
            print(file=sys.stderr)

    def _show(self, what: str) -> None:
        share = self.done / self.total if self.total else 0.0
        filled = round(WIDTH * share)
        line = f"\r{'#' * filled}{'.' * (WIDTH - filled)} {share:4.0%} {what:12.12s}"
        if line != self._last:
            print(line, end="", file=sys.stderr, flush=True)
            self._last = line
