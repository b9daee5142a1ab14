"""What a person sees while a stage trains: one line on a terminal, and nothing in a log.

The runner names a file in PIPELINE_PROGRESS and shows its line for every running stage.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from learned_context.training.trainer import Progress

SECONDS_BETWEEN = 0.5


class ProgressLine:
    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        name = os.environ.get("PIPELINE_PROGRESS")
        self._file = Path(name) if name else None
        self._next = 0.0

    def close(self) -> None:
        if self._terminal:
            print(file=sys.stderr)
        if self._file:
            self._file.unlink(missing_ok=True)

    def training(self, label: str) -> Callable[[Progress], None] | None:
        """A callback for `train`, or none where nobody looks."""
        if not self._terminal and not self._file:
            return None
        started = time.monotonic()

        def show(progress: Progress) -> None:
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + SECONDS_BETWEEN
            left = (now - started) * (progress.epochs / progress.epoch - 1)
            self._show(
                f"{label}: epoch {progress.epoch} of {progress.epochs}, loss {progress.loss:.4g}, "
                f"rate {progress.rate:.2g}, at most {left:.0f} s left"
                + (f", restart {progress.restarts}" if progress.restarts else "")
            )

        return show

    def _show(self, text: str) -> None:
        if self._terminal:
            print(f"\r{text:<100}", end="", file=sys.stderr, flush=True)
        if self._file:
            try:
                self._file.write_text(text)
            except OSError:  # a display must never stop a training
                self._file = None
