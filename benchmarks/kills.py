"""Kill the pipeline at random moments, resume it, and compare the end with a quiet run's.

Every round starts the runner, kills it with -9 after a random time, and starts it again; after
the last kill it runs to its end. All results, tables, networks and lock files must then be equal
to the byte to those of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json
from tests import small_study


def killed_run(folder: Path, kills: int, rng: random.Random, longest: float) -> tuple[int, int]:
    """Kill so often, or until the run ends first; then let it end. How often, and how late."""
    done = 0
    stages = 0
    while done < kills:
        process = small_study.start(folder)
        time.sleep(rng.uniform(2.0, longest))
        if process.poll() is not None:
            break  # nothing is left to disturb
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        done += 1
        stages = len(list((folder / "results").rglob("*.json")))
    small_study.run(folder)
    return done, stages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="in all (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=12.0, help="seconds before a kill")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/kills.json"))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        quiet = small_study.make_project(Path(name) / "quiet")
        small_study.run(quiet)
        expected = small_study.state(quiet)
        kills, rounds, equal = 0, 0, 0
        while kills < arguments.kills:
            folder = small_study.make_project(Path(name) / f"round-{rounds}")
            done, _ = killed_run(folder, arguments.kills - kills, rng, arguments.longest)
            found = small_study.state(folder)
            different = [key for key in expected | found if expected.get(key) != found.get(key)]
            kills, rounds = kills + done, rounds + 1
            equal += not different
            print(f"round {rounds}: {done} kills, {len(found)} files, {len(different)} differ")
            for key in different[:5]:
                print(f"    {key}")
    print(f"{kills} kills in {rounds} runs: {equal} of {rounds} ended as the quiet run did")
    report = {"kills": kills, "runs": rounds, "equal": equal, "files": len(expected)}
    write_json(arguments.output, report)
    sys.exit(equal < rounds)


if __name__ == "__main__":
    main()
