"""The files themselves: those of the commit, each of them known, and as they were sealed."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import Project
from pipeline.files import by_people, read_text, sha256, write_text

COMPILED = ("*.pyc", "*.pyo", "*.so", "*.pth", "*__pycache__/*", "*.ipynb_checkpoints/*")
"""Python would run some of these instead of the source beside them; nobody looks at the others."""
SEAL = "results/SHA256SUMS"
SEALED = (
    "dvc.lock",  # with the hashes of networks that a clone lacks
    "results/dvc.lock",
    "results/*/*/*.run.json",
    "results/benchmarks/*",
    "reports/notebooks/*.ipynb",
)
"""Files that no stage writes: DVC knows the benchmarks and the pages' notebooks only as inputs, and
the others not at all."""


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
    owned = {path for stage in project.records.stages.values() for path in stage.outs}
    owned |= by_people(project.root) | {"results/dvc.lock", SEAL}
    listed = _git(project, "ls-files", "-co", "--exclude-standard", "results", "reports")
    for path in sorted({*listed}):
        file, name = project.root / path, shlex.quote(path)
        result = path.replace(".run.json", ".json")  # it stands beside its result
        owners = {result, *(parent.as_posix() for parent in Path(path).parents)}
        look = f"`git log -- {name}` shows where it came from; delete it if it is a leftover"
        known = bool(owners & owned) or not file.exists()
        check.expect(known, path, "belongs to no stage", look)
        target = os.path.realpath(file) if file.is_symlink() else ""
        look = f"no stage writes links; `git log -p -- {name}`"
        check.expect(not target, path, f"is a link to {target}, not a file", look)
    for path in _git(project, "ls-files", *COMPILED):
        look = f"`git rm {shlex.quote(path)}`"
        check.expect(False, path, "is in git where nobody looks for it", look)


def seals(project: Project, check: AuditCheck) -> None:
    """The files that no stage makes again, DVC's lock files included, are as they were sealed."""
    path = project.root / SEAL
    listed = read_text(path).splitlines() if path.exists() else []
    actual = _sealed(project)
    names = {line.partition("  ")[2] for line in listed}
    for name in sorted({*names, *actual}):
        lines = [line for line in listed if line.endswith(f"  {name}")]
        what = "is not the file that was sealed" if lines else "was never sealed"
        look = f"`git log -p {name}`; after your own run, `python -m pipeline audit --seal`"
        check.expect(lines == [actual.get(name)], name, what, look)


def seal(project: Project) -> Path:
    path = project.root / SEAL
    lines = _sealed(project)
    write_text(path, "".join(f"{lines[name]}\n" for name in sorted(lines)))
    return path


def _sealed(project: Project) -> dict[str, str]:
    """The lines of the seal, by the names of the files."""
    found = [path for pattern in SEALED for path in project.root.glob(pattern) if path.is_file()]
    names = {path.relative_to(project.root).as_posix(): path for path in found}
    return {name: f"{sha256(path)}  {name}" for name, path in names.items()}


def _git(project: Project, *words: str) -> list[str]:
    """The lines of git's answer; a name may hold any byte."""
    done = subprocess.run(["git", *words, "-z"], cwd=project.root, capture_output=True, check=True)
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
