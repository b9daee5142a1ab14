"""Files are written whole or not at all.

A write goes to a temporary name in the same folder and is then renamed, so that a killed
run leaves either the old file or the new one, never half of one. The next write of the same file
removes what a killed one has left.
"""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from learned_context.errors import UserError, remedy

try:
    import fcntl
except ImportError:  # not a POSIX system: what a killed write has left stays
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it to `path` if the block succeeds."""
    if path.is_dir():
        raise UserError(f"{path}: cannot be written, it is a folder; name a file in it")
    if path.exists() and not path.is_file():  # root would replace /dev/null for all users
        raise UserError(f"{path}: cannot be written, it is a device, pipe or socket; name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        # Not `tempfile`, whose files only their owner may read: the umask decides.
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    except OSError as error:
        raise UserError(_cannot_write(path, error)) from error
    try:
        _lock(handle)
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UserError(_cannot_write(path, error)) from error
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def _lock(handle: int) -> bool:
    """Mark a temporary file as in use; the system takes the mark back however the writer ends."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # in use, or a file system without locks
        return False
    return True


def _remove_abandoned(path: Path) -> None:
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with suppress(OSError), left.open("rb") as file:
            if _lock(file.fileno()):
                left.unlink()


def _cannot_write(path: Path, error: OSError) -> str:
    return (
        f"{path}: cannot be written ({error.strerror or error}); nothing was changed: "
        f"{remedy(error)}, then try again"
    )


def write_bytes(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def parse_file(path: Path, read: Callable[[Path], Any], what: str, remedy: str) -> Any:
    """Call `read(path)`; turn what a library raises on a damaged file into one clear error."""
    try:
        return read(path)
    except UserError:
        raise
    except Exception as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: not a readable {what} ({first_line}); {remedy}") from error
