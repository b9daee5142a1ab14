"""demo: the pipeline on the smoke budget in a scratch copy, so that nothing here is touched.

The copy is a repository of its own with its own cache; a second demo runs only what changed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

from learned_context.errors import UserError
from learned_context.files import replacing
from pipeline import settings
from pipeline.commands.arguments import at_least
from pipeline.files import Files, by_people

FOLDER = Path(".demo")
MARK = Path(".git", "made-by-the-demo")
"""In every copy: a folder without it is somebody's own."""
SMOKE = {"profile": "smoke", "datasets": ["frequency", "sine_and_line"]}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=at_least(1), default=2, help="workers (default: 2)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where (default: .demo)")


def run(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.folder
    settings.load(Files())  # a mistake in it is not copied first
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UserError(
            f"--folder {folder}: has other files, and is no folder that the demo made; choose one "
            "that does not exist"
        )
    copy_project(Path(), folder)
    use_smoke_budget(folder / "params.yaml")
    command = [sys.executable, "-m", "pipeline", "run", "--jobs", str(arguments.jobs)]
    code = subprocess.run(command, cwd=folder, check=False).returncode
    if code:
        raise SystemExit(code)
    print(f"the results are in {folder / 'results'}")
    report = folder / "reports" / "index.html"
    if report.exists():
        print(f"the report is {report}: open it in a browser")


def copy_project(root: Path, folder: Path) -> None:
    """Bring the project's own files, committed or not, into a git repository at `folder`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        raise UserError(f"{root.resolve()}: not a git repository; clone the project with git")
    # The mark comes first: a copy that was interrupted is continued, not taken for somebody's own.
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    (folder / MARK).touch()
    # Results and lock files are the copy's own: they come from its own runs.
    made, kept = ("results/", "reports/", "data/"), by_people(root)
    for name in filter(None, listed.stdout.decode().split("\0")):
        made_by_a_stage = name.startswith(made) and name not in kept
        if made_by_a_stage or name.endswith("dvc.lock") or not (root / name).is_file():
            continue
        target = folder / name
        content = (root / name).read_bytes()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)


def use_smoke_budget(params: Path) -> None:
    round_trip = YAML()  # keeps the comments
    content = round_trip.load(params)
    content.update(SMOKE)
    with replacing(params) as temporary:
        round_trip.dump(content, temporary)
