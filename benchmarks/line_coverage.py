"""How much of the code the fast tests run, the commands that they start included.

A line counts when a test ran it, a branch when a test took it. benchmarks/mutation.py asks whether
the tests would also notice a change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json

WANTED = 90  # per cent of all lines and branches
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=Path("results/benchmarks/line_coverage.json")
    )
    arguments = parser.parse_args()
    coverage("erase")
    coverage("run", "-m", "pytest", "-n", "2")
    coverage("combine", "--quiet")
    coverage("report")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "coverage.json"
        coverage("json", "--quiet", "-o", str(path))
        found = by_package(json.loads(path.read_text())["files"])
    write_json(arguments.output, found)
    lines, branches = found["all"]["lines"], found["all"]["branches"]
    share = (lines["run"] + branches["run"]) / (lines["all"] + branches["all"])
    print(f"{share:.1%} of the lines and branches; wanted: {WANTED}%")
    sys.exit(share < WANTED / 100)


def coverage(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "coverage", *words], check=True)


def by_package(files: dict[str, Any]) -> dict[str, Any]:
    """Lines and branches of every folder, and of all."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(COUNTS))
    for path, file in sorted(files.items()):
        for package in (Path(path).parent.as_posix(), "all"):
            counts = [file["summary"][count] for count in COUNTS]
            sums[package] = [a + b for a, b in zip(sums[package], counts, strict=True)]
    return {
        package: {
            "lines": {"all": lines, "run": lines_run},
            "branches": {"all": branches, "run": branches_run},
        }
        for package, (lines, lines_run, branches, branches_run) in sorted(
            sums.items(), key=lambda item: (item[0] == "all", item[0])
        )
    }


if __name__ == "__main__":
    main()
