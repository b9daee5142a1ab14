"""The draw of every dataset: the first with the paper's linear errors."""

import pytest

from benchmarks.draws import Source
from benchmarks.linear_draws import agrees, choice, errors
from pipeline import settings
from pipeline.files import Files, read_json
from pipeline.reporting.paper import load_paper
from pipeline.reporting.results import Results, benchmark_path
from tests.conftest import ROOT

FILES = Files(ROOT)


@pytest.fixture(scope="module")
def paper():
    return load_paper(FILES)


@pytest.fixture(scope="module")
def source():
    return Source(FILES, "sine_and_line")


@pytest.mark.parametrize(
    ("factor", "near"), [(1.0, True), (1.009, True), (0.991, True), (1.012, False), (0.98, False)]
)
def test_both_errors_must_be_near(paper, factor, near):
    printed = paper.tables["base"].values["schools"]
    other = {"lr": printed["lr"], "lme": printed["lme"]}
    assert agrees({**other, "lr": printed["lr"] * factor}, paper, "schools") is near
    assert agrees({**other, "lme": printed["lme"] * factor}, paper, "schools") is near


def test_digits_that_are_not_printed_do_not_count(paper):
    """0.078 stands for up to 0.0785: 0.0792 is within 1% of that, and 0.0799 is not."""
    assert agrees({"lme": 0.0792}, paper, "death_rate")
    assert not agrees({"lme": 0.0799}, paper, "death_rate")


def test_draws_are_tried_in_order_up_to_the_first_that_agrees(source, paper):
    found = choice(source, paper, most=20)
    assert [one["draw"] for one in found["draws"]] == list(range(found["tried"]))
    assert [one["agrees"] for one in found["draws"]] == [False] * (found["tried"] - 1) + [True]
    assert found["chosen"] == found["draws"][-1]
    # the study's own draw is the chosen one, so it needs no shift
    assert found["chosen"]["draw"] == source.keys.draw
    own = errors(source.draw(0))
    assert found["chosen"]["lr"] == pytest.approx(own["lr"], rel=1e-4)


def test_if_none_agrees_it_is_the_first(source, paper):
    found = choice(source, paper, most=1)
    assert found["chosen"] == found["draws"][0] and not found["chosen"]["agrees"]


def test_the_study_uses_the_draws_that_were_found():
    loaded = settings.load(FILES)
    record = read_json(benchmark_path(FILES, "linear_draws"))
    assert {one["dataset"]: one["chosen"]["draw"] for one in record} == {
        dataset: loaded.dataset(dataset).draw or 0
        for dataset in loaded.params.datasets
        if Results(FILES).comparable(dataset) and dataset != "sarcos"  # an official split
    }
