"""A scratch clone, attempts in it, and what is a good ending.

A good ending is the expected one: the exit code, one line of error that names the right thing, no
traceback, and no file of git's or the user's lost or changed.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import yaml

from learned_context.errors import UserError
from pipeline.__main__ import main
from pipeline.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SECONDS = 1200
"""After which a command counts as hanging, also on a busy machine."""
PARAMS, LOCK_FILES = "params.yaml", ("dvc.lock", "results/dvc.lock")
NOTES = {"notes.md": "my notes\n", "raw/by_hand/keep/measured.csv": "a,b\n1,2\n"}
"""Files of the user's in every scratch clone, one of them where git ignores it."""


@dataclass(frozen=True)
class Ending:
    code: int
    out: str = ""
    err: str = ""

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Attempt:
    ends: Literal["refused", "works", "dvc refuses"]
    name: str
    act: Callable[[Scratch], Ending]
    says: str = ""
    """A regular expression that the output must match."""
    prepare: Callable[[Scratch], object] = lambda scratch: None
    """What the user did before, which is not to be undone by the command."""


refused, works, dvc_refuses = (
    partial(Attempt, ends) for ends in ("refused", "works", "dvc refuses")
)


class Scratch:
    """A clone of the committed project with files of its user."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        os.environ.pop("LEARNED_CONTEXT_MIRROR", None)  # an attempt sets what it needs
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        self.git("config", "user.name", "user")
        self.git("config", "user.email", "user@example.org")
        self.write_notes()

    def keep_datasets(self, *names: str) -> None:
        """Commit a study of these datasets alone: every DVC command reads the whole lock files."""
        text = re.sub(
            r"(?m)^datasets: \[[^]]*\]", f"datasets: [{', '.join(names)}]", self.read(PARAMS)
        )
        self.write(PARAMS, text)
        for name in LOCK_FILES:
            content = read_yaml(self.path(name))
            content["stages"] = {
                stage: entry
                for stage, entry in content["stages"].items()
                if "@" not in stage or stage.startswith("report@") or _dataset(stage) in names
            }
            self.write(name, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
        self.git("commit", "--quiet", "--all", "--message", "Keep some datasets")

    def write_notes(self) -> None:
        for name, text in NOTES.items():
            self.write(name, text)

    # -- what a user does ------------------------------------------------------------------------

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.root), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def path(self, name: str) -> Path:
        return self.root / name

    def read(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8")

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text, f"{name} has no {old!r}: the attempt is out of date"
        self.write(name, text.replace(old, new, 1))

    def call(self, *words: str) -> Ending:
        """A verb in this process: a second of imports saved."""
        out, err = io.StringIO(), io.StringIO()
        try:
            with chdir(self.root), redirect_stdout(out), redirect_stderr(err):
                code = main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            code = -1
            err.write(traceback.format_exc())
        return Ending(code, out.getvalue(), err.getvalue())

    def run(
        self, *command: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> Ending:
        """A command as a process of its own; `python` and `dvc` are this environment's."""
        environment = {**os.environ, "DVC_NO_ANALYTICS": "1", "PYTHONPATH": ""}
        environment["PATH"] = f"{BIN}{os.pathsep}{environment['PATH']}"
        try:
            done = subprocess.run(
                command,
                cwd=folder or self.root,
                env=environment | dict(variables or {}),
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=SECONDS,
                encoding="utf-8",
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return Ending(-1, err=f"not finished after {SECONDS} seconds")
        return Ending(done.returncode, done.stdout, done.stderr)

    def verb(self, *words: str, **surroundings: Any) -> Ending:
        """A verb as a user starts it."""
        return self.run("python", "-m", "pipeline", *words, **surroundings)

    # -- what must not change --------------------------------------------------------------------

    def state(self) -> dict[str, str]:
        """Every file that differs from the commit and every one of the user's, with its hash."""
        listed = self.git("status", "--porcelain", "-z", "--untracked-files=all")
        names = {entry[3:]: entry[:2] for entry in listed.split("\0") if entry}
        names |= dict.fromkeys(NOTES, "")
        return {name: f"{kind}{_hash(self.path(name))}" for name, kind in sorted(names.items())}

    def reset(self) -> None:
        """Back to the clone as it was."""
        self.git("checkout", "--quiet", ".")
        self.git("clean", "--quiet", "-dff")
        # What git ignores, but not DVC's own cache and tables.
        self.git("clean", "--quiet", "-dffx", "data", "scratch", "raw", ".venv")
        self.write_notes()


def _dataset(stage: str) -> str:
    """`train@schools-lc` -> `schools`."""
    return stage.split("@", 1)[1].rsplit("-", 1)[0]


def _hash(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if not path.is_file():
        return "folder" if path.is_dir() else "gone"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


@dataclass
class Tally:
    """How the attempts of one part ended."""

    part: str
    tried: int = 0
    bad: dict[str, str] = field(default_factory=dict)

    @property
    def well(self) -> int:
        return self.tried - len(self.bad)


def try_all(part: str, attempts: Iterator[Attempt], scratch: Scratch) -> Tally:
    tally = Tally(part)
    for attempt in attempts:
        tally.tried += 1
        try:
            attempt.prepare(scratch)
            before = scratch.state()
            ending = attempt.act(scratch)
            problem = what_is_wrong(attempt, ending) or lost(before, scratch.state(), attempt.ends)
        finally:
            scratch.reset()
        if problem:
            assert attempt.name not in tally.bad, f"two attempts are called {attempt.name!r}"
            tally.bad[attempt.name] = problem
            print(f"  {part}: {attempt.name}: {problem}", file=sys.stderr, flush=True)
    return tally


def what_is_wrong(attempt: Attempt, ending: Ending) -> str:
    """Why this is no good ending; empty if it is one."""
    shown = " | ".join(ending.text.strip().splitlines()[-6:])[-600:]
    if "Traceback (most recent call last)" in ending.text:
        return f"a traceback: {shown}"
    if attempt.ends == "works":
        if ending.code != 0:
            return f"code {ending.code}: {shown}"
    elif attempt.ends == "refused":
        lines = ending.err.strip().splitlines()
        errors = [line for line in lines if re.match(r"(pipeline \S+: |pipeline: )?error: ", line)]
        others = [line for line in lines if not re.match(r"usage: |\s|warning: |pipeline", line)]
        if ending.code != 2:
            return f"code {ending.code} instead of 2: {shown}"
        if len(errors) != 1 or set(others) - set(errors):
            return f"not one line of error: {shown}"
    elif ending.code == 0:
        return f"DVC took it: {shown}"
    if not re.search(attempt.says, ending.text, re.DOTALL):
        return f"does not say {attempt.says!r}: {shown}"
    return ""


def lost(before: dict[str, str], after: dict[str, str], ends: str) -> str:
    """What is gone or changed that must not be. A command that works may change and add."""
    gone = [name for name, value in after.items() if value.endswith("gone")]
    if fresh := [name for name in gone if before.get(name) != after[name]]:
        return f"{len(fresh)} files are gone, such as {fresh[0]}"
    for name in NOTES:
        if before[name] != after[name]:
            return f"the user's {name} is changed"
    differ = sorted(dict(before.items() ^ after.items()))
    if ends == "dvc refuses":  # it writes the parameters before it runs anything
        differ = [name for name in differ if name not in (PARAMS, "dvc.lock")]
    if ends != "works" and differ:
        return f"a refused command changed {', '.join(differ[:5])}"
    return ""


# -- shorthands ----------------------------------------------------------------------------------


def call(*words: str) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.call(*words)


def verb(*words: str, **surroundings: Any) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.verb(*words, **surroundings)


def written(name: str, content: str | bytes) -> Callable[[Scratch], object]:
    return lambda scratch: scratch.write(name, content)


def replaced(name: str, old: str, new: str) -> Callable[[Scratch], object]:
    return lambda scratch: scratch.replace(name, old, new)


def removed(name: str) -> Callable[[Scratch], object]:
    return lambda scratch: scratch.path(name).unlink(missing_ok=True)


def python_call(use: Callable[[Scratch], object]) -> Callable[[Scratch], Ending]:
    """An attempt at the library: an error of these kinds, with one short message, is a refusal."""

    def act(scratch: Scratch) -> Ending:
        try:
            found = use(scratch)
        except (UserError, ValueError, TypeError) as error:
            lines = str(error).strip().splitlines()
            return Ending(2, err=f"error: {lines[0]}" if lines else "")
        except BaseException:
            return Ending(-1, err=traceback.format_exc())
        return Ending(0, out=str(found))

    return act
