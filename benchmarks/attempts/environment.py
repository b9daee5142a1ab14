"""Odd places and surroundings: other folders, letters, terminals, disks and tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.attempts.harness import (
    Attempt,
    Ending,
    Scratch,
    call,
    refused,
    replaced,
    verb,
    works,
    written,
)
from pipeline.commands.demo import copy_project

NO_UTF8 = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
VARIABLES: list[tuple[str, Mapping[str, str]]] = [
    ("no home", {"HOME": ""}),
    ("a home that is not there", {"HOME": "/nonexistent"}),
    ("the C locale", {"LC_ALL": "C"}),
    ("no UTF-8 in a folder of plain letters", NO_UTF8),
    ("a locale that is not there", {"LC_ALL": "xx_XX.UTF-8"}),
    ("a terminal of no kind", {"TERM": "dumb", "COLUMNS": "0"}),
    ("a terminal that is unknown", {"TERM": "zzz"}),
    ("colours off", {"NO_COLOR": "1"}),
    ("another time zone", {"TZ": "Antarctica/Troll"}),
    ("warnings as errors in imports", {"PYTHONWARNINGS": "default"}),
    ("optimised Python", {"PYTHONOPTIMIZE": "1"}),
    ("no bytecode", {"PYTHONDONTWRITEBYTECODE": "1"}),
    ("random hashes", {"PYTHONHASHSEED": "12345"}),
    ("threads that are a word", {"OMP_NUM_THREADS": "many"}),
    ("a GPU that is not there", {"CUDA_VISIBLE_DEVICES": "99"}),
    ("Dask settings that are wrong", {"DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME": "zzz"}),
]
MIRRORS: list[tuple[str, str]] = [
    ("/nonexistent", "no such file"),
    ("params.yaml", "Not a directory|no such file"),
    ("file:///nonexistent", "no such file"),
    ("ftp://example.org", "'ftp' is not one of"),
    ("http://127.0.0.1:9", "cannot be reached"),
    ("http://[::1", "not an address"),
    ("https://no-such-host.invalid/a", "cannot be reached"),
    ("://", "is not one of"),
    ("\t", "no such file"),
]


def attempts() -> Iterator[Attempt]:
    for name, variables in VARIABLES:
        yield works(f"validate with {name}", verb("validate", variables=variables), "valid")
    for mirror, says in MIRRORS:
        act = verb("download", "height", variables={"LEARNED_CONTEXT_MIRROR": mirror})
        yield refused(f"download with the mirror {mirror!r}", act, says)
    yield refused(
        "download without a network",
        verb("download", "height", variables={"https_proxy": "http://127.0.0.1:9"}),
        "get it by hand from .* and put it at raw/by_hand/height/",
    )
    yield from _folders()
    yield from _terminals()
    yield from _disks()


# -- folders -------------------------------------------------------------------------------------


def _folders() -> Iterator[Attempt]:
    elsewhere = "params.yaml: does not exist; run this in the project's root folder"
    for folder in ("docs", "pipeline", "results/train"):
        yield refused(f"validate in {folder}", _in_folder(folder, "validate"), elsewhere)
    yield works("plan in docs", _in_folder("docs", "plan"), "stages")
    for name in ("with spaces", 'quote\'s "here"', "ünï", "$(id)", "new\nline", "-n", "%s"):
        yield works(f"validate in a clone below {name!r}", _in(_clone, name, "validate"), "valid")
    yield refused(
        "validate below 'ünï' without UTF-8",
        _in(_clone, "ünï", "validate", NO_UTF8),
        "set PYTHONUTF8=1",
    )
    yield works("validate by a link", _in(_link, "link", "validate"), "valid")
    for word in ("plan", "demo"):
        act = _in(_copy_without_git, "copy", word)
        yield refused(f"{word} in a folder without git", act, "not a git repository")
    act = verb("demo", "--folder", "notes.md")
    yield refused("demo whose folder is a file", act, "notes.md")
    yield works(
        "a .venv that is a link is no part of the project",
        _copied_as_demo,
        "no .venv",
        lambda s: s.path(".venv").symlink_to(s.path("docs")),
    )


def _in_folder(folder: str, word: str) -> Callable[[Scratch], Ending]:
    return lambda s: s.verb(word, folder=s.path(folder), variables={"PYTHONPATH": str(s.root)})


def _in(
    make: Callable[[Scratch, Path], object],
    name: str,
    word: str,
    variables: Mapping[str, str] | None = None,
) -> Callable[[Scratch], Ending]:
    """A verb in a folder that is made for it, and removed afterwards."""

    def act(scratch: Scratch) -> Ending:
        with _beside(scratch, name) as folder:
            make(scratch, folder)
            return scratch.verb(word, folder=folder, variables=variables)

    return act


@contextmanager
def _beside(scratch: Scratch, name: str) -> Iterator[Path]:
    folder = scratch.root.parent / "elsewhere"
    folder.mkdir()
    try:
        yield folder / name
    finally:
        shutil.rmtree(folder)


def _clone(scratch: Scratch, folder: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", str(scratch.root), str(folder)], check=True)


def _link(scratch: Scratch, folder: Path) -> None:
    folder.symlink_to(scratch.root)


def _copy_without_git(scratch: Scratch, folder: Path) -> None:
    shutil.copytree(scratch.root, folder, ignore=shutil.ignore_patterns(".git"))


def _copied_as_demo(scratch: Scratch) -> Ending:
    with _beside(scratch, "demo") as folder:
        copy_project(scratch.root, folder)
        return Ending(0, "it was copied" if (folder / ".venv").exists() else "no .venv")


# -- terminals -----------------------------------------------------------------------------------


def _terminals() -> Iterator[Attempt]:
    stale = replaced("params.yaml", "leak_share: 0.5", "leak_share: 0.6")
    for columns in ("1", "20", "80", "1000", "-5", "wide"):
        act, where = verb("plan", variables={"COLUMNS": columns}), f"{columns} columns"
        yield works(f"plan on a terminal of {where}", act, "stages are up to date")
        name = f"plan with work to do on a terminal of {where}"
        yield works(name, act, "stages to run", stale)
    yield works("check into a pipe that closes", _check_into("| head -n 1; exit 0"))
    yield refused("check into a full device", _check_into("> /dev/full"), "No space left")


def _check_into(target: str) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.run("sh", "-c", f"python -m pipeline check --all {target}")


# -- disks ---------------------------------------------------------------------------------------


def _disks() -> Iterator[Attempt]:
    validated = "results/validated.json"
    yield refused("scratch is a file", verb("run", "validate"), "scratch", written("scratch", ""))
    yield refused(
        f"{validated} is a folder",
        call("validate", "--write"),
        f"{validated}: cannot be written",
        lambda s: (s.path(validated).unlink(missing_ok=True), s.write(f"{validated}/mine", "x")),
    )
    yield refused(
        "data is a file",
        call("prepare", "frequency"),
        "data",
        lambda s: (shutil.rmtree(s.path("data"), ignore_errors=True), s.write("data", "mine")),
    )
    if os.geteuid() == 0 and shutil.which("mount"):
        yield refused("prepare on a full disk", _on_a_disk("size=64k"), "space")
        yield refused("prepare on a disk to read", _on_a_disk("ro"), "[Rr]ead-only")
    else:
        yield refused("prepare where nobody may write", _forbidden, "ermission")


def _on_a_disk(options: str) -> Callable[[Scratch], Ending]:
    def act(scratch: Scratch) -> Ending:
        place = scratch.path("data/frequency")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if subprocess.run(words, capture_output=True).returncode:
            return Ending(2, err="error: this user may not mount: space, Read-only")
        try:
            return scratch.call("prepare", "frequency")
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)

    return act


def _forbidden(scratch: Scratch) -> Ending:
    place = scratch.path("data/frequency")
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o500)
    try:
        return scratch.call("prepare", "frequency")
    finally:
        place.chmod(0o700)
