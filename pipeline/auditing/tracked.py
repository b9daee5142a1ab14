"""What git says: the files are those of the commit, and each of them belongs to something."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import SEAL, Project

COMPILED = ("*.pyc", "*.pyo", "*.so", "*.pth", "*__pycache__/*", "*.ipynb_checkpoints/*")
"""Python would run some of these instead of the source beside them; nobody looks at the others."""
BY_PEOPLE = re.compile(
    r"(results/)?dvc\.(yaml|lock)|.*/\.gitignore|reports/paper\.yaml|reports/notebooks/\w+\.ipynb"
    rf"|results/benchmarks/\w+\.json|{SEAL}"
)
"""Files below results/ and reports/ that no stage writes."""


def commit(project: Project, check: AuditCheck) -> None:
    """The files are those of the commit: git finds an edit that is not committed."""
    try:
        [head] = _git(project, "log", "-1", "--format=%H of %cs")
    except (subprocess.CalledProcessError, ValueError):
        check.notes.append("There is no commit yet: nothing to compare with.")
        return
    check.notes.append(f"Commit {head.strip()}.")
    changed = _git(project, "diff", "--name-only", "--no-renames", "HEAD")
    check.examined += not changed
    for path in changed:
        name = shlex.quote(path)
        look = f"`git diff HEAD -- {name}` shows it, `git checkout HEAD -- {name}` undoes it"
        check.expect(False, path, "differs from the commit", look)


def strays(project: Project, check: AuditCheck) -> None:
    """Every file below results/ and reports/ is a stage's output, or is known to be a person's."""
    outs = {path for stage in project.records.stages.values() for path in stage.outs}
    folders = ("results", "reports")
    listed = _git(project, "ls-files", "--cached", "--others", "--exclude-standard", *folders)
    for path in sorted({*listed}):
        file = project.root / path
        result = re.sub(r"\.run\.json$", ".json", path)  # a result's time and machine
        owners = {result, *(parent.as_posix() for parent in Path(path).parents)}
        name = shlex.quote(path)
        look = f"`git log -- {name}` shows where it came from; delete it if it is a leftover"
        known = bool(owners & outs) or BY_PEOPLE.fullmatch(path) is not None
        check.expect(known, path, "belongs to no stage", look)
        target = os.path.realpath(file) if file.is_symlink() else ""
        look = f"no stage writes links; `git log -p -- {name}`"
        check.expect(not target, path, f"is a link to {target}, not a file", look)
    for path in _git(project, "ls-files", *COMPILED):
        check.expect(
            False, path, "is in git where nobody looks for it", f"`git rm {shlex.quote(path)}`"
        )


def _git(project: Project, *words: str) -> list[str]:
    """The lines of git's answer; a name may hold any byte."""
    done = subprocess.run(["git", *words, "-z"], cwd=project.root, capture_output=True, check=True)
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
