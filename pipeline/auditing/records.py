"""The lock files against dvc.yaml, the parameters and every file that is here."""

from __future__ import annotations

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import Project

AGAIN = "`dvc repro {}` runs it again"


def stages(project: Project, check: AuditCheck) -> None:
    """dvc.yaml has the stages of the studies, and they ran with today's parameters."""
    for place in project.results:
        look = "`python -m pipeline dvc --write` brings dvc.yaml up to date"
        known = place in project.records.stages
        check.expect(known, place, "a study declares this stage; dvc.yaml lacks it", look)
    for place, stage in project.current.items():
        look = AGAIN.format(place)
        check.expect(stage.ran, place, "has a result, but no entry in the lock file", look)
        for (file, key), value in stage.params.items():
            now = project.records.parameter(file, key)
            check.compare(f"{file}: {key}", now, value, f"{place} ran with the latter", look)


def hashes(project: Project, check: AuditCheck) -> None:
    """Every output that is here has the hash that the lock files record for it."""
    records, absent = project.records, 0
    in_git = {path for stage in records.stages.values() for path in stage.in_git}
    for path, (place, recorded) in records.written.items():
        here = (project.root / path).exists()
        if not here and path not in in_git:
            absent += 1
            continue
        look = f"`git checkout -- {path}` undoes an edit, `git log -p -- {path}` shows more"
        if path not in in_git:
            look = AGAIN.format(place)
            if records.in_cache(recorded):
                look = f"`dvc checkout {path}` takes it from the cache; {look}"
        found = records.hash_of(path) if here else "missing"
        check.compare(path, found, recorded, f"{place} wrote the latter", look)
    if absent:
        check.notes.append(
            f"{absent} outputs are not here, as in a clone without data (raw files, tables, "
            "networks); their hashes were only compared with each other."
        )


def chain(project: Project, check: AuditCheck) -> None:
    """Each file that a stage read was written by another stage, or is the file on disk."""
    records = project.records
    read = {
        (path, recorded): place
        for place, stage in project.current.items()
        for path, recorded in stage.deps.items()
        if recorded
    }
    for (path, recorded), place in read.items():
        maker, expected = records.written.get(path) or ("the file here", records.hash_of(path))
        look = f"`git log -p -- {path}` shows a change; {AGAIN.format(place)}"
        what = f"{place} read the former; the latter is that of {maker}"
        check.compare(path, recorded, expected, what, look)
