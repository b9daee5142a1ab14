"""The audit finds what was forged, in a clone without data and with the data at hand."""

from __future__ import annotations

import json
import shutil

import pytest
from dvc.repo import Repo

from pipeline.auditing.findings import Audit, Check
from pipeline.auditing.hashing import dvc_hash
from pipeline.auditing.page import page
from pipeline.auditing.project import Project
from tests.auditing.conftest import findings
from tests.auditing.tamperings import TAMPERINGS, Clone, commit, found_by
from tests.small_study import pipeline


def test_a_clone_without_data_passes(clone):
    said = pipeline(clone, "audit").stdout
    assert "nothing found" in said
    assert findings(clone) == {}
    assert "passed" in (clone / "scratch/audit/audit.html").read_text()
    assert not (clone / "data/frequency/table.parquet").exists()


def test_with_the_data_at_hand_everything_is_recomputed(audited):
    pipeline(audited, "audit", "--skip-reports", "--networks", "4", "--rerun", "train@frequency-lc")
    checks = json.loads((audited / "scratch/audit/audit.json").read_text())["checks"]
    asked = {check["name"]: check["examined"] for check in checks}
    assert asked["tables"] == 2  # the table and its description
    assert asked["networks"] == 4
    assert asked["leakage"] == 1
    assert asked["reruns"] == 2  # the network and the result


@pytest.mark.parametrize("name", TAMPERINGS)
def test_every_tampering_is_found(clone, name):
    TAMPERINGS[name](Clone(clone))
    commit(clone)
    assert found_by(clone)


def test_a_finding_says_where_and_how_to_look(clone):
    path = "results/train/frequency/lc.json"
    Clone(clone).one_digit(path, '"rmse"')
    said = pipeline(clone, "audit", "--skip-reports", expected=1).stdout
    assert f"{path}: has the hash" in said
    assert f"git diff HEAD -- {path}" in said
    found = findings(clone)
    assert path in found["commit"]
    assert path in found["hashes"]
    # The digit is too small for the sums; but the first of the repeats is this very training.
    assert found["sums"] == ["results/repeats/frequency/lc.json: trainings"]


def test_a_forged_table_with_a_forged_hash_is_found_by_making_it_anew(clone):
    forger = Clone(clone)
    table = forger.report("base/*.csv")
    forger.one_digit(table, ",")
    # Whoever forges a page's folder has to forge the hash of the folder.
    new = dvc_hash(table.parent, Project(clone).ignored)
    lock = clone / "dvc.lock"
    old = Project(clone).recorded["report@base"].outs["reports/base"]
    lock.write_text(lock.read_text().replace(old, new))
    commit(clone)
    pipeline(clone, "audit", expected=1)
    assert findings(clone) == {"reports": [table.relative_to(clone).as_posix()]}


def test_a_forged_result_is_found_by_running_it_again(clone):
    """All hashes and sums forged alike: only the computation itself tells."""
    forger = Clone(clone)

    def lower(content):
        for key in ("rmse", "normalised"):
            content["lr"][key] *= 0.5
        for task in content["lr"]["task_rmse"]:
            content["lr"]["task_rmse"][task] *= 0.5

    path = forger.result("linear", "linear")
    forger.edit_json(path, lower)
    forger.forge_hash(path)
    commit(clone)
    name = path.relative_to(clone).as_posix()
    pipeline(clone, "audit", "--skip-reports", "--rerun", "linear@frequency", expected=1)
    assert findings(clone)["reruns"] == [name]


def test_a_stage_that_cannot_run_here_is_a_finding_and_no_end(clone):
    """Its table is not here and must be made; what makes it no longer works."""
    forger = Clone(clone)
    forger.change("pipeline/stages/prepare.py", r"\n\n\n", "\nraise SystemExit('broken')\n\n\n")
    pipeline(clone, "audit", "--skip-reports", "--rerun", "linear@frequency", expected=1)
    assert findings(clone)["reruns"] == ["linear@frequency"]
    assert not list((clone / "scratch/audit").glob("rerun/*"))


def test_a_network_that_was_swapped_is_found(audited):
    models = audited / "data/frequency/models"
    kept = models.parent / "kept.safetensors"
    shutil.copy(models / "train-lc.safetensors", kept)
    try:
        shutil.copy(models / "dimension-lc/1.safetensors", models / "train-lc.safetensors")
        pipeline(audited, "audit", "--skip-reports", "--networks", "99", expected=1)
        found = findings(audited)
        assert found["networks"] == ["data/frequency/models/train-lc.safetensors"]
        assert "data/frequency/models/train-lc.safetensors" in found["hashes"]
    finally:
        shutil.move(kept, models / "train-lc.safetensors")


def test_a_stage_that_does_not_exist_cannot_be_run_again(clone):
    said = pipeline(clone, "audit", "--rerun", "train@frequency-lx", expected=2).stderr
    assert "train@frequency-lx: no such stage; did you mean train@frequency-l" in said


def test_a_damaged_lock_file_is_named(clone):
    (clone / "dvc.lock").write_text("stages: [")
    said = pipeline(clone, "audit", expected=2).stderr
    assert "dvc.lock" in said
    assert "git checkout" in said
    assert "Traceback" not in said


def test_hashes_are_those_of_dvc(audited):
    """Files and folders, computed by us and as DVC wrote them."""
    project = Project(audited)
    with Repo(str(audited)) as repo:
        outs = {out.fs_path: out.hash_info.value for out in repo.index.outs}
    assert len(outs) > 20
    for path, expected in outs.items():
        assert dvc_hash(project.root / path, project.ignored) == expected


def test_the_page_escapes_what_it_found():
    check = Check("hashes", "Are they?")
    check.ask(False, "results/<script>alert(1)</script>.json", "is <b>odd</b>", "look")
    text = page(Audit((check,)))
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
