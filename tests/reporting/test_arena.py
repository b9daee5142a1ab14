"""The arena's page: a leaderboard that sorts, and every dataset to be opened."""

from pipeline.__main__ import main
from tests.reporting.arena import arena
from tests.reporting.browser import needs_chromium
from tests.reporting.conftest import render, working_in
from tests.reporting.project import write
from tests.reporting.reading import Reader


def test_the_leaderboard_and_what_is_said_of_it(report):
    html = (report.root / "reports/arena.html").read_text()
    assert "<h1>Learned context has the best mean rank of 4 methods on 3 datasets</h1>" in html
    table = Reader(html).tables["leaderboard"]
    assert table[1][0] == "Learned context"
    assert table[1][1:5] == ["1.33", "1.033", "2", "0"]
    assert "needs &lt;numbers&gt;" in html and "failed" in html
    index = (report.root / "reports/index.html").read_text()
    assert "its mean rank among 4 methods on 3 datasets; next is LightGBM" in index
    assert Reader(html).tables["losses"][1] == ["Schools", "known", "1.100", "LightGBM"]


def test_without_an_arena_the_page_says_how_to_make_one(project):
    root = project(datasets=("frequency",)).root
    render(root, "arena")
    html = (root / "reports/arena.html").read_text()
    assert "The arena has not run yet: <code>python -m benchmarks.arena run</code>" in html


def test_a_damaged_arena_is_an_error_that_names_the_field(project, capsys):
    root = project(datasets=("frequency",)).root
    content = arena()
    del content["known"]["standings"][0]["mean_rank"]
    write(root / "results/benchmarks/arena.json", content)
    (root / "README.md").write_text("")
    with working_in(root):
        assert main(["report", "--readme"]) == 2
    assert "arena.json: known.standings[0].mean_rank: missing" in capsys.readouterr().err


@needs_chromium
def test_it_sorts_and_opens_in_the_browser(report, browser):
    browser.open(report.root / "reports/arena.html")
    column = (
        "[...document.querySelectorAll('#leaderboard tbody tr')].map((r) => r.cells[0].innerText)"
    )
    before = browser.evaluate(column)
    browser.evaluate("document.querySelectorAll('#leaderboard thead button')[0].click()")
    assert browser.evaluate(column) == sorted(before, key=str.lower)
    parts = "[...document.querySelectorAll('details.part')]"
    assert browser.evaluate(f"{parts}.length") == 3 + 2
    browser.evaluate(f"{parts}.at(-1).querySelector('summary').click()")
    assert browser.evaluate(f"{parts}.at(-1).querySelector('table').offsetHeight") > 50
    assert browser.problems == []
