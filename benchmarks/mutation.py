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
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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


def noticed(folder: Path, tests: list[str], keep_bytecode: bool = False) -> bool:
    """Whether a test fails in the copy at `folder`; in a process of its own."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        sys.dont_write_bytecode = not keep_bytecode
        os._exit(_test(folder, tests))
    return os.waitpid(child, 0)[1] != 0


def _test(folder: Path, tests: list[str]) -> int:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    for name in [name for name in sys.modules if name.split(".")[0] in ("pipeline", "tests")]:
        del sys.modules[name]
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    os.chdir(folder)
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    return int(pytest.main([*options, *tests]))


def examine(folder: Path, path: str, tests: list[str]) -> dict:
    """Try every mutant of one file, which is put back in the end."""
    target = folder / path
    source = target.read_text(encoding="utf-8")
    if noticed(folder, tests, keep_bytecode=True):  # so that the mutants need not compile it all
        sys.exit(f"{path}: its tests fail without any change: {' '.join(tests)}")
    total, survivors = 0, []
    for mutant in mutants(source):
        total += 1
        target.write_text(mutant.source, encoding="utf-8")
        if not noticed(folder, tests):
            survivors.append({"line": mutant.line, "was": mutant.before, "is": mutant.after})
            print(
                f"  survived: {path}:{mutant.line}: {mutant.before} -> {mutant.after}", flush=True
            )
    target.write_text(source, encoding="utf-8")
    killed = total - len(survivors)
    print(f"{path}: {killed} of {total} noticed ({killed / total:.0%})", flush=True)
    return {"tests": tests, "killed": killed, "total": total, "survivors": survivors}


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
