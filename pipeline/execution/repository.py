"""The DVC repository as the runner sees it: addresses, targets and DVC's own lock."""

from __future__ import annotations

import difflib
import fnmatch
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline.errors import UserError

PIPELINE_FILE = "dvc.yaml"
Say = Callable[[str], None]


def open_repository(root: Path) -> Any:
    """Open the DVC repository at or above `root`."""
    from dvc.config import ConfigError
    from dvc.exceptions import NotDvcRepoError
    from dvc.repo import Repo
    from dvc.scm import SCMError

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


def short_name(stage_address: str) -> str:
    """`results/dvc.yaml:repeats@schools` -> `repeats@schools`."""
    return stage_address.rsplit(":", 1)[-1]


def kind(stage_address: str) -> str:
    """What the stages of one matrix have in common: `repeats@schools` -> `repeats`."""
    return short_name(stage_address).split("@", 1)[0]


def file_name(stage_address: str) -> str:
    """A readable file name for a stage's log."""
    return re.sub(r"[^\w@.+-]", "_", stage_address.replace(f"/{PIPELINE_FILE}:", "."))


def relative(item: Any) -> str:
    """The path of a dependency or output, seen from the repository's root."""
    root = Path(item.repo.root_dir)
    path = Path(item.fs_path)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def resolve_targets(addresses: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Turn addresses, short names, kinds and globs into addresses."""
    found: dict[str, None] = {}
    for target in targets:
        matches = [
            one
            for one in addresses
            if fnmatch.fnmatchcase(one, target)
            or fnmatch.fnmatchcase(short_name(one), target)
            or kind(one) == target
        ]
        if not matches:
            names = sorted({*addresses, *map(short_name, addresses), *map(kind, addresses)})
            near = difflib.get_close_matches(target, names, n=5, cutoff=0.5)
            hint = f"did you mean {', '.join(near)}?" if near else "`dvc stage list --all` has all"
            raise UserError(f"{target}: no such stage; {hint}")
        found.update(dict.fromkeys(matches))
    return list(found)


@contextmanager
def locked(repo: Any, say: Say) -> Iterator[None]:
    """Hold DVC's repository lock; wait for it when another DVC command has it."""
    from dvc.lock import LockError

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
        repo._reset()
        yield
    finally:
        repo._reset()
        repo._lock_depth -= 1
        repo.lock.unlock()


def drop_damaged_rwlock(repo: Any) -> None:
    """Remove DVC's table of busy files if a killed process left half of it.

    DVC writes it in place and refuses to work when it cannot be parsed. Call under the lock.
    """
    table = Path(repo.tmp_dir, "rwlock")
    try:
        json.loads(table.read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except ValueError:
        table.unlink()
