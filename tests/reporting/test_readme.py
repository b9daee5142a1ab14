"""The README's table is generated."""

import json
import re
from pathlib import Path

import pytest

from learned_context.errors import UserError
from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.reporting.benchmarks import tables
from pipeline.reporting.readme import run_example
from pipeline.reporting.results import MEASURED
from pipeline.reporting.site import pages
from tests.conftest import ROOT
from tests.execution.small_project import RUN
from tests.reporting.conftest import render, working_in

MARKS = """<!-- begin: result -->
old
<!-- end: result -->
<!-- begin: arena -->
old
<!-- end: arena -->
<!-- begin: reproduction -->
old
<!-- end: reproduction -->
"""
DOCS = """<!-- begin: tried --><!-- end: tried -->
<!-- begin: times --><!-- end: times -->
<!-- begin: measured --><!-- end: measured -->
"""
BENCHMARKS = sorted((ROOT / "results/benchmarks").glob("*.json"))


def test_the_block_is_rewritten_and_the_rest_stays(project):
    made = project(1.01, ("frequency", "obesity"))
    run = made.root / "results/train/frequency/lc.run.json"
    run.write_text(json.dumps({**RUN, "seconds": 1.0, "cpu_seconds": 7200.0}))
    readme = made.root / "README.md"
    readme.write_text(f"before\n{MARKS}after\n")
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = readme.read_text()
    assert text.startswith("before\n<!-- begin: result -->\n")
    assert text.endswith("<!-- end: reproduction -->\nafter\n")
    assert "| Frequency | 0.107 | 0.106 | 1.01 | 1.01 | 1.01 | matches | the paper's |" in text
    assert "| Obesity† | 0.124 | 0.123 | 1.01 | 1.01 | 1.01 | not comparable | other data |" in text
    assert "2.0 hours of processor time (Linux with AVX2, " in text
    assert "old" not in text
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    assert readme.read_text() == text


def test_the_readmes_example_prints_what_it_says():
    text = (ROOT / "README.md").read_text()
    shown = text.partition("<!-- begin: example -->")[2].partition("<!-- end: example -->")[0]
    assert shown == f"\n```text\n{run_example(ROOT / 'README.md')}```\n"


def test_an_example_that_fails_is_an_error_that_names_it(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("```python\nprint(1)\nraise ValueError('no wells')\n```\n")
    with pytest.raises(UserError, match="its example fails: ValueError: no wells"):
        run_example(readme)


def test_every_file_that_the_readme_and_the_docs_link_to_is_there():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for address in re.findall(r"\]\(([^)#]+)", path.read_text()):
            name = address.rpartition("reports/")[2].removesuffix(".html")
            if "://" not in address and name not in pages(ROOT):
                assert (path.parent / address).exists(), address


def test_a_readme_without_the_marks_is_an_error(project, capsys):
    made = project(datasets=("frequency",))
    with working_in(made.root):
        assert main(["report", "--readme"]) == 2
        assert "README.md: does not exist" in capsys.readouterr().err
        (made.root / "README.md").write_text("nothing\n")
        assert main(["report", "--readme"]) == 2
    assert "<!-- begin: result -->" in capsys.readouterr().err


def test_the_times_go_into_the_documentation(project):
    made = project(datasets=("frequency", "obesity"))
    for dataset, seconds in (("frequency", 90.0), ("obesity", 30.0)):
        run = made.root / f"results/train/{dataset}/lc.run.json"
        took = {**RUN, "seconds": 2 * seconds, "cpu_seconds": seconds}
        run.write_text(json.dumps(took))
    for name in ("README.md", "docs/reproducibility.md"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text(MARKS + DOCS)
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = (made.root / "docs/reproducibility.md").read_text()
    assert "| Frequency | 1.5 | 1.5 |" in text
    assert "| All | 2.0 | 2.0 |" in text
    render(made.root, "index")
    index = (made.root / "reports/index.html").read_text()
    assert re.search(r"Linux with AVX2, \d+ cores? and \d+ GB of memory", index)
    assert "On the clock it was 2 minutes, two stages at a time" in index


def test_benchmarks_go_into_the_documentation(project, capsys):
    made = project(datasets=("frequency",))
    for name in ("README.md", "docs/benchmarks.md", "docs/reproducibility.md"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text(MARKS + DOCS)
    report = made.root / "results/benchmarks/kills.json"
    report.parent.mkdir()
    killed = {"killed": {"runner": 3, "stage": 4}, "in": {"studies": 5, "report": 2}}
    report.write_text(json.dumps({"kills": 7, "identical": 6} | killed))
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = (made.root / "docs/reproducibility.md").read_text()
    assert "| 7 | 6 | 3 runners, 4 stages | 5 in the studies, 2 in the report |" in text
    assert "`python benchmarks/tamperings.py` has not run yet." in text
    assert (
        "`python benchmarks/training.py` has not run yet."
        in (made.root / "docs/benchmarks.md").read_text()
    )
    report.write_text('{"kills": 7}')
    with working_in(made.root):
        assert main(["report", "--readme"]) == 2
    assert "kills.json: not what benchmarks/kills.py writes" in capsys.readouterr().err


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_every_committed_benchmark_has_a_table_or_a_page(path: Path):
    # On a page of the report; arena.json is made from the cells.
    if path.stem in (*MEASURED, "arena_cells"):
        return
    text = tables(Files(ROOT), path.stem)
    assert f"Made by `python benchmarks/{path.stem}.py`." in text
    assert text.count("\n| ") >= 3
