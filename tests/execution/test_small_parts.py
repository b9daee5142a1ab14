from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from learned_context.errors import UserError
from pipeline.execution.addresses import file_name, kind, resolve_targets
from pipeline.execution.display import Running, Snapshot, duration, render
from pipeline.execution.dvc_adapter.lockfile import LockFile
from pipeline.execution.estimates import Estimates, ProfileCosts
from pipeline.execution.lifeline import RunLock, is_alive
from pipeline.execution.plan_report import show as show_plan
from pipeline.execution.planning import PlannedStage, RunPlan
from pipeline.execution.schedule import remaining_path, wall_time

ADDRESSES = ["prepare", "train@a", "train@b", "results/dvc.yaml:repeats@a"]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("train@a", ["train@a"]),
        ("train@*", ["train@a", "train@b"]),
        ("train", ["train@a", "train@b"]),
        ("repeats@a", ["results/dvc.yaml:repeats@a"]),
        ("results/dvc.yaml:*", ["results/dvc.yaml:repeats@a"]),
    ],
)
def test_targets_are_found_by_address_name_kind_and_glob(target: str, found: list[str]) -> None:
    assert resolve_targets(ADDRESSES, [target]) == found


def test_an_unknown_target_is_refused_with_near_names() -> None:
    with pytest.raises(UserError, match="trian@a: no such stage; did you mean train@a"):
        resolve_targets(ADDRESSES, ["trian@a"])


def test_kinds_and_file_names() -> None:
    assert kind("results/dvc.yaml:repeats@a") == "repeats"
    assert file_name("results/dvc.yaml:repeats@a-0.5") == "results.repeats@a-0.5"


DIAMOND: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}
SECONDS = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0}


def test_the_wall_time_of_a_diamond() -> None:
    assert wall_time(DIAMOND, SECONDS, 1) == 9.0
    assert wall_time(DIAMOND, SECONDS, 2) == 7.0
    assert wall_time({}, {}, 2) == 0.0


def test_the_wall_time_counts_running_steps_and_takes_finished_ones_for_granted() -> None:
    left = {"c": ["a"], "d": ["b", "c"]}
    assert wall_time(left, SECONDS, 2, running={"b": 3.0}) == 4.0


def test_the_longest_chain_is_the_most_urgent() -> None:
    assert remaining_path(DIAMOND, SECONDS) == {"a": 7.0, "b": 6.0, "c": 3.0, "d": 1.0}


def test_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    first = RunLock(path)
    assert is_alive(path, first.run_id)
    assert not is_alive(path, "another")
    with pytest.raises(UserError, match="another run is active"):
        RunLock(path)
    first.stop_commands()
    assert not is_alive(path, first.run_id)
    first.release()
    second = RunLock(path)
    assert is_alive(path, second.run_id)
    second.release()


def _content(text: str) -> dict[str, Any]:
    return {"cmd": text, "outs": [{"path": "x" * 90, "hash": "md5", "md5": "0", "size": 1}]}


def test_the_lock_file_is_written_as_dvc_writes_it(tmp_path: Path) -> None:
    from dvc.utils.serialize import dumps_yaml, modify_yaml

    names = ["one", "two@a-0.5", "three"]
    contents = {name: _content(f"echo {name}\n" + "word " * 40) for name in names}
    with modify_yaml(tmp_path / "by-dvc.lock") as data:
        data.update({"schema": "2.0", "stages": dict(contents)})
    ours = LockFile(tmp_path / "dvc.lock", names, tmp_path)
    for name in reversed(names):  # in whatever order the stages end
        assert ours.update({name: contents[name]})
    expected = (tmp_path / "by-dvc.lock").read_text()
    assert (tmp_path / "dvc.lock").read_text() == expected
    assert not ours.update({"one": contents["one"]})
    assert dumps_yaml({"schema": "2.0", "stages": contents}) == expected


def test_a_lock_file_that_others_wrote_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "dvc.lock"
    path.write_text("schema: '2.0'\nstages:\n  old:\n    cmd: echo old\n# a comment\n")
    ours = LockFile(path, ["new"], tmp_path)
    ours.update({"new": {"cmd": "echo new"}})
    assert "old:\n    cmd: echo old\n" in path.read_text()
    path.write_text("schema: '2.0'\nstages:\n  other:\n    cmd: echo other\n")
    ours.update({"new": {"cmd": "echo newer"}})
    assert path.read_text().count("cmd:") == 2
    assert "echo other" in path.read_text()
    assert "echo newer" in path.read_text()


def test_the_live_picture_names_what_runs() -> None:
    from rich.console import Console

    now = Snapshot(3, 1, 9, (Running("train@a", 12.0, 75.0, "epoch 3 of 9"),), 130.0)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(render(now))
    text = console.export_text()
    assert "3 of 9 done, 1 failed, 1 running, 5 left; about 2 min 10 s to go" in text
    assert text.splitlines()[2].startswith("train@a")
    assert "12 s of about 1 min 15 s" in text
    assert "epoch 3 of 9" in text


@pytest.mark.parametrize("width", [1, 20, 80])
def test_a_plan_without_work_is_one_line_on_any_terminal(width: int) -> None:
    from rich.console import Console

    console = Console(width=width, record=True, file=io.StringIO())
    show_plan(RunPlan({}, [], 318, {}, Estimates([], ProfileCosts())), 2, console)
    assert console.export_text() == "Nothing to run: 318 stages are up to date.\n"


@pytest.mark.parametrize("width", [20, 80])
def test_a_plan_on_a_narrow_terminal_has_every_name_whole(width: int) -> None:
    from rich.console import Console

    names = [f"results/dvc.yaml:dimension@sine_and_line-{model}" for model in ("lc", "ll", "cs")]
    names += ["report@task_parameters", "train@schools-lc", "dimension@schools-lc"]
    why = "its dependency pipeline/models/network.py has changed"
    steps = {name: PlannedStage(name, None, "stale", why, 8000.0, "an estimate") for name in names}
    console = Console(width=width, record=True, file=io.StringIO())
    show_plan(RunPlan(steps, [], 0, {}, Estimates([], ProfileCosts())), 2, console)
    text = console.export_text()
    assert width < 80 or max(map(len, text.splitlines())) <= 80  # a narrower terminal wraps lines
    assert "…" not in text and "and 1 more" in text and "2 h 13 min" in text
    for name in names[:-1]:
        assert name.rpartition(":")[2] in text


def test_durations() -> None:
    assert [duration(s) for s in (0.24, 59.6, 3700)] == ["0.2 s", "1 min 00 s", "1 h 01 min"]


def test_a_scratch_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("")
    with pytest.raises(UserError, match=r"run\.lock: cannot be opened \(File exists\)"):
        RunLock(tmp_path / "scratch" / "run.lock")
