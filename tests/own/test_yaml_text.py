from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.own import yaml_text
from tests.conftest import ROOT

FLOW = "datasets: [a,\n           b]  # two\nmodels: [x]\n"
BLOCK = "# first\ndatasets:\n- a  # one\n- b\n\n# then\nmodels: [x]\n"
DEEP = "datasets:\n    a: {k: 1}   # one\n    b:\n        k: 1\n        l: [1, 2]\n# end\n"


@pytest.mark.parametrize(
    ("text", "entry", "expected"),
    [
        (FLOW, "- c", "datasets: [a,\n           b, c]  # two\nmodels: [x]\n"),
        (BLOCK, "- c", "# first\ndatasets:\n- a  # one\n- b\n- c\n\n# then\nmodels: [x]\n"),
        (DEEP, "c: {k: 2}", DEEP.replace("# end", "    c: {k: 2}\n# end")),
        ("datasets: {a: 1}", "c: 2", "datasets: {a: 1, c: 2}"),
        ("datasets:\n- a", "- c", "datasets:\n- a\n- c"),
    ],
)
def test_an_entry_is_added_behind_the_last(text: str, entry: str, expected: str) -> None:
    assert yaml_text.added(text, "datasets", entry) == expected
    assert yaml_text.removed(expected, "datasets", "c") == text


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (FLOW, "a", "datasets: [b]  # two\nmodels: [x]\n"),
        (BLOCK, "a", "# first\ndatasets:\n- b\n\n# then\nmodels: [x]\n"),
        (DEEP, "a", DEEP.replace("    a: {k: 1}   # one\n", "")),
        (DEEP, "b", "datasets:\n    a: {k: 1}   # one\n# end\n"),
        (FLOW, "nothing", FLOW),
    ],
)
def test_any_entry_can_be_removed(text: str, name: str, expected: str) -> None:
    assert yaml_text.removed(text, "datasets", name) == expected


def test_line_ends_stay_what_they_are() -> None:
    windows = BLOCK.replace("\n", "\r\n")
    more = yaml_text.added(windows, "datasets", "- c")
    assert more == BLOCK.replace("- b\n", "- b\n- c\n").replace("\n", "\r\n")
    assert yaml_text.removed(more, "datasets", "c") == windows


def test_the_projects_own_files_come_back_to_the_byte() -> None:
    for path in (ROOT / "params.yaml", ROOT / "raw" / "sources.yaml"):
        text = path.read_text()
        more = yaml_text.added(text, "dataset", "\nc:\n  own:\n    files:\n      - k: 1")
        assert yaml.safe_load(more)["dataset"]["c"] == {"own": {"files": [{"k": 1}]}}
        assert yaml_text.removed(more, "dataset", "c") == text


@pytest.mark.parametrize("text", ["", "models: [x]", "datasets: []", "datasets:\n", "- a"])
def test_there_must_be_a_list_to_add_to(text: str) -> None:
    with pytest.raises(ValueError, match="datasets: a list or mapping with entries is needed"):
        yaml_text.added(text, "datasets", "- c")


def test_the_last_entry_stays() -> None:
    with pytest.raises(ValueError, match="datasets: 'a' is the only one there"):
        yaml_text.removed("datasets: [a]", "datasets", "a")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_string_is_read_back(values: list[str]) -> None:
    text = f"k: [{', '.join(map(yaml_text.scalar, values))}]"
    assert yaml.safe_load(text) == {"k": values}


@pytest.mark.parametrize("word", ["yes", "null", "1e5", "0o17", "12:30", "2020-01-01", "~", "a b"])
def test_what_some_parser_takes_for_a_value_is_quoted(word: str) -> None:
    assert yaml_text.scalar(word) == f'"{word}"'
    assert yaml_text.scalar("flow_rate") == "flow_rate"
