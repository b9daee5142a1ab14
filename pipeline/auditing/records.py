"""The lock files against dvc.yaml, the parameters and every file that is here."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pipeline.auditing.findings import Check
from pipeline.auditing.hashing import dvc_hash, files_below
from pipeline.auditing.project import LOCKS, SEAL, Project

RERUN = "`dvc repro {}` runs it again; `git log -p {}` shows who changed it"


def stages(project: Project) -> Check:
    """Lock, yaml and parameters name the same stages, commands, files and values."""
    check = Check("stages", "Do dvc.yaml, the lock files and the parameters say the same?")
    defined, recorded = project.definitions, project.recorded
    for place in sorted({*defined, *recorded}):
        if not check.ask(
            place in recorded,
            place,
            "the stage is defined and was never run",
            f"`dvc repro {place}` runs it",
        ):
            continue
        if not check.ask(
            place in defined,
            place,
            "a lock file records a stage that dvc.yaml and params.yaml do not define",
            "`git log -p params.yaml dvc.yaml` shows what was removed",
        ):
            continue
        stage, entry = defined[place], recorded[place]
        remedy = RERUN.format(place, stage.lock)
        check.ask(entry.command == stage.command, place, "another command was recorded", remedy)
        for what, asked, ran in (
            ("dependencies", stage.deps, set(entry.deps)),
            ("outputs", set(stage.outs), set(entry.outs)),
            (
                "parameters",
                {(file, key) for file, keys in stage.params.items() for key in keys},
                {(file, key) for file, values in entry.params.items() for key in values},
            ),
        ):
            other = ", ".join(sorted(map(str, asked ^ ran)))
            check.ask(not other, place, f"other {what} were recorded: {other}", remedy)
        for file, values in entry.params.items():
            for key, value in values.items():
                check.ask(
                    project.value(file, key) == value,
                    f"{file}: {key}",
                    f"is {_short(project.value(file, key))}; {place} ran with {_short(value)}",
                    remedy,
                )
    return check


def hashes(project: Project) -> Check:
    """Every file that is here has the hash that the lock files record for it."""
    check = Check("hashes", "Does every file have the hash that the lock files record?")
    kept_by_git = {
        path
        for stage in project.definitions.values()
        for path, cached in stage.outs.items()
        if not cached
    }
    actual: dict[str, str] = {}
    absent: set[str] = set()
    for place, entry in project.recorded.items():
        for role, paths in (("dependency", entry.deps), ("output", entry.outs)):
            for path, recorded in paths.items():
                file = project.root / path
                if not file.exists():
                    absent.add(path)
                    check.ask(
                        path not in kept_by_git and not path.startswith(("pipeline/", "reports/")),
                        path,
                        f"is missing; {place} recorded it as its {role}",
                        f"`git checkout {path}` restores it",
                    )
                    continue
                if path not in actual:
                    actual[path] = dvc_hash(file, project.ignored)
                check.ask(
                    actual[path] == recorded,
                    path,
                    f"has the hash {actual[path]}; {place} recorded {recorded} as its {role}",
                    RERUN.format(place, path),
                )
    if absent:
        check.notes.append(
            f"{len(absent)} recorded files are not here, as in a clone without data (raw files, "
            "tables, networks); their hashes were only compared with each other."
        )
    return check


def chain(project: Project) -> Check:
    """What one stage wrote is what the next one read: also for files that are not here."""
    check = Check("chain", "Did every stage read what the stage before it wrote?")
    written = {
        path: (place, recorded)
        for place, entry in project.recorded.items()
        for path, recorded in entry.outs.items()
    }
    seen: dict[str, tuple[str, str]] = {}
    for place, entry in project.recorded.items():
        for path, recorded in entry.deps.items():
            source, expected = written.get(path) or seen.setdefault(path, (place, recorded))
            check.ask(
                recorded == expected,
                path,
                f"{source} recorded {expected}, {place} read {recorded}",
                RERUN.format(place, "dvc.lock results/dvc.lock"),
            )
    return check


def strays(project: Project) -> Check:
    """No file lies below results/ or reports/ that no stage and no person accounts for."""
    check = Check("strays", "Is every file below results/ and reports/ accounted for?")
    outs = {path for stage in project.definitions.values() for path in stage.outs}
    for folder in ("results", "reports"):
        for file in _all_files(project.root / folder):
            path = file.relative_to(project.root).as_posix()
            check.ask(
                _accounted(path, outs),
                path,
                "belongs to no stage",
                f"`git log {path}` tells where it came from; delete it if it is a leftover",
            )
            check.ask(
                not file.is_symlink(),
                path,
                f"is a link to {os.path.realpath(file)}, not a file",
                f"`git checkout {path}`; no stage writes links",
            )
    for path in _hidden_in_git(project):
        check.ask(False, path, "is in git where nobody looks for it", f"`git rm {path}`")
    return check


HIDDEN = ("__pycache__", ".ipynb_checkpoints")
COMPILED = ("*.pyc", "*.pyo", "*.so", "*.pth")
"""Python would run these instead of the source beside them."""


def _hidden_in_git(project: Project) -> list[str]:
    command = ["git", "ls-files", *COMPILED, *(f"*{name}/*" for name in HIDDEN)]
    try:
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.splitlines()


def _all_files(folder: Path) -> Iterator[Path]:
    def hidden(path: Path) -> bool:
        return path.name in HIDDEN

    return files_below(folder, hidden) if folder.exists() else iter(())


def _accounted(path: str, outs: set[str]) -> bool:
    if path.endswith(".run.json"):  # the time and the machine of a result
        path = path.removesuffix(".run.json") + ".json"
    return (
        path in outs
        or any(parent.as_posix() in outs for parent in Path(path).parents)
        or path in LOCKS
        or path in LOCKS.values()
        or path in (SEAL, "reports/paper.yaml")
        or path.endswith("/.gitignore")
        or re.fullmatch(r"results/benchmarks/\w+\.json|reports/notebooks/\w+\.ipynb", path)
        is not None
    )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
