"""The search's study: what it chose is the best finalist, at the rate that held."""

from pathlib import Path

import pytest
import yaml

from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.studies import STUDIES
from tests.small_study import PARAMS, ROOT, TINY


@pytest.fixture
def tuned(project: Path):
    """Runs the search on the small Frequency with these keys of the profile."""
    for package in ("pipeline", "learned_context"):  # a result names the digest of its code
        (project / package).symlink_to(ROOT / package)

    def tune(**search: int):
        params = yaml.safe_load((project / "params.yaml").read_text()) | PARAMS
        (project / "params.yaml").write_text(yaml.safe_dump(params))
        profile = TINY | {"search": TINY["search"] | search}
        (project / "profiles/tiny.yaml").write_text(yaml.safe_dump(profile))
        assert main(["prepare", "frequency"]) == 0
        assert main(["tune", "frequency", "lc"]) == 0
        path = STUDIES["tune"].path(Files(project), "frequency", "lc")
        return STUDIES["tune"].read(Files(project), "frequency", "lc"), path.read_bytes()

    return tune


def test_the_best_finalist_is_chosen_at_the_rate_that_held(tuned) -> None:
    result, content = tuned(evaluations=3, finalists=2, openings=2, max_restarts=5)
    assert len(result.evaluations) == 3 and len(result.finalists) == 2
    chosen = min(result.finalists, key=lambda one: one.score)
    assert result.score == chosen.score
    held = chosen.settings.peak_rate * 0.9 ** (chosen.restarts + result.lowered)
    assert result.best.peak_rate == pytest.approx(held, rel=1e-5)
    assert result.best.width == chosen.settings.width
    assert result.plan["epochs"] == TINY["search"]["budget"][0]["epochs"]
    assert result.final_plan["epochs"] == TINY["train"]["budget"][0]["epochs"]
    assert tuned(evaluations=3, finalists=2, openings=2, max_restarts=5)[1] == content


def test_without_finals_the_best_trial_is_chosen(tuned) -> None:
    result, _ = tuned(finalists=0, openings=0)
    assert result.finalists is result.final_plan is result.lowered is None
    assert result.score == min(one.score for one in result.evaluations)
