"""`plan`: which stages are stale, what is below them, and how long they will take."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="*", help="stages, kinds or globs; all if none is given")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="workers to plan for (%(default)s)"
    )
    parser.add_argument(
        "--missing", action="store_true", help="rebuild outputs that are nowhere, as `dvc repro`"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from pipeline.errors import UserError
    from pipeline.execution import plan_report
    from pipeline.execution.planning import make_plan
    from pipeline.execution.repository import drop_damaged_rwlock, locked, open_repository
    from pipeline.stages.costs import expectation

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
