"""What no lock file covers: the sources, the sealed files, the README's table, the commit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from pipeline.auditing.findings import Check
from pipeline.auditing.project import SEAL, Project
from pipeline.datasets import registry, sources
from pipeline.files import read_text, sha256, write_text
from pipeline.reporting import readme
from pipeline.reporting.results import Results


def origins_of_data(project: Project) -> Check:
    """raw/sources.yaml says of every edition where it is from and how to know it."""
    check = Check("sources", "Does raw/sources.yaml tell of every edition where it is from?")
    known = sources.load(project.files.sources)
    for dataset in project.settings.params.datasets:
        chosen = project.settings.dataset(dataset).edition
        editions = known.dataset.get(dataset, {})
        check.ask(
            chosen in editions,
            f"raw/sources.yaml: dataset.{dataset}",
            f"has no edition {chosen!r}",
            "params.yaml names an edition; `git log -p raw/sources.yaml`",
        )
        for name, edition in editions.items():
            where = f"raw/sources.yaml: dataset.{dataset}.{name}"
            for key in ("licence", "citation", "by_hand"):
                check.ask(bool(getattr(edition, key)), where, f"{key} is empty", "fill it in")
            check.ask(
                name == "paper" or bool(edition.differs),
                where,
                "is not the paper's edition and does not say how it differs",
                "fill in `differs`",
            )
            if dataset not in registry.GENERATED:
                check.ask(bool(edition.files), where, "names no file", "fill in `files`")
            unpinned = [file.name for file in edition.files if not file.pinned]
            if unpinned and name == chosen:
                check.notes.append(f"{where}: no hash is known for {', '.join(unpinned)}")
    return check


def seals(project: Project) -> Check:
    """Benchmarks, times, machines and DVC's own lock files: a list of hashes watches them."""
    check = Check("seals", f"Are the files that DVC does not watch as {SEAL} lists them?")
    path = project.root / SEAL
    listed: dict[str, str] = {}
    if path.exists():
        for line in read_text(path).splitlines():
            recorded, _, name = line.partition("  ")
            check.ask(name not in listed, name, f"stands twice in {SEAL}", f"`git log -p {SEAL}`")
            listed[name] = recorded
    remedy = "`git log -p {}`; after a run of your own, `python -m pipeline audit --seal`"
    actual = _sealed(project)
    for name in sorted({*listed, *actual}):
        check.ask(
            listed.get(name) == actual.get(name),
            name,
            "is not the file that was sealed" if name in listed else "was never sealed",
            remedy.format(name),
        )
    return check


def seal(project: Project) -> Path:
    path = project.root / SEAL
    lines = [f"{recorded}  {name}\n" for name, recorded in sorted(_sealed(project).items())]
    write_text(path, "".join(lines))
    return path


def _sealed(project: Project) -> dict[str, str]:
    return {
        path.relative_to(project.root).as_posix(): sha256(path)
        for path in _unwatched(project)
        if path.is_file()
    }


def _unwatched(project: Project) -> Iterator[Path]:
    yield from project.files.locks  # the hashes of networks that a clone lacks, for one
    yield from project.root.glob("results/*/*/*.run.json")
    yield from project.root.glob("results/benchmarks/*")
    yield from project.root.glob("reports/notebooks/*.ipynb")  # one is no page's


def tables_in_prose(project: Project) -> Check:
    """The tables in README.md and docs/ are those that the results give."""
    check = Check("prose", "Are the tables in README.md and docs/ those that the results give?")
    for name, block in readme.BLOCKS.items():
        path = project.root / name
        with check.reading(name, "see the other findings"):
            expected = readme.with_block(path, block(Results(project.files)))
            check.ask(
                read_text(path) == expected,
                name,
                "the table is not what the results give",
                f"`python -m pipeline report --readme` makes it; `git diff {name}` shows more",
            )
    return check


def commit(project: Project) -> Check:
    """The files are those of the commit: an edit that is not committed is found by git."""
    check = Check("commit", "Are the files those of the commit?")
    command = ["git", "status", "--porcelain", "--untracked-files=no"]
    try:
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
        head = subprocess.run(
            ["git", "log", "-1", "--format=%H of %cs"],
            cwd=project.root,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        check.notes.append("Not a git repository, or no commit yet: nothing to compare with.")
        return check
    check.notes.append(f"Commit {head.stdout.strip()}.")
    check.examined += 1
    for line in done.stdout.splitlines():
        check.ask(False, line[3:], "differs from the commit", f"`git diff HEAD -- {line[3:]}`")
    return check
