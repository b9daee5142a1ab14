"""The methods page: complete, and true to the settings and the code."""

import pytest

from learned_context.new_tasks.objective import Prior
from learned_context.search.tuning import DIVERGED_SCORE
from learned_context.training.trainer import DIVERGED_LOSS
from pipeline.files import Files
from pipeline.reporting.choices import CHOICES
from pipeline.reporting.pages.methods import value
from pipeline.reporting.results import Results
from tests.conftest import ROOT

HERE = {choice.topic: choice.here for choice in CHOICES}
KEYS = [key for choice in CHOICES for key in choice.keys]
WHAT_RUNS = {"profile", "datasets", "models", "base_only"}
"""Which studies run on what: no choice about the method."""


@pytest.fixture(scope="module")
def results():
    return Results(Files(ROOT))


def leaves(content, name):
    if isinstance(content, dict):
        return [leaf for key, item in content.items() for leaf in leaves(item, f"{name}.{key}")]
    return [name]


def test_every_key_that_decides_a_number_is_named(results):
    params = results.settings.params.model_dump(mode="json", exclude={"dataset", *WHAT_RUNS})
    found = [leaf for key, item in params.items() for leaf in leaves(item, key)]
    found += leaves(results.settings.profile.model_dump(mode="json"), "profile")
    assert [leaf for leaf in found if not any(f"{leaf}.".startswith(f"{k}.") for k in KEYS)] == []


@pytest.mark.parametrize("key", KEYS)
def test_every_named_key_has_a_value(results, key):
    assert value(results, key) is not None


def test_no_topic_stands_twice():
    assert len(HERE) == len(CHOICES)


def test_numbers_that_are_no_settings_are_those_of_the_code():
    assert f"or {DIVERGED_LOSS:g} times" in HERE["Divergence"]
    assert f"the score {DIVERGED_SCORE:g}," in HERE["Trials that diverge"]
    covariance = Prior.of([[-1.0], [1.0]]).covariance
    assert covariance[0, 0] == pytest.approx(2.0 * (1 + 1e-6), rel=1e-12)
    assert "a ridge of a millionth" in HERE["Hold-out objective"]
