"""Run a stage again in a scratch copy that holds what its lock entry names, and compare."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.auditing.findings import Check
from pipeline.auditing.hashing import dvc_hash
from pipeline.auditing.project import Project, Recorded, sections
from pipeline.datasets.registry import GENERATED
from pipeline.errors import UserError
from pipeline.execution.repository import resolve_targets
from pipeline.files import read_json, run_info

Say = Callable[[str], None]
ALWAYS = ("pipeline", "profiles", "params.yaml", "raw/sources.yaml")
ASKED = ("study", "dataset", "model", "edition", "data", "code", "seed", "plan", "rows")
"""What no other version or processor changes."""
OTHER_MACHINE = 0.1
"""Relative difference that other versions may make where no repeats tell how much it is."""


def choose(project: Project, wanted: Sequence[str]) -> list[str]:
    """Stages by name or, for a number, as many at random of those that can run here."""
    addresses = [place for place, entry in project.recorded.items() if _is_study(entry)]
    possible = [place for place in addresses if _has_data(project, place)]
    chosen: dict[str, None] = {}
    for word in wanted:
        if word.isdecimal():
            count = min(int(word), len(possible))
            chosen.update(dict.fromkeys(random.SystemRandom().sample(possible, count)))
        else:
            chosen.update(dict.fromkeys(resolve_targets(addresses, [word])))
    return list(chosen)


def reruns(project: Project, places: Iterable[str], scratch: Path, say: Say) -> Check:
    check = Check("reruns", "Does a stage that runs again give the same bits?")
    for place in places:
        copy = scratch / "rerun" / place.replace("/", "_")
        shutil.rmtree(copy, ignore_errors=True)
        with check.reading(place, "it cannot be run again as things are here"):
            _Bench(project, copy, say).run(place)
            _compare(project, check, place, copy)
        shutil.rmtree(copy)
    return check


class _Bench:
    """The copy in which stages run again."""

    def __init__(self, project: Project, copy: Path, say: Say) -> None:
        self.project, self.copy, self.say = project, copy, say
        self.producers = {
            out: place for place, entry in project.recorded.items() for out in entry.outs
        }
        for path in ALWAYS:
            project.bring(path, copy)

    def run(self, place: str) -> None:
        entry = self.project.recorded[place]
        for path in entry.deps:
            if (self.copy / path).exists() or self.project.bring(path, self.copy):
                continue
            if path not in self.producers:
                raise UserError(f"{path}: is missing and no stage makes it; `git checkout {path}`")
            self.run(self.producers[path])  # data that is not here is made, or downloaded, first
        self.say(f"running again: {place}")
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", *entry.arguments],
            cwd=self.copy,
            capture_output=True,
            text=True,
            env={**os.environ, "DVC_NO_ANALYTICS": "1"},
        )
        if done.returncode:
            raise UserError(f"{place} cannot be run again: {done.stderr.strip()[-400:]}")


def _compare(project: Project, check: Check, place: str, copy: Path) -> None:
    outs = project.recorded[place].outs
    equal = [
        out for out, recorded in outs.items() if dvc_hash(copy / out, project.ignored) == recorded
    ]
    for out in outs:
        anew = copy / out
        if out in equal:
            check.ask(True, out, "", "")
        # Where one output has the same bits, versions and processor were the same.
        elif equal or same_kind(run_info(project.root / out), run_info(anew)):
            check.ask(
                False,
                out,
                f"{place} ran again and gave other bits, with the same versions and processor kind",
                f"`dvc repro --force {place}` and `git diff`",
            )
        elif out.endswith(".json"):
            _within_spread(project, check, out, read_json(project.root / out), read_json(anew))


def same_kind(before: Path, after: Path) -> bool:
    """Whether two runs had the same versions, processor kind and device."""
    if not (before.exists() and after.exists()):
        return True
    keys = ("versions", "cpu", "system", "device", "python")
    one, two = read_json(before), read_json(after)
    return all(one.get(key) == two.get(key) for key in keys)


def _within_spread(project: Project, check: Check, out: str, ours: Any, anew: Any) -> None:
    allowed = _spread(project, ours)
    check.notes.append(f"{out}: other versions or another processor; {allowed:.0%} is allowed.")
    for key in ASKED:
        check.ask(ours.get(key) == anew.get(key), f"{out}: {key}", "is another now", "`git log -p`")
    for (where, before), (_, after) in zip(errors_in(ours), errors_in(anew), strict=False):
        check.ask(
            math.isclose(before, after, rel_tol=allowed),
            f"{out}: {where}",
            f"is {before:.6g}, now {after:.6g}: further apart than the repeats spread",
            "`results/*.run.json` beside it has the versions it was made with",
        )


def _spread(project: Project, result: Any) -> float:
    """How far the same settings with other seeds lie apart."""
    path = project.files.result("repeats", result.get("dataset", ""), result.get("model", ""))
    if not path.exists():
        return OTHER_MACHINE
    repeats = read_json(path)
    return max(OTHER_MACHINE, repeats["max"] / repeats["min"] - 1)


def errors_in(result: Any) -> list[tuple[str, float]]:
    """Every `rmse` in a result, with its place."""
    return [
        (f"{where}rmse", float(part["rmse"]))
        for where, part in sections(result)
        if isinstance(part.get("rmse"), (int, float))
    ]


def _has_data(project: Project, place: str) -> bool:
    """Whether a stage's data is here, or can be had without a download."""
    _, dataset, *_ = project.recorded[place].arguments
    return dataset in GENERATED or project.files.table(dataset).exists()


def _is_study(entry: Recorded) -> bool:
    """Whether it is about a dataset, and not the report; a forged command is about nothing."""
    return len(entry.arguments) > 1 and entry.arguments[0] not in ("report", "check")
