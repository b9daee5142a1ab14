"""docs/architecture.md, executed: who may import whom, and what stages depend on."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from pipeline.commands.dvc import pipeline_files
from pipeline.studies import STUDIES
from pipeline.studies.plumbing.code import PLUMBING, code_below, code_of, imported
from tests.conftest import ROOT

LAYERS = [
    "files",
    "checked",
    "settings",
    "tables",
    "datasets",
    "own",
    "models",
    "studies",
    "reporting",
    "execution",
    "auditing",
    "commands",
]
"""A module imports from its own package and from those before it."""
MODULES = sorted(path.relative_to(ROOT) for path in (ROOT / "pipeline").rglob("*.py"))
LIBRARY = sorted(path.relative_to(ROOT) for path in (ROOT / "learned_context").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_point_one_way(path):
    own = path.parts[1].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for name in imported(path):
        if name.startswith("pipeline."):
            other = name.split(".")[1]
            assert LAYERS.index(other) <= LAYERS.index(own), f"{path} imports {name}"


def test_the_library_does_not_know_the_study():
    for path in LIBRARY:
        assert not [name for name in imported(path) if name.startswith("pipeline")], path


def test_the_report_needs_no_torch():
    modules = [path for path in MODULES if path.parts[1] == "reporting"]
    names = ", ".join(".".join(path.with_suffix("").parts) for path in modules)
    script = f"import sys, {names}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_class_names_are_unique():
    names = Counter(
        node.name
        for path in (*MODULES, *LIBRARY)
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("name", ["dvc.yaml", "results/dvc.yaml"])
def test_the_pipeline_files_are_what_the_studies_declare(name):
    declared = pipeline_files()[name]
    assert (ROOT / name).read_text() == declared, "run `python -m pipeline dvc --write`"


def test_what_git_keeps_survives_a_failed_stage():
    for text in pipeline_files().values():
        for stage, entry in yaml.safe_load(text)["stages"].items():
            for out in entry["outs"]:
                if isinstance(out, dict):
                    (options,) = out.values()
                    assert options == {"cache": False, "persist": True}, stage


def loaded_by_python(*modules):
    """The files of this project that Python loads when it imports these modules alone."""
    names = ", ".join(modules)
    script = (
        # Without the package that imports every study.
        "import sys, types, pathlib\n"
        "studies = types.ModuleType('pipeline.studies')\n"
        "studies.__path__ = ['pipeline/studies']\n"
        "sys.modules['pipeline.studies'] = studies\n"
        f"import {names}\n"
        "print(*(n for n in sys.modules if n.startswith(('pipeline.', 'learned_context.'))))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [Path(*name.split(".")).with_suffix(".py") for name in ended.stdout.split()]
    return [path for path in paths if (ROOT / path).is_file()]


@pytest.mark.parametrize("name", [pytest.param("train", marks=pytest.mark.slow), "sizes"])
def test_a_study_depends_on_every_module_that_python_loads_for_it(name):
    loaded = loaded_by_python(f"pipeline.studies.{name}", "pipeline.studies.framework.experiment")
    listed = [*code_of(STUDIES[name]), *PLUMBING]
    assert len(loaded) > 10
    for path in loaded:
        assert any(path.is_relative_to(one) for one in listed), f"{name} lacks {path}"


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not():
    assert "learned_context/search" in code_of(STUDIES["tune"])  # inside a function
    train = code_of(STUDIES["train"])
    assert "pipeline/studies/train.py" in train
    assert "pipeline/studies/tune.py" not in train  # its result's type alone
    assert "pipeline/studies/tune.py" in code_of(STUDIES["sizes"])


def test_settings_files_runner_and_report_are_no_study_s_code():
    others = (*PLUMBING, "pipeline/reporting", "pipeline/auditing", "pipeline/commands")
    for study in STUDIES.values():
        assert not [path for path in code_of(study) if path.startswith(others)]


def test_a_folder_is_named_where_all_its_files_are_used():
    assert "learned_context/training" in code_of(STUDIES["linear"])
    assert "pipeline/datasets" in code_below(["pipeline.commands.prepare"])
