"""The project as an audit sees it: its settings, what DVC recorded, and the studies' results."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline import settings
from pipeline.execution.dvc_adapter.recorded import RecordedStage, Records
from pipeline.files import Files, read_text
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import StudyResult
from pipeline.studies.plumbing.basis import Basis
from pipeline.studies.plumbing.running import read_inputs
from pipeline.studies.plumbing.study import Study
from pipeline.tables.description import TableDescription, read_description

CODE = ("learned_context", "pipeline")
NEEDED = (*CODE, "profiles", "params.yaml", "raw/sources.yaml")
"""By every stage."""


class Project:
    def __init__(self, root: Path, say: Callable[[str], None] = lambda what: None) -> None:
        self.root = root.resolve()
        self.say = say
        self.files = Files(self.root)
        self.settings = settings.load(self.files)
        self.records = Records(self.root)
        self.scratch = self.files.scratch("audit")

    @cached_property
    def results(self) -> dict[str, AuditedResult]:
        """By the addresses of the stages that the studies declare; each is read once."""
        params = self.settings.params
        return {
            study.address(params, dataset, model): AuditedResult(self, study, dataset, model)
            for study in STUDIES.values()
            for dataset in params.datasets
            for model in study.models(params)
        }

    @cached_property
    def stale(self) -> dict[str, str]:
        """Stages that other code made than what is here, each with the reason.

        Honest results become stale when the code changes; a stale stage's inputs, parameters and
        shape are no longer comparable with what the code of today would read and write.
        """
        reasons = dict.fromkeys(self.records.undefined, "dvc.yaml does not define it any more")
        for place, stage in self.records.stages.items():
            reasons[place] = self._why_stale(stage)
        return {place: reason for place, reason in reasons.items() if reason}

    @property
    def current(self) -> dict[str, RecordedStage]:
        """The stages that today's code made."""
        stages = self.records.stages
        return {place: stage for place, stage in stages.items() if place not in self.stale}

    def _why_stale(self, stage: RecordedStage) -> str:
        """Never for another value or another result: those are findings."""
        if not stage.ran:
            renamed = {path for outs in self.records.undefined.values() for path in outs}
            here = {path for path in stage.in_git if (self.root / path).exists()}
            return "" if here - renamed else "it has never run, or had another name"
        if stage.command_changed:
            return "its command changed"
        if stage.new:
            return f"{stage.new[0]} is new"
        code = {path: recorded for path, recorded in stage.deps.items() if path.startswith(CODE)}
        changed = [path for path in code if self.records.hash_of(path) != code[path]]
        return f"{changed[0]} changed" if changed else ""

    @cached_property
    def locked_versions(self) -> dict[str, str]:
        """What requirements.lock pins."""
        path = self.root / "requirements.lock"
        text = read_text(path) if path.exists() else ""
        return dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", text))

    def copy(self, name: str, *further: str) -> Path:
        """A new scratch copy of the code, the settings and what else is asked for."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        for path in (*NEEDED, *further):
            self.bring(path, folder)
        return folder

    def bring(self, path: str, copy: Path) -> bool:
        """Copy a file or folder to its place in a scratch copy; whether it is here at all."""
        source, target = self.root / path, copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            # Links as links: one that leads nowhere, an editor's for example, must not end it.
            shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy2(source, target)
        return source.exists()


def run_in(folder: Path, *words: str) -> str:
    """Run a command of the pipeline in a scratch copy; the end of its errors if it fails."""
    command = [sys.executable, "-m", "pipeline", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stderr.strip()[-400:] or "no reason given" if done.returncode else ""


@dataclass(frozen=True)
class AuditedResult:
    """One stage's result, with what it follows from."""

    project: Project
    study: Study[Any]
    dataset: str
    model: str

    @property
    def place(self) -> str:
        return self.study.address(self.project.settings.params, self.dataset, self.model)

    @property
    def path(self) -> str:
        return self.study.path(Files(), self.dataset, self.model).as_posix()

    @property
    def look(self) -> str:
        rerun = f"`python -m pipeline audit --rerun {self.place}` recomputes it"
        return f"`git log -p -- {self.path}` shows when it changed; {rerun}"

    @property
    def stale(self) -> bool:
        return self.place in self.project.stale

    @cached_property
    def content(self) -> StudyResult:
        return self.study.read(self.project.files, self.dataset, self.model)

    @cached_property
    def table(self) -> TableDescription:
        return read_description(self.project.files, self.dataset)

    @cached_property
    def basis(self) -> Basis:
        files, settings = self.project.files, self.project.settings
        inputs = read_inputs(self.study, files, settings, self.dataset, self.model)
        return Basis(settings, self.table, inputs)
