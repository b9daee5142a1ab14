"""Forge the versioned results in many ways, one at a time; the audit must find each.

Those that tests/auditing/tamperings.py thought of, and digits at random places of random files.

Works in a clone of the last commit, without data or cache, and commits every forgery there, so
that git does not give it away.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import ROOT, options
from pipeline.files import write_json
from tests.auditing.tamperings import TAMPERINGS, Clone, found_by, undo
from tests.small_study import commit, git


def main() -> int:
    parser = options(__doc__, "tamperings.json")
    parser.add_argument("--digits", type=int, default=50, help="at random (default: %(default)s)")
    parser.add_argument("--project", type=Path, default=ROOT)
    arguments = parser.parse_args()
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="tamperings-") as folder:
        root = Path(folder, "clone")
        git(arguments.project, "clone", "--quiet", ".", str(root))
        before = list(found_by(root))
        print(f"untouched: {', '.join(before) or 'nothing found'}", flush=True)
        if before:
            return 1
        for name in forge(root, arguments.digits):
            commit(root)
            found[name] = list(found_by(root))
            print(f"{name}: {', '.join(found[name]) or 'NOT FOUND'}", flush=True)
            undo(root)
    count = sum(map(bool, found.values()))
    print(f"{count} of {len(found)} tamperings found")
    write_json(arguments.output, {"tried": len(found), "found": count, "by": found})
    return 0 if count == len(found) else 1


def forge(root: Path, digits: int) -> Iterator[str]:
    """Forge the clone and say how; once more each time, after the last one was undone."""
    for name, tamper in TAMPERINGS.items():
        tamper(Clone(root))
        yield name
    rng = random.Random(1)
    for _ in range(digits):
        yield f"a digit of {Clone(root).any_digit(rng)}"


if __name__ == "__main__":
    sys.exit(main())
