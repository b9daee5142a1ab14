"""The project as an audit sees it: what dvc.yaml asks for, and what the lock files record."""

from __future__ import annotations

import fnmatch
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline import settings
from pipeline.errors import UserError
from pipeline.execution.repository import address, open_repository, relative
from pipeline.files import Files, read_text

LOCKS = {"dvc.yaml": "dvc.lock", "results/dvc.yaml": "results/dvc.lock"}
SEAL = "results/SHA256SUMS"


@dataclass(frozen=True)
class Definition:
    """A stage as dvc.yaml, resolved with the parameters, defines it."""

    lock: str
    command: str
    deps: frozenset[str]
    outs: Mapping[str, bool]
    """Path: whether DVC's cache keeps it; otherwise git does."""
    params: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Recorded:
    """A stage as its lock file records it; hashes by path."""

    command: str
    deps: Mapping[str, str]
    outs: Mapping[str, str]
    params: Mapping[str, Mapping[str, Any]]

    @property
    def code(self) -> list[str]:
        return [path for path in self.deps if path.startswith("pipeline/")]

    @property
    def arguments(self) -> list[str]:
        """`python -m pipeline train schools lc` -> train, schools, lc."""
        return self.command.split()[3:]


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.files = Files(self.root)
        self.settings = settings.load(self.files)
        self._parameters: dict[str, Any] = {}

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        from dvc.dependency.param import ParamsDependency
        from dvc.exceptions import DvcException

        repo = open_repository(self.root)
        try:
            stages = [stage for stage in repo.index.stages if stage.cmd]
        except DvcException as error:
            raise UserError(f"dvc.yaml: DVC cannot read the pipeline ({error})") from error
        definitions = {}
        for stage in stages:
            params = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
            others = [dep for dep in stage.deps if not isinstance(dep, ParamsDependency)]
            definitions[address(stage)] = Definition(
                LOCKS.get(stage.path_in_repo, "dvc.lock"),
                stage.cmd,
                frozenset(map(relative, others)),
                {relative(out): bool(out.use_cache) for out in stage.outs},
                {relative(dep): frozenset(dep.params) for dep in params},
            )
        return definitions

    @cached_property
    def recorded(self) -> dict[str, Recorded]:
        """By the stage's address, as in `definitions`."""
        entries = {}
        for pipeline, lock in LOCKS.items():
            for name, entry in _entries(lock, self.yaml(lock)).items():
                entries[name if pipeline == "dvc.yaml" else f"{pipeline}:{name}"] = entry
        return entries

    def yaml(self, path: str) -> Any:
        """A YAML file as DVC reads it: version 1.2, in which 1e-8 is a number."""
        from dvc.utils.serialize import YAMLFileCorruptedError, parse_yaml

        file = self.root / path
        if not file.exists():
            return {}
        try:
            return parse_yaml(file.read_text(encoding="utf-8"), str(file)) or {}
        except (YAMLFileCorruptedError, UnicodeDecodeError) as error:
            raise UserError(
                f"{path}: not valid YAML ({error}); restore it with `git checkout {path}`"
            ) from error

    @cached_property
    def _ignore_patterns(self) -> list[str]:
        path = self.root / ".dvcignore"
        lines = read_text(path).splitlines() if path.exists() else []
        return [line.strip("/ ") for line in lines if line.strip() and not line.startswith("#")]

    def ignored(self, path: Path) -> bool:
        """Whether .dvcignore leaves a path out of every folder's hash."""
        return any(fnmatch.fnmatch(path.name, pattern) for pattern in self._ignore_patterns)

    def value(self, file: str, key: str) -> Any:
        """What stands under `a.b.c` in a parameter file; None if nothing does."""
        if file not in self._parameters:
            self._parameters[file] = self.yaml(file)
        content = self._parameters[file]
        for part in key.split("."):
            if not isinstance(content, dict) or part not in content:
                return None
            content = content[part]
        return content

    @cached_property
    def locked_versions(self) -> dict[str, str]:
        """What requirements.lock pins."""
        path = self.root / "requirements.lock"
        text = read_text(path) if path.exists() else ""
        return dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", text))

    def bring(self, path: str, copy: Path) -> bool:
        """Copy a file or folder to its place in a scratch copy; whether it is here at all."""
        source, target = self.root / path, copy / path
        if not source.exists():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            # Links as links: one that leads nowhere, an editor's for one, is no reason to end.
            shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
        return True


class _Hashed(BaseModel):
    path: str
    md5: str


class _Entry(BaseModel):
    cmd: str
    deps: tuple[_Hashed, ...] = ()
    outs: tuple[_Hashed, ...] = ()
    params: dict[str, dict[str, Any]] = {}


class _Lock(BaseModel):
    """What a lock file holds of what the audit reads."""

    stages: dict[str, _Entry] = {}


def _entries(lock: str, content: Any) -> dict[str, Recorded]:
    try:
        stages = _Lock.model_validate(content).stages
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise UserError(
            f"{lock}: {place}: not what DVC writes; restore it with `git checkout {lock}`"
        ) from error
    return {
        name: Recorded(
            entry.cmd,
            {dep.path: dep.md5 for dep in entry.deps},
            {out.path: out.md5 for out in entry.outs},
            entry.params,
        )
        for name, entry in stages.items()
    }


def sections(content: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of a result that has named values, with its place: `groups.0.fits.`."""
    if isinstance(content, dict):
        yield where, content
    elif isinstance(content, list):
        content = dict(enumerate(content))
    else:
        return
    for key, value in content.items():
        yield from sections(value, f"{where}{key}.")
