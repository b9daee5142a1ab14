"""Every architecture through every study, page and audit: the list `models` alone names them."""

import pytest

from learned_context.networks.registry import ARCHITECTURES
from pipeline import settings
from pipeline.files import Files
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import DoesNotApply
from tests import small_study


@pytest.mark.slow
def test_one_list_takes_every_architecture_through_every_study_and_page(tmp_path):
    models = list(ARCHITECTURES)
    assert {"lc", "cs", "ll", "fs", "film"} <= set(models)
    folder = small_study.make_project(tmp_path, models=models, base_only=[], datasets=["frequency"])
    small_study.run(folder)
    small_study.pipeline(folder, "report", "--readme")  # the times, which the pages read
    small_study.run(folder, "check", "report@*")
    pages = {page.stem: page.read_text() for page in (folder / "reports").glob("*.html")}
    for page in ("base", "repeats", "sizes", "dimension", "search"):
        assert "FiLM" in pages[page], page
    small_study.pipeline(folder, "audit", "--seal")
    small_study.commit(folder)
    audited = small_study.pipeline(folder, "audit", "--networks", "0").stdout
    assert "nothing found" in audited
    files = Files(folder)
    params = settings.load(files).params
    for study in STUDIES.values():
        for model in study.models(params):
            result = study.read(files, "frequency", model)
            has_no_part = model and study.reason_against(model)
            assert isinstance(result, DoesNotApply) == bool(has_no_part), (study.name, model)
    for study, lacks in {
        "dimension": "task parameters",
        "holdout": "learned context",
        "adapt": "learned context",
        "illustrate": "task parameters",
    }.items():
        result = STUDIES[study].read(files, "frequency", "fs")
        assert result.does_not_apply == f"a fully shared network has no {lacks}"
        assert not isinstance(STUDIES[study].read(files, "frequency", "film"), DoesNotApply)
