"""DVC's part of a stage: what `dvc repro` does before and after the command.

The command itself runs elsewhere, without DVC's lock, so that other DVC commands work while the
stages run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc.env import DVC_ROOT, DVC_STAGE
from dvc.exceptions import DvcException
from dvc.stage.cache import RunCacheNotFoundError
from dvc.stage.run import _enforce_cmd_list, _make_cmd, get_executable
from dvc.stage.serialize import to_lockfile

from pipeline.execution.addresses import file_name
from pipeline.execution.command import Job
from pipeline.execution.dvc_adapter.busy import BusyFiles
from pipeline.execution.dvc_adapter.lockfile import LockFile
from pipeline.execution.dvc_adapter.repository import Say, locked, relative
from pipeline.execution.dvc_adapter.status import why_stale
from pipeline.execution.gpus import GpuRules
from pipeline.execution.lifeline import RunLock
from pipeline.execution.planning import PlannedStage, RunPlan, StageOutcome


class Recorder:
    def __init__(
        self, repo: Any, plan: RunPlan, run_lock: RunLock, gpus: GpuRules, say: Say
    ) -> None:
        self.repo = repo
        self.run_lock = run_lock
        self.gpus = gpus
        self.say = say
        self.scratch = run_lock.path.parent
        self.busy = BusyFiles(repo)
        self.seconds = 0.0  # what DVC's own work has cost
        self._lock_files = {
            path: LockFile(Path(path).with_suffix(".lock"), names, self.scratch)
            for path, names in plan.order.items()
        }
        self._hashes: dict[str, dict[str, Any]] = {}

    @contextmanager
    def _working(self) -> Iterator[None]:
        started = time.monotonic()
        try:
            with locked(self.repo, self.say):
                yield
        finally:
            self.seconds += time.monotonic() - started

    def restore(self, outputs: Sequence[Any]) -> None:
        """Bring back missing outputs from the cache, as `dvc checkout` does."""
        with self._working():
            for out in outputs:
                out.checkout(force=True)

    def start(self, step: PlannedStage) -> Job | StageOutcome:
        """Decide what the stage needs now; prepare its folder if its command must run."""
        try:
            with self._working(), self.repo.scm_context(quiet=True):
                return self._start(step)
        except (DvcException, OSError) as error:
            return StageOutcome("failed", message=_one_line(error))

    def _start(self, step: PlannedStage) -> Job | StageOutcome:
        stage = step.stage
        changed = why_stale(stage, step.upstream) if step.only_if_changed else stage.changed()
        if not changed:
            return StageOutcome("unchanged")
        if stage.frozen or not stage.cmd:  # or a file added by hand: DVC takes hashes
            stage.reproduce()
            stage.dump(update_pipeline=False)
            return StageOutcome("ran")
        stage.remove_outs(ignore_remove=False, force=False)
        if self._restored_from_run_cache(stage):
            stage.save_deps()
            self._save_outputs(stage)
            self._write([stage])
            return StageOutcome("restored")
        stage.save_deps()
        self._hashes[step.address] = _dependency_hashes(stage)
        job = self._job(step)
        self.busy.hold(step.address, stage)
        return job

    def _restored_from_run_cache(self, stage: Any) -> bool:
        if not _has_run_cache(stage):
            return False
        try:
            self.repo.stage_cache.restore(stage)
        except RunCacheNotFoundError:
            return False
        return True

    def finish(self, ended: Sequence[tuple[PlannedStage, float]]) -> dict[str, StageOutcome]:
        """Record stages whose commands have succeeded, all of one dvc.yaml in one go."""
        outcomes: dict[str, StageOutcome] = {}
        saved: list[PlannedStage] = []
        with self._working():
            for step, seconds in ended:
                self.busy.release(step.address)
                try:
                    with self.repo.scm_context(quiet=True):
                        self._refuse_changed_dependencies(step)
                        self._save_outputs(step.stage)
                    saved.append(step)
                    outcomes[step.address] = StageOutcome("ran", seconds)
                except (DvcException, OSError) as error:
                    outcomes[step.address] = StageOutcome("failed", seconds, _one_line(error))
            try:
                with self.repo.scm_context(quiet=True):
                    self._write([step.stage for step in saved])
            except OSError as error:  # the lock file is whole or not at all: they run again
                for step in saved:
                    outcomes[step.address] = StageOutcome("failed", message=_one_line(error))
        return outcomes

    def _refuse_changed_dependencies(self, step: PlannedStage) -> None:
        step.stage.save_deps()
        before = self._hashes.pop(step.address)
        for name, value in _dependency_hashes(step.stage).items():
            if before[name] != value:
                raise DvcException(
                    f"its dependency {name} changed while it ran; nothing is recorded, run again"
                )

    def _save_outputs(self, stage: Any) -> None:
        # What `Stage.run` does after the command, without hashing the dependencies once more.
        stage.save_outs()
        stage.md5 = stage.compute_md5()
        if _has_run_cache(stage):
            self.repo.stage_cache.save(stage)
        stage.commit()

    def _write(self, stages: Sequence[Any]) -> None:
        files: dict[str, dict[str, Any]] = {}
        for stage in stages:
            files.setdefault(stage.path, {}).update(to_lockfile(stage))
        for path, entries in files.items():
            if self._lock_files[path].update(entries):
                self.repo.scm_context.track_file(str(self._lock_files[path].path))

    def _job(self, step: PlannedStage) -> Job:
        stage = step.stage
        shell = get_executable()
        progress = self.progress_file(step)
        progress.parent.mkdir(parents=True, exist_ok=True)
        progress.unlink(missing_ok=True)
        return Job(
            address=step.address,
            commands=tuple(tuple(_make_cmd(shell, cmd)) for cmd in _enforce_cmd_list(stage.cmd)),
            folder=stage.wdir,
            variables={
                DVC_ROOT: self.repo.root_dir,
                DVC_STAGE: step.address,
                "PIPELINE_PROGRESS": str(progress),
            },
            log=str(self.log_file(step)),
            removed_first=tuple(out.fs_path for out in stage.outs if not out.persist),
            run_lock=str(self.run_lock.path),
            run_id=self.run_lock.run_id,
            gpus=self.gpus,
        )

    def log_file(self, step: PlannedStage) -> Path:
        return self.scratch / "logs" / f"{file_name(step.address)}.log"

    def progress_file(self, step: PlannedStage) -> Path:
        return self.scratch / "progress" / f"{file_name(step.address)}.txt"


def _has_run_cache(stage: Any) -> bool:
    """As `Stage.run` has it: not with an output outside the cache, unless metric or plot."""
    return all(out.use_cache or out.is_metric or out.is_plot for out in stage.outs)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _dependency_hashes(stage: Any) -> dict[str, Any]:
    return {relative(dep): dep.hash_info for dep in stage.deps}
