"""`plan`: which stages are stale, what is below them, and how long they will take."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline.commands.arguments import add_plan_arguments
from pipeline.commands.costs import gpu_hours, profile_costs
from pipeline.execution import plan_report
from pipeline.execution.dvc_adapter.repository import locked, open_repository
from pipeline.execution.planning import make_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan_arguments(parser)
    parser.add_argument(
        "--gpu",
        metavar="PROFILE",
        nargs="?",
        const="paper",
        help="instead: expected hours of the whole study on a GPU (profile %(const)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    if arguments.gpu:
        _show_gpu_hours(arguments.gpu, arguments.json)
        return
    costs = profile_costs(Path.cwd())
    errors = Console(stderr=True)
    with open_repository(Path.cwd()) as repo, locked(repo, errors.print):
        plan = make_plan(repo, arguments.targets, arguments.missing, costs)
        if arguments.json:
            print(json.dumps(plan_report.as_json(plan, arguments.jobs), indent=1))
        else:
            plan_report.show(plan, arguments.jobs, Console())


def _show_gpu_hours(profile: str, as_json: bool) -> None:
    found = gpu_hours(Path.cwd(), profile)
    total = sum(study.hours for study in found.values())
    if as_json:
        studies = {name: asdict(study) for name, study in found.items()}
        print(json.dumps({"profile": profile, "hours": total, "studies": studies}, indent=1))
        return
    console, table = Console(), Table("study", "stages", "GPU hours")
    for name, study in found.items():
        table.add_row(name, str(study.stages), f"{study.hours:.2f}")
    console.print(table)
    console.print(
        f"{total:.1f} GPU hours with profile {profile}, one stage at a time. A model, not a "
        "measurement: docs/gpu.md has its assumptions, `make gpu-check` measures a GPU."
    )
