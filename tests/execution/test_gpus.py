"""Every stage has a GPU, and no more stages share one than allowed."""

from __future__ import annotations

import io
import os
import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.execution import gpus
from pipeline.execution.estimates import ProfileCosts
from pipeline.execution.gpus import (
    GpuRules,
    RunIsOverError,
    limited_workers,
    place_on_gpu,
    usable_gpus,
    visible_gpus,
)
from pipeline.execution.run_stages import RunOptions, run_stages
from tests.execution.small_project import ENVIRONMENT, STEP, Project
from tests.execution.test_interruptions import external_cluster

VISIBLE = "CUDA_VISIBLE_DEVICES"
TIMED_STEP = f"""
import os, time
print("GPU", os.environ["{VISIBLE}"], "from", time.time())
{STEP}
print("until", time.time())
"""


def test_visible_gpus_are_used() -> None:
    assert visible_gpus({VISIBLE: "2, 5"}) == ("2", "5")


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_gpus_are_not_used(hidden: str) -> None:
    assert visible_gpus({VISIBLE: hidden}) == ()


def test_gpus_are_counted_by_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: A (UUID: x)'\necho 'GPU 1: A (UUID: y)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert visible_gpus({}) == ("0", "1")


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cpu", ()),
        ("auto", ("2", "5")),
        ("cuda", ("2", "5")),
        ("cuda:1", ("5",)),
        ("cuda:2", ()),
    ],
)
def test_the_profile_says_which_gpus_are_used(
    device: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "2,5")
    assert usable_gpus(device) == expected


@pytest.mark.parametrize(
    ("jobs", "found", "each", "expected"),
    [(8, ("0", "1"), 2, 4), (3, ("0", "1"), 2, 3), (8, (), 1, 8), (8, ("0",), 1, 1)],
)
def test_there_are_no_more_local_workers_than_places(
    jobs: int, found: tuple[str, ...], each: int, expected: int
) -> None:
    assert limited_workers(jobs, found, each) == expected


def test_stages_take_every_gpu_once_before_they_share_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "2,MIG-x/1/0")
    monkeypatch.setattr(gpus, "POLL_SECONDS", 0.01)
    rules = GpuRules("cuda", 2, str(tmp_path / "places"))
    answers = iter([True, True, False])
    with ExitStack() as stack:
        places = [stack.enter_context(place_on_gpu(rules, lambda: True)) for _ in range(4)]
        taken = [place.variables[VISIBLE] for place in places]
        assert taken == ["2", "MIG-x/1/0", "2", "MIG-x/1/0"]
        with pytest.raises(RunIsOverError), place_on_gpu(rules, lambda: next(answers)):
            pass
        assert next(answers, None) is None, "it waits while the run goes on"
    with place_on_gpu(rules, lambda: False) as place:
        assert place.variables == {VISIBLE: "2"}, "the place is free again"


def test_a_gpu_that_the_profile_names_is_shared_but_no_other_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "2,5")
    rules = GpuRules("cuda:1", 1, str(tmp_path))
    with place_on_gpu(rules, lambda: True) as place:
        assert place.variables == {}, "cuda:1 is the second of the visible ones"
        with pytest.raises(RunIsOverError), place_on_gpu(rules, lambda: False):
            pass


@pytest.mark.parametrize("device", ["cpu", "auto", "cuda"])
def test_without_a_gpu_no_stage_waits(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "")
    rules = GpuRules(device, 1, str(tmp_path / "places"))
    with place_on_gpu(rules, lambda: False) as one, place_on_gpu(rules, lambda: False) as other:
        assert one == other == gpus.NO_GPU


def run(project: Project, monkeypatch: pytest.MonkeyPatch, **options: object) -> str:
    output = io.StringIO()
    monkeypatch.chdir(project.root)
    project.write("step.py", TIMED_STEP)
    project.write("pause", "1")
    costs = ProfileCosts(device="cuda")
    chosen = RunOptions(costs, ["train"], processes_a_gpu=1, **options)  # type: ignore[arg-type]
    code = run_stages(project.root, chosen, Console(file=output, width=200))
    assert code == 0, output.getvalue()
    return output.getvalue()


def trainings(project: Project) -> tuple[list[str], bool]:
    """The GPUs that the two trainings saw, and whether both ran at the same time."""
    logs = [project.read(f"scratch/logs/train@{name}.log") for name in "ab"]
    found = [re.search(r"GPU (.*) from (.*)\n.*\nuntil (.*)\n", log) for log in logs]
    seen, begins, ends = zip(*(one.groups() for one in found if one), strict=True)
    return sorted(seen), max(map(float, begins)) < min(map(float, ends))


def test_local_workers_use_different_gpus(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "4,7")
    assert "2 workers: --processes-a-gpu 1." in run(project, monkeypatch, jobs=8)
    assert trainings(project) == (["4", "7"], True)


@pytest.mark.parametrize(
    ("visible", "expected"),
    [("4,7", (["4", "7"], True)), ("4", (["4", "4"], False))],
    ids=["one each", "one after the other"],
)
def test_workers_of_a_cluster_use_the_gpus_of_their_host(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    visible: str,
    expected: tuple[list[str], bool],
) -> None:
    monkeypatch.setenv(VISIBLE, "")  # the client's own host has none
    with external_cluster(project, {**ENVIRONMENT, VISIBLE: visible}) as (address, _):
        run(project, monkeypatch, scheduler=address)
    assert trainings(project) == expected
