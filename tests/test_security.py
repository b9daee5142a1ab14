"""Nothing that a file says is ever run: no pickle, no eval, no shell; and pinned dependencies."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.reporting.blocks import Cell, Filter, Table, Text
from tests.conftest import ROOT
from tests.reporting.conftest import render
from tests.reporting.project import Project
from tests.reporting.reading import Reader

MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle"}
CALLS = {"eval", "exec", "os.system", "os.popen", "joblib.load", "pandas.read_pickle"}


def dangers(source: str) -> list[str]:
    """What in this code could run what a file says, as `line: what`."""
    tree = ast.parse(source)
    full_names = dict(_imports(tree))
    found = [(line, name) for line, name in _imported_modules(tree) if name in MODULES]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _name(node.func, full_names)
            options = {one.arg: ast.unparse(one.value) for one in node.keywords if one.arg}
            if what := _danger(name, options, len(node.args)):
                found.append((node.lineno, what))
    return [f"{line}: {what}" for line, what in sorted(found)]


def _danger(name: str, options: dict[str, str], positional: int) -> str:
    if name in CALLS or name.endswith((".read_pickle", ".to_pickle")):
        return name
    if options.get("shell", "False") != "False":
        return f"{name} with shell"
    if options.get("allow_pickle", "False") != "False":
        return f"{name} with allow_pickle"
    if name == "torch.load" and options.get("weights_only") != "True":
        return "torch.load without weights_only"
    if name in ("yaml.load", "yaml.load_all") and "SafeLoader" not in options.get("Loader", ""):
        return f"{name} without SafeLoader"
    return name if name in ("yaml.unsafe_load", "yaml.full_load") else ""


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Every imported name and what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    alias.asname or alias.name.split(".")[0],
                    (alias.name if alias.asname else alias.name.split(".")[0]),
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module.split(".")[0]


def _name(node: ast.expr, full_names: dict[str, str]) -> str:
    """`np.load` as `numpy.load`."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value, full_names)}.{node.attr}"
    return full_names.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", "1: pickle"),
        ("from marshal import loads", "1: marshal"),
        ("import shelve as s", "1: shelve"),
        ("import dill.source", "1: dill"),
        ("import joblib\njoblib.load('a')", "2: joblib.load"),
        ("from joblib import load\nload('a')", "2: joblib.load"),
        ("x = eval('1')", "1: eval"),
        ("exec('1')", "1: exec"),
        ("import os as o\no.system('ls')", "2: os.system"),
        ("from os import popen\npopen('ls')", "2: os.popen"),
        ("subprocess.run('ls', shell=True)", "1: subprocess.run with shell"),
        ("subprocess.run('ls', shell=yes)", "1: subprocess.run with shell"),
        ("import yaml\nyaml.load(t)", "2: yaml.load without SafeLoader"),
        ("import yaml\nyaml.load(t, Loader=yaml.Loader)", "2: yaml.load without SafeLoader"),
        ("import yaml as y\ny.unsafe_load(t)", "2: yaml.unsafe_load"),
        ("import numpy as np\nnp.load(p, allow_pickle=True)", "2: numpy.load with allow_pickle"),
        ("import pandas as pd\npd.read_pickle(p)", "2: pandas.read_pickle"),
        ("frame.to_pickle(p)", "1: frame.to_pickle"),
        ("import torch\ntorch.load(p)", "2: torch.load without weights_only"),
        ("from torch import load\nload(p, weights_only=no)", "2: torch.load without weights_only"),
        ("def f():\n    import pickle", "2: pickle"),
    ],
)
def test_the_scan_finds_every_danger(source: str, found: str) -> None:
    assert dangers(source) == [found]


def test_the_scan_lets_safe_ways_pass() -> None:
    safe = """
import numpy as np, torch, yaml
model.eval()
np.load(p); np.load(p, allow_pickle=False)
torch.load(p, weights_only=True)
yaml.safe_load(t); yaml.load(t, Loader=yaml.SafeLoader)
subprocess.run(["ls"], shell=False)
"""
    assert dangers(safe) == []


def code() -> Iterator[tuple[Path, str]]:
    for folder in ("learned_context", "pipeline", "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "reports" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        lines = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        yield path, "\n".join(lines)


# scikit-learn's tools pickle estimators between processes, so two tests do, from memory to memory.
PICKLED_IN_MEMORY = {
    "tests/learned_context/estimator/test_regressor.py": ["5: pickle"],
    "tests/learned_context/test_devices.py": ["10: pickle"],
}


def test_no_code_here_runs_what_a_file_says() -> None:
    found = {str(path.relative_to(ROOT)): dangers(text) for path, text in code()}
    assert len(found) > 200, "the scan does not see the project"
    assert {path: what for path, what in found.items() if what} == PICKLED_IN_MEMORY


# -- names from data -----------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>"


def test_every_text_of_a_block_is_escaped() -> None:
    nasty = f'">{EVIL}'
    cell = Cell(EVIL, paper=EVIL, why=EVIL, chip=nasty, address=nasty, style=nasty)
    table = Table(
        "name",
        EVIL,
        (EVIL, "b"),
        [[cell, cell]],
        [EVIL],
        cards=True,
        filters=[Filter("a", EVIL, 0)],
    )
    text = Text((EVIL,), heading=EVIL, code=EVIL)
    for html in (table.html("page"), text.html()):
        assert "script" not in Reader(html).tags
        assert "&lt;script&gt;" in html
    assert "<script>" not in table.markdown()


def test_what_a_dataset_says_of_itself_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    project = Project(tmp_path, 1.0, ("frequency",)).make()
    info = project.read("data", "frequency", "table")
    info |= {"edition": EVIL, "differs": EVIL, "raw": {EVIL: EVIL}, "split": EVIL}
    info["content_sha256"] = EVIL
    project.path("data", "frequency", "table").write_text(json.dumps(info))
    render(project.root, "data")
    html = (project.root / "reports" / "data.html").read_text()
    assert html.count("<script") == 1  # the page's own
    assert html.count("&lt;script&gt;alert(1)") >= 5


# -- dependencies --------------------------------------------------------------------------------


def test_the_lock_file_pins_every_dependency_to_one_version() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert lines and [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+]+", line)] == []


def test_the_project_asks_for_ranges_and_the_lock_file_has_them_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    rivals = extras["arena"]  # `make arena` installs them into an environment of their own
    wanted = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    locked = {
        _plain(line.partition("==")[0])
        for line in (ROOT / "requirements.lock").read_text().splitlines()
    }
    for requirement in wanted:
        if requirement.startswith(f"{project['name']}["):  # an extra that brings others
            continue
        assert "==" not in requirement, f"{requirement}: a range, the lock file has the version"
        if requirement not in rivals:
            assert _plain(re.match(r"[\w.-]+", requirement)[0]) in locked, requirement


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
