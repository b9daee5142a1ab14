"""What the code imports is declared in pyproject.toml, and what is declared is used."""

import ast
import re
import sys
import tomllib

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {
    "dlib": "dlib-bin",
    "dvc_data": "dvc-data",
    "pydantic_core": "pydantic",
    "ruamel": "ruamel.yaml",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Of modules with another name."""
COMMANDS = {"dask", "ipykernel"}
"""Started, not imported: `dask scheduler` of docs/cluster.md, and the notebooks' kernel."""


def declared(*extras):
    listed = [one for extra in extras for one in PROJECT["optional-dependencies"][extra]]
    names = {re.match(r"[\w.-]+", one)[0] for one in [*PROJECT["dependencies"], *listed]}
    return names - {"learned-context"}


def imported(package):
    """The distributions that a package imports, the standard library's and ours left out."""
    found = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module)
    modules = {name.partition(".")[0] for name in found}
    others = modules - sys.stdlib_module_names - {"learned_context", "pipeline"}
    return {DISTRIBUTIONS.get(name, name) for name in others}


def test_the_library_and_the_study_declare_what_they_import_and_no_more():
    library = imported("learned_context")
    assert library == declared("plots", "search")
    assert library | imported("pipeline") | COMMANDS == declared("plots", "search", "study")
