"""How the project takes misuse: wrong parameters, odd data, DVC commands, hostile files.

    python benchmarks/misuse.py                  # all parts, ten minutes
    python benchmarks/misuse.py parameters dvc   # some of them
    python benchmarks/misuse.py --write          # all, and results/benchmarks/misuse.json

Every attempt runs in a scratch clone of the last commit and has an expected good ending.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.attempts import (
    commands,
    dvc_commands,
    environment,
    estimator,
    own_data,
    parameters,
    security,
    yaml_files,
)
from benchmarks.attempts.harness import ROOT, Scratch, Tally, try_all
from pipeline.files import write_json

PARTS = {
    "parameters": parameters.attempts,
    "yaml": yaml_files.attempts,
    "own data": own_data.attempts,
    "commands": commands.attempts,
    "environment": environment.attempts,
    "estimator": estimator.attempts,
    "security": security.attempts,
    "dvc": dvc_commands.attempts,
}
REPORT = ROOT / "results" / "benchmarks" / "misuse.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no part {min(unknown)!r}; there are {', '.join(PARTS)}")
    tallies = []
    with tempfile.TemporaryDirectory(prefix="misuse-") as folder:
        scratch = Scratch(Path(folder) / "clone")
        for part in arguments.parts or PARTS:
            tally = try_all(part, PARTS[part](), scratch)
            print(f"{part:12} {tally.tried:4} tried, {tally.well:4} ended well", flush=True)
            tallies.append(tally)
    tried, well = sum(one.tried for one in tallies), sum(one.well for one in tallies)
    print(f"{'all':12} {tried:4} tried, {well:4} ended well")
    if arguments.write and not arguments.parts:
        write_json(REPORT, report(tallies))
    sys.exit(0 if tried == well else 1)


def report(tallies: list[Tally]) -> dict[str, object]:
    return {
        "tried": sum(one.tried for one in tallies),
        "ended_well": sum(one.well for one in tallies),
        "parts": {one.part: {"tried": one.tried, "ended_well": one.well} for one in tallies},
        "ended_badly": {one.part: one.bad for one in tallies if one.bad},
    }


if __name__ == "__main__":
    main()
