"""The task explorer: its data in the page, and in headless Chromium what a reader does with it."""

import html
import json
import re
import shutil

import pytest

from pipeline.reporting.explorer import Explorer
from tests.reporting.browser import needs_chromium, open_page
from tests.reporting.conftest import render
from tests.reporting.project import Project

DRIVER = """
const part = (name) => document.querySelector(`[data-part="${name}"]`);
const seen = [];
const look = () => seen.push({
  chosen: part("chosen").textContent,
  about: part("about").textContent,
  nearest: [...part("nearest").querySelectorAll("button")].map((button) => button.textContent),
  moved: part("curve").querySelector(".moved").getAttribute("d"),
  own: part("curve").querySelector(".own").getAttribute("d"),
  range: part("range").textContent,
  fills: [...part("map").querySelectorAll(".task")].map((dot) => dot.getAttribute("fill")),
  hover: [...part("map").querySelectorAll("text.hover")].map((text) => text.textContent),
  problem: part("problem").textContent,
});
const set = (name, value, event) => {
  part(name).value = value;
  part(name).dispatchEvent(new Event(event));
  look();
};
const act = (name, event) => { part(name).dispatchEvent(event); look(); };
const at = (kind, number) => {
  const box = part("map").querySelectorAll(".task")[number].getBoundingClientRect();
  const place = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
  return new MouseEvent(kind, place);
};
window.alert = () => console.error("a name was obeyed");
look();
ACTIONS
document.body.append(Object.assign(document.createElement("pre"), {
  id: "seen", textContent: JSON.stringify(seen),
}));
"""


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("explored"), datasets=("frequency", "death_rate"))
    render(project.root, "explore")
    return project


def data(page):
    found = re.search(r'id="explorer-data">(.*?)</script>', page, re.S).group(1)
    return json.loads(found)["datasets"]


def after(root, folder, *actions):
    """What a reader sees at first and after each action, and the console."""
    shutil.copytree(root / "reports/explore", folder / "explore")
    page = (root / "reports/explore.html").read_text()
    driver = DRIVER.replace("ACTIONS", "\n".join(actions))
    (folder / "explore.html").write_text(
        page.replace("</body>", f"<script>{driver}</script></body>")
    )
    content, errors = open_page(folder / "explore.html", folder / "profile")
    assert errors == []
    return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', content).group(1)))


@needs_chromium
def test_choosing_a_task_by_its_name_changes_text_map_and_curve(explored, tmp_path):
    first, named, part_of_it, nobody = after(
        explored.root,
        tmp_path,
        'set("task", "TASK 3", "input");',
        'set("task", "sk 5", "change");',
        'set("task", "nobody", "change");',
    )
    [frequency, *_] = data((explored.root / "reports/explore.html").read_text())
    assert first["chosen"] == "task 0" and named["chosen"] == "task 3"
    assert "training rows 10, mean of the target 3" in named["about"]
    assert named["moved"] != first["moved"] and named["own"] == named["moved"]
    beta = list(zip(*frequency["beta"], strict=True))
    far = [4 * (b[0] - beta[3][0]) ** 2 + (b[1] - beta[3][1]) ** 2 for b in beta]
    assert named["nearest"] == [f"task {n}" for n in sorted(range(7), key=far.__getitem__)[1:]]
    assert part_of_it["chosen"] == nobody["chosen"] == "task 5"
    assert (named["problem"], nobody["problem"]) == ("", "No task has this in its name.")


@needs_chromium
def test_moving_a_slider_moves_the_curve_and_the_way_back_is_one_press(explored, tmp_path):
    [frequency, *_] = data((explored.root / "reports/explore.html").read_text())
    ends = [end(frequency["beta"][1]) for end in (min, max)]
    first, *moved, back = after(
        explored.root,
        tmp_path,
        *(f'set("beta1", {end}, "input");' for end in ends),
        'act("back", new Event("click"));',
    )
    assert moved[0]["moved"] != moved[1]["moved"]
    assert {step["own"] for step in (first, *moved)} == {first["own"]}
    # The fixture's network is sin(6 (x + first)) + second: the curve rises as much as it moved.
    lows = [float(re.search(r"between (\S+)", s["range"])[1].replace("−", "-")) for s in moved]
    assert lows[1] - lows[0] == pytest.approx(ends[1] - ends[0], abs=0.02)
    assert back == first


@needs_chromium
def test_the_map_is_coloured_pointed_at_clicked_and_walked_over(explored, tmp_path):
    first, coloured, hovered, clicked, walked, other = after(
        explored.root,
        tmp_path,
        'part("colour").selectedIndex = 2; act("colour", new Event("change"));',
        'act("map", at("pointermove", 4));',
        'act("map", at("click", 4));',
        'act("map", new KeyboardEvent("keydown", { key: "ArrowRight" }));',
        'part("dataset").selectedIndex = 1; act("dataset", new Event("change"));',
    )
    frequency, other_data, *_ = data((explored.root / "reports/explore.html").read_text())
    assert coloured["fills"] != first["fills"]
    assert (hovered["chosen"], hovered["hover"]) == ("task 0", ["task 4"])
    assert clicked["chosen"] == "task 4"
    names = frequency["tasks"]
    across = dict(zip(names, frequency["beta"][0], strict=True))
    assert across[walked["chosen"]] > across["task 4"] or walked["chosen"] == "task 4"
    assert other["chosen"] == other_data["tasks"][0]
    assert len(other["fills"]) == len(other_data["tasks"])


NASTY = ("<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }} & 'x'")


@needs_chromium
def test_a_task_with_a_dangerous_name_is_shown_and_not_obeyed(project, tmp_path):
    small = project(datasets=("frequency",))
    for path in small.root.glob("results/*/frequency/*.json"):
        text = path.read_text()
        for number, name in enumerate(NASTY):
            text = text.replace(f'"task {number}"', json.dumps(name))
        path.write_text(text)
    render(small.root, "explore")
    page = (small.root / "reports/explore.html").read_text()
    assert page.count("<script") == page.count("</script>") == 2
    assert data(page)[0]["tasks"][:3] == list(NASTY)
    folder = tmp_path / "browser"
    folder.mkdir()
    names = [json.dumps(name).replace("</", "<\\/") for name in NASTY]
    steps = after(small.root, folder, *(f'set("task", {name}, "input");' for name in names))
    assert [step["chosen"] for step in steps[1:]] == list(NASTY)


def test_a_reader_without_scripts_is_told_and_has_the_picture_and_the_table(explored):
    page = (explored.root / "reports/explore.html").read_text()
    assert "<noscript><p" in page and "The explorer needs JavaScript" in page
    assert re.search(r'data-part="live" hidden', page)
    assert 'src="explore/maps.svg"' in page and 'id="extremes"' in page


def test_a_dataset_without_a_number_has_a_map_and_no_curve(project):
    small = project(datasets=("frequency",))
    result = small.read("illustrate", "frequency", "lc")
    del result["explorer"]["response"]
    small.path("illustrate", "frequency", "lc").write_text(json.dumps(result))
    render(small.root, "explore")
    assert data((small.root / "reports/explore.html").read_text())[0]["response"] is None


def test_a_number_that_json_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Explorer("caption", [{"beta": [float("nan")]}], []).html()
