"""Every table, figure, page and checked number, made anew from results/ in a scratch copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project

PARTS = ("pipeline", "profiles", "params.yaml", "raw/sources.yaml", "results", "reports")
DRAWING = ("matplotlib", "numpy", "pandas")
"""Other versions of these may draw or round otherwise in the last digit."""


def reports(project: Project, scratch: Path, say: Callable[[str], None]) -> Check:
    check = Check("reports", "Do the results give these very tables, figures and pages?")
    copy = scratch / "reports-made-anew"
    shutil.rmtree(copy, ignore_errors=True)
    for part in PARTS:
        project.bring(part, copy)
    _forget(copy / "reports")
    for words in (["check", "--write"], ["report"]):
        say(f"making the report anew: {words[0]}")
        command = [sys.executable, "-m", "pipeline", *words]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        if not check.ask(
            done.returncode == 0,
            "reports",
            f"`{' '.join(words)}` fails on these results: {done.stderr.strip()[-300:]}",
            "run it yourself",
        ):
            return check
    others = _other_versions(project.locked_versions)
    if others:
        check.notes.append(f"Other versions than requirements.lock has: {others}.")
    for name in sorted({*_files(project.root / "reports"), *_files(copy / "reports")}):
        ours, anew = project.root / "reports" / name, copy / "reports" / name
        where = f"reports/{name}"
        if not anew.exists():
            check.ask(False, where, "the results do not give this file", f"`git log -p {where}`")
        elif not ours.exists():
            check.ask(False, where, "is missing", f"`git checkout {where}`, or `dvc repro`")
        elif others and anew.suffix in (".svg", ".png") and ours.read_bytes() != anew.read_bytes():
            check.notes.append(f"{where} is drawn differently by other versions.")
        else:
            check.ask(
                ours.read_bytes() == anew.read_bytes(),
                where,
                "is not what the results give",
                f"compare with {anew}",
            )
    if check.passed:
        shutil.rmtree(copy)
    return check


def _forget(folder: Path) -> None:
    """Only what people wrote stays: everything else must come back by itself."""
    for path in folder.iterdir():
        if path.name not in ("notebooks", "paper.yaml"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _files(folder: Path) -> set[str]:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if ".ipynb_checkpoints" not in name}


def _other_versions(pinned: Mapping[str, str]) -> str:
    """Where the drawing libraries are not those of the lock file."""
    found = []
    for name in DRAWING:
        try:
            here = version(name)
        except PackageNotFoundError:
            here = "none"
        if name in pinned and here != pinned[name]:
            found.append(f"{name} {here} for {pinned[name]}")
    return ", ".join(found)
