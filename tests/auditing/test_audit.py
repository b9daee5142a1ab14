"""The audit finds what was forged, in a clone without data and with the data at hand."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import subprocess
import sys

import pytest
from dvc.repo import Repo
from hypothesis import given, settings
from hypothesis import strategies as st

from learned_context.errors import UserError
from pipeline.auditing import records, results, tracked
from pipeline.auditing.checks import Audit, AuditCheck, difference, made
from pipeline.auditing.page import page, text
from pipeline.auditing.project import Project
from pipeline.commands import audit
from pipeline.execution.dvc_adapter.recorded import Records
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import StudyResult
from tests.auditing.conftest import findings
from tests.auditing.tamperings import TAMPERINGS, Clone, arguments, found_by, undo
from tests.damage import QUICK, changed
from tests.small_study import change, commit, pipeline

QUICKLY_TRIED = (
    "a digit of a test error",
    "a seed with a forged hash",
    "the worst task left out with a forged hash",
    "other versions beside a result, sealed again",
    "compiled code beside the source",
    "a digit of an absent table's hash",
    "another seed in params.yaml",
    "a digit of the README's table",
)
"""One forgery for each kind of check; `make test-slow` tries all of them."""
OF_RESULTS = (results.origins, results.sums, results.expected_settings)


def audit_of(clone, *words):
    """An audit in this process: its findings by check, and the audit itself."""
    done = audit.audit(Project(clone), arguments("--skip-reports", *words))
    places = {check.name: [one.where for one in check.findings] for check in done.checks}
    return {name: found for name, found in places.items() if found}, done


RECORDS: dict[object, Records] = {}


def loaded_once(clone):
    """For a test that changes results alone: loading the pipeline takes DVC most of a second."""
    project = Project(clone)
    project.records = RECORDS.setdefault(clone, project.records)
    return project


def test_a_clone_without_data_passes(clone):
    said = pipeline(clone, "audit").stdout
    assert "nothing found" in said
    assert findings(clone) == {}
    assert "passed" in (clone / "scratch/audit/audit.html").read_text()
    assert not (clone / "data/frequency/table.parquet").exists()


def test_a_clone_is_audited_without_torch(clone):
    script = "import sys; from pipeline.__main__ import main; main(['audit', '--skip-reports']); "
    words = [sys.executable, "-c", script + "sys.exit('torch' in sys.modules)"]
    assert subprocess.run(words, cwd=clone, capture_output=True, check=False).returncode == 0


def test_with_the_data_at_hand_everything_is_recomputed(audited):
    found, done = audit_of(audited, "--networks", "4", "--rerun", "train@frequency-lc")
    assert not found and done.passed
    counts = {check.name: check.examined for check in done.checks}
    assert counts["tables"] == 2  # the table and its description
    assert counts["networks"] == 4
    assert counts["leakage"] == 1
    assert counts["reruns"] == 2  # the network and the result


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICKLY_TRIED else pytest.mark.slow) for n in TAMPERINGS],
)
def test_every_tampering_is_found(clone, name):
    TAMPERINGS[name](Clone(clone))
    commit(clone)
    assert next(found_by(clone), None)


def test_a_finding_says_where_and_how_to_look(clone):
    path = "results/train/frequency/lc.json"
    Clone(clone).one_digit(path, '"rmse"')
    found, done = audit_of(clone)
    said = text(done)
    assert not done.passed
    assert f"`git checkout -- {path}` undoes an edit" in said
    assert f"`git diff HEAD -- {path}` shows it" in said
    assert path in found["commit"]
    assert path in found["hashes"]
    # The digit is too small for the sums; but the first of the repeats is this very training.
    assert found["expected settings"] == ["results/repeats/frequency/lc.json: trainings.0.rmse"]


def test_the_hint_restores_a_result(clone):
    """Results are in git, not in DVC's cache: `dvc checkout` would not bring them back."""
    path = "results/train/frequency/lc.json"
    (clone / path).unlink()
    found = made(records.hashes, Project(clone)).findings
    [finding] = [one for one in found if one.where == path]
    hint = finding.look.partition("`")[2].partition("`")[0]
    subprocess.run(shlex.split(hint), cwd=clone, check=True)
    assert not made(records.hashes, Project(clone)).findings


def test_the_hint_for_a_table_names_the_cache_only_if_it_is_there(clone, audited):
    path = "data/frequency/table.parquet"
    for folder, cached in ((clone, False), (audited, True)):
        table = folder / path
        before = table.read_bytes() if table.exists() else None
        table.parent.mkdir(parents=True, exist_ok=True)
        table.unlink(missing_ok=True)  # it may be a link into the cache
        table.write_bytes(b"not a table")
        try:
            found = made(records.hashes, Project(folder)).findings
        finally:
            table.unlink()
            if before is not None:
                table.write_bytes(before)
        [finding] = [one for one in found if one.where == path]
        assert "`dvc repro prepare@frequency`" in finding.look
        assert (f"`dvc checkout {path}`" in finding.look) == cached


@pytest.mark.slow
def test_a_forged_table_with_a_forged_hash_is_found_by_making_it_again(clone):
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
    found, done = audit_of(clone, "--rerun", "linear@frequency")
    assert found["reruns"] == [name] and not done.passed


def test_a_stage_that_cannot_run_here_is_reported(clone):
    """Its table is not here and must be made; what makes it no longer works."""
    path = next(clone.glob("pipeline/*/prepare.py")).relative_to(clone)
    Clone(clone).change(path, r"\n\n\n", "\nraise SystemExit('broken')\n\n\n")
    found, done = audit_of(clone, "--rerun", "linear@frequency")
    assert found["reruns"] == ["linear@frequency"] and not done.passed
    assert not list((clone / "scratch/audit").glob("rerun/*"))


def test_a_network_that_was_swapped_is_found(audited):
    models = audited / "data/frequency/models"
    kept = models.parent / "kept.safetensors"
    shutil.copy(models / "train-lc.safetensors", kept)
    try:
        shutil.copy(models / "dimension-lc/1.safetensors", models / "train-lc.safetensors")
        found, done = audit_of(audited, "--networks", "99")
        assert not done.passed
        assert found["networks"] == ["data/frequency/models/train-lc.safetensors"]
        assert "data/frequency/models/train-lc.safetensors" in found["hashes"]
    finally:
        shutil.move(kept, models / "train-lc.safetensors")


def test_a_stage_that_does_not_exist_cannot_be_run_again(clone):
    with pytest.raises(UserError, match="frequency-lx: no such stage; did you mean train@freq"):
        audit_of(clone, "--rerun", "train@frequency-lx")


def other_code(clone, study):
    path = clone / f"pipeline/studies/{study}.py"
    path.write_text(path.read_text() + "\n# other code\n")
    commit(clone)


def test_results_of_other_code_are_stale_and_no_forgery(clone):
    other_code(clone, "repeats")
    said = pipeline(clone, "audit", "--skip-reports", expected=1).stdout
    stale = json.loads((clone / "scratch/audit/audit.json").read_text())["stale"]
    # The check of the paper's numbers reads the results by the studies' types.
    assert {name.partition("@")[0] for name in stale} == {"results/dvc.yaml:repeats", "check"}
    assert f"STALE: {len(stale)} stages were made by other code; `dvc repro` runs them" in said
    assert findings(clone) == {}
    assert "STALE" in (clone / "scratch/audit/audit.html").read_text()

    found, allowed = audit_of(clone, "--allow-stale")
    assert not found and allowed.passed
    assert "STALE" in allowed.summary() and "nothing found" in allowed.summary()


def test_a_forged_number_of_a_stale_stage_is_found(clone):
    other_code(clone, "repeats")
    path = Clone(clone).result("repeats")
    Clone(clone).change(path, r'("max": \d+\.)\d', r"\g<1>99")
    commit(clone)
    found, done = audit_of(clone, "--allow-stale")
    assert path.relative_to(clone).as_posix() in found["hashes"]
    assert not done.passed


def test_a_number_of_a_stale_stage_with_a_forged_hash_is_found_by_its_sums(clone):
    other_code(clone, "train")
    forger = Clone(clone)
    forger.edit_json(forger.result("train"), lambda content: content.update(rmse=0.001))
    forger.forge_hash(forger.result("train"))
    commit(clone)
    found, _ = audit_of(clone, "--allow-stale")
    assert "results/train/frequency/lc.json: rmse" in found["sums"]


def test_a_new_parameter_of_the_code_makes_a_stage_stale(clone):
    """An added key is a change of the code; another value of a known key is not."""
    text = (clone / "results/dvc.yaml").read_text()
    (clone / "results/dvc.yaml").write_text(text.replace("- leak_share", "- validation"))
    assert Project(clone).stale == {
        "results/dvc.yaml:clean@frequency": "params.yaml: validation is new"
    }
    change(clone / "params.yaml", {"seeds.train": 77})
    assert list(Project(clone).stale) == ["results/dvc.yaml:clean@frequency"]
    found = {one.where for one in made(records.stages, Project(clone)).findings}
    assert found == {"params.yaml: seeds.train", "params.yaml: seeds"}


def test_a_stage_with_another_name_is_stale_and_its_numbers_are_still_checked(clone):
    lock = clone / "dvc.lock"
    lock.write_text(lock.read_text().replace("\n  train@", "\n  fit@"))
    project = Project(clone)
    assert project.stale["fit@frequency-lc"] == "dvc.yaml does not define it any more"
    assert project.stale["train@frequency-lc"] == "it has never run, or had another name"
    assert not made(records.hashes, project).findings
    Clone(clone).one_digit("results/train/frequency/lc.json", '"rmse"')
    found = made(records.hashes, Project(clone)).findings
    assert "results/train/frequency/lc.json" in {one.where for one in found}


def test_a_damaged_lock_file_is_reported_and_the_audit_continues(clone):
    (clone / "results/dvc.lock").write_text("stages: [1]")
    _, done = audit_of(clone)
    checks = {check.name: check for check in done.checks}
    [finding] = checks["hashes"].findings
    assert "results/dvc.lock" in finding.what
    assert "git checkout -- " in finding.what
    assert checks["seals"].examined > 5
    assert not done.passed


def test_other_repeats_in_the_profile_than_were_trained_are_reported(clone):
    change(clone / "profiles/tiny.yaml", {"repeats": 9})
    found = [one.where for one in made(results.expected_settings, Project(clone)).findings]
    assert found == [f"results/repeats/frequency/{name}.json: trainings" for name in ("lc", "cs")]


def test_any_digit_that_is_changed_is_found(clone):
    """A few at random; benchmarks/tamperings.py tries more of them on the committed results."""
    forger, rng = Clone(clone), random.Random(8)
    for _ in range(3):
        where = forger.any_digit(rng)
        commit(clone)
        assert next(found_by(clone), None), where
        undo(clone)


@pytest.mark.parametrize("study", STUDIES)
@settings(QUICK, max_examples=8)
@given(data=st.data())
def test_a_result_of_another_shape_is_reported_and_the_audit_continues(clean_clone, study, data):
    """Whatever is changed, added or missing: the other results are examined too."""
    path = sorted((clean_clone / "results" / study / "frequency").glob("*.json"))[0]
    whole = path.read_bytes()
    project = loaded_once(clean_clone)
    try:
        path.write_text(json.dumps(data.draw(changed(json.loads(whole)))))
        for examine in OF_RESULTS:
            assert made(examine, project).examined > 20
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("study", ["train", "adapt", "clean"])
def test_an_empty_result_is_named_with_what_it_lacks(clone, study):
    path = sorted((clone / "results" / study / "frequency").glob("*.json"))[0]
    kept = ("study", "dataset", "model")
    Clone(clone).edit_json(path, lambda content: [content.pop(k) for k in {*content} - {*kept}])
    [finding] = made(results.origins, loaded_once(clone)).findings
    assert finding.where == path.relative_to(clone).as_posix()
    assert "missing" in finding.what


@pytest.mark.parametrize(
    ("study", "old", "new", "where"),
    [
        ("data", '"comparable": true', '"comparable": false', "table.json: comparable"),
        ("data", r'("seeds": .*?)\d', r"\g<1>9", "table.json: seeds"),
        ("data", r'("train": )\d', r"\g<1>9", "table.json: rows.train"),
        ("linear", r'("rows": .*?)\d', r"\g<1>9", "linear.json: rows.train"),
        ("clean", r'("leaked": )\d', r"\g<1>9", "clean.json: rows"),
        ("dimension", r'("task_dim": )\d', r"\g<1>9", "lc.json: dimensions.1.hyperparameters"),
        ("sizes", r'("hyperparameters": .*?"width": )\d', r"\g<1>9", "hyperparameters"),
        ("adapt", r'"lipo": {(?=\s*"rmse")', '"none": {', "lc.json"),
    ],
)
def test_a_forged_hash_does_not_hide_what_other_files_contradict(clone, study, old, new, where):
    forger = Clone(clone)
    path = sorted((clone / "results" / study / "frequency").glob("*.json"))
    [path] = [one for one in path if one.stem in ("table", "lc", study)]
    forger.change(path, old, new)
    project = loaded_once(clone)
    found = [one for examine in OF_RESULTS for one in made(examine, project).findings]
    assert any(one.where.endswith(where) for one in found)


def test_a_training_that_its_study_says_nothing_of_is_reported(clone, monkeypatch):
    """A new study that forgets to state its seeds is not silently left out."""
    monkeypatch.setattr(STUDIES["train"].result, "expected", lambda self, basis: iter(()))
    found = {one.where for one in made(results.expected_settings, loaded_once(clone)).findings}
    path = "results/train/frequency/lc.json"
    assert {f"{path}: seed", f"{path}: hyperparameters"} <= found


def test_a_result_that_claims_not_to_apply_is_found(clone):
    def claim(content):
        for key in {*content} - {*StudyResult.model_fields}:
            del content[key]
        content["does_not_apply"] = "it was inconvenient"

    Clone(clone).edit_json(clone / "results/repeats/frequency/cs.json", claim)
    found = {one.where for one in made(results.expected_settings, loaded_once(clone)).findings}
    assert found == {"results/repeats/frequency/cs.json: does_not_apply"}


def test_a_file_that_is_sealed_twice_is_a_finding(clone):
    seal = clone / "results/SHA256SUMS"
    seal.write_text(f"{'0' * 64}  dvc.lock\n" + seal.read_text())
    assert [one.where for one in made(tracked.seals, Project(clone)).findings] == ["dvc.lock"]


def test_a_folder_without_git_is_named(clone, tmp_path):
    shutil.copytree(clone, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    said = pipeline(tmp_path / "copy", "audit", expected=2).stderr
    assert "not a git repository" in said and "git clone" in said


@pytest.mark.parametrize("content", ["9" * 5000, "[" * 100_000, '{"versions": [1]}'])
def test_no_number_and_no_depth_ends_the_audit(clone, content):
    folder = clone / "results/train/frequency"
    for name in ("lc.json", "cs.run.json"):
        (folder / name).write_text(content)
    project = loaded_once(clone)
    found = {one.where for examine in OF_RESULTS for one in made(examine, project).findings}
    assert {f"results/train/frequency/{name}" for name in ("lc.json", "cs.run.json")} <= found


def test_names_and_links_that_lead_nowhere_are_findings(clone):
    """A name that is no text, a link in a circle, an editor's lock beside a profile."""
    os.close(os.open(bytes(clone / "results/train") + b"/odd\xff.json", os.O_CREAT))
    (clone / "results/circle").symlink_to(".")
    (clone / "profiles/.#tiny.yaml").symlink_to("nobody@nowhere")
    (clone / "results/benchmarks/folder").mkdir()
    found, _ = audit_of(clone)
    assert sorted(found["strays"]) == [
        "results/circle",
        "results/circle",
        "results/train/odd\\udcff.json",
    ]


def test_an_edit_that_is_not_committed_is_found_by_git(clone):
    (clone / "README.md").write_text("other")
    [finding] = made(tracked.commit, Project(clone)).findings
    assert finding.where == "README.md"


def test_hashes_are_those_of_dvc(audited):
    """Files and folders, from their bytes and as DVC wrote them."""
    own = Records(audited)
    with Repo(str(audited)) as repo:
        outs = {out.fs_path: out.hash_info.value for out in repo.index.outs}
    assert len(outs) > 20
    for path, expected in outs.items():
        assert own.hash_of(audited / path) == expected


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (3, 4, "3, not 4"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "at a.1: 2, not 3"),
        ([1], [1, 2], "at 1: 'nothing', not 2"),
        ({}, {"a": None}, "at a: 'nothing', not None"),
        ("x" * 99 + "1", "x" * 99 + "2", 'from character 100 on "1\'", not "2\'"'),
    ],
)
def test_long_values_are_shown_where_they_differ(found, expected, said):
    assert difference(found, expected) == said


def test_the_page_escapes_what_it_found():
    check = AuditCheck("hashes", "They are.")
    check.expect(False, "results/<script>alert(1)</script>.json", "is <b>odd</b>", "look")
    shown = page(Audit((check,), {"train@<i>": "it changed"}, False))
    assert "<script>alert" not in shown and "<i>" not in shown
    assert "&lt;script&gt;" in shown
