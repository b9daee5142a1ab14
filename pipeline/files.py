"""Every path that a stage reads or writes, and the only way in which files are written.

A write goes to a temporary name in the same folder and is then renamed, so that a killed
run leaves either the old file or the new one, never half of one. The next write of the same file
removes what a killed one has left.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import UserError, remedy

try:
    import fcntl
except ImportError:  # not a POSIX system: what a killed write has left stays
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Files:
    """The project's layout below its root."""

    root: Path = Path()

    @property
    def params(self) -> Path:
        return self.root / "params.yaml"

    def profile(self, name: str) -> Path:
        return self.root / "profiles" / f"{name}.yaml"

    @property
    def sources(self) -> Path:
        return self.root / "raw" / "sources.yaml"

    @property
    def locks(self) -> tuple[Path, Path]:
        """DVC's lock files, one beside each dvc.yaml."""
        return self.root / "dvc.lock", self.root / "results" / "dvc.lock"

    def raw(self, dataset: str, edition: str) -> Path:
        """The folder with the raw files of one edition of a dataset."""
        return self.root / "raw" / dataset / edition

    def table(self, dataset: str) -> Path:
        return self.root / "data" / dataset / "table.parquet"

    def table_info(self, dataset: str) -> Path:
        """What there is to know of a table without opening it; git keeps it."""
        return self.result("data", dataset, "table")

    def result(self, study: str, dataset: str, name: str) -> Path:
        """The result of one stage; what varies from run to run goes to `run_info` beside it."""
        return self.root / "results" / study / dataset / f"{name}.json"

    def models(self, dataset: str) -> Path:
        """The folder of a dataset's trained networks, which DVC keeps in its cache."""
        return self.root / "data" / dataset / "models"

    def scratch(self, *parts: str) -> Path:
        """Checkpoints and logs that no stage depends on."""
        return self.root.joinpath("scratch", *parts)

    def of_dataset(self, dataset: str) -> list[Path]:
        """All that the stages and a person's hand have left of one dataset."""
        folders = [f"{place}/{dataset}" for place in ("raw", "raw/by_hand", "data", "results/*")]
        patterns = [*folders, f"reports/plots/*/{dataset}-*"]
        patterns += [f"scratch/*/{dataset}-*", f"scratch/logs/*@{dataset}[.-]*"]
        return sorted(path for pattern in patterns for path in self.root.glob(pattern))


def run_info(result: Path) -> Path:
    """Where the seconds, versions and device of the run that wrote `result` stand."""
    return result.with_suffix(".run.json")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it to `path` if the block succeeds."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise UserError(_cannot_write(path, error)) from error
    temporary = Path(name)
    try:
        _lock(handle)
        yield temporary
        temporary.chmod(0o644)
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
        f"{remedy(error)}, then run again"
    )


@contextmanager
def restoring(*paths: Path) -> Iterator[None]:
    """If the block fails, the files hold again what they held before."""
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    try:
        yield
    except BaseException:
        for path, content in before.items():
            path.unlink(missing_ok=True) if content is None else write_bytes(path, content)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> None:
    """Write JSON that is equal to the byte for equal content; NaN is refused."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, _FLAT_LIST.sub(_on_one_line, text) + "\n")


_FLAT_LIST = re.compile(r"\[\n\s+([^\[\]{}]*?)\n\s*\]")
"""A list of numbers or plain words: line breaks are structure, strings cannot hold them."""


def _on_one_line(match: re.Match[str]) -> str:
    return "[" + re.sub(r",\n\s+", ", ", match[1]) + "]"


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            f"{path}: does not exist; `dvc repro` makes it, or `dvc checkout` restores it"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}: line {error.lineno}: not valid JSON ({error.msg}); the file is damaged, "
            "restore it with `git checkout` or run its stage again"
        ) from error
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, a thousand brackets
        raise UserError(
            f"{path}: not JSON that a stage writes; `git checkout` restores it"
        ) from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(content: Any) -> str:
    """A short name for a JSON-like value: the key of a checkpoint."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_digest(root: Path, sources: Iterable[str]) -> str:
    """The digest of the Python files named by `sources` (files or folders below `root`)."""
    total = hashlib.sha256()
    for source in sorted(sources):
        path = root / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            total.update(file.relative_to(root).as_posix().encode() + b"\0")
            total.update(file.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def open_parser(path: Path, read: Callable[[Path], Any], what: str) -> Any:
    """Call `read(path)`; turn what a library raises on a damaged file into one clear error."""
    if not path.exists():
        raise UserError(f"{path}: does not exist; `dvc repro` makes it, or `dvc checkout` does")
    try:
        return read(path)
    except UserError:
        raise
    except Exception as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{path}: not a readable {what} ({first_line}); delete it and run `dvc repro`"
        ) from error
