from types import SimpleNamespace

import pytest

from pipeline import checked
from pipeline.execution.estimates import DEFAULT_SECONDS, Estimates, ProfileCosts
from pipeline.studies.plumbing.run_info import RunInfo
from tests.execution.small_project import RUN


@pytest.fixture
def stage(tmp_path):
    def make(name, **info):
        if info:
            checked.write(tmp_path / f"{name}.run.json", RunInfo(**{**RUN, **info}))
        out = SimpleNamespace(fs_path=str(tmp_path / f"{name}.json"))
        return SimpleNamespace(path_in_repo="dvc.yaml", name=name, outs=[out])

    return make


def test_the_last_time_comes_first(stage):
    costs = ProfileCosts(seconds=lambda address: 100.0)
    estimates = Estimates([stage("train@a", seconds=7.0)], costs)
    assert estimates.seconds("train@a") == (7.0, "last time")


def test_another_profile_s_time_does_not_count(stage):
    stages = [stage("train@a", seconds=7.0, profile="smoke")]
    smoke, paper = (Estimates(stages, ProfileCosts(name)) for name in ("smoke", "paper"))
    assert smoke.seconds("train@a") == (7.0, "last time")
    assert paper.seconds("train@a") == (DEFAULT_SECONDS, "its budget")


def test_the_budget_is_scaled_by_what_other_stages_took(stage):
    costs = ProfileCosts(seconds={"train@a": 10.0, "tune@b": 50.0}.get)
    estimates = Estimates([stage("train@a", seconds=20.0), stage("tune@b")], costs)
    assert estimates.seconds("tune@b") == (100.0, "its budget")
    estimates.learn("tune@b", 50.0)  # one took twice as long, one as long: the median
    assert estimates.seconds("tune@b") == (75.0, "its budget")


def test_without_settings_a_default(stage):
    estimates = Estimates([stage("train@a"), stage("tune@b")], ProfileCosts())
    assert estimates.seconds("tune@b") == (DEFAULT_SECONDS, "its budget")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"seconds": "x"}'])
def test_a_damaged_time_is_no_time(stage, tmp_path, content):
    (tmp_path / "train@a.run.json").write_text(content)
    assert Estimates([stage("train@a")], ProfileCosts()).seconds("train@a") == (
        DEFAULT_SECONDS,
        "its budget",
    )
