"""How long a stage will take: as long as last time, else what its budget says, else a guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pipeline.execution.addresses import kind
from pipeline.execution.dvc_adapter.repository import address
from pipeline.files import run_info

DEFAULT_SECONDS = 10.0


@dataclass(frozen=True)
class ProfileCosts:
    """What the settings say of a run."""

    profile: str | None = None
    device: str = "cpu"
    """The profile's `train.device`: whether the stages use GPUs."""
    seconds: Callable[[str], float | None] = lambda stage_address: None
    """What a stage's budget says, in seconds of some machine; nothing for an unknown stage."""


UNKNOWN = ProfileCosts()
"""Of a repository of another kind."""


class Estimates:
    def __init__(self, stages: Iterable[Any], costs: ProfileCosts = UNKNOWN) -> None:
        self._expected = costs.seconds
        self._last = {address(stage): _seconds_last_time(stage, costs.profile) for stage in stages}
        self._kinds: dict[str, list[float]] = {}
        self._speed: list[float] = []  # seconds taken for one second expected
        for stage_address, seconds in self._last.items():
            if seconds is not None:
                self.learn(stage_address, seconds)

    def seconds(self, stage_address: str) -> tuple[float, str]:
        """The expected seconds and what the expectation rests on."""
        last = self._last.get(stage_address)
        if last is not None:
            return last, "last time"
        expected = self._expected(stage_address)
        if expected is not None:
            return expected * (median(self._speed) if self._speed else 1.0), "its budget"
        alike = self._kinds.get(kind(stage_address))
        return (median(alike), "same kind") if alike else (DEFAULT_SECONDS, "guess")

    def learn(self, stage_address: str, seconds: float) -> None:
        """A stage has taken so long: its like will be expected to, and the machine is so fast."""
        self._kinds.setdefault(kind(stage_address), []).append(seconds)
        expected = self._expected(stage_address)
        if expected is not None:
            self._speed.append(seconds / expected)


def _seconds_last_time(stage: Any, profile: str | None) -> float | None:
    """From the file that a stage writes beside its result; another profile's time is none."""
    for out in stage.outs:
        path = run_info(Path(out.fs_path))
        if path.is_file():
            try:
                info = json.loads(path.read_text(encoding="utf-8"))
                same = profile is None or info.get("profile", profile) == profile
                return float(info["seconds"]) if same else None
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                return None  # no expectation is worth a failure
    return None
