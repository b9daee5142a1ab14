"""How a step of a run ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StageOutcome:
    """How a step ended: "ran", "restored", "unchanged", "failed" or "skipped"."""

    state: str
    seconds: float = 0.0
    message: str = ""
