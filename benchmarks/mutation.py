"""Change the code that decides the numbers, one small change at a time: do the tests notice?

Every mutant is one changed operator, comparison, constant, condition or dropped call, written into
a copy of the project, where the file's own fast tests run. A mutant that no test notices has
survived; the report names it. Annotations, docstrings, decorators and the text of error messages
are left alone: they decide no number.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.files import write_json

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "pipeline/training/schedule.py": ["tests/training/test_schedule.py"],
    "pipeline/datasets/splits.py": ["tests/datasets/test_splits.py"],
    "pipeline/tables/selection.py": ["tests/datasets/test_splits.py"],
    "pipeline/tables/metrics.py": ["tests/tables/test_metrics.py"],
    "pipeline/adaptation/objective.py": [
        "tests/adaptation/test_objective.py",
        "tests/adaptation/test_fits.py",
    ],
}
HEAVY = (
    "hypothesis",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "pytest",
    "requests",
    "scipy.stats",
    "statsmodels.api",
    "torch",
)
"""Imported once, before the forks: a mutant then costs no more than its tests."""
SECONDS = 120
"""Of the processor: a mutant whose tests take so long has made a loop endless and is noticed."""

OTHER_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


@dataclass(frozen=True)
class Mutant:
    line: int
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, as the module's whole text."""
    tree = ast.parse(source)
    for place in range(len(list(_code(tree)))):
        for choice in range(len(_choices(list(_code(tree))[place]))):
            changed = copy.deepcopy(tree)
            node = list(_code(changed))[place]
            before = ast.unparse(node)
            _choices(node)[choice]()
            after = ast.unparse(node)
            yield Mutant(node.lineno, _short(before), _short(after), ast.unparse(changed))


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The statements and expressions below a node that may decide a number."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.Raise, ast.JoinedStr)) or _is_text(child):
                continue
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child
            if isinstance(child, ast.AST):
                yield from _code(child)


def _is_text(node: object) -> bool:
    """A docstring, or a string that is a statement."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _choices(node: ast.expr | ast.stmt) -> list:  # of functions that change the node in place
    found: list = []

    def setting(name: str, value: object) -> None:
        found.append(lambda: setattr(node, name, value))

    match node:
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            for other in OTHER_OPERATORS.get(type(node.op), ()):
                setting("op", other())
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for other in OTHER_OPERATORS.get(type(operator), ()):
                    setting("ops", [*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.UnaryOp():
            opposite = ast.UAdd() if isinstance(node.op, ast.USub) else None
            if opposite:
                setting("op", opposite)
            elif isinstance(node.op, ast.Invert):
                setting("op", ast.UAdd())
            elif isinstance(node.op, ast.Not):
                double = ast.UnaryOp(ast.Not(), node.operand)
                setting("operand", double)
        case ast.Constant(value=bool()):
            setting("value", not node.value)
        case ast.Constant(value=int() | float()):
            setting("value", node.value + 1)
            if isinstance(node.value, float) and node.value:
                setting("value", node.value / 2)
        case ast.Constant(value=str()):
            setting("value", f"{node.value}?")
        case ast.If() | ast.While() | ast.IfExp():
            setting("test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Expr(value=ast.Call()):
            setting("value", ast.Constant(None))
        case ast.Return() if node.value is not None:
            setting("value", ast.Constant(None))
    return found


def _short(text: str) -> str:
    line = text.splitlines()[0]
    return line if len(line) <= 100 else f"{line[:97]}..."


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
    """Load a module anew, also for those that have imported names from it."""
    module = sys.modules[name]
    before = dict(vars(module))
    importlib.reload(module)
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").split(".")[0] in ("pipeline", "tests"):
            for key, value in list(vars(other).items()):
                if other is not module and key in before and value is before[key]:
                    setattr(other, key, getattr(module, key))


def run_session(folder: Path, path: str, tests: list[str], report: Path) -> None:
    """In a process of its own, which loads the project from the copy at `folder`."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    for name in [name for name in sys.modules if name.split(".")[0] in ("pipeline", "tests")]:
        del sys.modules[name]
    sys.path[:] = [str(folder), *(one for one in sys.path if Path(one).resolve() != ROOT)]
    sys.dont_write_bytecode = True  # a mutant as long as the original would be taken for it
    os.chdir(folder)
    import pytest

    module = path.removesuffix(".py").replace("/", ".")
    options = ["-p", "no:cacheprovider", "--hypothesis-seed=0"]
    pytest.main([*options, *tests], plugins=[Mutating(folder / path, module, report)])


def examine(folder: Path, path: str, tests: list[str]) -> dict[str, Any]:
    """Try every mutant of one file."""
    report = folder.parent / "report.json"
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            run_session(folder, path, tests, report)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    found = json.loads(report.read_text()) if report.exists() else "its tests cannot be collected"
    if isinstance(found, str):
        sys.exit(f"{path}: {found}: {' '.join(tests)}")
    killed = found["total"] - len(found["survivors"])
    for one in found["survivors"]:
        print(f"  survived: {path}:{one['line']}: {one['was']} -> {one['is']}")
    print(
        f"{path}: {killed} of {found['total']} noticed ({killed / found['total']:.0%})", flush=True
    )
    return {"tests": tests, "killed": killed, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help=f"of {', '.join(TESTS)}; all if none is given")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/mutation.json"))
    arguments = parser.parse_args()
    unknown = [path for path in arguments.files if path not in TESTS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(TESTS)}")
    for name in HEAVY:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        skipped = shutil.ignore_patterns(".git", ".venv", ".demo", "scratch", "data", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=skipped)
        files = {
            path: examine(folder, path, tests)
            for path, tests in TESTS.items()
            if not arguments.files or path in arguments.files
        }
    killed = sum(file["killed"] for file in files.values())
    total = sum(file["total"] for file in files.values())
    print(f"{killed} of {total} mutants noticed ({killed / total:.1%})")
    write_json(arguments.output, {"killed": killed, "total": total, "files": files})


if __name__ == "__main__":
    main()
