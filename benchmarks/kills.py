"""Kill the pipeline at random moments, resume it, and compare the end with a quiet run's.

Every round picks a moment of the whole run, from the download to the last page of the report, puts
the study back to where its part of the run began, and kills there with -9 either the runner or a
random one of its processes, a worker or a stage. Then it runs that part again to its end. All
results, tables, networks, pages and lock files must then be equal to the byte to those of a run
that nobody disturbed.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import options
from pipeline.files import write_json
from tests import small_study

PARTS = (
    ("tables and searches", ("linear@*", "tune@*")),
    ("networks", ("train@*",)),
    ("studies", ("results/dvc.yaml:repeats@*", "results/dvc.yaml:sizes@*")),
    ("studies", ("results/dvc.yaml:*",)),
    ("report", ("check", "report@[a-d]*")),
    ("report", ("report@[e-m]*",)),
    ("report", ("report@*",)),
)
"""All stages of a study, in the order of the run: a round repeats one part, not the whole."""


@dataclass
class QuietPart:
    """A part of the run that nobody disturbed."""

    name: str
    targets: tuple[str, ...]
    before: Path
    seconds: float
    expected: dict[str, str]


def main() -> None:
    parser = options(__doc__, "kills.json")
    parser.add_argument("--kills", type=int, default=100, help="in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    killed: Counter[str] = Counter()
    identical = 0
    with tempfile.TemporaryDirectory() as name:
        parts = run_quietly(Path(name))
        folder = Path(name) / "round"
        for number in range(1, arguments.kills + 1):
            [part] = rng.choices(parts, [part.seconds for part in parts])
            victim = kill_once(part, folder, rng)
            small_study.run(folder, *part.targets)
            found = small_study.state(folder)
            names = sorted(part.expected | found)
            different = [key for key in names if part.expected.get(key) != found.get(key)]
            killed.update((victim, part.name))
            identical += not different
            said = ", ".join(different[:5]) or "identical"
            said = f"kill {number} of {arguments.kills}, of a {victim} in the {part.name}: {said}"
            print(said, flush=True)
    print(f"{identical} of {arguments.kills} identical")
    report = {
        "kills": arguments.kills,
        "identical": identical,
        "files": len(parts[-1].expected),
        "killed": {victim: killed[victim] for victim in ("runner", "worker", "stage")},
        "in": {name: killed[name] for name, _ in PARTS},
    }
    write_json(arguments.output, report)
    sys.exit(identical < arguments.kills)


def run_quietly(scratch: Path) -> list[QuietPart]:
    """Run the study part by part, and keep what there was before each."""
    quiet = small_study.make_project(scratch / "quiet", datasets=["frequency"])
    parts = []
    for number, (name, targets) in enumerate(PARTS):
        before = scratch / f"before-{number}"
        shutil.copytree(quiet, before, symlinks=True)
        started = time.monotonic()
        small_study.run(quiet, *targets)
        seconds = time.monotonic() - started
        parts.append(QuietPart(name, targets, before, seconds, small_study.state(quiet)))
    return parts


def kill_once(part: QuietPart, folder: Path, rng: random.Random) -> str:
    """Start the part in a copy at `folder` and kill one of its processes; which kind it was."""
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(part.before, folder, symlinks=True)
        process = small_study.start(folder, *part.targets)
        started = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=rng.uniform(0, part.seconds))
        victim = kill_one_of(process, rng)
        process.communicate()  # a run whose worker died goes on, one whose stage died fails
        if victim:
            return victim
        part.seconds = time.monotonic() - started  # it had ended: the machine is faster now


def kill_one_of(process: subprocess.Popen[str], rng: random.Random) -> str:
    """Kill the runner or one of its processes; empty if the run had ended before."""
    if process.poll() is not None:
        return ""
    try:
        runner = psutil.Process(process.pid)
        chosen = rng.choice([runner, *runner.children(recursive=True)])
        words = " ".join(chosen.cmdline())
        chosen.kill()
    except psutil.NoSuchProcess:
        return kill_one_of(process, rng)
    if chosen == runner:
        return "runner"
    return "worker" if "multiprocessing" in words else "stage"


if __name__ == "__main__":
    main()
