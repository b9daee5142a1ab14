"""Any mistake in a file that people write, any damage to a result: one clear error or none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import settings as project_settings
from pipeline.__main__ import VERBS, main
from pipeline.datasets import sources
from pipeline.errors import UserError
from pipeline.files import Files
from pipeline.reporting.checking import check
from pipeline.reporting.comparisons import metrics, plots
from pipeline.reporting.numbers import from_paper, from_results
from pipeline.reporting.paper import load_paper
from pipeline.reporting.results import SHAPES, Results
from pipeline.stages.costs import expectation
from tests.conftest import ROOT
from tests.reporting.project import Project

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([0, -1, 1e400, "", "lc", "1", "2001-99-99", [], {}, [1], {"a": 1}, [[0.5]]])
    | st.text(max_size=8)
    | st.lists(st.floats() | st.text(max_size=3), max_size=3)
    | st.dictionaries(st.text(max_size=4) | st.integers(), st.integers(), max_size=2)
)
QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def places(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """Where something stands in nested mappings and lists."""
    if path:
        yield path
    if isinstance(content, (dict, list)):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from places(value, (*path, key))


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """The content with a value replaced, a key taken away or a key added."""
    content = json.loads(json.dumps(content))
    for _ in range(draw(st.integers(1, 2))):
        found = list(places(content))
        *parents, last = draw(st.sampled_from(found)) if found else [None]
        if last is None:
            return draw(VALUES)
        place = content
        for key in parents:
            place = place[key]
        action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if action == "replace":
            place[last] = draw(VALUES)
        elif action == "remove":
            del place[last]
        elif isinstance(place, dict):
            place[draw(st.text(max_size=5))] = draw(VALUES)
        else:
            place.insert(0, draw(VALUES))
    return content


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes cut short, or some of them changed."""
    if draw(st.booleans()):
        return content[: draw(st.integers(0, len(content)))]
    place = draw(st.integers(0, len(content)))
    return (
        content[:place] + draw(st.binary(max_size=6)) + content[place + draw(st.integers(0, 6)) :]
    )


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
    expected, _ = expectation(root)
    for stage in ("tune@frequency-lc", "train@schools-cs", "holdout@sarcos", "sizes@height-ll"):
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
    return Project(tmp_path_factory.mktemp("reported"), 1.0, ("inflation",))


def read_results(root: Path) -> None:
    results = Results.open(root)
    for path in (root / "results").rglob("*.json"):
        results.get(path.parts[-3], path.parts[-2], path.stem)
    numbers = from_results(results)
    check(results, numbers).as_json()
    metrics(numbers)
    plots(results, numbers)
    results.footnotes()


@pytest.mark.parametrize("study", SHAPES)
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
    *([verb, "--jobs", "0"] for verb in ("run", "plan")),
    *([verb, "--jobs", "many"] for verb in ("run", "plan", "demo")),
    *([verb, "--nonsense"] for verb in VERBS),
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
