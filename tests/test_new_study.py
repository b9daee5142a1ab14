"""CONTRIBUTING.md's recipe for a study: its module and its page, and nothing else."""

import json

import pytest
import yaml

from tests import small_study

MODULE = '''
"""spread: how much the target varies in the training and in the test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.checked import Error
from pipeline.studies.framework.results import PartRows, StudyResult
from pipeline.studies.plumbing.basis import Expectation, Expectations, Basis
from pipeline.studies.plumbing.study import Study

if TYPE_CHECKING:
    from pipeline.studies.framework.experiment import Experiment


class SpreadResult(StudyResult):
    rows: PartRows
    train: Error
    test: Error

    def expected(self, basis: Basis) -> Expectations:
        rows = basis.table.rows
        yield Expectation("rows", self.rows, PartRows(train=rows.train, test=rows.test))


def compute(experiment: Experiment) -> SpreadResult:
    prepared = experiment.prepared
    train, test = prepared.train_rows(), prepared.test_rows()
    return SpreadResult(
        **experiment.head,
        rows=PartRows(train=len(train), test=len(test)),
        train=float(experiment.rows.y[train].std()),
        test=float(experiment.rows.y[test].std()),
    )


STUDY = Study(
    name="spread",
    title="how much the target varies",
    result=SpreadResult,
    compute=compute,
    cost=lambda work: 1e-6 * work.rows,
    by_model=False,
)
'''
CELLS = [
    'root = "."',
    "from pipeline.reporting.blocks import Cell, Table\n"
    "from pipeline.reporting.page import Page\n"
    "from pipeline.studies import STUDIES\n"
    'page = Page.open("spread", root)\n'
    "results = page.results",
    "rows = []\n"
    "for dataset in results.datasets:\n"
    '    found = results.read(STUDIES["spread"], dataset)\n'
    "    rows.append([Cell(dataset), Cell(f'{found.train:.3f}'), Cell(f'{found.test:.3f}')])\n"
    'page.show(Table("spread", "How much the target varies", ["dataset", "train", "test"], rows))\n'
    "page.write()",
]


def notebook():
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {"tags": ["parameters"]} if number == 0 else {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(CELLS)
    ]
    page = {"label": "Spread", "group": "Studies", "order": 99, "about": "A test's own page."}
    return {"cells": cells, "metadata": {"page": page}, "nbformat": 4, "nbformat_minor": 5}


STAGE = "results/dvc.yaml:spread@frequency"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the project with the study's two files, run and reported."""
    datasets = {"datasets": ["frequency"], "models": ["lc"], "base_only": []}
    folder = small_study.make_project(tmp_path_factory.mktemp("new"), **datasets)
    small_study.drop_pages(folder)
    (folder / "pipeline" / "studies" / "spread.py").write_text(MODULE.lstrip())
    path = folder / "reports" / "notebooks" / "spread.ipynb"
    path.write_text(json.dumps(notebook()))
    small_study.pipeline(folder, "dvc", expected=2)  # the pipeline files lack it
    small_study.pipeline(folder, "dvc", "--write")
    return folder


def test_a_new_study_goes_through_dvc_plan_run_audit_and_report(folder):
    assert STAGE in small_study.dvc(folder, "stage", "list", "--all", "--name-only")
    plan = json.loads(small_study.pipeline(folder, "plan", "--json", STAGE).stdout)
    (entry,) = [one for one in plan["stages"] if one["stage"] == STAGE]
    assert entry["basis"] == "its budget"
    assert "how much the target varies" in small_study.pipeline(folder, "--help").stdout

    small_study.run(folder, STAGE)
    path = folder / "results" / "spread" / "frequency" / "spread.json"
    result = json.loads(path.read_text())
    assert result["rows"] == {"train": 72, "test": 36}
    assert 0.1 < result["train"] < 1

    # The check depends on the results of every study; the others have not run here.
    check = yaml.safe_load((folder / "dvc.yaml").read_text())["stages"]["check"]
    for name in check["deps"]:
        if name.startswith("results/"):
            (folder / name).mkdir(exist_ok=True)
    small_study.dvc(folder, "repro", "--single-item", "check", "report@spread")
    html = (folder / "reports" / "spread.html").read_text()
    assert f"{result['train']:.3f}" in html
    assert "How much the target varies" in html

    small_study.pipeline(folder, "audit", "--seal")
    assert findings(folder) == []
    path.write_text(json.dumps(result | {"rows": {"train": 71, "test": 36}}))
    found = [place for place in findings(folder) if "spread" in place]
    assert any("rows" in place for place in found), found  # by the study's own expectation
    assert any("rows" not in place for place in found), found  # by its hash


def findings(folder):
    """Where the audit finds something; it also names the studies that have not run here."""
    small_study.pipeline(folder, "audit", "--skip-reports", expected=1)
    audit = json.loads((folder / "scratch" / "audit" / "audit.json").read_text())
    return [one["where"] for check in audit["checks"] for one in check["findings"]]
