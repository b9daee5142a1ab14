"""The pages in headless Chromium: at both widths without errors, overflow or broken links."""

from urllib.parse import unquote, urlsplit

import pytest

from tests.conftest import ROOT
from tests.reporting.browser import WIDTHS, needs_chromium
from tests.reporting.conftest import PAGES, SOME

pytestmark = needs_chromium

OVERFLOW = """
(() => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll("main *")].filter((one) => {
    if (one.closest(".scroll, pre, svg, .sr") || !one.getClientRects().length) return false;
    return one.getBoundingClientRect().right > wide + 1;
  });
  return {
    page: document.documentElement.scrollWidth - wide,
    parts: out.map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`),
  };
})()
"""
CONTRAST = """
(() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour) && colour !== "transparent") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  for (const one of document.querySelectorAll("main p, main td, main th, main a, main .chip, h1")) {
    if (!one.getClientRects().length || !one.textContent.trim()) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
  }
  return poor;
})()
"""


def test_what_is_wrong_with_a_page_is_seen(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<main><div style="width: 3000px">wide</div></main><img src="nowhere.svg">'
        '<script>console.error("x")</script>'
    )
    browser.open(page)
    assert len(browser.problems) >= 2
    assert browser.evaluate(OVERFLOW)["page"] > 0
    assert browser.evaluate(OVERFLOW)["parts"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_errors_or_overflow(report, browser, page, width):
    browser.open(report.root / f"reports/{page}.html", width)
    assert browser.problems == []
    assert browser.evaluate(OVERFLOW) == {"page": 0, "parts": []}
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1
    headings = browser.evaluate("[...document.querySelectorAll('main h2')].map((h) => h.id)")
    assert len(set(headings)) == len(headings) and all(headings)
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(set(ids)) == len(ids)
    unscoped = "[...document.querySelectorAll('th')].filter((th) => th.textContent && !th.scope)"
    assert browser.evaluate(f"{unscoped}.length") == 0


SCROLLING = """
[...document.querySelectorAll(".scroll")].map((box) => ({
  name: box.closest("figure").id,
  wide: box.scrollWidth > box.clientWidth + 1,
  hinted: box.previousElementSibling.getClientRects().length > 0,
}))
"""


def test_the_arena_s_tables_need_no_scrolling_on_a_phone(report, browser):
    browser.open(report.root / "reports/arena.html", WIDTHS[1])
    folded = "document.querySelectorAll('details:not(.why)')"  # reasons are opened one by one
    browser.evaluate(f"{folded}.forEach((one) => {{ one.open = true; }})")
    found = browser.evaluate(SCROLLING)
    assert len(found) > 5
    assert [one["name"] for one in found if one["wide"] or one["hinted"]] == []


def test_a_table_that_scrolls_on_a_phone_says_so_above_it(report, browser):
    browser.open(report.root / "reports/base.html", WIDTHS[1])
    found = {one["name"]: one for one in browser.evaluate(SCROLLING)}
    assert found["table_2"]["wide"] and all(one["hinted"] == one["wide"] for one in found.values())
    browser.open(report.root / "reports/base.html", WIDTHS[0])
    assert not any(one["hinted"] for one in browser.evaluate(SCROLLING))


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(report, browser, page):
    folder = report.root / "reports"
    browser.open(folder / f"{page}.html")
    links = browser.evaluate(
        "[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
    )
    assert len(links) > len(PAGES)
    for address in links:
        parts = urlsplit(address)
        if parts.scheme:
            assert parts.scheme == "https"  # the paper, elsewhere
            continue
        target = folder / unquote(parts.path) if parts.path else folder / f"{page}.html"
        if parts.path.startswith("../"):  # the project's code, which the test's copy does not have
            target = ROOT / "reports" / parts.path
        elif parts.path == "inputs.json":
            continue  # `check --write` makes it
        assert target.is_file(), address
        if parts.fragment:
            assert f'id="{parts.fragment}"' in target.read_text(), address


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", ["index", "base", "check"])
def test_text_can_be_read_in_light_and_in_dark(report, browser, page, dark):
    browser.open(report.root / f"reports/{page}.html", dark=dark)
    assert browser.evaluate(CONTRAST) == []
    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") != dark


def test_the_tables_in_the_browser_have_the_expected_cells(report, browser):
    browser.open(report.root / "reports/base.html")
    rows = browser.evaluate(
        "[...document.querySelectorAll('#table_2 tr')].map((tr) => "
        "[...tr.cells].map((cell) => cell.innerText))"
    )
    assert len(rows) == 1 + len(SOME)
    assert rows[1] == [
        "Frequency",
        *("0.117\n0.106", "0.150\n0.136", "0.134\n0.122", "0.122"),
        *("0.396\n0.360", "0.397\n0.361", "0.372\n0.338"),
        "units",
    ]


def test_pages_print(report, browser):
    for page in ("index", "check"):
        browser.open(report.root / f"reports/{page}.html")
        assert browser.pdf().startswith(b"%PDF")


def test_a_page_works_without_scripts(report, browser):
    browser.scripts(False)
    try:
        browser.open(report.root / "reports/check.html", 390)
    finally:
        browser.scripts(True)
    shown = "[...document.querySelectorAll('#numbers tbody tr')].filter((r) => r.offsetHeight)"
    assert browser.evaluate(f"{shown}.length") == 330
    assert browser.evaluate("document.querySelector('#numbers .controls').offsetHeight") == 0


def test_a_reason_opens_by_the_keyboard(report, browser):
    browser.open(report.root / "reports/index.html")
    browser.evaluate("document.querySelector('main .why summary').focus()")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('.why').open") is True
    assert browser.evaluate("document.querySelector('.why p').offsetHeight") > 0


# -- the leaderboard ------------------------------------------------------------------------------

SHOWN = """[...document.querySelectorAll("#numbers tbody tr")].filter((row) => !row.hidden)
  .map((row) => [...row.cells].map((cell) => cell.dataset.kind))"""


def choose(browser, key, value):
    browser.evaluate(
        f"(() => {{ const one = document.querySelector('#numbers [data-filter={key}]');"
        f" one.value = {value!r}; one.dispatchEvent(new Event('input')); }})()"
    )


def test_filters_search_and_address(report, browser):
    path = report.root / "reports/check.html"
    browser.open(path)
    assert len(browser.evaluate(SHOWN)) == 330
    choose(browser, "table", "Table 2")
    choose(browser, "dataset", "Bike sharing")
    rows = browser.evaluate(SHOWN)
    assert len(rows) == 6 and {tuple(row[1:3]) for row in rows} == {("Table 2", "Bike sharing")}
    assert "6 of 330 shown" in browser.evaluate("document.querySelector('output').textContent")
    address = browser.evaluate("location.search")
    assert "numbers.table=Table+2" in address and "numbers.dataset=Bike+sharing" in address
    browser.open(path, query=address)
    assert browser.evaluate(SHOWN) == rows
    choose(browser, "search", "no such thing")
    assert browser.evaluate(SHOWN) == []
    browser.evaluate("document.querySelector('#numbers .controls button').click()")
    assert len(browser.evaluate(SHOWN)) == 330
    assert browser.evaluate("location.search") == ""


def test_sorting_by_a_column(report, browser):
    browser.open(report.root / "reports/check.html")
    column = (
        "[...document.querySelectorAll('#numbers tbody tr')].map((r) => r.cells[5].dataset.value)"
    )
    heads = "document.querySelectorAll('#numbers thead th')[5]"
    browser.evaluate(f"{heads}.querySelector('button').click()")
    up = [float(value) for value in browser.evaluate(column)]
    assert up == sorted(up) and browser.evaluate(f"{heads}.ariaSort") == "ascending"
    browser.evaluate(f"{heads}.querySelector('button').click()")
    assert [float(value) for value in browser.evaluate(column)] == sorted(up, reverse=True)


def test_differences_come_first(report, browser):
    browser.open(report.root / "reports/check.html")
    verdicts = [row[0] for row in browser.evaluate(SHOWN)]
    order = ["worse", "differs", "better", "matches", "agrees", "not comparable", "missing"]
    assert verdicts == sorted(verdicts, key=order.index)
