"""Any mistake in a file that people write, any damage to a result: one clear error or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from learned_context.errors import UserError
from pipeline import checked
from pipeline import settings as project_settings
from pipeline.__main__ import COMMANDS, main
from pipeline.commands.costs import profile_costs
from pipeline.datasets import sources
from pipeline.files import Files
from pipeline.reporting.checking import check
from pipeline.reporting.comparisons import metrics, plots
from pipeline.reporting.numbers import from_paper, from_results
from pipeline.reporting.paper import load_paper
from pipeline.reporting.results import Results
from pipeline.studies import STUDIES
from tests.conftest import ROOT
from tests.damage import QUICK, changed, damaged
from tests.reporting.project import Project


def accept(path: Path, content: bytes, read: Callable[[], object]) -> None:
    """Either it is read, or the error is the user's and is one line."""
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        read()
    except UserError as error:
        assert str(error) and "\n" not in str(error)
    finally:
        path.write_bytes(before)


def load_everything(root: Path) -> None:
    expected = profile_costs(root).seconds
    for stage in ("tune@frequency-lc", "train@schools-cs", "holdout@sarcos-lc", "sizes@height-ll"):
        expected(stage)


def read_paper(root: Path) -> None:
    paper = load_paper(Files(root))
    list(paper.cells())
    from_paper(paper)


READERS: dict[str, Callable[[Path], object]] = {
    "params.yaml": load_everything,
    "profiles/workstation.yaml": load_everything,
    "raw/sources.yaml": lambda root: sources.load(Files(root).sources),
    "reports/paper.yaml": read_paper,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that people write."""
    root = tmp_path_factory.mktemp("written")
    for name in READERS:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    return root


@cache
def content_of(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.mark.parametrize("name", READERS)
@QUICK
@given(data=st.data())
def test_a_mistake_in_a_file_that_people_write(
    written: Path, name: str, data: st.DataObject
) -> None:
    content = data.draw(changed(content_of(name)))
    text = yaml.safe_dump(content, allow_unicode=True)
    accept(written / name, text.encode(errors="replace"), lambda: READERS[name](written))


@pytest.mark.parametrize("name", READERS)
@QUICK
@given(data=st.data())
def test_damage_to_a_file_that_people_write(written: Path, name: str, data: st.DataObject) -> None:
    content = data.draw(damaged((ROOT / name).read_bytes()))
    accept(written / name, content, lambda: READERS[name](written))


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("reported"), 1.0, ("inflation",)).make()


def read_results(root: Path) -> None:
    results = Results.open(root)
    for study in STUDIES.values():
        for model in study.models(results.settings.params):
            results.read(study, "inflation", model)
    numbers = from_results(results)
    check(results, numbers).as_json()
    metrics(numbers)
    plots(results, numbers)
    results.label("inflation")


@pytest.mark.parametrize("study", ["data", *STUDIES])
@settings(QUICK, max_examples=15)
@given(data=st.data())
def test_damage_to_a_result(reported: Project, study: str, data: st.DataObject) -> None:
    folder = reported.root / "results" / study / "inflation"
    path = sorted(folder.glob("*.json"))[0]
    whole = path.read_bytes()
    content = json.dumps(data.draw(changed(json.loads(whole)))).encode()
    accept(path, data.draw(st.just(content) | damaged(whole)), lambda: read_results(reported.root))


# -- the command line ----------------------------------------------------------------------------

WRONG = [
    *([verb] for verb in ("download", "prepare", "linear", "tune", "train", "holdout", "adapt")),
    *([verb, "iris"] for verb in ("download", "prepare", "linear", "holdout", "adapt", "clean")),
    *([verb, "iris", "lc"] for verb in ("tune", "train", "repeats", "sizes", "dimension")),
    *([verb, "frequency", "mlp"] for verb in ("tune", "train", "repeats", "sizes", "dimension")),
    *([verb, "frequency"] for verb in ("linear", "holdout", "adapt", "clean", "illustrate")),
    *([verb, "frequency", "lc"] for verb in ("tune", "train", "repeats", "sizes", "dimension")),
    ["validate", "--jobs"],
    *([verb, "--jobs", "0"] for verb in ("run", "plan")),
    *([verb, "--jobs", "many"] for verb in ("run", "plan", "demo")),
    *([verb, "--nonsense"] for verb in (*COMMANDS, *STUDIES)),
    ["run"],
    ["plan"],
    ["report", "nothing"],
    ["report", "--readme"],
    ["report", "index"],
    ["demo"],
    ["demo", "--folder", "params.yaml"],
    ["paint"],
    [],
]
"""In a folder with settings and nothing else: no data, no results, neither git nor DVC."""


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_no_mistake_at_the_command_line_ends_in_a_traceback(
    project: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in project.rglob("*") if path.is_file())
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert "error: " in capsys.readouterr().err
    after = sorted(p for p in project.rglob("*") if p.is_file() and "scratch" not in p.parts)
    assert after == before, "a mistake writes nothing"


def test_settings_that_are_no_number_are_refused(project: Path) -> None:
    whole = (ROOT / "params.yaml").read_text()
    for text in (".inf", ".nan", "2001-13-01"):
        other = whole.replace("lowest_rate: 1.0e-8", f"lowest_rate: {text}")
        (project / "params.yaml").write_text(other)
        with pytest.raises(UserError, match=r"params\.yaml: "):
            project_settings.load(Files(project))


def test_an_error_is_one_line_whatever_name_it_quotes(tmp_path):
    path = tmp_path / "result.json"
    with pytest.raises(UserError) as caught:
        checked.parse(path, {"a\nb\x1b": 1}, checked.Checked, "restore it")
    assert (
        str(caught.value)
        == f"{path}: a\\nb\\x1b: 1 is not valid; extra inputs are not permitted; restore it"
    )
