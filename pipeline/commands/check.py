"""check: our numbers and the paper's sentences; fails on a difference that no note explains."""

from __future__ import annotations

import argparse
import shutil

from pipeline.files import Files, write_json, write_text
from pipeline.reporting import check_display, comparisons
from pipeline.reporting.checking import check
from pipeline.reporting.numbers import from_results
from pipeline.reporting.results import Results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="list every number, not only surprises")
    parser.add_argument(
        "--write", action="store_true", help="write the check, metrics and plots below reports/"
    )


def run(arguments: argparse.Namespace) -> None:
    results = Results(Files())
    numbers = from_results(results)
    checked = check(results, numbers)
    if arguments.write:  # as a stage: a difference is a result, not a failure
        reports = results.files.root / "reports"
        write_json(reports / "inputs.json", results.hashes())
        write_json(reports / "paper_check.json", checked.as_json())
        write_json(reports / "metrics.json", comparisons.metrics(numbers))
        shutil.rmtree(reports / "plots", ignore_errors=True)
        for name, text in comparisons.plots(results, numbers).items():
            write_text(reports / "plots" / name, text)
        for folder in ("dimension", "training"):
            (reports / "plots" / folder).mkdir(parents=True, exist_ok=True)
        return
    check_display.show(checked, everything=arguments.all)
    if checked.unexplained:
        raise SystemExit(1)
