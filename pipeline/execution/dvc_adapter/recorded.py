"""What the lock files record of every stage, next to what dvc.yaml now defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dvc.dependency.param import ParamsDependency
from dvc.fs import LocalFileSystem
from dvc_data.hashfile.build import build
from dvc_data.hashfile.db import HashFileDB

from pipeline.execution.addresses import PIPELINE_FILE
from pipeline.execution.dvc_adapter.repository import (
    CANNOT_LOAD,
    address,
    errors_for_people,
    open_repository,
    relative,
)
from pipeline.files import read_yaml

Parameter = tuple[str, str]
"""A file and a key in it: `params.yaml`, `seeds.train`."""
RESTORE = "git checkout -- dvc.yaml dvc.lock results/dvc.yaml results/dvc.lock"


@dataclass(frozen=True)
class RecordedStage:
    """Paths and parameters are those of dvc.yaml; hashes and values those of the lock file."""

    command: str
    command_changed: bool
    deps: Mapping[str, str | None]
    outs: Mapping[str, str | None]
    in_git: frozenset[str]
    """The outputs that git keeps, rather than DVC's cache."""
    params: Mapping[Parameter, Any]
    new: tuple[str, ...]
    """Dependencies, outputs and parameters that the lock file lacks."""

    @property
    def ran(self) -> bool:
        return any(self.outs.values())

    @property
    def arguments(self) -> list[str]:
        """`python -m pipeline train schools lc` -> train, schools, lc."""
        return self.command.split()[3:]


class Records:
    """DVC's answers for one repository; nothing is written and no state of DVC is trusted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._repo = open_repository(root)
        self.hash_of = cache(self._hash_of)
        self._parameters = cache(lambda file: read_yaml(root / file))

    @cached_property
    def stages(self) -> dict[str, RecordedStage]:
        """Every stage with a command, by its address."""
        return {address(stage): _recorded(stage) for stage in self._stages}

    @cached_property
    def undefined(self) -> dict[str, dict[str, str]]:
        """Stages that a lock file records and dvc.yaml does not define: the hashes they wrote."""
        found: dict[str, dict[str, str]] = {}
        locks = {stage.path_in_repo: stage.dvcfile._lockfile for stage in self._stages}
        for path, lock in locks.items():
            prefix = "" if path == PIPELINE_FILE else f"{path}:"
            for name, entry in lock.load().get("stages", {}).items():
                if prefix + name not in self.stages:
                    outs = {out["path"]: out.get("md5", "") for out in entry.get("outs", ())}
                    found[prefix + name] = outs
        return found

    @cached_property
    def written(self) -> dict[str, tuple[str, str]]:
        """Every recorded output: the stage that wrote it last, and its hash."""
        defined = {place: stage.outs for place, stage in self.stages.items()}
        return {
            path: (place, recorded)
            for place, outs in {**self.undefined, **defined}.items()
            for path, recorded in outs.items()
            if recorded
        }

    @cached_property
    def _stages(self) -> list[Any]:
        # DVC names the file: `./results/dvc.lock validation failed`.
        with errors_for_people(CANNOT_LOAD, f"restore its files with `{RESTORE}`"):
            return [stage for stage in self._repo.index.stages if stage.cmd]

    def _hash_of(self, name: Path | str) -> str | None:
        """The hash that DVC would record for a file or a folder, computed from its bytes."""
        files, path = LocalFileSystem(), self.root / name
        inside = path.is_relative_to(self.root) and "scratch" not in path.parts
        ignore = self._repo.dvcignore if inside else None
        odb = HashFileDB(files, "")
        try:
            built = build(odb, str(path), files, "md5", ignore=ignore, dry_run=True)
        except OSError:  # a link that leads nowhere
            return None
        return str(built[2].hash_info.value)

    def in_cache(self, recorded: str) -> bool:
        """Whether `dvc checkout` can bring back what has this hash."""
        return bool(self._repo.cache.local.exists(recorded))

    def parameter(self, file: str, key: str) -> Any:
        """The value now; None where there is none."""
        content = self._parameters(file)
        for part in key.split("."):
            content = content.get(part) if isinstance(content, dict) else None
        return content


def _recorded(stage: Any) -> RecordedStage:
    params = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
    needed = {(relative(dep), key) for dep in params for key in dep.params}
    values = {
        (relative(dep), key): value
        for dep in params
        for key, value in (dep.hash_info.value or {}).items()
    }
    deps = {relative(dep): dep.hash_info.value for dep in stage.deps if dep not in params}
    outs = {relative(out): out.hash_info.value for out in stage.outs}
    new = [path for path, recorded in {**deps, **outs}.items() if recorded is None]
    return RecordedStage(
        command=stage.cmd,
        command_changed=bool(stage.cmd_changed),
        deps=deps,
        outs=outs,
        in_git=frozenset(relative(out) for out in stage.outs if not out.use_cache),
        params=values,
        new=(*new, *(f"{file}: {key}" for file, key in sorted(needed - values.keys()))),
    )
