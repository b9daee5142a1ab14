"""`run`: bring all stages up to date in parallel, as `dvc repro` does one by one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


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


def run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from pipeline.errors import UserError
    from pipeline.execution.run_stages import Options, run_stages
    from pipeline.stages.costs import expectation

    if arguments.jobs < 1:
        raise UserError(f"--jobs {arguments.jobs}: must be at least 1")
    expected, profile = expectation(Path.cwd())
    options = Options(
        targets=arguments.targets,
        jobs=arguments.jobs,
        keep_going=arguments.keep_going,
        missing=arguments.missing,
        scheduler=arguments.scheduler,
        expected=expected,
        profile=profile,
    )
    code = run_stages(Path.cwd(), options, Console())
    if code:
        raise SystemExit(code)
