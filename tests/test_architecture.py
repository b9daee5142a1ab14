"""docs/architecture.md, executed: who may import whom, and what stages depend on."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

LAYERS = [
    "errors",
    "files",
    "settings",
    "tables",
    "datasets",
    "own",
    "models",
    "training",
    "search",
    "adaptation",
    "estimator",
    "reporting",
    "execution",
    "auditing",
    "stages",
]
"""A module imports from its own package and from those before it."""
MODULES = sorted(path.relative_to(ROOT) for path in (ROOT / "pipeline").rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The modules of this project that a file imports, at its top or inside a function."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if file_of(name)}


def file_of(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != "pipeline" or len(parts) == 1:
        return None
    for path in (Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py")):
        if (ROOT / path).is_file():
            return path
    return None


def layer(path: Path) -> str:
    return path.parts[1].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_point_one_way(path):
    if layer(path) in ("__init__", "__main__"):
        return
    for name in imported(path):
        other = layer(file_of(name))
        assert LAYERS.index(other) <= LAYERS.index(layer(path)), f"{path} imports {name}"


def test_the_report_needs_no_torch():
    modules = [path for path in MODULES if layer(path) == "reporting"]
    names = ", ".join(".".join(path.with_suffix("").parts) for path in modules)
    script = f"import sys, {names}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def closure(path: Path) -> set[Path]:
    """The file and all files of the project that it imports, however far."""
    found, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += [file_of(name) for name in imported(current)]
    return found


# What reads settings and writes files decides no number; `dvc.yaml` names the keys instead.
PLUMBING = {"errors", "files", "settings", "execution"}
ONLY_SHOWS = {Path("pipeline/stages/progress.py")}


def stages():
    return list(_stages())


def _stages():
    for name in ("dvc.yaml", "results/dvc.yaml"):
        for stage, entry in yaml.safe_load((ROOT / name).read_text())["stages"].items():
            yield pytest.param(stage, entry, id=stage)


@pytest.mark.parametrize(("stage", "entry"), stages())
def test_a_stage_depends_on_the_code_that_it_imports_and_on_no_other(stage, entry):
    verb = entry["cmd"].split()[3]
    module = Path(f"pipeline/stages/{verb}.py")
    needed = {
        path
        for path in closure(module)
        if layer(path) not in PLUMBING | {"__init__"}
        and path not in ONLY_SHOWS
        and path.name != "__init__.py"
    }
    listed = [Path(dep) for dep in entry["deps"] if dep.startswith("pipeline")]
    for path in needed:
        assert any(path == dep or dep in path.parents for dep in listed), f"{stage} lacks {path}"
    for dep in listed:
        assert any(path == dep or dep in path.parents for path in needed), f"{stage}: {dep} unused"


@pytest.mark.parametrize(("stage", "entry"), stages())
def test_the_code_digest_in_a_result_covers_the_dependencies(stage, entry):
    import importlib

    module = importlib.import_module(f"pipeline.stages.{entry['cmd'].split()[3]}")
    if hasattr(module, "CODE"):
        listed = [dep for dep in entry["deps"] if dep.startswith("pipeline")]
        assert sorted(module.CODE) == sorted(listed)
