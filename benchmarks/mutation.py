"""Change the code that decides the numbers, one small change at a time: do the tests notice?

Every mutant (benchmarks/mutants.py) is written into a copy of the project, where the file's own
fast tests run. A mutant that no test notices has survived; the report names it.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mutants import mutants
from benchmarks.shared import ROOT, options
from pipeline.files import write_json

TESTS = {
    "learned_context/training/schedule.py": ["tests/learned_context/training/test_schedule.py"],
    "learned_context/metrics.py": ["tests/learned_context/test_metrics.py"],
    "learned_context/new_tasks/objective.py": [
        "tests/learned_context/new_tasks/test_objective.py",
        "tests/learned_context/new_tasks/test_fits.py",
    ],
    "pipeline/datasets/splits.py": ["tests/datasets/test_splits.py"],
    "pipeline/tables/selection.py": ["tests/datasets/test_splits.py"],
}
PACKAGES = ("learned_context", "pipeline", "tests")
SECONDS = 120
"""Of the processor: a mutant whose tests take longer has made a loop endless and is noticed."""


class Mutating:
    """A pytest plugin: the collected tests run once for every mutant, each time in a fork."""

    def __init__(self, path: Path, module: str, report: Path) -> None:
        self.path, self.module, self.report = path, module, report

    def pytest_runtestloop(self, session: Any) -> bool:
        source = self.path.read_text(encoding="utf-8")
        if self._noticed(session, source):
            self.report.write_text(json.dumps("its tests fail without any change"))
            return True
        total, survivors = 0, []
        for mutant in mutants(source):
            total += 1
            if not self._noticed(session, mutant.source):
                survivors.append({"line": mutant.line, "was": mutant.before, "is": mutant.after})
        self.path.write_text(source, encoding="utf-8")  # the next file's tests may use this one
        self.report.write_text(json.dumps({"total": total, "survivors": survivors}))
        return True

    def _noticed(self, session: Any, source: str) -> bool:
        self.path.write_text(source, encoding="utf-8")
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            os._exit(self._fails(session))
        return os.waitpid(child, 0)[1] != 0

    def _fails(self, session: Any) -> bool:
        try:
            reload_everywhere(self.module)
        except Exception:  # a module that cannot be imported is noticed
            return True
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return True
        return False


def reload_everywhere(name: str) -> None:
    """Load a module again, also for those that have imported names from it."""
    module = sys.modules[name]
    before = dict(vars(module))
    importlib.reload(module)
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").split(".")[0] in PACKAGES:
            for key, value in list(vars(other).items()):
                if other is not module and key in before and value is before[key]:
                    setattr(other, key, getattr(module, key))


def run_session(path: str, report: str) -> None:
    """In a process of its own, which loads the project from the copy that it runs in."""
    import pytest

    module = path.removesuffix(".py").replace("/", ".")
    words = ["-p", "no:cacheprovider", "--hypothesis-seed=0", *TESTS[path]]
    pytest.main(words, plugins=[Mutating(Path(path).resolve(), module, Path(report))])


def examine(folder: Path, path: str) -> dict[str, Any]:
    """Try every mutant of one file."""
    report = folder.parent / "report.json"
    report.unlink(missing_ok=True)
    code = f"from benchmarks.mutation import run_session; run_session({path!r}, {str(report)!r})"
    # Without bytecode: a mutant as long as the original would be taken for it.
    subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True)
    found = json.loads(report.read_text()) if report.exists() else "its tests cannot be collected"
    if isinstance(found, str):
        sys.exit(f"{path}: {found}: {' '.join(TESTS[path])}")
    killed = found["total"] - len(found["survivors"])
    for one in found["survivors"]:
        print(f"  survived: {path}:{one['line']}: {one['was']} -> {one['is']}")
    print(
        f"{path}: {killed} of {found['total']} noticed ({killed / found['total']:.0%})", flush=True
    )
    return {"tests": TESTS[path], "killed": killed, **found}


def main() -> None:
    parser = options(__doc__, "mutation.json")
    parser.add_argument("files", nargs="*", help=f"of {', '.join(TESTS)}; all if none is given")
    arguments = parser.parse_args()
    unknown = [path for path in arguments.files if path not in TESTS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(TESTS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        skipped = shutil.ignore_patterns(".git", ".venv", ".demo", "scratch", "data", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=skipped)
        files = {path: examine(folder, path) for path in arguments.files or TESTS}
    killed = sum(file["killed"] for file in files.values())
    total = sum(file["total"] for file in files.values())
    print(f"{killed} of {total} mutants noticed ({killed / total:.1%})")
    write_json(arguments.output, {"killed": killed, "total": total, "files": files})


if __name__ == "__main__":
    main()
