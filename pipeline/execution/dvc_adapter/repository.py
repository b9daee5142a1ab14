"""The repository: opening it, its lock, its graph of stages, and how stages are called."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc.config import ConfigError
from dvc.exceptions import DvcException, NotDvcRepoError
from dvc.lock import LockError
from dvc.repo import Repo
from dvc.repo.reproduce import get_active_graph
from dvc.scm import SCMError

from learned_context.errors import UserError
from pipeline.execution.addresses import PIPELINE_FILE

Say = Callable[[str], None]


def open_repository(root: Path) -> Any:
    """Open the DVC repository at or above `root`."""
    # DVC's progress bars and warnings would tear the live display; its errors are exceptions.
    logging.getLogger("dvc").setLevel(logging.CRITICAL)
    try:
        return Repo(str(root))
    except NotDvcRepoError as error:
        raise UserError(
            f"{root}: not inside a DVC repository; run this in the project's root folder"
        ) from error
    except SCMError as error:
        raise UserError(
            f"{root}: not a git repository ({error}); get it with `git clone`"
        ) from error
    except (UnicodeDecodeError, ConfigError) as error:
        raise UserError(
            f"{root}: DVC cannot read .dvcignore or .dvc/config ({error}); restore them with "
            "`git checkout .dvcignore .dvc/config`"
        ) from error


def address(stage: Any) -> str:
    """The name under which DVC knows a stage, seen from the repository's root."""
    name = getattr(stage, "name", None)
    if name is None:
        return str(stage.path_in_repo)
    return name if stage.path_in_repo == PIPELINE_FILE else f"{stage.path_in_repo}:{name}"


def relative(item: Any) -> str:
    """The path of a dependency or output, seen from the repository's root."""
    root = Path(item.repo.root_dir)
    path = Path(item.fs_path)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


@contextmanager
def locked(repo: Any, say: Say) -> Iterator[None]:
    """Hold DVC's repository lock; wait for it when another DVC command has it."""
    told = False
    while True:
        try:
            repo.lock.lock()
            break
        except LockError:
            if not told:
                say("Waiting for DVC's lock: another DVC command is running in this repository.")
                told = True
    repo._lock_depth += 1  # so that DVC's own locked methods do not lock again
    try:
        _drop_damaged_rwlock(repo)
        repo._reset()
        yield
    finally:
        repo._reset()
        repo._lock_depth -= 1
        repo.lock.unlock()


def _drop_damaged_rwlock(repo: Any) -> None:
    """Remove DVC's table of busy files if a killed process left half of it.

    DVC writes it in place and refuses to work when it cannot be parsed.
    """
    table = Path(repo.tmp_dir, "rwlock")
    try:
        json.loads(table.read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except ValueError:
        table.unlink()


CANNOT_LOAD = "DVC cannot load the pipeline"


def stage_graph(repo: Any) -> Any:
    """DVC's graph; an edge goes from a stage to one that it depends on."""
    with errors_for_people(CANNOT_LOAD):
        return get_active_graph(repo.index.graph)


@contextmanager
def errors_for_people(
    what: str = "DVC", remedy: str = "fix this, then run again"
) -> Iterator[None]:
    """What DVC refuses, as an error of one line."""
    try:
        yield
    except DvcException as error:
        text = " ".join(str(error).split())
        raise UserError(f"{what}: {text}; {remedy}") from error
