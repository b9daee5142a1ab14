"""What varies from run to run, in a file beside every result: times, versions and machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from pipeline import checked
from pipeline.checked import Checked
from pipeline.files import run_info


class RunInfo(Checked):
    seconds: float
    cpu_seconds: float
    profile: str
    device: str
    cpu: str
    """Its kind; `none` if the study does not apply, and nothing was computed."""
    system: str
    python: str
    versions: Annotated[dict[str, str], Field(min_length=1)]


def read_run_info(result: Path) -> RunInfo:
    """Of the run that wrote this result."""
    path = run_info(result)
    remedy = f"restore it with `git checkout {path}`, or run its stage again"
    return checked.read(path, RunInfo, remedy)
