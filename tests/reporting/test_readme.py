"""The README's table is generated."""

import json

from pipeline.__main__ import main
from tests.reporting.conftest import working_in


def test_the_block_is_rewritten_and_the_rest_stays(project):
    made = project(1.01, ("frequency", "obesity"))
    run = made.root / "results/train/frequency/lc.run.json"
    run.write_text(json.dumps({"seconds": 7200.0}))
    readme = made.root / "README.md"
    readme.write_text("before\n<!-- results:begin -->\nold\n<!-- results:end -->\nafter\n")
    with working_in(made.root):
        assert main(["report", "--readme"]) == 0
    text = readme.read_text()
    assert text.startswith("before\n<!-- results:begin -->\n")
    assert text.endswith("<!-- results:end -->\nafter\n")
    assert "| Frequency | 0.107 | 0.106 | 1.01 | matches |" in text
    assert "2.0 hours" in text
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
