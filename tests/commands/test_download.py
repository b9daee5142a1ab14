from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pipeline.__main__ import main
from tests.datasets.conftest import SCHOOL_LINES


def failure(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line on stderr of a command that must fail."""
    assert main(words) == 2
    line = capsys.readouterr().err
    assert line.startswith("error: ") and line.count("\n") == 1
    return line.removeprefix("error: ").rstrip("\n")


def change(path: Path, *keys: str | int, value: object) -> None:
    content = yaml.safe_load(path.read_text())
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    path.write_text(yaml.safe_dump(content))


def test_edition_that_cannot_be_had(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(project / "params.yaml", "dataset", "obesity", "edition", value="paper")
    assert failure(capsys, "download", "obesity") == (
        "raw/obesity/paper/bmi_child_adolescent_country.csv: could not be had (no address is known "
        "and LEARNED_CONTEXT_MIRROR is not set); get it by hand from "
        "https://www.ncdrisc.org/data-downloads-adiposity-ado.html (by country and single year of "
        "age, 1975 to 2016; unpack the csv) and put it at "
        "raw/by_hand/obesity/bmi_child_adolescent_country.csv"
    )
    assert not list((project / "raw" / "obesity").rglob("*.csv"))


def test_generated_dataset(project: Path) -> None:
    assert main(("download", "frequency")) == 0
    assert [path.name for path in (project / "raw/frequency/paper").iterdir()] == ["GENERATED.txt"]


def test_unknown_dataset(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert failure(capsys, "download", "iris").startswith(
        "dataset 'iris' is not in params.yaml; valid: bike_sharing, death_rate, frequency, height,"
    )


def test_mirror_with_a_damaged_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = project / "mirror" / "bike_sharing"
    mirror.mkdir(parents=True)
    (mirror / "hour.csv").write_text("instant,dteday\n1,2011-01-01\n")
    monkeypatch.setenv("LEARNED_CONTEXT_MIRROR", str(project / "mirror"))
    change(
        project / "raw" / "sources.yaml",
        *("dataset", "bike_sharing", "paper", "files", 0, "addresses"),
        value=[],
    )
    found = failure(capsys, "download", "bike_sharing")
    assert found.startswith(
        f"raw/bike_sharing/paper/hour.csv: could not be had ({mirror}/hour.csv: "
    )
    assert "instead of e03de4ee4ef4dc376ac6e04bf829673c6269e8eba5c60fa121640fa2f829504f" in found
    assert list((project / "raw" / "bike_sharing").rglob("*.csv")) == []


def unpinned_inflation(project: Path, rows: int, lines: list[str]) -> None:
    """An edition that is known by its counts alone, whose file a person has put by hand."""
    sources = project / "raw" / "sources.yaml"
    change(project / "params.yaml", "dataset", "inflation", "edition", value="paper")
    change(sources, "dataset", "inflation", "paper", "files", 0, "addresses", value=[])
    change(sources, "dataset", "inflation", "paper", "rows", value=rows)
    change(sources, "dataset", "inflation", "paper", "tasks", value=3)
    by_hand = project / "raw" / "by_hand" / "inflation" / "oecd_dp_live_cpi_idx2015_q.csv"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")


LINES = ["LOCATION,INDICATOR,SUBJECT,MEASURE,FREQUENCY,TIME,Value,Flag Codes"] + [
    f"{place},CPI,TOT,IDX2015,Q,{year}-Q{quarter},{year - 1960 + quarter / 4},"
    for place in ("AUS", "NOR", "USA")
    for year in range(1990, 1995)
    for quarter in range(1, 5)
]


def test_file_put_by_hand_goes_all_the_way(project: Path) -> None:
    unpinned_inflation(project, 60, LINES)
    change(project / "params.yaml", "dataset", "inflation", "split", value="quarters")
    assert main(["download", "inflation"]) == 0
    assert main(["prepare", "inflation"]) == 0
    info = json.loads((project / "results/data/inflation/table.json").read_text())
    assert info["edition"] == "paper" and info["rows"] == {"train": 50, "test": 10, "leaked": 0}


def test_truncated_file_known_by_its_rows(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unpinned_inflation(project, 60, LINES[:-7])
    assert failure(capsys, "download", "inflation") == (
        "raw/inflation/paper/oecd_dp_live_cpi_idx2015_q.csv: gives 53 rows instead of 60; it is "
        "truncated or of another edition: delete it and download it again"
    )
    assert list((project / "raw" / "inflation").rglob("*.csv")) == []


def test_web_page_put_by_hand(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unpinned_inflation(project, 60, ["<!doctype html>", "<html></html>"])
    assert "inflation/oecd_dp_live_cpi_idx2015_q.csv: a web page instead of the file" in failure(
        capsys, "download", "inflation"
    )


def test_schools_lines_are_as_wide_as_the_format() -> None:
    assert {len(line) for line in SCHOOL_LINES} == {16}


def test_a_mirror_that_is_no_address(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEARNED_CONTEXT_MIRROR", "http://[bad")
    text = failure(capsys, "download", "obesity")
    assert "not an address (Invalid IPv6 URL)" in text
    assert not (project / "raw" / "obesity").exists(), "no empty folder is left"
