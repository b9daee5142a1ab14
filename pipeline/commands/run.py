"""`run`: bring all stages up to date in parallel, as `dvc repro` does one by one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

PROCESSES_A_GPU = 4
"""Small networks leave most of a GPU idle: several searches fit side by side."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="*", help="stages, kinds or globs; all if none is given")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="local workers (%(default)s)"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="go on with what a failed stage does not touch"
    )
    parser.add_argument(
        "--missing", action="store_true", help="rebuild outputs that are nowhere, as `dvc repro`"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="use this Dask scheduler's workers, not local ones"
    )
    parser.add_argument(
        "--processes-a-gpu",
        type=int,
        default=PROCESSES_A_GPU,
        help="stages that share a GPU, at most (%(default)s); fewer if its memory runs out",
    )


def run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from learned_context.errors import UserError
    from pipeline.commands.costs import expectation
    from pipeline.execution.run_stages import RunOptions, run_stages

    for name, value in (
        ("--jobs", arguments.jobs),
        ("--processes-a-gpu", arguments.processes_a_gpu),
    ):
        if value < 1:
            raise UserError(f"{name} {value}: must be at least 1")
    expected, profile = expectation(Path.cwd())
    options = RunOptions(
        targets=arguments.targets,
        jobs=arguments.jobs,
        keep_going=arguments.keep_going,
        missing=arguments.missing,
        scheduler=arguments.scheduler,
        device=_device(profile),
        processes_a_gpu=arguments.processes_a_gpu,
        expected=expected,
        profile=profile,
    )
    code = run_stages(Path.cwd(), options, Console())
    if code:
        raise SystemExit(code)


def _device(profile: str | None) -> str:
    from pipeline import settings
    from pipeline.files import Files

    return "cpu" if profile is None else settings.load(Files()).profile.train.device
