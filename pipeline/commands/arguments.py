"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that counts something."""

    def count(word: str) -> int:
        if not word.isdecimal() or int(word) < least:
            raise argparse.ArgumentTypeError(f"{word}: must be a whole number, at least {least}")
        return int(word)

    return count


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """What is planned, and for how many workers."""
    parser.add_argument("targets", nargs="*", help="stages, kinds or globs; all if none is given")
    workers = os.cpu_count() or 1
    parser.add_argument(
        "--jobs", type=at_least(1), default=workers, help="local workers (%(default)s)"
    )
    parser.add_argument(
        "--missing", action="store_true", help="rebuild outputs that are nowhere, as `dvc repro`"
    )
