"""Every table, figure, page and checked number, made again from results/ in a scratch copy."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import Project, run_in
from pipeline.files import by_people, read_text
from pipeline.reporting import readme
from pipeline.reporting.results import Results

DRAWING = ("matplotlib", "numpy", "pandas")
"""Other versions of these may draw or round differently in the last digit."""


def reports(project: Project, check: AuditCheck) -> None:
    """The results give these tables, figures and pages."""
    if not _comparable(project, check):
        return
    # Of the report, only what people wrote: everything else must come back by itself.
    copy = project.copy("reports-made-again", "results", *by_people(project.root))
    for words in (["check", "--write"], ["report"]):
        project.say(f"making the report again: {words[0]}")
        problem = run_in(copy, *words)
        failed = f"`{' '.join(words)}` fails on these results: {problem}"
        if not check.expect(not problem, "reports", failed, "run it yourself"):
            return
    others = _other_versions(project)
    if others:
        check.notes.append(f"Other versions than requirements.lock has: {others}.")
    ours, again = _contents(project.root), _contents(copy)
    for name in sorted({*ours, *again}):
        same = ours.get(name) == again.get(name)
        if not same and others and name.endswith((".svg", ".png")):
            check.notes.append(f"{name} is drawn differently by other versions.")
            continue
        what = "is not what the results give" if name in ours else "is missing"
        look = f"compare it with {copy / name}" if name in again else "no stage makes it"
        check.expect(same, name, what, f"{look}; `git log -p -- {name}`")
    if not check.findings:
        shutil.rmtree(copy)


def prose(project: Project, check: AuditCheck) -> None:
    """The tables in README.md and docs/ are those that the results give."""
    if not _comparable(project, check):
        return
    for name, blocks in readme.BLOCKS.items():
        with check.reading(name, "see the other findings"):
            expected = readme.with_blocks(project.root / name, blocks(Results(project.files)))
            look = f"`python -m pipeline report --readme` makes it; `git diff {name}` shows more"
            what = "the table is not what the results give"
            check.expect(read_text(project.root / name) == expected, name, what, look)


def _comparable(project: Project, check: AuditCheck) -> bool:
    """Whether today's code made the report; other code's differs for that reason alone."""
    stale = any(place.startswith(("check", "report@")) for place in project.stale)
    if stale:
        check.notes.append("Not compared: other code made the report; `dvc repro` makes it again.")
    return not stale


def _contents(root: Path) -> dict[str, bytes]:
    """The report's files."""
    files = [path for path in (root / "reports").rglob("*") if path.is_file()]
    own = [path for path in files if ".ipynb_checkpoints" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in own}


def _other_versions(project: Project) -> str:
    """Where the drawing libraries are not those of the lock file."""
    here = {name: version(name) for name in DRAWING}
    locked = {name: project.locked_versions.get(name, "") for name in DRAWING}
    others = [name for name in DRAWING if here[name] != locked[name]]
    return ", ".join(f"{name} {here[name]} for {locked[name]}" for name in others)
