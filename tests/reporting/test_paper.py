"""reports/paper.yaml: complete, and its mistakes are named."""

import shutil

import pytest
import yaml

from learned_context.errors import UserError
from pipeline.files import Files
from pipeline.reporting.paper import load_paper
from tests.conftest import ROOT

# As counted in the paper: rows x columns, where Table 3's cells hold three numbers each.
NUMBERS = {"datasets": 50, "base": 60, "repeats": 90, "sizes": 90, "holdout": 30, "space": 10}


@pytest.fixture
def paper():
    return load_paper(Files(ROOT))


def test_every_number_of_the_six_tables_is_there(paper):
    cells = list(paper.cells())
    found = {table: sum(cell.table == table for cell in cells) for table in paper.tables}
    assert found == NUMBERS
    assert len({cell.name for cell in cells}) == sum(NUMBERS.values())


def test_every_number_has_a_reason_for_its_tolerance(paper):
    assert all(cell.reason for cell in paper.cells())


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("datasets/sarcos/train", 311388),
        ("base/sarcos/lc", 2.176),
        ("base/death_rate/fs", 0.042),
        ("repeats/height/ll diverged", 1),
        ("sizes/death_rate/ll 0.1", 0.58),
        ("holdout/obesity/8", 9.74),
        ("space/lambda_task/high", 1e-3),
    ],
)
def test_numbers_stand_in_their_cell(paper, cell, value):
    assert paper.value(*cell.split("/")) == value


def test_a_count_has_no_rounding_and_an_error_half_of_its_last_digit(paper):
    cells = {cell.name: cell for cell in paper.cells()}
    assert cells["datasets/schools/tasks"].allowed == 0
    assert cells["base/frequency/lc"].allowed == pytest.approx(0.10 * 0.106 + 0.0005)


def change(tmp_path, **sections):
    content = yaml.safe_load((ROOT / "reports/paper.yaml").read_text()) | sections
    (tmp_path / "reports").mkdir()
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "reports/paper.yaml").write_text(yaml.safe_dump(content))
    return Files(tmp_path)


def test_a_note_of_no_cell_is_an_error(tmp_path):
    files = change(tmp_path, notes=[{"cell": "base/frequenzy/lc", "note": "why", "command": "x"}])
    with pytest.raises(UserError, match="'base/frequenzy/lc' fits no cell"):
        load_paper(files)


def test_a_note_for_one_profile_is_none_for_another(tmp_path):
    note = {"cell": "base/frequency/lc", "profile": "smoke", "note": "minutes", "command": "x"}
    paper = load_paper(change(tmp_path, notes=[note]))
    found = {
        profile: {cell.note for cell in paper.cells(profile)} for profile in ("smoke", "paper")
    }
    assert found == {"smoke": {"", "minutes"}, "paper": {""}}


def test_a_note_for_no_profile_is_an_error(tmp_path):
    note = {"cell": "base/frequency/lc", "profile": "workstatoin", "note": "why", "command": "x"}
    with pytest.raises(UserError, match="no profile 'workstatoin'; valid: paper, smoke, work"):
        load_paper(change(tmp_path, notes=[note]))


def test_a_number_without_tolerance_is_an_error(tmp_path):
    files = change(tmp_path, tolerances=[{"cells": "base/*", "reason": "why"}])
    with pytest.raises(UserError, match=r"none fits datasets/.*/features"):
        load_paper(files)


def test_a_note_without_a_command_is_an_error(tmp_path):
    files = change(tmp_path, notes=[{"cell": "base/frequency/lc", "note": "why"}])
    with pytest.raises(UserError, match=r"notes\[0\].command: missing"):
        load_paper(files)


def test_a_tolerance_of_one_edition_is_none_of_another(paper):
    found = {
        edition: {cell.name: cell for cell in paper.cells(editions={"sarcos": edition})}
        for edition in ("paper", "recovered_rows")
    }
    assert found["recovered_rows"]["base/sarcos/lc"].bound
    assert not found["paper"]["base/sarcos/lc"].bound
    assert not found["recovered_rows"]["base/sarcos/lme"].bound
    assert not found["recovered_rows"]["base/schools/lc"].bound


def test_inputs_are_no_results_and_one_network_or_interval_is_one(paper):
    cells = list(paper.cells())
    chose_the_rows, relative_to_itself = 6 * 2, 10 * 2
    inputs = 50 + 10 + 30 + chose_the_rows + relative_to_itself
    assert sum(cell.kind == "input" for cell in cells) == inputs
    same = {cell.name: cell.same_as for cell in cells if cell.same_as}
    assert len(same) == 30 + 30 and same["sizes/schools/ll 1.0"] == "base/schools/ll"
    assert same["repeats/schools/ll max"] == "repeats/schools/ll min"


def test_reasons_fit_their_number(paper):
    cells = {cell.name: cell for cell in paper.cells(editions={"sarcos": "recovered_rows"})}
    assert "synthetic" in cells["datasets/frequency/std"].reason
    assert not any("synthetic" in cells[f"datasets/{d}/std"].reason for d in ("schools", "sarcos"))
    assert "restarts" in cells["repeats/frequency/lc diverged"].reason
