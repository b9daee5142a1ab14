"""Files that DVC does not watch: a list of their hashes does."""

from __future__ import annotations

from pathlib import Path

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import SEAL, Project
from pipeline.files import read_text, sha256, write_text

UNWATCHED = (
    "dvc.lock",  # with the hashes of networks that a clone lacks
    "results/dvc.lock",
    "results/*/*/*.run.json",
    "results/benchmarks/*",
    "reports/notebooks/*.ipynb",
)


def seals(project: Project, check: AuditCheck) -> None:
    """The files that DVC does not watch, its own lock files included, are as they were sealed."""
    path = project.root / SEAL
    listed: dict[str, str] = {}
    for line in read_text(path).splitlines() if path.exists() else ():
        recorded, _, name = line.partition("  ")
        check.expect(name not in listed, name, f"is twice in {SEAL}", f"`git log -p {SEAL}`")
        listed[name] = recorded
    actual = _hashes(project)
    for name in sorted({*listed, *actual}):
        check.expect(
            listed.get(name) == actual.get(name),
            name,
            "is not the file that was sealed" if name in listed else "was never sealed",
            f"`git log -p {name}`; after your own run, `python -m pipeline audit --seal`",
        )


def seal(project: Project) -> Path:
    path = project.root / SEAL
    lines = [f"{recorded}  {name}\n" for name, recorded in sorted(_hashes(project).items())]
    write_text(path, "".join(lines))
    return path


def _hashes(project: Project) -> dict[str, str]:
    return {
        path.relative_to(project.root).as_posix(): sha256(path)
        for pattern in UNWATCHED
        for path in project.root.glob(pattern)
        if path.is_file()
    }
