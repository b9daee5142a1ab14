"""A small real DVC repository: two pipeline files, six stages, shell commands."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from dvc.repo import Repo

from pipeline.commands import plan as plan_command

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    "PYTHONPATH": str(ROOT),
    "DVC_NO_ANALYTICS": "1",
}
# The command line without the other verbs, which need not be importable here.
MAIN = """
import argparse, importlib, sys
from learned_context.errors import UserError
if __name__ == "__main__":
    module = importlib.import_module("pipeline.commands." + sys.argv[1])
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    try:
        module.run(parser.parse_args(sys.argv[2:]))
    except UserError as error:
        print("Error:", error, file=sys.stderr)
        sys.exit(2)
"""

RUN = {
    "seconds": 0.5,
    "cpu_seconds": 0.5,
    "profile": "smoke",
    "device": "cpu",
    "cpu": "AVX2",
    "system": "Linux",
    "python": "3.11",
    "versions": {"numpy": "2.4.6"},
}
# Reads the dependencies, writes one cached output, one in git and the seconds it took.
STEP = (
    f"RUN = {RUN}"
    + """
import json, os, sys, time
from pathlib import Path
name, wait, *inputs = sys.argv[1:]
value = sum(sum(Path(one).read_bytes()) for one in inputs)
progress = os.environ.get("PIPELINE_PROGRESS")
if progress:
    Path(progress).write_text("half way")
print("working on", name)
if Path("fail-" + name).exists():
    raise SystemExit(3)
pause = Path("pause")
time.sleep(float(pause.read_text()) if pause.exists() else float(wait))
while Path("hold").exists():
    time.sleep(0.05)
Path("out").mkdir(exist_ok=True)
Path(f"out/{name}.bin").write_text(f"{name} {value}\\n" * 3)
Path(f"out/{name}.json").write_text(json.dumps({"value": value}))
Path(f"out/{name}.run.json").write_text(json.dumps(RUN))
"""
)

ROOT_FILE = """
stages:
  prepare:
    cmd: python step.py prepare 0 source.txt
    deps: [source.txt, step.py]
    outs:
      - out/prepare.bin
      - out/prepare.json: {cache: false}
      - out/prepare.run.json: {cache: false}
  train:
    matrix:
      name: [a, b]
    cmd: python step.py train-${item.name} ${wait} out/prepare.bin
    deps: [out/prepare.bin, step.py]
    params: ["models.${item.name}"]
    outs:
      - out/train-${item.name}.bin
      - out/train-${item.name}.json: {cache: false}
      - out/train-${item.name}.run.json: {cache: false}
"""
RESULTS_FILE = """
stages:
  repeats:
    matrix:
      name: [a, b]
    wdir: ..
    cmd: python step.py repeats-${item.name} 0 out/train-${item.name}.json
    deps: ["out/train-${item.name}.json", step.py]
    outs:
      - out/repeats-${item.name}.json: {cache: false}
      - out/repeats-${item.name}.run.json: {cache: false}
  table:
    wdir: ..
    cmd:
      - python step.py table 0 out/repeats-a.json out/repeats-b.json
      - echo end
    deps: [out/repeats-a.json, out/repeats-b.json, step.py]
    outs:
      - out/table.bin
"""
STAGES = {
    "prepare",
    "train@a",
    "train@b",
    "results/dvc.yaml:repeats@a",
    "results/dvc.yaml:repeats@b",
    "results/dvc.yaml:table",
}


class Project:
    """The repository and the commands that a user would give in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.root / "scratch" / "main.py"), *arguments]

    def call(self, *arguments: str, code: int = 0) -> str:
        return self._run(self.command(*arguments), code)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=ENVIRONMENT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def dvc(self, *arguments: str, code: int = 0) -> str:
        return self._run([str(BIN / "dvc"), *arguments], code)

    def git(self, *arguments: str) -> str:
        user = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        return self._run(["git", *user, *arguments], 0)

    def _run(self, command: list[str], code: int) -> str:
        done = subprocess.run(
            command, cwd=self.root, env=ENVIRONMENT, text=True, capture_output=True, timeout=120
        )
        output = done.stdout + done.stderr
        assert done.returncode == code, output
        return output

    def plan(self, *arguments: str) -> dict[str, Any]:
        """In this process: an interpreter that imports DVC takes most of a second."""
        parser, output = argparse.ArgumentParser(), io.StringIO()
        plan_command.add_arguments(parser)
        with chdir(self.root), redirect_stdout(output):
            plan_command.run(parser.parse_args(["--json", *arguments]))
        content: dict[str, Any] = json.loads(output.getvalue())
        return content

    def planned(self, *arguments: str) -> dict[str, str]:
        return {one["stage"]: one["role"] for one in self.plan(*arguments)["stages"]}

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def record(self) -> dict[str, str]:
        """All that a run leaves: results, locks and ignore files."""
        names = ["dvc.lock", "results/dvc.lock", "out/.gitignore"]
        names += [f"out/{path.name}" for path in (self.root / "out").glob("*.[bj]*")]
        return {name: self.read(name) for name in names}

    def check_clean(self) -> None:
        """As `dvc status` and `dvc repro` find it."""
        with chdir(self.root), Repo(str(self.root)) as repo:
            assert repo.status() == {}
            assert repo.reproduce(all_pipelines=True) == []
