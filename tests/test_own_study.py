"""A dataset of one's own through every stage of a real repository, and out of it again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dvc.repo import Repo

from tests import small_study

NETWORKS = {"models": ["lc"], "base_only": []}
STUDIES = ("linear", "tune", "train", "repeats", "sizes", "dimension", "holdout", "adapt", "clean")
PAGES = ("base", "data")


def write_wells(path: Path) -> None:
    """Six tasks, one of them with a single row, in the worst of names."""
    random = np.random.default_rng(0)
    wells = ["<script>alert('well')</script>", r"$\frac{", "well, 3", "æ|ø*å", "{{ 5 }}", "alone"]
    lines = ["well,pressure $<i>,valve,flow"]
    for number, (well, rows) in enumerate(zip(wells, (12, 10, 9, 14, 8, 1), strict=True)):
        for x in random.normal(size=rows):
            valve = ("open", "<b>shut</b>")[int(random.integers(2))]
            flow = x * (number + 1) + number + random.normal()
            lines.append(f'"{well}",{x},{valve},{flow}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pipeline(folder: Path, *words: str) -> str:
    return small_study.pipeline(folder, *words).stdout


def status(folder: Path) -> set[str]:
    """The stages that DVC would run, or has changes of; not the one that checks every change."""
    with Repo(str(folder)) as repo:
        return {stage for stage in repo.status() if not stage.endswith("validate")}


def without_report(state: dict[str, str]) -> dict[str, str]:
    """What removal gives back: the report, made in between, waits for the next run."""
    made = ("dvc.lock", "reports/")
    return {name: value for name, value in state.items() if not name.startswith(made)}


@pytest.mark.slow
def test_an_own_dataset_goes_through_every_stage_and_out_again(tmp_path: Path) -> None:
    folder = small_study.make_project(tmp_path, datasets=["frequency"], **NETWORKS)
    small_study.run(folder, "prepare@frequency")
    before = status(folder), small_study.state(folder)
    texts = {name: (folder / name).read_bytes() for name in ("params.yaml", "raw/sources.yaml")}

    write_wells(folder / "wells.csv")
    pipeline(folder, "add-dataset", "wells.csv", "--task", "well", "--target", "flow")
    (folder / "wells.csv").unlink()
    assert "train@wells-lc" in pipeline(folder, "plan", "--json", "*@wells*")
    small_study.run(folder, "*@wells*")
    for study in STUDIES:
        assert list((folder / "results" / study / "wells").glob("*.json"))
    # Single items: without the studies of the other dataset.
    small_study.dvc(folder, "repro", "--single-item", "check", *(f"report@{p}" for p in PAGES))
    assert not [stage for stage in status(folder) if "wells" in stage or stage == "check"]

    assert "wells" not in (folder / "reports" / "paper_check.json").read_text().lower()
    for page in PAGES:
        html = (folder / "reports" / f"{page}.html").read_text()
        assert "Wells" in html
        assert "<script>alert" not in html and "<b>shut" not in html

    pipeline(folder, "remove-dataset", "wells")
    assert {name: (folder / name).read_bytes() for name in texts} == texts
    assert status(folder) <= before[0]
    assert without_report(small_study.state(folder)) == without_report(before[1])
    assert "@wells" not in (folder / "dvc.lock").read_text()
    assert not [path for path in folder.rglob("*wells*") if ".dvc" not in path.parts]
