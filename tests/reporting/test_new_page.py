"""CONTRIBUTING.md's recipe: a page is a notebook and a module, and nothing else lists it."""

import json

import pytest

from learned_context.errors import UserError
from pipeline.reporting import pages, site
from tests.reporting.conftest import render
from tests.reporting.reading import Reader

MODULE = """
from pipeline.reporting import numbers
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.cells import number


def gains(results):
    rows = [
        [Cell(results.label(dataset)), number(row["lr"] / row["lc"], 2)]
        for dataset, row in numbers.base(results).items()
    ]
    return Table("gains", "Linear regression's error / LC's.", ("Dataset", "Ratio"), rows)
"""
CELLS = (
    'root = "."',
    "from pipeline.reporting.page import Page\nfrom pipeline.reporting.pages import gain\n"
    'page = Page.open("gain", root)',
    'page.begin("A title", question="What is gained?", answer="This.")',
    'page.section("Gains")\npage.show(gain.gains(page.results))\npage.write()',
)


def notebook(**metadata):
    cells = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in CELLS]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def test_a_new_page_is_a_notebook_and_a_module(project, tmp_path, monkeypatch):
    root = project(datasets=("frequency",)).root
    folder = tmp_path / "added"
    folder.mkdir()
    (folder / "gain.py").write_text(MODULE)
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(folder)])
    entry = {"label": "Gain", "group": "Studies", "order": 25, "about": "What is gained."}
    path = root / "reports/notebooks/gain.ipynb"
    path.write_text(json.dumps(notebook(page=entry)))
    render(root, "gain", "base", notebooks=root)
    page = (root / "reports/gain.html").read_text()
    assert Reader(page).tables["gains"][1] == ["Frequency", "3.41"]
    assert "<h1>A title</h1>" in page and 'href="#gains"' in page
    assert (root / "reports/gain/gains.csv").exists()
    assert '<a href="gain.html">Gain</a>' in (root / "reports/base.html").read_text()
    assert list(site.pages(root)).index("gain") == list(site.pages(root)).index("base") + 1


def test_a_notebook_that_is_no_page_is_none_and_half_a_page_is_an_error(project):
    root = project(datasets=("frequency",)).root
    path = root / "reports/notebooks/gain.ipynb"
    path.write_text(json.dumps(notebook()))
    assert "gain" not in site.pages(root)
    path.write_text(json.dumps(notebook(page={"label": "Gain"})))
    with pytest.raises(UserError, match=r"gain.ipynb: metadata.page needs label, group, order"):
        site.pages(root)
