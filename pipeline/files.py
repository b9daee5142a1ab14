"""Every path that a stage reads or writes, and how text and JSON are read and written."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError

from learned_context.errors import UserError
from learned_context.files import parse_file, write_bytes

LARGEST_YAML = 4 * 2**20
"""Bytes. The largest that people write, raw/sources.yaml, has 10 thousand."""


DEEPEST = 100
"""Levels of a YAML file."""


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

    @property
    def validated(self) -> Path:
        """The output of the first stage, which checks the settings."""
        return self.root / "results" / "validated.json"

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


BY_PEOPLE = (
    "reports/notebooks/*.ipynb",
    "reports/paper.yaml",
    "results/benchmarks/*.json",
    "results/dvc.yaml",
)


def by_people(root: Path) -> set[str]:
    """The files below results/ and reports/ that no stage writes."""
    found = (path for pattern in BY_PEOPLE for path in root.glob(pattern))
    return {path.relative_to(root).as_posix() for path in found}


def run_info(result: Path) -> Path:
    """Where the seconds, versions and device of the run that wrote `result` stand."""
    return result.with_suffix(".run.json")


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
            f"{path}: does not exist; `git checkout {shlex.quote(str(path))}` restores it if git "
            "has it, `dvc repro` makes it"
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


def read_yaml(path: Path) -> Any:
    """The content as DVC understands it: by the same parser, so `010` is 10 to both."""
    if path.is_file() and path.stat().st_size > LARGEST_YAML:
        raise UserError(
            f"{path}: has {path.stat().st_size // 2**20} MB, and a file of settings at most "
            f"{LARGEST_YAML // 2**20}; restore it with `git checkout {shlex.quote(str(path))}`"
        )
    return parse_yaml(str(path), read_text(path))


def parse_yaml(where: str, text: str) -> Any:
    """`where` names the text in an error."""
    if _too_deep(text):  # the parser is recursive, and written in C
        raise UserError(f"{where}: not valid YAML (more than {DEEPEST} levels)")
    try:
        return YAML(typ="safe").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        if isinstance(error, DuplicateKeyError):
            # ruamel: found duplicate key "noise" with value "2" (original value: "1")
            raise UserError(f"{where}: {line}{problem}; remove one of the two lines") from error
        raise UserError(f"{where}: {line}not valid YAML ({problem})") from error
    except (ValueError, RecursionError, TypeError) as error:  # such as the thirteenth month
        raise UserError(f"{where}: not valid YAML ({error})") from error


def _too_deep(text: str) -> bool:
    """A bound from above: brackets, dashes and indentation, in quotes or not."""
    depth = 0
    for char in re.findall(r"[\[\]{}]", text):
        depth += 1 if char in "[{" else -1
        if depth > DEEPEST:
            return True
    return (
        re.search(rf"([-?:]\s+){{{DEEPEST}}}|^ {{{DEEPEST * 2}}}", text, re.MULTILINE) is not None
    )


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
        raise UserError(f"{path}: does not exist; `dvc repro` makes it")
    return parse_file(path, read, what, "delete it and run `dvc repro`")
