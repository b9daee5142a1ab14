"""How much of the code the fast tests run, the commands that they start included.

A line counts when a test ran it, a branch when a test took it. benchmarks/mutation.py asks whether
the tests would also notice a change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pandas as pd

from benchmarks.shared import options
from pipeline.files import write_json

WANTED = 92  # per cent of all lines and branches


def main() -> None:
    arguments = options(__doc__, "line_coverage.json").parse_args()
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
    # One thread for arithmetic, as in `make test`: some tests compare bits.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "coverage", *words], check=True, env=environment)


def by_package(files: dict[str, Any]) -> dict[str, Any]:
    """Lines and branches of every folder, and of all."""
    counts = pd.DataFrame({path: file["summary"] for path, file in files.items()}).T
    sums = counts.groupby(lambda path: Path(path).parent.as_posix()).sum()
    sums.loc["all"] = counts.sum()
    return {
        str(package): {
            "lines": {"all": int(sum_.num_statements), "run": int(sum_.covered_lines)},
            "branches": {"all": int(sum_.num_branches), "run": int(sum_.covered_branches)},
        }
        for package, sum_ in sums.iterrows()
    }


if __name__ == "__main__":
    main()
