"""The task explorer: its data in the page, and in headless Chromium what a reader does with it."""

import json
import re

import pytest

from pipeline.reporting.explorer import Explorer
from tests.reporting.browser import needs_chromium
from tests.reporting.conftest import render
from tests.reporting.project import Project

SEEN = """
(() => {
  const part = (name) => document.querySelector(`[data-part="${name}"]`);
  const all = (name, kind) => [...part(name).querySelectorAll(kind)];
  return {
    dataset: part("dataset").selectedOptions[0].text,
    chosen: part("chosen").textContent,
    about: part("about").textContent,
    nearest: all("nearest", "button").map((button) => button.textContent),
    curves: all("curve", ".curve").map((path) => path.getAttribute("d")),
    own: all("curve", ".own").map((path) => path.getAttribute("d")),
    train: all("curve", "circle.train").length,
    test: all("curve", "circle.test").length,
    axis: all("curve", "text").at(-2).textContent,
    fills: all("map", ".task").map((dot) => dot.getAttribute("fill")),
    hover: all("map", "text.hover").map((text) => text.textContent),
    problem: part("problem").textContent,
    network: part("network").textContent,
    address: location.search,
  };
})()
"""


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("explored"), datasets=("frequency", "death_rate"))
    project.make()
    render(project.root, "explore")
    return project


@pytest.fixture
def explorer(explored, browser):
    """The page at its opening example, and a function to use its controls."""
    browser.open(explored.root / "reports/explore.html")

    def act(name="", value=None, event="change", script=""):
        if name:
            script = (
                f"(() => {{ const one = document.querySelector('[data-part={name}]');"
                f" one.value = {json.dumps(value)};"
                f" one.dispatchEvent(new Event('{event}')); }})()"
            )
        if script:
            browser.evaluate(script)
        assert browser.problems == []
        return browser.evaluate(SEEN)

    return act


def data(page):
    found = re.search(r'id="explorer-data">(.*?)</script>', page, re.S).group(1)
    return json.loads(found)["datasets"]


@needs_chromium
def test_it_opens_with_haiti_2010_and_says_which_network_it_shows(explorer):
    first = explorer()
    assert (first["dataset"], first["chosen"]) == ("Death rate", "Haiti 2010 (HTI)")
    assert "learned context with two task parameters" in first["network"]
    assert "80 units" in first["network"]
    assert (first["train"], first["test"]) == (4, 4)
    assert len(first["curves"]) == 2 and first["curves"] == first["own"]  # female and male


@needs_chromium
def test_a_task_by_its_name_by_its_code_or_by_a_part_of_it(explorer):
    assert explorer("task", "norway 2015 (nor)", "input")["chosen"] == "Norway 2015 (NOR)"
    assert explorer("task", "ZMB 2000", "input")["chosen"] == "Zambia 2000 (ZMB)"
    assert explorer("task", "ethio", "change")["chosen"].startswith("Ethiopia")
    nobody = explorer("task", "nobody", "change")
    assert nobody["problem"] == "No task has this in its name."
    assert nobody["chosen"].startswith("Ethiopia")
    assert len(nobody["nearest"]) == 6 and nobody["chosen"] not in nobody["nearest"]


@needs_chromium
def test_sliders_move_the_curve_and_the_button_goes_back(explorer):
    first = explorer()
    moved = explorer("beta0", 0.6, "input")
    assert moved["curves"] != first["curves"] and moved["own"] == first["own"]
    assert "beta=" in moved["address"]
    back = explorer(script="document.querySelector('[data-part=back]').click()")
    assert back["curves"] == first["curves"] and "beta=" not in back["address"]


@needs_chromium
def test_another_colour_feature_and_dataset(explorer):
    first = explorer()
    coloured = explorer("colour", "2")  # the mean of the target, which rises with the task
    assert coloured["fills"] != first["fills"]
    assert len(set(coloured["fills"])) > 20  # by quantile: no outlier takes the whole scale
    along = explorer("feature", "1")
    assert first["axis"] == "age" and along["axis"] == "x1"
    other = explorer("dataset", "0")
    assert (other["dataset"], other["chosen"]) == ("Frequency", "task 0")
    assert len(other["fills"]) == 7


@needs_chromium
def test_the_address_brings_everything_back(explored, explorer, browser):
    explorer("task", "IND 2005", "input")
    explorer("colour", "1")
    explorer("feature", "1")
    before = explorer("beta1", 0.1, "input")
    browser.open(explored.root / "reports/explore.html", query=before["address"])
    after = browser.evaluate(SEEN)
    assert after == before
    nonsense = "?dataset=none&task=nobody&colour=x&feature=y&beta=a,b"
    browser.open(explored.root / "reports/explore.html", query=nonsense)
    assert browser.problems == [] and browser.evaluate(SEEN)["chosen"]


@needs_chromium
def test_the_map_by_pointer_and_by_arrow_keys(explorer):
    at = (
        "(() => {{ const map = document.querySelector('[data-part=map]');"
        " const box = map.querySelectorAll('.task')[4].getBoundingClientRect();"
        " map.dispatchEvent(new MouseEvent('{kind}',"
        " {{ clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }})); }})()"
    )
    explorer("dataset", "0")
    hovered = explorer(script=at.format(kind="pointermove"))
    assert (hovered["chosen"], hovered["hover"]) == ("task 0", ["task 4"])
    assert explorer(script=at.format(kind="click"))["chosen"] == "task 4"
    seen = {
        explorer(
            script="document.querySelector('[data-part=map]').dispatchEvent("
            f"new KeyboardEvent('keydown', {{ key: 'Arrow{way}' }}))"
        )["chosen"]
        for way in ("Left", "Right", "Up", "Down")
    }
    assert len(seen) > 1


NASTY = ("<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }} & 'x'")


@needs_chromium
def test_a_task_with_a_dangerous_name_is_shown_and_not_obeyed(project, browser):
    small = project(datasets=("frequency",))
    for path in small.root.glob("results/*/frequency/*.json"):
        text = path.read_text()
        for number, name in enumerate(NASTY):
            text = text.replace(f'"task {number}"', json.dumps(name))
        path.write_text(text)
    render(small.root, "explore")
    page = (small.root / "reports/explore.html").read_text()
    assert page.count("<script") == page.count("</script>") == 3
    assert data(page)[0]["tasks"][:3] == list(NASTY)
    browser.open(small.root / "reports/explore.html")
    browser.evaluate("window.alert = () => console.error('a name was obeyed')")
    for name in NASTY:
        browser.evaluate(
            "(() => { const one = document.querySelector('[data-part=task]');"
            f" one.value = {json.dumps(name)}; one.dispatchEvent(new Event('input')); }})()"
        )
        assert browser.evaluate(SEEN)["chosen"] == name
    assert browser.problems == []


def test_a_reader_without_scripts_is_told_and_has_the_picture_and_the_table(explored):
    page = (explored.root / "reports/explore.html").read_text()
    assert "<noscript><p" in page and "The explorer needs JavaScript" in page
    assert re.search(r'data-part="live" hidden', page)
    assert 'id="maps"' in page and 'id="extremes"' in page


def test_results_without_planes_and_points_still_have_a_page(project):
    small = project(datasets=("frequency",))
    result = small.read("illustrate", "frequency", "lc")
    del result["explorer"]["planes"], result["explorer"]["points"]
    small.path("illustrate", "frequency", "lc").write_text(json.dumps(result))
    render(small.root, "explore")
    (shown,) = data((small.root / "reports/explore.html").read_text())
    assert shown["planes"] == [] and shown["points"] is None


def test_a_number_that_json_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Explorer("caption", [{"beta": [float("nan")]}], [], {}).html()
