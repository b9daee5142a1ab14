"""Run a stage again in a scratch copy that holds what its lock entry names, and compare."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from learned_context.errors import UserError
from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import AuditedResult, Project, run_in
from pipeline.auditing.results import parts, results
from pipeline.datasets.registry import GENERATED
from pipeline.execution.addresses import file_name, resolve_targets
from pipeline.files import Files, run_info
from pipeline.studies.plumbing.run_info import read_run_info
from pipeline.studies.repeats import RepeatsResult

VARIES = {"seconds", "cpu_seconds", "profile"}
"""In what a run leaves beside its result, but not in what its bits depend on."""
OTHER_MACHINE = 0.1
"""Relative difference that other versions may make where no repeats tell how much it is."""


def choose(project: Project, wanted: Sequence[str]) -> list[str]:
    """Stages by name or, for a number, that many at random of those that can run here."""
    possible = [
        place
        for place, one in project.results.items()
        if one.dataset in GENERATED or project.files.table(one.dataset).exists()
    ]
    chosen: list[str] = []
    for word in wanted:
        if word.isdecimal():
            chosen += random.SystemRandom().sample(possible, min(int(word), len(possible)))
        else:
            chosen += resolve_targets(list(project.results), [word])
    return list(dict.fromkeys(chosen))


def reruns(project: Project, check: AuditCheck, places: Iterable[str]) -> None:
    """A stage that runs again gives the same bits."""
    for place in places:
        copy = project.copy(f"rerun/{file_name(place)}")
        with check.reading(place, "it cannot be run again as things are here"):
            _run(project, place, copy)
            _compare(project, check, place, copy)
        shutil.rmtree(copy)


def _run(project: Project, place: str, copy: Path) -> None:
    """Bring the inputs of a stage to the copy, and run it there."""
    stages = project.records.stages
    for path in stages[place].deps:
        if (copy / path).exists() or project.bring(path, copy):
            continue
        makers = [maker for maker, stage in stages.items() if path in stage.outs]
        if not makers:
            raise UserError(f"{path}: is missing and no stage makes it; `git checkout {path}`")
        _run(project, makers[0], copy)  # data that is not here is made, or downloaded, first
    project.say(f"running again: {place}")
    problem = run_in(copy, *stages[place].arguments)
    if problem:
        raise UserError(f"{place} cannot be run again: {problem}")


def _compare(project: Project, check: AuditCheck, place: str, copy: Path) -> None:
    outs, result = project.records.stages[place].outs, project.results.get(place)
    equal = {out: project.records.hash_of(copy / out) == hash_ for out, hash_ in outs.items()}
    # Where one output has the same bits, versions and processor were the same.
    comparable = any(equal.values()) or result is None or _same_machine(result, copy)
    for out, same in equal.items():
        if same or (comparable and place not in project.stale):
            what = f"{place} gave other bits with the same code, versions and processor kind"
            check.expect(same, out, what, f"`dvc repro --force {place}` and `git diff`")
        elif result and out == result.path:
            _within_spread(check, result, copy)


def _same_machine(result: AuditedResult, copy: Path) -> bool:
    """Whether a result was made with the same versions, processor kind and device before."""
    before, after = (
        read_run_info(root / result.path).model_dump(exclude=VARIES)
        for root in (result.project.root, copy)
    )
    return before == after


def _within_spread(check: AuditCheck, result: AuditedResult, copy: Path) -> None:
    """Other code, versions or processors may change an error as much as another seed does."""
    of = (result.dataset, result.model)
    ours, again = (
        {where: part.rmse for where, part in parts(content) if hasattr(part, "rmse")}
        for content in (result.content, result.study.read(Files(copy), *of))
    )
    allowed = OTHER_MACHINE
    for one in results(result.project):
        repeats = one.content
        if (one.dataset, one.model) == of and isinstance(repeats, RepeatsResult):
            allowed = max(allowed, repeats.max / repeats.min - 1)
    path = result.path
    check.notes.append(f"{path}: other code, versions or processor; {allowed:.0%} is allowed.")
    look = f"{run_info(Path(path))} has the versions it was made with"
    for where in sorted({*ours, *again}):
        one, two = ours.get(where, math.nan), again.get(where, math.nan)
        what = f"is {one:.6g}, now {two:.6g}: further apart than other seeds make it"
        close = math.isclose(one, two, rel_tol=allowed)
        check.expect(close, f"{path}: {where}rmse", what, look)
