"""A study computes on the profile's device, gives the CPU's bits there, and records the device.

The device is simulated (tests/learned_context/pretend_device.py).
"""

import shutil

import pytest
import torch

from learned_context.errors import UserError
from learned_context.new_tasks import gauss_newton
from pipeline.files import Files, read_json, run_info
from pipeline.studies import STUDIES
from pipeline.studies.framework import experiment
from pipeline.studies.plumbing import running
from tests.learned_context.pretend_device import pretend_device

FILES = Files()


@pytest.fixture
def elsewhere(finished_study, tmp_path, monkeypatch):
    """The finished study as the working directory, and a device that all its stages use."""
    for name in ("pipeline", "learned_context", "profiles", "results", "data"):
        shutil.copytree(finished_study / name, tmp_path / name)
    shutil.copy(finished_study / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pretend_device() as device:
        monkeypatch.setattr(experiment, "choose_device", lambda name: device.device)
        yield device


@pytest.mark.parametrize("name", ["tune", "train", "sizes", "adapt", "illustrate"])
def test_a_study_gives_the_same_result_on_another_device(elsewhere, name):
    path = STUDIES[name].path(FILES, "frequency", "lc")
    before = path.read_bytes()
    path.unlink()
    running.run(STUDIES[name], FILES, "frequency", "lc")
    assert path.read_bytes() == before
    assert read_json(run_info(path))["device"] == "pretend"
    assert elsewhere.operations.total() > 100, "it computes there"


@pytest.mark.parametrize("name", ["repeats", "dimension", "holdout"])
def test_networks_are_trained_side_by_side(elsewhere, monkeypatch, name):
    """Up to rounding those that are trained one by one."""
    path = STUDIES[name].path(FILES, "frequency", "lc")
    before = errors(path)
    path.unlink()
    monkeypatch.setattr(experiment, "train", None)  # no network alone
    running.run(STUDIES[name], FILES, "frequency", "lc")
    assert errors(path) == pytest.approx(before, rel=1e-3)
    assert read_json(run_info(path))["device"] == "pretend"


def errors(path):
    """Of all trainings in a result, in its order."""
    content = read_json(path)
    if "dimensions" in content:
        return [one["rmse"] for one in content["dimensions"].values()]
    return [one["rmse"] for one in content.get("trainings") or content["networks"]]


def test_linear_models_compute_on_the_cpu_and_say_so(elsewhere):
    running.run(STUDIES["linear"], FILES, "frequency")
    path = STUDIES["linear"].path(FILES, "frequency")
    assert read_json(run_info(path))["device"] == "cpu"
    assert not elsewhere.operations


def test_a_device_without_memory_for_new_tasks_is_one_clear_line(elsewhere, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(gauss_newton, "fit", full)
    with pytest.raises(UserError, match="the memory of pretend is full"):
        running.run(STUDIES["adapt"], FILES, "frequency", "lc")
