"""Run a stage again in a scratch copy that holds what its lock entry names, and compare."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from learned_context.errors import UserError
from pipeline.auditing.checks import AuditCheck
from pipeline.auditing.project import CODE, Project
from pipeline.auditing.results import parts
from pipeline.datasets.registry import GENERATED
from pipeline.execution.addresses import resolve_targets
from pipeline.files import Files, read_json, run_info
from pipeline.studies import STUDIES

ALWAYS = (*CODE, "profiles", "params.yaml", "raw/sources.yaml")
MADE_WITH = ("versions", "cpu", "system", "device", "python")
OTHER_MACHINE = 0.1
"""Relative difference that other versions may make where no repeats tell how much it is."""


def choose(project: Project, wanted: Sequence[str]) -> list[str]:
    """Stages by name or, for a number, that many at random of those that can run here."""
    studies = list(project.study_stages)
    possible = [
        place
        for place, (_, dataset, _) in project.study_stages.items()
        if dataset in GENERATED or project.files.table(dataset).exists()
    ]
    chosen: dict[str, None] = {}
    for word in wanted:
        if word.isdecimal():
            count = min(int(word), len(possible))
            chosen.update(dict.fromkeys(random.SystemRandom().sample(possible, count)))
        else:
            chosen.update(dict.fromkeys(resolve_targets(studies, [word])))
    return list(chosen)


def reruns(project: Project, check: AuditCheck, places: Iterable[str]) -> None:
    """A stage that runs again gives the same bits."""
    for place in places:
        scratch = ScratchCopy(project, project.scratch / "rerun" / place.replace("/", "_"))
        with check.reading(place, "it cannot be run again as things are here"):
            scratch.run(place)
            _compare(project, check, place, scratch.folder)
        shutil.rmtree(scratch.folder)


class ScratchCopy:
    """A copy of the code and the settings, to which the inputs of a stage are brought."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.folder = project, folder
        self.producers = {
            out: place for place, stage in project.records.stages.items() for out in stage.outs
        }
        shutil.rmtree(folder, ignore_errors=True)
        for path in ALWAYS:
            project.bring(path, folder)

    def run(self, place: str) -> None:
        stage = self.project.records.stages[place]
        for path in stage.deps:
            if (self.folder / path).exists() or self.project.bring(path, self.folder):
                continue
            if path not in self.producers:
                raise UserError(f"{path}: is missing and no stage makes it; `git checkout {path}`")
            self.run(self.producers[path])  # data that is not here is made, or downloaded, first
        self.project.say(f"running again: {place}")
        problem = self.project.pipeline(*stage.arguments, folder=self.folder)
        if problem:
            raise UserError(f"{place} cannot be run again: {problem}")


def _compare(project: Project, check: AuditCheck, place: str, copy: Path) -> None:
    outs = project.records.stages[place].outs
    equal = {out: project.records.hash_of(copy / out) == hash_ for out, hash_ in outs.items()}
    for out, same in equal.items():
        # Where one output has the same bits, versions and processor were the same.
        comparable = any(equal.values()) or same_kind(project.root / out, copy / out)
        if same or (comparable and place not in project.stale):
            what = f"{place} gave other bits with the same code, versions and processor kind"
            check.expect(same, out, what, f"`dvc repro --force {place}` and `git diff`")
        elif place in project.study_stages and out.endswith(".json"):
            _within_spread(project, check, place, out, copy)


def same_kind(before: Path, after: Path) -> bool:
    """Whether two results were made with the same versions, processor kind and device."""
    if not (run_info(before).exists() and run_info(after).exists()):
        return True
    one, two = read_json(run_info(before)), read_json(run_info(after))
    return all(one.get(key) == two.get(key) for key in MADE_WITH)


def _within_spread(project: Project, check: AuditCheck, place: str, out: str, copy: Path) -> None:
    """Other code, versions or processors may change an error as much as another seed does."""
    name, dataset, model = project.study_stages[place]
    ours, again = (
        {where: part.rmse for where, part in parts(content) if hasattr(part, "rmse")}
        for content in (
            STUDIES[name].read(files, dataset, model) for files in (project.files, Files(copy))
        )
    )
    repeats = STUDIES["repeats"].path(project.files, dataset, model)
    spread = read_json(repeats) if repeats.exists() else {}
    allowed = max(OTHER_MACHINE, spread["max"] / spread["min"] - 1 if "min" in spread else 0)
    check.notes.append(f"{out}: other code, versions or processor; {allowed:.0%} is allowed.")
    look = f"{run_info(Path(out))} has the versions it was made with"
    for where in sorted({*ours, *again}):
        one, two = ours.get(where, math.nan), again.get(where, math.nan)
        what = f"is {one:.6g}, now {two:.6g}: further apart than other seeds make it"
        close = math.isclose(one, two, rel_tol=allowed)
        check.expect(close, f"{out}: {where}rmse", what, look)
