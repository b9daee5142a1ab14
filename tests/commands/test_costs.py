import argparse
import json
import shutil
from dataclasses import replace

import pytest
import yaml

from pipeline.commands import plan
from pipeline.commands.costs import gpu_hours, profile_costs
from pipeline.execution.estimates import DEFAULT_SECONDS
from pipeline.studies.plumbing.costs import GPU
from tests.conftest import ROOT


def total(folder, profile):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["profile"] = profile
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    costs = profile_costs(folder)
    assert costs.profile == profile
    kinds = ("tune", "train", "repeats", "sizes")
    return sum(costs.seconds(f"{kind}@{d}-lc") for kind in kinds for d in params["datasets"])


def test_the_budgets_cost_more_from_profile_to_profile(project):
    costs = [total(project, profile) for profile in ("smoke", "workstation", "paper")]
    assert costs[0] * 5 < costs[1] < costs[2] / 50


def test_stages_are_known_by_their_address(project):
    expected = profile_costs(project).seconds
    assert expected("results/dvc.yaml:sizes@sarcos-lc") > expected("train@sarcos-lc")
    assert expected("report@base") == expected("download@schools")
    assert expected("tune_base_only@schools-fs") == expected("tune@schools-lc")
    assert expected("results/dvc.yaml:dimension@sarcos-cs") == expected("report@base")
    assert expected("train@nothing-lc") == expected("something") == expected("report@base")


def test_another_repository_has_no_budgets(tmp_path):
    costs = profile_costs(tmp_path)
    assert costs.seconds("train@schools-lc") == DEFAULT_SECONDS
    assert costs.profile is None


def test_bad_settings_stop_a_plan_at_once(project):
    from learned_context.errors import UserError

    shutil.rmtree(project / "profiles")
    (project / "profiles").mkdir()
    with pytest.raises(UserError, match=r"profile: no .*workstation.yaml; valid: "):
        profile_costs(project)


def test_a_gpu_takes_hours_where_a_thread_takes_months(project):
    found = gpu_hours(project, "paper")
    total_hours = sum(study.hours for study in found.values())
    assert 5 < total_hours < 100
    assert found["tune"].hours > 10 * found["train"].hours, "a search has 25 trainings"
    assert "linear" not in found
    slower = gpu_hours(project, "paper", replace(GPU["high"], products=GPU["high"].products / 10))
    assert slower["train"].hours > 1.5 * found["train"].hours


def test_adapt_counts_lipos_evaluations_and_the_width(project):
    before = gpu_hours(project, "paper")["adapt"].hours
    path = project / "profiles" / "paper.yaml"
    text = path.read_text()
    path.write_text(text.replace("lipo: {evaluations: 200", "lipo: {evaluations: 400"))
    assert gpu_hours(project, "paper")["adapt"].hours > 1.5 * before
    path.write_text(text.replace("width_max: 500", "width_max: 50"))
    assert gpu_hours(project, "paper")["adapt"].hours < before


def test_plan_states_the_hours_and_that_nobody_measured_them(project, capsys):
    parser = argparse.ArgumentParser()
    plan.add_arguments(parser)
    plan.run(parser.parse_args(["--gpu", "--json"]))
    found = json.loads(capsys.readouterr().out)
    assert found["profile"] == "paper"
    assert found["hours"] == pytest.approx(sum(s["hours"] for s in found["studies"].values()))
    plan.run(parser.parse_args(["--gpu", "workstation"]))
    shown = " ".join(capsys.readouterr().out.split())
    assert "GPU hours with profile workstation" in shown
    assert "A model, not a measurement" in shown
