"""Odd places and surroundings: other folders, letters, terminals, disks and tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.attempts.harness import Attempt, Ending, Scratch

NO_UTF8 = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
VARIABLES: list[tuple[str, Mapping[str, str], str]] = [
    ("no home", {"HOME": ""}, "valid"),
    ("a home that is not there", {"HOME": "/nonexistent"}, "valid"),
    ("the C locale", {"LC_ALL": "C"}, "valid"),
    ("no UTF-8 in a folder of plain letters", NO_UTF8, "valid"),
    ("a locale that is not there", {"LC_ALL": "xx_XX.UTF-8"}, "valid"),
    ("a terminal of no kind", {"TERM": "dumb", "COLUMNS": "0"}, "valid"),
    ("a terminal that is unknown", {"TERM": "zzz"}, "valid"),
    ("colours off", {"NO_COLOR": "1"}, "valid"),
    ("another time zone", {"TZ": "Antarctica/Troll"}, "valid"),
    ("warnings as errors in imports", {"PYTHONWARNINGS": "default"}, "valid"),
    ("optimised Python", {"PYTHONOPTIMIZE": "1"}, "valid"),
    ("no bytecode", {"PYTHONDONTWRITEBYTECODE": "1"}, "valid"),
    ("random hashes", {"PYTHONHASHSEED": "12345"}, "valid"),
    ("threads that are a word", {"OMP_NUM_THREADS": "many"}, "valid"),
    ("a GPU that is not there", {"CUDA_VISIBLE_DEVICES": "99"}, "valid"),
    ("Dask settings that are wrong", {"DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME": "zzz"}, "valid"),
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
    for name, variables, says in VARIABLES:
        yield Attempt(
            f"validate with {name}",
            lambda s, variables=variables: s.verb("validate", variables=variables),
            "works",
            says,
        )
    for mirror, says in MIRRORS:
        yield Attempt(
            f"download with the mirror {mirror!r}",
            lambda s, mirror=mirror: s.verb(
                "download", "height", variables={"LEARNED_CONTEXT_MIRROR": mirror}
            ),
            "refused",
            says,
        )
    yield Attempt(
        "download without a network",
        lambda s: s.verb("download", "height", variables={"https_proxy": "http://127.0.0.1:9"}),
        "refused",
        "get it by hand from .* and put it at raw/by_hand/height/",
    )
    yield from _folders()
    yield from _terminals()
    yield from _disks()


def _folders() -> Iterator[Attempt]:
    for folder in ("docs", "pipeline", "results/train"):
        yield Attempt(
            f"validate in {folder}",
            _in_folder(folder, ("validate",)),
            "refused",
            "params.yaml: does not exist; run this in the project's root folder",
        )
    yield Attempt("plan in docs", _in_folder("docs", ("plan",)), "works", "stages")
    for name in ("with spaces", 'quote\'s "here"', "ünï", "$(id)", "new\nline", "-n", "%s"):
        yield Attempt(
            f"validate in a clone below {name!r}",
            _elsewhere(name, ("validate",)),
            "works",
            "valid",
        )
    yield Attempt(
        "validate below 'ünï' without UTF-8",
        _elsewhere("ünï", ("validate",), NO_UTF8, ("-X", "utf8=0")),
        "refused",
        "set PYTHONUTF8=1",
    )
    yield Attempt("validate by a link", _linked, "works", "valid")
    yield Attempt("plan in a folder without git", _without_git, "refused", "not a git repository")
    yield Attempt("demo in a folder without git", _demo_without_git, "refused", "not a git repos")
    yield Attempt(
        "demo whose folder is a file",
        lambda s: s.verb("demo", "--folder", "notes.md"),
        "refused",
        "notes.md",
    )
    yield Attempt(
        "a .venv that is a link is no part of the project",
        lambda s: _copied_as_demo(s),
        "works",
        "no .venv",
        lambda s: s.path(".venv").symlink_to(s.path("docs")),
    )


def _in_folder(folder: str, words: tuple[str, ...]) -> Callable[[Scratch], Ending]:
    return lambda s: s.verb(*words, folder=s.path(folder), variables={"PYTHONPATH": str(s.root)})


def _elsewhere(
    name: str,
    words: tuple[str, ...],
    variables: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Callable[[Scratch], Ending]:
    def act(scratch: Scratch) -> Ending:
        folder = scratch.root.parent / "elsewhere" / name
        subprocess.run(["git", "clone", "--quiet", str(scratch.root), str(folder)], check=True)
        try:
            return scratch.verb(*words, folder=folder, variables=variables, options=options)
        finally:
            shutil.rmtree(folder.parent)

    return act


def _linked(scratch: Scratch) -> Ending:
    link = scratch.root.parent / "link"
    link.symlink_to(scratch.root)
    try:
        return scratch.verb("validate", folder=link)
    finally:
        link.unlink()


def _copy(scratch: Scratch) -> Path:
    folder = scratch.root.parent / "copy"
    shutil.copytree(scratch.root, folder, ignore=shutil.ignore_patterns(".git"))
    return folder


def _without_git(scratch: Scratch) -> Ending:
    folder = _copy(scratch)
    try:
        return scratch.verb("plan", folder=folder)
    finally:
        shutil.rmtree(folder)


def _demo_without_git(scratch: Scratch) -> Ending:
    folder = _copy(scratch)
    try:
        return scratch.verb("demo", folder=folder)
    finally:
        shutil.rmtree(folder)


def _copied_as_demo(scratch: Scratch) -> Ending:
    from pipeline.commands.demo import copy_project

    target = scratch.root.parent / "demo"
    try:
        copy_project(scratch.root, target)
        return Ending(0, "no .venv" if not (target / ".venv").exists() else "it was copied")
    finally:
        shutil.rmtree(target)


def _terminals() -> Iterator[Attempt]:
    for columns in ("1", "20", "80", "1000", "-5", "wide"):
        yield Attempt(
            f"plan on a terminal of {columns} columns",
            lambda s, columns=columns: s.verb("plan", variables={"COLUMNS": columns}),
            "works",
            "stages are up to date",
        )
        yield Attempt(
            f"plan with work to do on a terminal of {columns} columns",
            lambda s, columns=columns: s.verb("plan", variables={"COLUMNS": columns}),
            "works",
            "stages to run",
            lambda s: s.replace("params.yaml", "leak_share: 0.5", "leak_share: 0.6"),
        )
    yield Attempt("check into a pipe that closes", _closed_pipe, "works")
    yield Attempt("check into a full device", _full_device, "refused", "No space left")


def _closed_pipe(scratch: Scratch) -> Ending:
    ending = scratch.run("sh", "-c", "python -m pipeline check --all | head -n 1; exit 0")
    return Ending(ending.code, ending.out, ending.err)


def _full_device(scratch: Scratch) -> Ending:
    return scratch.run("sh", "-c", "python -m pipeline check --all > /dev/full")


def _disks() -> Iterator[Attempt]:
    yield Attempt(
        "scratch is a file",
        lambda s: s.verb("run", "validate"),
        "refused",
        "scratch",
        lambda s: s.write("scratch", "mine"),
    )
    yield Attempt(
        "results/validated.json is a folder",
        lambda s: s.call("validate", "--write"),
        "refused",
        "results/validated.json: cannot be written",
        lambda s: (
            s.path("results/validated.json").unlink(missing_ok=True),
            s.write("results/validated.json/mine", "x"),
        ),
    )
    yield Attempt(
        "data is a file",
        lambda s: s.call("prepare", "frequency"),
        "refused",
        "data",
        lambda s: (shutil.rmtree(s.path("data"), ignore_errors=True), s.write("data", "mine")),
    )
    if os.geteuid() == 0 and shutil.which("mount"):
        yield Attempt("prepare on a full disk", _on_a_disk("size=64k"), "refused", "space")
        yield Attempt("prepare on a disk to read", _on_a_disk("ro"), "refused", "[Rr]ead-only")
    else:
        yield Attempt("prepare where nobody may write", _forbidden, "refused", "ermission")


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
