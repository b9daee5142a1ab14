"""How the project takes misuse: wrong parameters, odd data, DVC commands, hostile files.

    python benchmarks/misuse.py                  # all parts, ten minutes
    python benchmarks/misuse.py parameters dvc   # some of them
    python benchmarks/misuse.py --write          # and results/benchmarks/misuse.json

Every attempt runs in a scratch clone of the last commit and has an expected good ending. With
--write, parts that were not tried keep their entries; every part names the commit it was tried on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

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
from pipeline.files import read_json, write_json

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
    parser.add_argument("--write", action="store_true", help=f"write or update {REPORT.name}")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no part {min(unknown)!r}; there are {', '.join(PARTS)}")
    tallies = []
    with tempfile.TemporaryDirectory(prefix="misuse-") as folder:
        scratch = Scratch(Path(folder) / "clone")
        commit = scratch.git("rev-parse", "--short=10", "HEAD").strip()
        for part in [part for part in PARTS if part in (arguments.parts or PARTS)]:
            if part == "dvc":  # the last one
                scratch.keep_datasets(*dvc_commands.DATASETS)
            tally = try_all(part, PARTS[part](), scratch)
            print(f"{part:12} {tally.tried:4} tried, {tally.well:4} ended well", flush=True)
            tallies.append(tally)
    tried, well = sum(one.tried for one in tallies), sum(one.well for one in tallies)
    print(f"{'all':12} {tried:4} tried, {well:4} ended well")
    if arguments.write:
        known = read_json(REPORT)["parts"] if REPORT.exists() else {}
        write_json(REPORT, report(known, tallies, commit))
    sys.exit(0 if tried == well else 1)


def report(known: dict[str, Any], tallies: list[Tally], commit: str) -> dict[str, Any]:
    new = {
        one.part: {
            "tried": one.tried,
            "ended_well": one.well,
            "ended_badly": one.bad,
            "commit": commit,
        }
        for one in tallies
    }
    parts = {part: (known | new)[part] for part in PARTS if part in known or part in new}
    return {
        "tried": sum(one["tried"] for one in parts.values()),
        "ended_well": sum(one["ended_well"] for one in parts.values()),
        "parts": parts,
    }


if __name__ == "__main__":
    main()
