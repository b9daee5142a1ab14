"""`run`: bring all stages up to date in parallel, as `dvc repro` does one by one."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from pipeline.commands.arguments import add_plan_arguments, at_least
from pipeline.commands.costs import profile_costs
from pipeline.execution.run_stages import RunOptions, run_stages

PROCESSES_A_GPU = 4
"""Small networks leave most of a GPU idle: several searches fit side by side."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan_arguments(parser)
    parser.add_argument(
        "--keep-going", action="store_true", help="go on with what a failed stage does not touch"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="use this Dask scheduler's workers, not local ones"
    )
    parser.add_argument(
        "--processes-a-gpu",
        type=at_least(1),
        default=PROCESSES_A_GPU,
        help="stages that share a GPU, at most (%(default)s); fewer if its memory runs out",
    )


def run(arguments: argparse.Namespace) -> None:
    options = RunOptions(
        targets=arguments.targets,
        jobs=arguments.jobs,
        keep_going=arguments.keep_going,
        missing=arguments.missing,
        scheduler=arguments.scheduler,
        processes_a_gpu=arguments.processes_a_gpu,
        costs=profile_costs(Path.cwd()),
    )
    code = run_stages(Path.cwd(), options, Console())
    if code:
        raise SystemExit(code)
