"""audit: everything that can be found out about the versioned results, data or not.

Reads the project and changes nothing in it: what it makes anew is below scratch/audit/.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from pipeline.auditing import (
    asked,
    evidence,
    paperwork,
    provenance,
    records,
    rendering,
    rerunning,
    sums,
)
from pipeline.auditing.findings import Audit, Check
from pipeline.auditing.page import page, text
from pipeline.auditing.project import Project
from pipeline.files import write_json, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rerun",
        nargs="+",
        default=[],
        metavar="N|STAGE",
        help="run N stages chosen at random, or these stages, again in a copy and compare",
    )
    parser.add_argument(
        "--networks", type=_count, default=10, help="saved networks to try, at random (default: 10)"
    )
    parser.add_argument(
        "--skip-reports", action="store_true", help="do not make the report anew (a minute)"
    )
    parser.add_argument(
        "--seal",
        action="store_true",
        help="after a run of your own: list the hashes of benchmarks and times, and end",
    )


def _count(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is no number of networks")
    return int(word)


def run(arguments: argparse.Namespace) -> None:
    project = Project(Path())
    if arguments.seal:
        print(f"{paperwork.seal(project).relative_to(project.root)}: written")
        return
    folder = project.files.scratch("audit")
    for name in ("audit.json", "audit.html"):  # an audit that ends early leaves no former verdict
        (folder / name).unlink(missing_ok=True)
    audit = Audit(tuple(checks(project, folder, arguments)))
    print(text(audit))
    write_json(folder / "audit.json", audit.as_json())
    write_text(folder / "audit.html", page(audit))
    print(f"{folder.relative_to(project.root) / 'audit.html'} has it as a page")
    if not audit.passed:
        raise SystemExit(1)


def checks(project: Project, scratch: Path, arguments: argparse.Namespace) -> Iterator[Check]:
    again = rerunning.choose(project, arguments.rerun)  # a wrong name is an error at once
    yield paperwork.commit(project)
    yield records.stages(project)
    yield records.hashes(project)
    yield records.chain(project)
    yield records.strays(project)
    yield provenance.origins(project)
    yield sums.sums(project)
    yield asked.asked(project)
    yield paperwork.origins_of_data(project)
    yield paperwork.seals(project)
    yield paperwork.tables_in_prose(project)
    if not arguments.skip_reports:
        yield rendering.reports(project, scratch, _say)
    yield evidence.raw_files(project)
    yield evidence.tables(project, scratch, _say)
    yield evidence.leakage(project)
    yield evidence.networks(project, arguments.networks)
    if again:
        yield rerunning.reruns(project, again, scratch, _say)


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"… {what}", file=sys.stderr)
