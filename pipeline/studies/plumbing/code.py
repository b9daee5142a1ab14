"""The code that a stage depends on, from the imports of its modules.

DVC's dependencies and the digest in every result are this list. What checks settings, reads and
writes files, shows progress or declares is left out: it decides no number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from learned_context.networks.registry import ARCHITECTURES
from pipeline.studies.plumbing.study import Study

ROOT = Path(__file__).parents[3]
PACKAGES = ("learned_context", "pipeline")
PLUMBING = (
    "learned_context/errors.py",
    "learned_context/files.py",
    "pipeline/checked.py",
    "pipeline/execution",
    "pipeline/files.py",
    "pipeline/settings.py",
    "pipeline/studies/plumbing",
)


def code_of(study: Study[Any]) -> list[str]:
    """Of a study's computation, and of the `Experiment` that it is given."""
    return code_below([f"pipeline.studies.{study.name}", "pipeline.studies.framework.experiment"])


def code_below(
    modules: Iterable[str], whole: Iterable[str] = (), by_name: bool = True
) -> list[str]:
    """Files that the modules import, however far, and folders of which every file is.

    Folders in `whole` count as a whole, and what they import is not followed. Without `by_name`,
    modules that are loaded by their names are left out.
    """
    found: set[Path] = set()
    folders: set[str] = set()
    waiting = [path for module in modules for path in _files_of(module)]
    while waiting:
        path = waiting.pop()
        around = [folder for folder in whole if path.is_relative_to(folder)]
        folders.update(around)
        if path in found or around or _is_plumbing(path):
            continue
        found.add(path)
        names = [*imported(path), *(_by_name(path) if by_name else ())]
        waiting += [file for name in names for file in _files_of(name)]
    return sorted([*_collapsed(found), *folders])


@cache
def imported(path: Path) -> tuple[str, ...]:
    """What a file imports from this project, at its top or inside a function.

    What it imports for type checkers alone is never run.
    """
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return tuple(name for name in _imports(tree) if name.partition(".")[0] in PACKAGES)


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:  # a module of a package, or a name in a module
                inner = f"{node.module}.{alias.name}"
                yield inner if _files_of(inner) else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from _imports(node)


def _by_name(path: Path) -> Iterator[str]:
    """Modules that a module loads by their names, which its imports do not show."""
    if path == Path("learned_context/networks/registry.py"):
        yield from (architecture.module for architecture in ARCHITECTURES.values())
    elif path == Path("pipeline/datasets/registry.py"):
        yield from (f"pipeline.datasets.{file.stem}" for file in (ROOT / path).parent.glob("*.py"))


def _files_of(module: str) -> list[Path]:
    base = Path(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return [path for path in candidates if (ROOT / path).is_file()]


def _is_plumbing(path: Path) -> bool:
    return any(path.is_relative_to(one) for one in PLUMBING)


def _collapsed(files: set[Path]) -> list[str]:
    """A folder instead of its files where all of them are used."""
    kept = set(files)
    for folder in sorted({file.parent for file in files}, key=lambda f: -len(f.parts)):
        inside = {
            path.relative_to(ROOT)
            for path in (ROOT / folder).rglob("*.py")
            if path.name != "__init__.py"
        }
        if len(folder.parts) > 1 and inside <= files:
            kept = {one for one in kept if not one.is_relative_to(folder)} | {folder}
    return sorted(path.as_posix() for path in kept)
