"""Kill the pipeline at random moments, resume it, and compare the end with a quiet run's.

Every round starts the study anew, kills with -9 at a random moment either the runner or a random
one of its processes, a worker or a stage, and runs it again to its end. All results, tables,
networks and lock files must then be equal to the byte to those of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json
from tests import small_study

TARGETS = ("linear@frequency", "repeats@frequency-lc", "adapt@frequency")
"""With all that they need: a stage of every kind that trains, and one network instead of four."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/kills.json"))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    identical, victims = 0, dict.fromkeys(("runner", "worker", "stage"), 0)
    with tempfile.TemporaryDirectory() as name:
        quiet = small_study.make_project(Path(name) / "quiet")
        started = time.monotonic()
        small_study.run(quiet, *TARGETS)
        seconds = time.monotonic() - started
        expected = small_study.state(quiet)
        for number in range(1, arguments.kills + 1):
            folder = Path(name) / f"round-{number}"
            victim = kill_once(folder, rng, seconds)
            small_study.run(folder, *TARGETS)
            found = small_study.state(folder)
            different = [key for key in expected | found if expected.get(key) != found.get(key)]
            shutil.rmtree(folder)
            victims[victim] += 1
            identical += not different
            said = ", ".join(different[:5]) or "identical"
            print(f"kill {number} of {arguments.kills}, of a {victim}: {said}", flush=True)
    print(f"{identical} of {arguments.kills} identical")
    report = {"kills": arguments.kills, "identical": identical}
    write_json(arguments.output, report | {"files": len(expected), "killed": victims})
    sys.exit(identical < arguments.kills)


def kill_once(folder: Path, rng: random.Random, seconds: float) -> str:
    """Start the study in a new folder and kill one of its processes; which kind it was."""
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        process = small_study.start(small_study.make_project(folder), *TARGETS)
        time.sleep(rng.uniform(0, seconds))
        victim = kill_one_of(process, rng)
        process.communicate()  # a run whose worker died goes on, one whose stage died fails
        if victim:
            return victim


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
