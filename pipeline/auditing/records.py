"""The lock files against dvc.yaml, the parameters and every file that is here."""

from __future__ import annotations

from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import Project

AGAIN = "`dvc repro {}` runs it again"


def stages(project: Project, check: AuditCheck) -> None:
    """dvc.yaml has the stages of the studies, and they ran with today's parameters."""
    for place in project.study_stages:
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
    """Every file that is here has the hash that the lock files record for it."""
    absent, recorded_stages = 0, project.records.stages
    made = {place: stage.outs for place, stage in recorded_stages.items()}
    made |= project.records.undefined
    in_git = {path for stage in recorded_stages.values() for path in stage.in_git}
    for place, outs in made.items():
        for path, recorded in outs.items():
            here = (project.root / path).exists()
            if recorded is None or (not here and path not in in_git):
                absent += not here
                continue
            look = f"`git checkout -- {path}` undoes an edit, `git log -p -- {path}` shows more"
            if path not in in_git:
                look = AGAIN.format(place)
                if project.records.in_cache(recorded):
                    look = f"`dvc checkout {path}` takes it from the cache; {look}"
            found = project.records.hash_of(project.root / path) if here else "missing"
            check.compare(path, found, recorded, f"{place} wrote the latter", look)
    inputs = {
        (path, recorded): place
        for place, stage in project.current.items()
        for path, recorded in stage.deps.items()
        if recorded and not any(path in outs for outs in made.values())
    }
    for (path, recorded), place in inputs.items():
        found = project.records.hash_of(project.root / path)
        look = f"`git log -p -- {path}` shows the change; " + AGAIN.format(place)
        check.compare(path, found, recorded, f"{place} read the latter", look)
    if absent:
        check.notes.append(
            f"{absent} outputs are not here, as in a clone without data (raw files, tables, "
            "networks); their hashes were only compared with each other."
        )


def chain(project: Project, check: AuditCheck) -> None:
    """What one stage wrote is what the next one read: also for files that are not here."""
    written = {
        path: (place, recorded)
        for place, stage in project.records.stages.items()
        for path, recorded in stage.outs.items()
    }
    for place, stage in project.current.items():
        for path, recorded in stage.deps.items():
            if path in written:
                source, expected = written[path]
                what = f"{source} wrote the latter, {place} read the former"
                check.compare(path, recorded, expected, what, AGAIN.format(place))
