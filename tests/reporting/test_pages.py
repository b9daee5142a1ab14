"""The pages: complete, the same every time, and honest about what is missing."""

import json
import shutil
import subprocess
import sys

import pytest
from markupsafe import escape

from pipeline.__main__ import main
from tests.conftest import ROOT
from tests.reporting.conftest import PAGES, render, working_in
from tests.reporting.reading import Reader

FIGURES = {
    "index": ["ratios"],
    "base": ["observed_predicted_lc", "task_errors"],
    "repeats": ["trainings"],
    "sizes": ["errors_by_share"],
    "dimension": ["errors_by_dimension_figure", "sine_and_line", "sine_and_line_truth"],
    "holdout": ["errors_by_share", "likelihoods"],
    "task_parameters": [
        "bike_sharing",
        "death_rate",
        "death_rate_curves",
        "inflation",
        "responses",
        "uncertainty",
    ],
    "explore": ["maps"],
    "search": ["search_path", "training_curves"],
    "theory": ["architectures", "indicator", "pyramid", "residual_block", "sine_family"],
    "data": [],
    "methods": [],
    "check": [],
    "reproduce": [],
    "arena": ["new_tasks", "ranks"],
    "budget": ["budgets", "splits_figure"],
}
TABLES = {
    "base": ["table_2", "worst_tasks"],
    "repeats": ["table_3"],
    "sizes": ["table_4"],
    "holdout": ["optimisers", "table_5"],
    "explore": ["extremes"],
    "search": ["chosen", "table_6"],
    "data": ["clean", "hashes", "leakage", "table_1"],
    "methods": [f"choices_{t}" for t in ("data", "models", "search", "studies", "training")],
    "check": ["numbers", "rankings", "ratios", "sentences", "verdicts"],
    "arena": ["contestants", "duels", "leaderboard", "losses", "targets"],
    "budget": ["columns", "draws", "splits", "trainings"],
    "index": ["claims", "differences", "errors"],
    "reproduce": ["provenance"],
}


def names(folder, suffix):
    return sorted(path.stem for path in folder.glob(f"*.{suffix}"))


@pytest.mark.parametrize("page", PAGES)
def test_every_table_and_figure_is_written_in_every_form(report, page):
    folder = report.root / "reports" / page
    for suffix in ("svg", "png"):
        assert names(folder, suffix) == FIGURES[page]
    for suffix in ("csv", "md", "tex"):
        assert set(TABLES.get(page, [])) <= set(names(folder, suffix))
    html = (report.root / f"reports/{page}.html").read_text()
    assert len(html.encode()) < 1_500_000
    assert "<dt>Question</dt>" in html and "<dt>Answer</dt>" in html
    assert escape(PAGES[page].about) in html
    assert "results that this page needs are missing" not in html


def test_the_front_page_says_that_trainings_are_shorter_only_if_they_are(report):
    said = "trainings have fewer epochs than the paper"
    assert said not in (report.root / "reports/index.html").read_text().lower()  # profile: paper
    assert said in (ROOT / "reports/index.html").read_text().lower()  # profile: workstation


def test_there_is_a_notebook_without_outputs_for_every_page():
    paths = sorted((ROOT / "reports/notebooks").glob("*.ipynb"))
    assert {path.stem for path in paths} >= set(PAGES)
    for path in paths:
        cells = json.loads(path.read_text())["cells"]
        assert "markdown" in {cell["cell_type"] for cell in cells}
        for cell in cells:
            assert not cell.get("outputs") and cell.get("execution_count") is None


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "notebooks" not in path.parts
    }


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page == "explore" else pytest.mark.slow) for page in PAGES],
)
def test_papermill_writes_the_same_bytes_as_another_run(report, tmp_path, page):
    """Through the command line, in a kernel, in another folder, with another hash seed."""
    root = tmp_path / "elsewhere"
    skip = shutil.ignore_patterns("*.html", page, "scratch")
    shutil.copytree(report.root, root, ignore=lambda d, n: skip(d, n) if "reports" in d else [])
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-m", "pipeline", "report", page],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"reports/{page}.html\n"
    folder, html = f"reports/{page}", f"reports/{page}.html"
    assert contents(root / folder) == contents(report.root / folder)
    assert (root / html).read_bytes() == (report.root / html).read_bytes()


def test_a_dataset_that_was_not_run_is_named_and_nothing_is_invented(project):
    root = project(datasets=("frequency", "schools")).root
    for study in (root / "results").iterdir():
        shutil.rmtree(study / "schools")
    pages = ("base", "repeats", "sizes", "dimension", "holdout", "search", "data", "index")
    render(root, *pages)
    for page in pages:
        html = (root / f"reports/{page}.html").read_text()
        assert "results that this page needs are missing" in html, page
        assert "/schools/" in html, page
    table = Reader((root / "reports/base.html").read_text()).tables["table_2"]
    row = next(row for row in table if row[0] == "Schools")
    assert [cell.split("\n")[0] for cell in row[1:]] == ["–"] * 8
    assert "Not run: Schools." in (root / "reports/index.html").read_text()


def test_a_project_without_any_result_has_pages_that_say_so(project):
    root = project(datasets=("frequency",)).root
    shutil.rmtree(root / "results")
    render(root)
    for page, figures in FIGURES.items():
        html = (root / f"reports/{page}.html").read_text()
        if page not in ("theory", "methods", "arena", "budget"):
            assert "results that this page needs are missing" in html, page
        if page != "theory":
            assert not names(root / "reports" / page, "svg"), page
            assert html.count('<p class="missing">') >= len(figures), page


def test_results_of_other_datasets_are_ignored(project):
    small = project(datasets=("frequency",))
    shutil.copytree(small.root / "results/train/frequency", small.root / "results/train/schools")
    render(small.root, "base")
    assert "Schools" not in (small.root / "reports/base.html").read_text()


def test_a_figure_that_is_no_longer_drawn_goes_away(project):
    root = project(datasets=("sine_and_line",)).root
    render(root, "dimension")
    assert (root / "reports/dimension/sine_and_line.svg").exists()
    shutil.rmtree(root / "results/dimension")
    render(root, "dimension")
    assert not (root / "reports/dimension/sine_and_line.svg").exists()


def test_tasks_with_dangerous_names(project):
    small = project(datasets=("frequency",))
    names = ("<script>alert(1)</script>", "$\\frac{$", "a|b\n{{ 7 * 7 }}")
    for path in small.root.glob("results/*/frequency/*.json"):
        text = path.read_text()
        for number, name in enumerate(names):
            text = text.replace(f'"task {number}"', json.dumps(name))
        path.write_text(text)
    with (small.root / "results/train/frequency/lc.json").open("r+") as file:
        content = json.load(file)
        content["task_rmse"] |= dict.fromkeys(names, 99.0)  # now they are the worst
        file.seek(0)
        json.dump(content, file)
        file.truncate()
    render(small.root, "base", "task_parameters", "check")
    html = (small.root / "reports/base.html").read_text()
    assert html.count("<script") == 1  # the page's own
    assert "&lt;script&gt;alert(1)" in html
    assert "{{ 7 * 7 }}" in html


def test_a_dataset_of_ones_own_has_pages_too(project):
    small = project(datasets=("frequency",))
    for path in small.root.glob("results/*/frequency"):
        path.rename(path.with_name("my_data"))
    params = (small.root / "params.yaml").read_text()
    params = params.replace("- frequency\n", "- my_data\n").replace("  frequency:", "  my_data:")
    (small.root / "params.yaml").write_text(params)
    render(small.root, "index", "base", "data", "check", "holdout")
    table = Reader((small.root / "reports/base.html").read_text()).tables["table_2"]
    assert table[1][:2] == ["My data", "0.106"]


def test_an_unknown_page_is_an_error_that_lists_the_pages(capsys):
    with working_in(ROOT):
        assert main(["report", "bass"]) == 2
    error = capsys.readouterr().err
    assert "no page 'bass'; valid: index, check, arena, explore, base" in error
