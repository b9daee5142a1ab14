"""Other draws of the rows: the first is the study's own, and each differs from the others."""

import pytest

from benchmarks.draws import Source, drawn_cases, summary
from benchmarks.paper_budget import Case, CaseTraining, as_json, cases, read_cases, study_setting
from learned_context.networks.registry import architecture
from learned_context.training.trainer import Hyperparameters, Plan
from pipeline.commands.prepare import content_digest
from pipeline.files import Files
from pipeline.reporting.paper import load_paper
from pipeline.reporting.results import Results, benchmark_path
from pipeline.tables.description import read_description
from tests.conftest import ROOT

CASE = Case("sine_and_line", "lc", 0.1, paper=0.25, ours=0.3)


@pytest.fixture(scope="module")
def source():
    return Source(Files(ROOT), CASE.dataset)


def test_the_first_draw_is_the_studys_own(source):
    drawn = content_digest(source.draw(0).frame)
    assert drawn == read_description(Files(ROOT), CASE.dataset).content_sha256
    assert content_digest(source.draw(1).frame) != drawn


def test_an_error_is_in_the_papers_unit_and_the_same_each_time(source):
    made = CaseTraining(Hyperparameters(0.05, 8, 1e-8, 1e-6, 2), Plan(epochs=4, batches=2), seed=3)
    error = source.error(1, CASE, made)
    whole = Case("sine_and_line", "lc", 1.0, paper=0.3, ours=0.3)
    assert error == source.error(1, CASE, made)
    assert 0.5 < error < 2  # of the target's deviation: hardly trained
    assert 0.5 < source.error(1, whole, made) / source.draw(1).info.std < 2
    assert source.error(2, CASE, made) != error


def test_the_papers_number_may_lie_among_the_errors():
    assert summary(CASE, [0.2, 0.3])["paper_among_them"]
    assert not summary(CASE, [0.26, 0.3])["paper_among_them"]


def named_draws():
    """What the notes of reports/paper.yaml name of this script's record."""
    for note in load_paper(Files(ROOT)).notes:
        for command in note.command.split("; "):
            _, script, *words = command.split()
            if script == "benchmarks/draws.py":
                yield from words[words.index("--only") + 1 :]


@pytest.mark.parametrize("name", sorted(set(named_draws())))
def test_what_a_note_names_is_recorded_with_the_studys_settings(name):
    """So its command prints it in a clone without data."""
    case = drawn_cases(Results(Files(ROOT)))[name]
    recorded = read_cases(benchmark_path(Files(ROOT), "draws"))[name]
    assert recorded["ours"] == case.ours and len(recorded["errors"]) == 5
    made = study_setting(Files(ROOT), case.dataset, case.model, case.fraction)
    assert recorded["setting"] == as_json(made)


def test_networks_above_the_paper_are_drawn_again_besides_what_is_far_off():
    results = Results(Files(ROOT))
    found, far = drawn_cases(results), {case.name for case in cases(results)}
    assert far <= set(found)
    others = [case for name, case in found.items() if name not in far]
    assert others and all(architecture(case.model).has_task_parameters for case in others)
    assert all(case.fraction == 1.0 for case in others)
    assert all(case.ours > case.paper for case in others)
