"""A whole study so small that it takes a minute: a real repository in a folder of its own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import yaml
from dvc.repo import Repo

from pipeline.commands.demo import copy_project

ROOT = Path(__file__).resolve().parents[1]
STUDY = ["results/dvc.yaml:*@frequency*", "train*@frequency*", "linear@frequency"]
"""Every study on one dataset and what it needs; the report's stages are tested elsewhere."""

PAGES = ("index", "base", "check")
"""Pages that read all results; the report has more."""

TINY = {
    "search": {
        "evaluations": 2,
        "width_max": 52,
        "max_restarts": 0,
        "finalists": 1,
        "openings": 1,
        "budget": [{"epochs": 4, "batches": 2}],
    },
    "train": {
        "budget": [{"epochs": 6, "batches": 2}],
        "window_min": 3,
        "max_restarts": 20,
        "device": "cpu",
        "precision": "highest",
    },
    "repeats": 2,
    "sizes": {"few_rows": 4},
    "dimensions": [1, 2],
    "holdout": {
        "dimensions": [2],
        "shares": [0.25, 1.0],
        "lipo": {"evaluations": 5, "shares": [1.0]},
        "gauss_newton": {"candidates": 8, "rows": 8, "starts": 2, "steps": 3},
    },
}
PARAMS = {
    "profile": "tiny",
    "base_only": ["fs", "film"],
    "datasets": ["frequency", "sine_and_line"],
    "dataset": {
        "frequency": {
            "edition": "paper",
            "tasks": 6,
            "train_rows": 12,
            "test_rows": 6,
            "noise": 0.1,
        },
        "sine_and_line": {
            "edition": "paper",
            "tasks": 6,
            "train_rows": 20,
            "test_rows": 6,
            "noise": 0.3,
        },
    },
}


def make_project(folder: Path, **changes: object) -> Path:
    """The project's own files at `folder`, with the tiny budget."""
    copy_project(ROOT, folder)
    (folder / "profiles" / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    change(folder / "params.yaml", {**PARAMS, **changes})
    return folder


def drop_pages(folder: Path) -> None:
    """Leave a few pages: each one takes seconds, and tests/reporting tries them all."""
    for path in (folder / "reports/notebooks").glob("*.ipynb"):
        if path.stem not in PAGES:
            path.unlink()


def make_finished(folder: Path) -> None:
    """The study of one dataset with its report and a benchmark, recorded, sealed and committed."""
    make_project(folder, datasets=["frequency"], models=["lc", "cs"])
    drop_pages(folder)
    pipeline(folder, "dvc", "--write")
    (folder / "results/benchmarks").mkdir(exist_ok=True)
    (folder / "results/benchmarks/speed.json").write_text('{"ratio": 1.25}\n')
    python(folder, "tests.compute_study")
    dvc(folder, "commit", "--force", "--quiet")
    python(folder, "pipeline", "audit", "--seal")
    commit(folder)


def git(folder: Path, *words: str) -> str:
    user = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    return subprocess.run(
        ["git", *user, *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")


def change(path: Path, changes: dict[str, object]) -> None:
    """Set keys, given as `a.b.c`, in a YAML file."""
    content = yaml.safe_load(path.read_text())
    for key, value in changes.items():
        *parents, last = key.split(".")
        section = content
        for parent in parents:
            section = section[parent]
        section[last] = value
    path.write_text(yaml.safe_dump(content))


def environment() -> dict[str, str]:
    """The interpreter's own folder first, as in an activated environment; no mirror."""
    variables = {k: v for k, v in os.environ.items() if k != "LEARNED_CONTEXT_MIRROR"}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"
    return variables


def start(folder: Path, *targets: str, jobs: int = 2) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "pipeline", "run", "--jobs", str(jobs), *(targets or STUDY)]
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(folder: Path, *targets: str, jobs: int = 2) -> str:
    process = start(folder, *targets, jobs=jobs)
    output, _ = process.communicate(timeout=1200)
    assert process.returncode == 0, output
    return output


def pipeline(folder: Path, *words: str, expected: int = 0) -> subprocess.CompletedProcess[str]:
    """One command of the pipeline, which must end with this code."""
    return python(folder, "pipeline", *words, expected=expected)


def python(
    folder: Path, module: str, *words: str, expected: int = 0
) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == expected, ended.stdout + ended.stderr
    return ended


def dvc(folder: Path, *words: str) -> str:
    return python(folder, "dvc", *words).stdout


def stale(folder: Path) -> set[str]:
    """The stages that DVC's own status reports."""
    with Repo(str(folder)) as repo:
        names = {name.rpartition(":")[2] for name in repo.status()}
    return {name for name in names if "@" in name and not name.startswith("report")}


def state(folder: Path) -> dict[str, str]:
    """The hash of everything that a run leaves: results, tables, networks, pages and lock files."""
    found = {}
    for top in ("results", "data", "raw", "reports", "dvc.lock"):
        path = folder / top
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and not file.name.endswith(".run.json"):
                name = file.relative_to(folder).as_posix()
                found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found
