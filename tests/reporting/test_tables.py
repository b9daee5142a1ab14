"""The rendered tables beside the results that they are made of."""

import csv
import json
import re

from pipeline.files import Files
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.checking import check
from pipeline.reporting.claims import SENTENCES
from pipeline.reporting.pages import sizes
from pipeline.reporting.results import Results
from tests.conftest import ROOT
from tests.reporting.conftest import render
from tests.reporting.project import write
from tests.reporting.reading import Reader


def test_table_2_is_what_the_result_files_say(report):
    """An independent few lines: no function of the report takes part."""
    expected = {}
    for folder in (report.root / "results/train").iterdir():
        errors = {p.stem: json.loads(p.read_text())["rmse"] for p in folder.glob("*.json")}
        linear = json.loads((report.root / f"results/linear/{folder.name}/linear.json").read_text())
        errors |= {name: linear[name]["rmse"] for name in ("lme", "lr")}
        order = ("lc", "cs", "ll", "film", "lme", "lr", "fs")
        expected[folder.name] = [f"{errors[m]:.3f}" for m in order]
    header, *rows = Reader((report.root / "reports/base.html").read_text()).tables["table_2"]
    assert header == ["Dataset", "LC", "CS", "LL", "FiLM*", "LME", "LR", "FS", "Unit"]
    shown = {
        row[0].rstrip("†").lower().replace(" ", "_"): [cell.split("\n")[0] for cell in row[1:-1]]
        for row in rows
    }
    assert shown == expected


def test_the_best_of_a_row_is_bold(report):
    html = (report.root / "reports/base.html").read_text()
    row = re.search(r"<th[^>]*>Frequency</th>.*?</tr>", html, re.S).group()
    assert re.findall(r"<b>(.*?)</b>", row) == ["0.117"]


def test_a_model_that_we_added_is_marked_and_takes_nothing_from_the_papers(project):
    made = project(datasets=("frequency",))
    without = check(Results.open(made.root)).as_json()
    best = made.read("train", "frequency", "film") | {"rmse": 0.001}
    made.path("train", "frequency", "film").write_text(json.dumps(best))
    assert check(Results.open(made.root)).as_json() == without

    render(made.root, "base")
    html = (made.root / "reports/base.html").read_text()
    rows = {row[0]: row for row in Reader(html).tables["table_2"]}
    assert rows["Frequency"][4] == "0.001"  # without a number of the paper
    row = re.search(r"<th[^>]*>Frequency</th>.*?</tr>", html, re.S).group()
    assert re.findall(r"<b>(.*?)</b>", row) == ["0.106", "0.001"]
    assert "Of the paper’s models, the" in html
    assert "FiLM, which we added, is as good or better on 1 (Frequency)." in html
    marked = "FiLM, feature-wise linear modulation"
    assert f"* {marked}: added by us, not in the paper." in html
    assert f"</svg>{marked} (added by us, not in the paper)</li>" in html


def test_the_papers_number_stands_beside_ours(report):
    groups, header, *rows = Reader((report.root / "reports/sizes.html").read_text()).tables[
        "table_4"
    ]
    assert groups[1:] == ["100% of the rows", "50% of the rows", "10% of the rows"]
    row = next(row for row in rows if row[0] == "Bike sharing")
    assert header[-1] == "LL" and row[-1] == "0.77\n0.70"  # ours is 1.1 times the paper's


def test_a_difference_names_the_model_and_counts_are_in_full(report):
    _, *rows = Reader((report.root / "reports/index.html").read_text()).tables["differences"]
    assert all(re.match(r"\w[^:;]*: [\d.\u202f]+ \(paper ", row[3]) for row in rows)


def test_the_front_page_shows_every_worse_result_before_any_better_one(project):
    made = project(1.2, ("frequency", "bike_sharing"))
    low = made.read("train", "frequency", "lc")
    write(made.path("train", "frequency", "lc"), low | {"rmse": low["rmse"] / 2})
    render(made.root, "index")
    _, *rows = Reader((made.root / "reports/index.html").read_text()).tables["differences"]
    verdicts = [row[0] for row in rows]
    assert {"worse", "better"} <= set(verdicts)
    assert "worse" not in verdicts[verdicts.index("better") :]
    numbers = check(Results.open(made.root)).numbers
    worse = [c for c in numbers if c.verdict == "worse" and not c.same_as]
    assert sum(row[3].count("(paper ") for row in rows if row[0] == "worse") == len(worse) > 0


def test_the_front_page_lists_every_sentence_and_those_that_fail_first(report):
    html = (report.root / "reports/index.html").read_text()
    _, *rows = Reader(html).tables["claims"]
    outcomes = [row[2].split("\n")[0] for row in rows]
    assert len(rows) == len(SENTENCES)
    last = [i for i, outcome in enumerate(outcomes) if outcome != "holds in both"]
    assert last == list(range(len(last))), outcomes


def test_an_edition_that_is_not_the_papers_is_marked_and_linked_to_the_glossary(report):
    for page in ("base", "repeats", "sizes", "dimension", "holdout", "search", "data", "index"):
        html = (report.root / f"reports/{page}.html").read_text()
        assert '<a href="data.html#obesity">Obesity†</a>' in html, page
        assert not re.search(r">Obesity<", html), page
    glossary = (report.root / "reports/data.html").read_text().partition('id="obesity"')[2]
    assert "Other years." in glossary
    assert "Its numbers are not compared with the paper&#39;s." in glossary


def test_the_csv_has_ours_in_full_and_the_papers(report):
    with (report.root / "reports/base/table_2.csv").open() as file:
        row = next(csv.DictReader(file))
    assert float(row["LC"]) == report.read("train", "frequency", "lc")["rmse"]
    assert row["LC (paper)"] == "0.106"


NASTY = Table(
    "nasty",
    "a caption with 100% of $x_1$",
    ("Task", "Error"),
    [[Cell("<script>a|b & c_d</script>", why='"><b>'), Cell("1.0", 1.0, "2.0", bold=True)]],
)


def test_names_from_data_are_harmless_in_every_form():
    html = NASTY.html("folder")
    assert "<script>" not in html
    assert "&lt;script&gt;a|b &amp; c_d" in html
    assert "<p>&#34;&gt;&lt;b&gt;</p>" in html
    assert r"\<script\>a\|b & c\_d\</script\> | **1.0** (2.0)" in NASTY.markdown()
    assert r"\textless{}script\textgreater{}a|b \& c\_d" in NASTY.tex()
    assert r"100\% of \$x\_1\$" in NASTY.tex()


def test_the_csv_of_a_name_with_commas_can_be_read_again():
    table = Table("t", "c", ("Task", "n"), [[Cell('a, "b"'), Cell("1", 1)]])
    assert list(csv.reader(table.csv().splitlines())) == [["Task", "n"], ['a, "b"', "1"]]


def wide_table(*texts: str, name: str = "HistGradientBoosting", **options: bool) -> Table:
    header = ("Method", *("Error" for _ in texts))
    return Table("wide", "", header, [[Cell(name), *map(Cell, texts)]], **options)


def test_on_a_phone_a_name_is_above_its_numbers_where_that_helps():
    assert wide_table(*["1.234"] * 5).stacked == [6] * 5
    assert wide_table(*["1.234"] * 5, name="LC").stacked == []  # all of it has room
    assert wide_table(*["1.234"] * 9).stacked == []  # not even the numbers have
    assert wide_table(*["1.234"] * 5, cards=True).stacked == []
    assert wide_table("text " * 30, "1.234").stacked == [21, 6]  # a long text takes several lines
    assert wide_table().stacked == [] == Table("empty", "", ("Method",), []).stacked


def test_the_table_of_halvings_is_what_the_committed_results_say():
    table = sizes.halvings(Results(Files(ROOT)))
    assert isinstance(table, Table)
    shown = {
        tuple(cell.text for cell in row[:3]): [cell.text for cell in row] for row in table.rows
    }
    part = json.loads((ROOT / "results/sizes/frequency/lc.json").read_text())["fractions"]["0.1"]
    row = shown["Frequency", "LC", "10%"]
    assert row[3] == str(part["search"]["best"]["task_dim"])
    assert row[5] == str(part["hyperparameters"]["task_dim"])
    assert row[6] == f"{min(one['score'] for one in part['halvings']):.3f}"
    assert len(row[7].split(", ")) == len(part["halvings"])


def test_without_halvings_the_page_says_so(report):
    said = sizes.halvings(Results(Files(report.root)))
    assert "rows enough" in said.paragraphs[0]
