"""The audit finds what was forged, in a clone without data and with the data at hand."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest
from dvc.repo import Repo
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.auditing import asked, paperwork, provenance, sums
from pipeline.auditing.findings import Audit, Check
from pipeline.auditing.hashing import dvc_hash
from pipeline.auditing.page import page
from pipeline.auditing.project import Project
from pipeline.errors import UserError
from pipeline.reporting.results import SHAPES
from tests.auditing.conftest import findings
from tests.auditing.tamperings import TAMPERINGS, Clone, commit, found_by, undo
from tests.small_study import pipeline
from tests.test_any_input import QUICK, changed


def test_a_clone_without_data_passes(clone):
    said = pipeline(clone, "audit").stdout
    assert "nothing found" in said
    assert findings(clone) == {}
    assert "passed" in (clone / "scratch/audit/audit.html").read_text()
    assert not (clone / "data/frequency/table.parquet").exists()


def test_with_the_data_at_hand_everything_is_recomputed(audited):
    pipeline(audited, "audit", "--skip-reports", "--networks", "4", "--rerun", "train@frequency-lc")
    checks = json.loads((audited / "scratch/audit/audit.json").read_text())["checks"]
    counts = {check["name"]: check["examined"] for check in checks}
    assert counts["tables"] == 2  # the table and its description
    assert counts["networks"] == 4
    assert counts["leakage"] == 1
    assert counts["reruns"] == 2  # the network and the result


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
    forger.forge_hash(table.parent)  # DVC records a page's tables and figures as one folder
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


@pytest.mark.parametrize(
    "content", ["stages: [", "[1]", "stages: [1]", "stages: {a: {cmd: 3}}", "stages: {a: b}"]
)
def test_a_damaged_lock_file_is_named(clone, content):
    (clone / "results/dvc.lock").write_text(content)
    with pytest.raises(UserError, match=r"results/dvc\.lock: .*`git checkout results/dvc\.lock`"):
        _ = Project(clone).recorded


def test_a_profile_that_asks_for_too_much_is_a_finding_at_once(clone):
    Clone(clone).change("profiles/tiny.yaml", "repeats: .*?\n", "repeats: 1000000000000\n")
    found = [finding.where for finding in asked.asked(Project(clone)).findings]
    assert "results/repeats/frequency/lc.json: trainings: count" in found


def test_any_digit_that_is_changed_is_found(clone):
    """Ten at random; benchmarks/tamperings.py tries more of them on the committed results."""
    forger, rng = Clone(clone), random.Random(8)
    for _ in range(10):
        where = forger.any_digit(rng)
        commit(clone)
        assert found_by(clone), where
        undo(clone)


@pytest.fixture(scope="module")
def untouched(clean_clone):
    return Project(clean_clone)


@pytest.mark.parametrize("study", SHAPES)
@settings(QUICK, max_examples=15)
@given(data=st.data())
def test_a_result_of_another_shape_is_a_finding_and_no_end(untouched, study, data):
    """Whatever is changed, added or missing: the audit goes on, and asks the others too."""
    path = sorted((untouched.root / "results" / study / "frequency").glob("*.json"))[0]
    whole = path.read_bytes()
    try:
        path.write_text(json.dumps(data.draw(changed(json.loads(whole)))))
        for examine in (provenance.origins, sums.sums, asked.asked):
            assert examine(untouched).examined > 20
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("study", ["train", "adapt", "clean"])
def test_an_empty_result_is_named_with_what_it_lacks(clone, study):
    path = sorted((clone / "results" / study / "frequency").glob("*.json"))[0]
    kept = ("study", "dataset", "model")
    Clone(clone).edit_json(path, lambda content: [content.pop(k) for k in {*content} - {*kept}])
    [finding] = asked.asked(Project(clone)).findings
    assert finding.where == path.relative_to(clone).as_posix()
    assert "is not what a stage writes (KeyError(" in finding.what


@pytest.mark.parametrize(
    ("study", "old", "new", "where"),
    [
        ("data", '"comparable": true', '"comparable": false', "table.json: comparable"),
        ("data", r'("seeds": .*?)\d', r"\g<1>9", "table.json: seeds"),
        ("data", r'("train": )\d', r"\g<1>9", "table.json: rows.train"),
        ("linear", r'("rows": .*?)\d', r"\g<1>9", "linear.json: rows"),
        ("clean", r'("leaked": )\d', r"\g<1>9", "clean.json: rows.leaked"),
        ("dimension", r'("task_dim": )\d', r"\g<1>9", "lc.json: dimensions.1"),
        ("sizes", r'("hyperparameters": .*?"width": )\d', r"\g<1>9", "hyperparameters"),
        ("adapt", r'"lipo": {(?=\s*"rmse")', '"none": {', "lc.json: fits: lipo"),
    ],
)
def test_a_forged_hash_does_not_hide_what_other_files_contradict(clone, study, old, new, where):
    forger = Clone(clone)
    path = sorted((clone / "results" / study / "frequency").glob("*.json"))
    [path] = [one for one in path if one.stem in ("table", "lc", study)]
    forger.change(path, old, new)
    forger.forge_hash(path)
    project = Project(clone)
    checks = [provenance.origins(project), sums.sums(project), asked.asked(project)]
    assert any(f.where.endswith(where) for check in checks for f in check.findings)


def test_a_file_that_is_sealed_twice_is_a_finding(clone):
    seal = clone / "results/SHA256SUMS"
    seal.write_text(f"{'0' * 64}  dvc.lock\n" + seal.read_text())
    assert [f.where for f in paperwork.seals(Project(clone)).findings] == ["dvc.lock"]


def test_a_folder_without_git_is_named(clone, tmp_path):
    shutil.copytree(clone, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    said = pipeline(tmp_path / "copy", "audit", expected=2).stderr
    assert "not a git repository" in said and "git clone" in said


@pytest.mark.parametrize("content", ["9" * 5000, "[" * 100_000, '{"versions": [1]}'])
def test_no_number_and_no_depth_ends_the_audit(clone, content):
    for name in ("lc.json", "lc.run.json"):
        (clone / "results/train/frequency" / name).write_text(content)
    found = [finding.where for finding in asked.asked(Project(clone)).findings]
    assert any(where.startswith("results/train/frequency/lc") for where in found)


def test_names_and_links_that_lead_nowhere_are_findings(clone):
    """A name that is no text, a link in a circle, an editor's lock beside a profile."""
    os.close(os.open(bytes(clone / "results/train") + b"/odd\xff.json", os.O_CREAT))
    (clone / "results/circle").symlink_to(".")
    (clone / "profiles/.#tiny.yaml").symlink_to("nobody@nowhere")
    (clone / "results/benchmarks/folder").mkdir()
    pipeline(clone, "audit", expected=1)
    found = findings(clone)
    assert sorted(found["strays"]) == [
        "results/circle",
        "results/circle",
        "results/train/odd\\udcff.json",
    ]
    assert "reports" not in found


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
