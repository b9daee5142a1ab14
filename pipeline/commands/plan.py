"""`plan`: which stages are stale, what is below them, and how long they will take."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="*", help="stages, kinds or globs; all if none is given")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="workers to plan for (%(default)s)"
    )
    parser.add_argument(
        "--missing", action="store_true", help="rebuild outputs that are nowhere, as `dvc repro`"
    )
    parser.add_argument(
        "--gpu",
        metavar="PROFILE",
        nargs="?",
        const="paper",
        help="instead: expected hours of the whole study on a GPU (profile %(const)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from learned_context.errors import UserError
    from pipeline.commands.costs import expectation
    from pipeline.execution import plan_report
    from pipeline.execution.dvc_adapter.repository import (
        drop_damaged_rwlock,
        locked,
        open_repository,
    )
    from pipeline.execution.planning import make_plan

    if arguments.gpu:
        _show_gpu_hours(arguments.gpu, arguments.json, Console())
        return
    if arguments.jobs < 1:
        raise UserError(f"--jobs {arguments.jobs}: must be at least 1")
    expected, profile = expectation(Path.cwd())
    errors = Console(stderr=True)
    with open_repository(Path.cwd()) as repo, locked(repo, errors.print):
        drop_damaged_rwlock(repo)
        plan = make_plan(repo, arguments.targets, arguments.missing, expected, profile)
        if arguments.json:
            print(json.dumps(plan_report.as_json(plan, arguments.jobs), indent=1))
        else:
            plan_report.show(plan, arguments.jobs, Console())


def _show_gpu_hours(profile: str, as_json: bool, console: Console) -> None:
    from dataclasses import asdict

    from rich.table import Table

    from pipeline.commands.costs import gpu_hours

    found = gpu_hours(Path.cwd(), profile)
    total = sum(study.hours for study in found.values())
    if as_json:
        studies = {name: asdict(study) for name, study in found.items()}
        print(json.dumps({"profile": profile, "hours": total, "studies": studies}, indent=1))
        return
    table = Table("study", "stages", "GPU hours")
    for name, study in found.items():
        table.add_row(name, str(study.stages), f"{study.hours:.2f}")
    console.print(table)
    console.print(
        f"{total:.1f} GPU hours with profile {profile}, one stage at a time. A model, not a "
        "measurement: docs/gpu.md has its assumptions, `make gpu-check` measures a GPU."
    )
