"""Every table, figure, page and checked number, made again from results/ in a scratch copy."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import CODE, Project
from pipeline.files import read_text
from pipeline.reporting import readme
from pipeline.reporting.results import Results

PARTS = (*CODE, "profiles", "params.yaml", "raw/sources.yaml", "results", "reports")
BY_PEOPLE = ("notebooks", "paper.yaml")
DRAWING = ("matplotlib", "numpy", "pandas")
"""Other versions of these may draw or round differently in the last digit."""
STALE = "Not compared: other code made the report; `dvc repro` makes it again."


def reports(project: Project, check: AuditCheck) -> None:
    """The results give these tables, figures and pages."""
    if project.report_is_stale:
        check.notes.append(STALE)
        return
    copy = project.scratch / "reports-made-again"
    shutil.rmtree(copy, ignore_errors=True)
    for part in PARTS:
        project.bring(part, copy)
    for path in (copy / "reports").iterdir():
        if path.name not in BY_PEOPLE:  # everything else must come back by itself
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for words in (["check", "--write"], ["report"]):
        project.say(f"making the report again: {words[0]}")
        problem = project.pipeline(*words, folder=copy)
        failed = f"`{' '.join(words)}` fails on these results: {problem}"
        if not check.expect(not problem, "reports", failed, "run it yourself"):
            return
    others = _other_versions(project)
    if others:
        check.notes.append(f"Other versions than requirements.lock has: {others}.")
    for name in sorted({*_files(project.root / "reports"), *_files(copy / "reports")}):
        ours, again = (root / "reports" / name for root in (project.root, copy))
        same = ours.exists() and again.exists() and ours.read_bytes() == again.read_bytes()
        if not same and others and again.suffix in (".svg", ".png"):
            check.notes.append(f"reports/{name} is drawn differently by other versions.")
            continue
        what = "is missing" if not ours.exists() else "is not what the results give"
        look = f"compare it with {again}" if again.exists() else "no stage makes it"
        check.expect(same, f"reports/{name}", what, f"{look}; `git log -p -- reports/{name}`")
    if not check.findings:
        shutil.rmtree(copy)


def prose(project: Project, check: AuditCheck) -> None:
    """The tables in README.md and docs/ are those that the results give."""
    if project.report_is_stale:
        check.notes.append(STALE)
        return
    for name, blocks in readme.BLOCKS.items():
        with check.reading(name, "see the other findings"):
            expected = readme.with_blocks(project.root / name, blocks(Results(project.files)))
            look = f"`python -m pipeline report --readme` makes it; `git diff {name}` shows more"
            what = "the table is not what the results give"
            check.expect(read_text(project.root / name) == expected, name, what, look)


def _files(folder: Path) -> set[str]:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if ".ipynb_checkpoints" not in name}


def _other_versions(project: Project) -> str:
    """Where the drawing libraries are not those of the lock file."""
    pinned = {name: project.locked_versions.get(name, "") for name in DRAWING}
    here = {name: version(name) for name in DRAWING}
    return ", ".join(
        f"{name} {here[name]} for {pinned[name]}" for name in DRAWING if here[name] != pinned[name]
    )
