"""How long a stage will take: as long as last time, else as long as its like, else a guess."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from pipeline.execution.repository import address, kind
from pipeline.files import run_info

DEFAULT_SECONDS = 10.0


class Estimates:
    def __init__(self, stages: Iterable[Any]) -> None:
        self._last = {address(stage): _seconds_last_time(stage) for stage in stages}
        self._kinds: dict[str, list[float]] = {}
        for stage_address, seconds in self._last.items():
            if seconds is not None:
                self._kinds.setdefault(kind(stage_address), []).append(seconds)

    def seconds(self, stage_address: str) -> tuple[float, str]:
        """The expected seconds and what the expectation rests on."""
        last = self._last.get(stage_address)
        if last is not None:
            return last, "last time"
        alike = self._kinds.get(kind(stage_address))
        return (median(alike), "same kind") if alike else (DEFAULT_SECONDS, "guess")

    def learn(self, stage_address: str, seconds: float) -> None:
        """A stage has just taken so long; its like will be expected to."""
        self._kinds.setdefault(kind(stage_address), []).append(seconds)


def _seconds_last_time(stage: Any) -> float | None:
    """From the file that a stage writes beside its result."""
    for out in stage.outs:
        path = run_info(Path(out.fs_path))
        if path.is_file():
            try:
                return float(json.loads(path.read_text(encoding="utf-8"))["seconds"])
            except (OSError, ValueError, KeyError, TypeError):
                return None  # no expectation is worth a failure
    return None
