"""Forge the versioned results in many ways, one at a time; the audit must find each.

Works in a clone of the last commit, without data or cache, and commits every forgery there, so
that git does not give it away.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json
from tests.auditing.tamperings import TAMPERINGS, Clone, commit, found_by, git, undo

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", type=Path, default=ROOT)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/tamperings.json"))
    arguments = parser.parse_args()
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="tamperings-") as folder:
        root = Path(folder, "clone")
        git(arguments.project, "clone", "--quiet", ".", str(root))
        before = found_by(root)
        print(f"untouched: {', '.join(before) or 'nothing found'}", flush=True)
        if before:
            return 1
        for name, tamper in TAMPERINGS.items():
            tamper(Clone(root))
            commit(root)
            found[name] = found_by(root)
            print(f"{name}: {', '.join(found[name]) or 'NOT FOUND'}", flush=True)
            undo(root)
    count = sum(map(bool, found.values()))
    print(f"{count} of {len(found)} tamperings found")
    write_json(arguments.output, {"tried": len(found), "found": count, "by": found})
    return 0 if count == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
