"""DVC's hashes, computed anew: DVC itself trusts a file's time and size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

Ignored = Callable[[Path], bool]


def dvc_hash(path: Path, ignored: Ignored) -> str:
    """The `md5` that dvc.lock records for a file or a folder."""
    if not path.is_dir():
        return _md5(path)
    entries = [
        {"md5": _md5(file), "relpath": file.relative_to(path).as_posix()}
        for file in files_below(path, ignored)
    ]
    entries.sort(key=lambda entry: entry["relpath"])
    text = json.dumps(entries, sort_keys=True)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() + ".dir"


def files_below(folder: Path, ignored: Ignored) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if ignored(path):
            continue
        if path.is_dir() and not path.is_symlink():  # a link may lead around in circles
            yield from files_below(path, ignored)
        else:
            yield path


def _md5(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:  # a link that leads nowhere: no hash is that of nothing
        return f"none ({error.strerror})"
