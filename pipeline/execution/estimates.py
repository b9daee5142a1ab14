"""How long a stage will take: as long as last time, else what its budget says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from learned_context.errors import UserError
from pipeline.execution.dvc_adapter.repository import address
from pipeline.files import run_info
from pipeline.studies.plumbing.run_info import read_run_info

DEFAULT_SECONDS = 10.0


@dataclass(frozen=True)
class ProfileCosts:
    """What the settings say of a run's costs; the defaults if the repository has no settings."""

    profile: str | None = None
    device: str = "cpu"
    """The profile's `train.device`: whether the stages use GPUs."""
    seconds: Callable[[str], float] = lambda stage_address: DEFAULT_SECONDS
    """What a stage's budget says, in seconds of some machine."""


class Estimates:
    def __init__(self, stages: Iterable[Any], costs: ProfileCosts) -> None:
        self._expected = costs.seconds
        self._last: dict[str, float] = {}
        self._speed: list[float] = []  # seconds taken for one second expected
        for stage in stages:
            seconds = _seconds_last_time(stage, costs.profile)
            if seconds is not None:
                self._last[address(stage)] = seconds
                self.learn(address(stage), seconds)

    def seconds(self, stage_address: str) -> tuple[float, str]:
        """The expected seconds and what the expectation rests on."""
        if stage_address in self._last:
            return self._last[stage_address], "last time"
        speed = median(self._speed) if self._speed else 1.0
        return self._expected(stage_address) * speed, "its budget"

    def learn(self, stage_address: str, seconds: float) -> None:
        """A stage has taken so long: the machine is so fast."""
        self._speed.append(seconds / self._expected(stage_address))


def _seconds_last_time(stage: Any, profile: str | None) -> float | None:
    """From the file that a stage writes beside its result; another profile's time is none."""
    results = [Path(out.fs_path) for out in stage.outs]
    with suppress(UserError):  # no expectation is worth a failure
        for result in results:
            if run_info(result).is_file():
                found = read_run_info(result)
                return found.seconds if profile in (None, found.profile) else None
    return None
