from __future__ import annotations

import json
import re
from pathlib import Path

from tests.execution.small_project import STAGES, Project


def would_run(project: Project) -> set[str]:
    """What `dvc repro` itself runs."""
    return set(re.findall(r"Running stage '(.+)'", project.dvc("repro", "--all-pipelines")))


def test_all_stages_of_a_new_repository_are_stale(project: Project) -> None:
    plan = project.plan("--jobs", "2")
    assert {one["stage"]: one["role"] for one in plan["stages"]} == dict.fromkeys(STAGES, "stale")
    assert {one["basis"] for one in plan["stages"]} == {"its budget"}
    assert plan["total_seconds"] == 60.0
    assert plan["wall_seconds"] == 40.0


def test_nothing_is_stale_after_repro_nor_in_a_clone_without_data(
    finished: Project, tmp_path: Path
) -> None:
    assert finished.planned() == {}
    clone = clone_of(finished, tmp_path / "clone")
    assert not (clone.root / "out" / "train-a.bin").exists()
    assert clone.planned() == {}
    assert "Nothing to run: 6 stages are up to date." in clone.call("run", "--jobs", "1")


def clone_of(project: Project, path: Path) -> Project:
    project.git("clone", "-q", str(project.root), str(path))
    clone = Project(path)
    (path / "scratch").mkdir()
    clone.write("scratch/main.py", project.read("scratch/main.py"))
    return clone


def test_a_stale_stage_in_a_clone_without_data_needs_its_missing_inputs(
    finished: Project, tmp_path: Path
) -> None:
    clone = clone_of(finished, tmp_path / "clone")
    clone.write("params.yaml", clone.read("params.yaml").replace("rate: 2", "rate: 3"))
    assert clone.planned() == {
        "prepare": "needed",
        "train@a": "check",
        "results/dvc.yaml:repeats@a": "check",
        "train@b": "stale",
        "results/dvc.yaml:repeats@b": "downstream",
        "results/dvc.yaml:table": "downstream",
    }
    before = clone.read("dvc.lock")
    report = clone.call("run", "--jobs", "1")
    # The rebuilt input is the same to the byte, so nothing but the stale stage changes.
    assert "train@a unchanged" in report
    assert "train@b ran" in report
    assert not (clone.root / "out" / "train-a.bin").exists()
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), clone.read("dvc.lock").splitlines(), strict=True)
        if old != new
    ]
    assert [new.strip() for _, new in changed] == ["rate: 3"]


def test_the_plan_after_a_changed_parameter_is_what_repro_runs(finished: Project) -> None:
    finished.write("params.yaml", finished.read("params.yaml").replace("rate: 2", "rate: 3"))
    plan = finished.plan("--jobs", "1")
    roles = {one["stage"]: one["role"] for one in plan["stages"]}
    assert roles["train@b"] == "stale"
    assert plan["stages"][0]["reason"] == "params.yaml: models.b modified"
    assert {one["basis"] for one in plan["stages"]} == {"last time"}
    assert "on 1 workers" in finished.call("plan", "--jobs", "1")
    # `dvc repro` runs what is stale, and finds what is below it unchanged.
    assert would_run(finished) == {one for one, role in roles.items() if role == "stale"}


def test_a_changed_file_makes_everything_below_it_stale(finished: Project) -> None:
    finished.write("source.txt", "a longer source\n")
    roles = finished.planned()
    assert roles.pop("prepare") == "stale"
    assert roles == dict.fromkeys(STAGES - {"prepare"}, "downstream")
    assert would_run(finished) == STAGES


def test_only_what_a_target_needs_is_planned(finished: Project) -> None:
    finished.write("source.txt", "a longer source\n")
    assert set(finished.planned("repeats@b")) == {
        "prepare",
        "train@b",
        "results/dvc.yaml:repeats@b",
    }
    message = finished.call("plan", "repeat@b", code=2)
    assert "repeat@b: no such stage; did you mean repeats@b" in message


def test_missing_outputs_come_back_from_the_cache(finished: Project) -> None:
    (finished.root / "out" / "train-a.bin").unlink()
    assert finished.plan()["restore"] == ["out/train-a.bin"]
    finished.call("run", "--jobs", "1")
    finished.check_clean()


def test_missing_outputs_are_rebuilt_on_demand(finished: Project, tmp_path: Path) -> None:
    clone = clone_of(finished, tmp_path / "clone")
    assert clone.planned("--missing", "train@a") == {"prepare": "stale", "train@a": "stale"}


def test_a_stage_that_never_ran_is_stale_without_its_inputs(
    finished: Project, tmp_path: Path
) -> None:
    clone = clone_of(finished, tmp_path / "clone")
    clone.write("dvc.yaml", clone.read("dvc.yaml").replace("[a, b]", "[a, b, c]"))
    clone.write("params.yaml", clone.read("params.yaml") + "  c: {rate: 3}\n")
    plan = {one["stage"]: one for one in clone.plan()["stages"]}
    assert plan["train@c"]["reason"] == "never run"
    assert plan["train@c"]["basis"] == "its budget"
    assert plan["prepare"]["role"] == "needed"


def test_an_unreadable_pipeline_is_refused_in_one_line(project: Project) -> None:
    project.write("dvc.yaml", "stages: [")
    message = project.call("plan", code=2)
    assert message.startswith("Error: DVC cannot load the pipeline")
    assert message.count("\n") == 1


def test_a_damaged_busy_table_of_dvc_is_dropped(finished: Project) -> None:
    table = finished.root / ".dvc" / "tmp" / "rwlock"
    table.write_text('{"read": {')
    assert finished.planned() == {}
    assert not table.exists() or json.loads(table.read_text()) is not None


def test_a_missing_output_that_git_keeps_is_made_again(finished: Project) -> None:
    (finished.root / "out" / "repeats-a.json").unlink()
    plan = finished.plan()
    assert plan["stages"][0]["stage"] == "results/dvc.yaml:repeats@a"
    assert plan["stages"][0]["reason"] == (
        "its output out/repeats-a.json, which git keeps, is missing"
    )
    finished.call("run", "--jobs", "1")
    finished.check_clean()
