"""What `make gpu-check` does on a GPU, tried on the CPU and on the simulated device."""

import json

import pytest
import torch

from benchmarks import gpu_check
from learned_context.estimator import fitting
from learned_context.estimator import settings as estimator_settings
from learned_context.networks.registry import ARCHITECTURES
from learned_context.training.plan import Plan
from tests.learned_context.pretend_device import pretend_device
from tests.learned_context.test_devices import InThisThread


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(gpu_check, "PLAN", Plan(epochs=2, batches=2))
    monkeypatch.setattr(gpu_check, "ARCHITECTURES", {"lc": ARCHITECTURES["lc"]})
    monkeypatch.setattr(gpu_check, "WIDTHS", (4, 6, 8))
    monkeypatch.setattr(gpu_check, "ESTIMATOR", {**gpu_check.ESTIMATOR, "width": 8, "epochs": 4})
    waves = gpu_check.waves
    monkeypatch.setattr(gpu_check, "waves", lambda rows, *rest: waves(min(rows, 80), *rest))


def test_a_report_has_checks_speeds_and_hours(small, monkeypatch, tmp_path):
    path = tmp_path / "gpu_check.json"
    arguments = ["--device", "cpu", "--steps", "2", "--batch", "20", "--output", str(path)]
    monkeypatch.setattr("sys.argv", ["gpu_check.py", *arguments])
    assert gpu_check.main() == 0
    found = json.loads(path.read_text())
    assert found["device"] == "cpu"
    assert found["correct"] is True
    assert len(found["speeds"]) == 12
    assert found["paper_profile_total"] > 0
    monkeypatch.setattr(gpu_check, "close", lambda *_: False)
    assert gpu_check.main() == 1
    assert json.loads(path.read_text())["correct"] is False


def test_a_report_is_written_whatever_fails(small, monkeypatch, tmp_path, capsys):
    def fails(*_, **__):
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")

    for name in ("same", "step_seconds", "estimator"):
        monkeypatch.setattr(gpu_check, name, fails)
    path = tmp_path / "gpu_check.json"
    monkeypatch.setattr("sys.argv", ["gpu_check.py", "--device", "cpu", "--output", str(path)])
    assert gpu_check.main() == 1
    found = json.loads(path.read_text())
    assert found["correct"] is False
    assert found["checks"]["lc"]["the CPU's losses"] is True
    assert "operation not permitted" in found["checks"]["lc"]["the same bits again"]
    assert "operation not permitted" in found["speeds"][0]["error"]
    assert found["paper_profile_total"] is None
    assert "ERROR (RuntimeError: CUDA error" in capsys.readouterr().out


@pytest.mark.slow
def test_the_checks_pass_on_the_simulated_device(small, monkeypatch):
    monkeypatch.setattr(fitting, "ThreadPoolExecutor", InThisThread)
    with pretend_device() as elsewhere:
        devices = {"cpu": torch.device("cpu"), str(elsewhere.device): elsewhere.device}
        monkeypatch.setattr(estimator_settings, "device", devices.__getitem__)
        found = gpu_check.correctness(elsewhere.device)
    assert found.keys() == {"lc", "estimator"}
    assert all(passed is True for own in found.values() for passed in own.values()), found


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["gpu_check.py"])
    assert gpu_check.main() == 2
    message = capsys.readouterr().err
    assert "device is cuda, but torch finds none" in message
    assert "a machine with an NVIDIA GPU and a torch that is built for CUDA" in message
