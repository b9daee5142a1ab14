"""The paper's budget on a tiny case: which trainings, and none of them twice."""

import argparse
import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.paper_budget import (
    CaseTraining,
    as_json,
    fill,
    paper_plan,
    read_cases,
    run,
    settings_of,
    share,
    still_valid,
    study_setting,
)
from learned_context.training.trainer import Hyperparameters, Plan
from pipeline.files import Files
from pipeline.reporting.paper import load_paper
from pipeline.reporting.results import benchmark_path
from tests.conftest import ROOT
from tests.learned_context.training.test_trainer import waves

RECORD = read_cases(benchmark_path(Files(ROOT), "paper_budget"))
OURS = CaseTraining(Hyperparameters(0.05, 8, 1e-8, 1e-6, 2), Plan(epochs=10, batches=4), seed=3)


def test_the_papers_plan_changes_the_budget_alone():
    plan = paper_plan(Files(ROOT), OURS.plan, 4000)
    assert (plan.epochs, plan.batches) == (10_000, 2)
    assert replace(plan, epochs=10, batches=4) == OURS.plan
    assert paper_plan(Files(ROOT), OURS.plan, 200_000).batches == 20


def test_larger_widths_are_trained_and_smaller_ones_are_not():
    found = settings_of(OURS, replace(OURS.plan, epochs=20), [4, 8, 16])
    assert list(found) == ["workstation", "paper", "paper, width 16"]
    assert found["workstation"] == OURS
    assert found["paper, width 16"].hyper == replace(OURS.hyper, width=16)
    assert found["paper, width 16"].plan.epochs == 20


def test_other_numbers_of_task_parameters_keep_the_studys_budget():
    found = settings_of(OURS, replace(OURS.plan, epochs=20), [], [], [1, 2])
    assert list(found)[2:] == ["workstation, 1 task parameters"]
    assert found["workstation, 1 task parameters"].plan == OURS.plan
    none = replace(OURS, hyper=replace(OURS.hyper, task_dim=0))
    assert list(settings_of(none, OURS.plan, [], [], [1])) == ["workstation", "paper"]


def test_shares_of_the_peak_rate_keep_the_studys_budget():
    found = settings_of(OURS, replace(OURS.plan, epochs=20), [], [0.2])
    assert list(found)[2:] == ["workstation, 0.2 of the peak rate"]
    made = found["workstation, 0.2 of the peak rate"]
    assert made.hyper.peak_rate == pytest.approx(0.01)
    assert replace(made, hyper=OURS.hyper) == OURS


def test_runs_of_the_budgets_of_now_are_kept_while_the_study_trains_in_the_same_way():
    long = replace(OURS.plan, epochs=20)
    known = {
        "workstation": {"setting": as_json(OURS)},
        "paper, width 200": {"setting": as_json(replace(OURS, plan=long))},
    }
    assert still_valid(known, OURS, long) == known
    other = replace(OURS.plan, epochs=30)
    assert list(still_valid(known, OURS, other)) == ["workstation"]
    assert still_valid(known, replace(OURS, seed=4), long) == still_valid({}, OURS, long) == {}


@pytest.mark.parametrize("text", ["0", "-0.2", "1.5", "fast"])
def test_a_share_of_the_peak_rate_is_above_zero_and_at_most_one(text):
    assert share("0.2") == 0.2
    with pytest.raises(ValueError):
        share(text)


def test_a_training_of_the_same_setting_is_not_made_again():
    rows = waves()
    odd = np.arange(len(rows)) % 5 == 0
    made = []

    def make(setting):
        made.append(setting)
        return run((rows.take(~odd), rows.take(odd)), 6, "lc", 2.0, setting)

    wanted = settings_of(OURS, replace(OURS.plan, epochs=20), [])
    first = dict(fill({}, wanted, make))
    assert made == list(wanted.values())
    assert [one["epochs_allowed"] for one in first.values()] == [10, 20]
    assert first["workstation"]["normalised"] == first["workstation"]["rmse"] / 2.0
    assert first["workstation"]["train_rmse"] > 0
    kept = json.loads(json.dumps(first))  # as the file gives them back
    assert dict(fill(kept, wanted, make)) == kept and len(made) == 2
    other = wanted | {"paper": replace(wanted["paper"], seed=4)}
    again = dict(fill(kept, other, make))
    assert len(made) == 3 and again["workstation"] == kept["workstation"]
    assert again["paper"]["rmse"] != kept["paper"]["rmse"]


def named_runs():
    """What the notes of reports/paper.yaml name: (case, run) of this script's record."""
    parser = argparse.ArgumentParser()
    for option in ("--only", "--widths", "--rates"):
        parser.add_argument(option, nargs="*", default=[])
    for note in load_paper(Files(ROOT)).notes:
        for command in note.command.split("; "):
            words = command.split()
            if words[1] == "benchmarks/paper_budget.py":
                chosen = parser.parse_args(words[2:])
                for case in chosen.only:
                    yield case, "paper"
                    yield from ((case, f"paper, width {width}") for width in chosen.widths)
                    for rate in chosen.rates:
                        yield case, f"workstation, {rate} of the peak rate"


@pytest.mark.parametrize(("case", "run_name"), sorted(set(named_runs())))
def test_what_a_note_names_is_recorded(case, run_name):
    """So its command prints it in a clone without data."""
    assert run_name in RECORD[case]["runs"]
    assert RECORD[case]["runs"]["workstation"]["setting"] == as_json(
        study_setting(Files(ROOT), *place(case))
    )


def place(case):
    dataset, model, fraction = case.rsplit("-", 2)
    return dataset, model, float(fraction)
