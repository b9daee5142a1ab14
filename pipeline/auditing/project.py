"""The project as an audit sees it: its files, its settings, and what DVC recorded."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from pipeline import settings
from pipeline.execution.dvc_adapter.recorded import RecordedStage, Records
from pipeline.files import Files, read_text
from pipeline.studies import STUDIES

SEAL = "results/SHA256SUMS"
CODE = ("learned_context", "pipeline")


class Project:
    def __init__(self, root: Path, say: Callable[[str], None] = lambda what: None) -> None:
        self.root = root.resolve()
        self.say = say
        self.files = Files(self.root)
        self.settings = settings.load(self.files)
        self.records = Records(self.root)

    @property
    def scratch(self) -> Path:
        """Where an audit makes things again; it changes nothing else."""
        return self.files.scratch("audit")

    @cached_property
    def study_stages(self) -> dict[str, tuple[str, str, str]]:
        """Of every stage of a study: the study, the dataset and the model."""
        params = self.settings.params
        return {
            study.address(params, dataset, model): (study.name, dataset, model)
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
        if not stage.ran:
            renamed = {path for outs in self.records.undefined.values() for path in outs}
            here = {path for path in stage.in_git if (self.root / path).exists()}
            return "" if here - renamed else "it has never run, or had another name"
        if stage.command_changed:
            return "its command changed"
        for path, recorded in {**stage.deps, **stage.outs}.items():
            if recorded is None:
                return f"{path} is new"
        for path, recorded in stage.deps.items():
            if path.startswith(CODE) and self.records.hash_of(self.root / path) != recorded:
                return f"{path} changed"
        return ", ".join(sorted(f"{file}: {key} is new" for file, key in stage.new_params))

    @cached_property
    def report_is_stale(self) -> bool:
        """Whether other code made the report: its pages then differ for that reason alone."""
        return any(place.startswith(("check", "report@")) for place in self.stale)

    @cached_property
    def locked_versions(self) -> dict[str, str]:
        """What requirements.lock pins."""
        path = self.root / "requirements.lock"
        text = read_text(path) if path.exists() else ""
        return dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", text))

    def pipeline(self, *words: str, folder: Path) -> str:
        """Run a command of the pipeline in a scratch copy; the end of its errors if it fails."""
        command = [sys.executable, "-m", "pipeline", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return done.stderr.strip()[-400:] or "no reason given" if done.returncode else ""

    def bring(self, path: str, copy: Path) -> bool:
        """Copy a file or folder to its place in a scratch copy; whether it is here at all."""
        source, target = self.root / path, copy / path
        if not source.exists():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            # Links as links: one that leads nowhere, an editor's for example, must not end it.
            shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
        return True
