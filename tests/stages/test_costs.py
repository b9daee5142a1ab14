import shutil

import pytest
import yaml

from pipeline.stages.costs import expectation
from tests.conftest import ROOT


def total(folder, profile):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["profile"] = profile
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    expected, name = expectation(folder)
    assert name == profile
    kinds = ("tune", "train", "repeats", "sizes")
    return sum(expected(f"{kind}@{d}-lc") for kind in kinds for d in params["datasets"])


def test_the_budgets_cost_more_from_profile_to_profile(project):
    costs = [total(project, profile) for profile in ("smoke", "workstation", "paper")]
    assert costs[0] * 5 < costs[1] < costs[2] / 50


def test_stages_are_known_by_their_address(project):
    expected, _ = expectation(project)
    assert expected("results/dvc.yaml:sizes@sarcos-lc") > expected("train@sarcos-lc")
    assert expected("report@base") == expected("download@schools")
    assert expected("train@nothing-lc") is None
    assert expected("something") is None


def test_another_repository_has_no_budgets(tmp_path):
    expected, profile = expectation(tmp_path)
    assert expected("train@schools-lc") is None
    assert profile is None


def test_bad_settings_stop_a_plan_at_once(project):
    from pipeline.errors import UserError

    shutil.rmtree(project / "profiles")
    (project / "profiles").mkdir()
    with pytest.raises(UserError, match=r"profile: no .*workstation.yaml; valid: "):
        expectation(project)
