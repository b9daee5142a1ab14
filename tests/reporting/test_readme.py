"""The README's table is generated."""

import json
from pathlib import Path

import pytest

from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.reporting.benchmarks import tables
from tests.conftest import ROOT
from tests.reporting.conftest import working_in

BENCHMARKS = sorted((ROOT / "results/benchmarks").glob("*.json"))


def test_the_block_is_rewritten_and_the_rest_stays(project):
    made = project(1.01, ("frequency", "obesity"))
    run = made.root / "results/train/frequency/lc.run.json"
    run.write_text(json.dumps({"cpu_seconds": 7200.0, "cpu": "AVX2", "system": "Linux"}))
    readme = made.root / "README.md"
    readme.write_text("before\n<!-- results:begin -->\nold\n<!-- results:end -->\nafter\n")
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = readme.read_text()
    assert text.startswith("before\n<!-- results:begin -->\n")
    assert text.endswith("<!-- results:end -->\nafter\n")
    assert "| Frequency | 0.107 | 0.106 | 1.01 | matches |" in text
    assert "2.0 hours of processor time, one thread a training (Linux, AVX2)" in text
    assert "old" not in text and "Obesity" not in text
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    assert readme.read_text() == text


def test_a_readme_without_the_marks_is_an_error(project, capsys):
    made = project(datasets=("frequency",))
    with working_in(made.root):
        assert main(["report", "--readme"]) == 2
        assert "README.md: does not exist" in capsys.readouterr().err
        (made.root / "README.md").write_text("nothing\n")
        assert main(["report", "--readme"]) == 2
    assert "<!-- results:begin -->" in capsys.readouterr().err


def test_the_times_go_into_the_documentation(project):
    made = project(datasets=("frequency", "obesity"))
    for dataset, seconds in (("frequency", 90.0), ("obesity", 30.0)):
        run = made.root / f"results/train/{dataset}/lc.run.json"
        run.write_text(json.dumps({"cpu_seconds": seconds, "cpu": "AVX2", "system": "Linux"}))
    for name in ("README.md", "docs/reproducibility.md"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text("<!-- results:begin --><!-- results:end -->")
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = (made.root / "docs/reproducibility.md").read_text()
    assert "| frequency | 1.5 | 1.5 |" in text
    assert "| all | 2.0 | 2.0 |" in text


def test_benchmarks_go_into_the_documentation(project, capsys):
    made = project(datasets=("frequency",))
    for name in ("README.md", "docs/benchmarks.md", "docs/reproducibility.md"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text("<!-- results:begin --><!-- results:end -->")
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
def test_every_committed_benchmark_has_a_table(path: Path):
    text = tables(Files(ROOT), path.stem)
    assert f"Made by `python benchmarks/{path.stem}.py`." in text
    assert text.count("\n| ") >= 3
