"""DVC's Python API is private: one package uses it, and says with which versions it was tried."""

import importlib.metadata
import re

import pytest

from pipeline.execution import dvc_adapter
from tests.conftest import ROOT

ADAPTER = ROOT / "pipeline" / "execution" / "dvc_adapter"
IMPORT = re.compile(r"^\s*(?:from|import) (dvc\w*)\b", re.MULTILINE)


def test_the_adapter_was_tried_with_the_installed_version():
    installed = importlib.metadata.version("dvc")
    assert installed in dvc_adapter.TESTED, (
        f"DVC {installed}: run `pytest tests/execution tests/faults tests/test_study.py`; if they "
        f"pass, add it to TESTED in {ADAPTER / '__init__.py'}"
    )


def test_the_locked_version_is_one_of_them():
    (locked,) = re.findall(r"^dvc==(.+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked in dvc_adapter.TESTED


@pytest.mark.parametrize("package", ["pipeline", "learned_context"])
def test_no_other_module_imports_dvc(package):
    modules = [path for path in (ROOT / package).rglob("*.py") if ADAPTER not in path.parents]
    found = {path: IMPORT.findall(path.read_text()) for path in modules}
    assert not {path: names for path, names in found.items() if names}
