"""The command line: `python -m pipeline <verb> ...`, one verb a stage."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from pipeline.errors import UserError, remedy

VERBS = {
    "download": ("pipeline.stages.download", "get and check the raw files of a dataset"),
    "prepare": ("pipeline.stages.prepare", "make a dataset's table with all its splits"),
    "linear": ("pipeline.stages.linear", "linear regression and the linear mixed model"),
    "tune": ("pipeline.stages.tune", "search a network's hyperparameters"),
    "train": ("pipeline.stages.train", "train a network with the tuned hyperparameters"),
    "repeats": ("pipeline.stages.repeats", "train a tuned network with other seeds"),
    "sizes": ("pipeline.stages.sizes", "tune and train a network on fewer rows"),
    "dimension": ("pipeline.stages.dimension", "train with more and fewer task parameters"),
    "holdout": ("pipeline.stages.holdout", "train without one task group"),
    "adapt": ("pipeline.stages.adapt", "estimate the parameters of the held-out tasks"),
    "clean": ("pipeline.stages.clean", "train without the rows that the test part holds"),
    "illustrate": ("pipeline.stages.illustrate", "what the figures need of the networks"),
    "report": ("pipeline.stages.report", "one page of the report, or the README's table"),
    "check": ("pipeline.stages.check", "our numbers and the paper's sentences"),
    "plan": ("pipeline.stages.plan", "what would run, and for how long"),
    "run": ("pipeline.stages.run", "run the plan in parallel, as `dvc repro` would"),
    "audit": ("pipeline.stages.audit", "disbelieve the versioned results, and find out"),
    "add-dataset": ("pipeline.stages.add_dataset", "make a csv or parquet file a dataset"),
    "remove-dataset": ("pipeline.stages.remove_dataset", "undo add-dataset, with its results"),
    "demo": ("pipeline.stages.demo", "the smoke budget in a scratch copy"),
}
"""verb: (module, help). A verb's module is imported only when it is run."""


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else list(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of data, on a terminal that lacks letters
            stream.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="pipeline", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", metavar="verb", required=True)
    stage = None
    for verb, (module, text) in VERBS.items():
        subparser = verbs.add_parser(verb, help=text, description=text)
        if words[:1] == [verb]:
            stage = import_module(module)
            stage.add_arguments(subparser)
    arguments = parser.parse_args(words)
    assert stage is not None  # argparse has refused every other verb
    try:
        stage.run(arguments)
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
        place = error.filename or Path.cwd()
        print(f"error: {place}: {error.strerror or error}; {remedy(error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
