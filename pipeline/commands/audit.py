"""audit: verify the committed results, with or without the data.

Reads the project and changes nothing in it: what it makes again is below scratch/audit/.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from learned_context.errors import UserError
from pipeline.auditing import recomputing, records, rendering, results, tracked
from pipeline.auditing.checks import Audit, AuditCheck, made
from pipeline.auditing.page import page, text
from pipeline.auditing.project import Project
from pipeline.commands.arguments import at_least
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
        "--networks", type=at_least(0), default=10, help="saved networks to try (%(default)s)"
    )
    parser.add_argument(
        "--allow-stale",
        action="store_true",
        help="pass although stages were made by other code, if nothing else is found",
    )
    parser.add_argument(
        "--skip-reports", action="store_true", help="do not make the report again (a minute)"
    )
    parser.add_argument(
        "--seal",
        action="store_true",
        help="after your own run: list the hashes of the files that no stage makes again, and end",
    )


def run(arguments: argparse.Namespace) -> None:
    project = Project(Path(), _say)
    if arguments.seal:
        print(f"{tracked.seal(project).relative_to(project.root)}: written")
        return
    for name in ("audit.json", "audit.html"):  # an audit that ends early leaves no old verdict
        (project.scratch / name).unlink(missing_ok=True)
    done = audit(project, arguments)
    print(text(done))
    write_json(project.scratch / "audit.json", done.as_json())
    write_text(project.scratch / "audit.html", page(done))
    print(f"as a page: {(project.scratch / 'audit.html').relative_to(project.root)}")
    if not done.passed:
        raise SystemExit(1)


def audit(project: Project, arguments: argparse.Namespace) -> Audit:
    found = tuple(checks(project, arguments))
    try:
        stale = project.stale
    except UserError:  # DVC cannot load the pipeline, as the checks have reported
        stale = {}
    return Audit(found, stale, arguments.allow_stale)


def checks(project: Project, arguments: argparse.Namespace) -> Iterator[AuditCheck]:
    again = recomputing.choose(project, arguments.rerun)  # a wrong name is an error at once
    wanted = [tracked.commit, records.stages, records.hashes, records.chain, tracked.strays]
    wanted += [results.origins, results.sums, results.expected_settings, tracked.seals]
    wanted += [rendering.prose] if arguments.skip_reports else [rendering.prose, rendering.reports]
    wanted += [recomputing.tables, recomputing.leakage]
    wanted += [partial(recomputing.networks, count=arguments.networks)]
    wanted += [partial(recomputing.reruns, places=again)]
    for examine in wanted:
        yield made(examine, project)


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"… {what}", file=sys.stderr)
