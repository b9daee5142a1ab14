"""The command line: `python -m pipeline <verb> ...`. A study's name is a verb."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from learned_context.errors import UserError, printable, remedy
from pipeline.files import Files
from pipeline.studies import STUDIES

COMMANDS = {
    "validate": "check params.yaml, its profile and raw/sources.yaml",
    "download": "get and check the raw files of a dataset",
    "prepare": "make a dataset's table with all its splits",
    "report": "one page of the report, or the README's table",
    "check": "our numbers and the paper's sentences",
    "plan": "what would run, and for how long",
    "run": "run the plan in parallel, as `dvc repro` would",
    "audit": "verify the committed results",
    "add-dataset": "make a csv or parquet file a dataset",
    "remove-dataset": "undo add-dataset, with its results",
    "demo": "the smoke budget in a scratch copy",
    "dvc": "write dvc.yaml and results/dvc.yaml from the studies' declarations",
}
"""Verb and help; the verb's module in pipeline/commands is imported only when it is run."""


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else list(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of data, on a terminal that lacks letters
            stream.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="pipeline", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", metavar="verb", required=True)
    command = None
    for verb, text in COMMANDS.items():
        subparser = verbs.add_parser(verb, help=text, description=text)
        if words[:1] == [verb]:
            command = import_module(f"pipeline.commands.{verb.replace('-', '_')}")
            command.add_arguments(subparser)
    for study in STUDIES.values():
        subparser = verbs.add_parser(study.name, help=study.title, description=study.title)
        subparser.add_argument("dataset", help="a dataset of params.yaml")
        if study.by_model:
            subparser.add_argument("model", help="a model of params.yaml")
    arguments = parser.parse_args(words)
    try:
        _check_letters(words)
        if command is not None:
            command.run(arguments)
        else:
            _run_study(arguments)
        sys.stdout.flush()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has left; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        # The system's refusals that no stage foresees: a full disk, a folder without permission.
        if error.errno is None:
            raise
        place = error.filename or "the current folder"
        problem = printable(f"{place}: {error.strerror or error}")
        print(f"error: {problem}; {remedy(error)}", file=sys.stderr)
        return 2
    return 0


def _run_study(arguments: argparse.Namespace) -> None:
    from pipeline.studies.plumbing.running import run

    model = getattr(arguments, "model", "")
    run(STUDIES[arguments.verb], Files(), arguments.dataset, model)


def _check_letters(words: Sequence[str]) -> None:
    """Libraries fail on names that Python could not decode."""
    for text in (str(Path.cwd()), *words):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UserError(
                f"{text}: has letters that Python cannot read here; set PYTHONUTF8=1, or rename "
                "what is not UTF-8"
            ) from error


if __name__ == "__main__":
    sys.exit(main())
