"""The notebook for users runs from start to end, and its comparison comes out as it says."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "reports" / "notebooks" / "your_own_tasks.ipynb"


def test_the_notebook_runs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": ROOT}}).execute()
    last = notebook.cells[-1].outputs[-1]["data"]["text/plain"]
    errors = re.search(r"five rows +([\d.]+)\s.*again +([\d.]+)\s", last, re.DOTALL)
    assert errors is not None
    added, retrained = map(float, errors.groups())
    assert added < 1.5 * retrained
