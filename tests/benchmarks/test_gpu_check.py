"""What `make gpu-check` does on a GPU, tried on the CPU and on the simulated device."""

import json

import pytest
import torch

from benchmarks import gpu_check
from learned_context.networks.registry import ARCHITECTURES
from learned_context.training.plan import Plan
from tests.learned_context.pretend_device import pretend_device


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(gpu_check, "PLAN", Plan(epochs=2, batches=2))
    monkeypatch.setattr(gpu_check, "ARCHITECTURES", {"lc": ARCHITECTURES["lc"]})
    monkeypatch.setattr(gpu_check, "WIDTHS", (4, 6, 8))
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


@pytest.mark.slow
def test_the_checks_pass_on_the_simulated_device(small):
    with pretend_device() as elsewhere:
        found = gpu_check.correctness(elsewhere.device)
    assert found["lc"] and all(found["lc"].values())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["gpu_check.py"])
    assert gpu_check.main() == 2
    assert "device is cuda, but torch finds none" in capsys.readouterr().err
