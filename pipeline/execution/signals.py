"""Ctrl-C and SIGTERM as events of a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType
from typing import Any


class Interrupted(Exception):
    """The user or the system asked the run to end."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


@contextmanager
def signals_to(events: SimpleQueue[Any]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into events, so that nothing is cut off half-way."""

    def tell(number: int, frame: FrameType | None) -> None:
        events.put(number)
        signal.signal(number, before[number])  # the second one is not to be ignored

    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.getsignal(number)
        signal.signal(number, tell)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
