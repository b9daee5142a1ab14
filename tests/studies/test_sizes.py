"""The data size: with few rows a task, fewer task parameters than the search found are tried."""

from pathlib import Path

import pytest
import yaml

from pipeline import settings
from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.studies import STUDIES
from pipeline.studies.plumbing.basis import Basis
from pipeline.studies.sizes import SizesResult
from pipeline.tables.description import TableDescription
from tests.small_study import PARAMS, ROOT, TINY


@pytest.fixture
def sized(project: Path):
    """Runs the study on the small Sine and line, of which 50% are 10 rows a task and 10% are 2."""
    for package in ("pipeline", "learned_context"):  # a result names the digest of its code
        (project / package).symlink_to(ROOT / package)
    params = yaml.safe_load((project / "params.yaml").read_text()) | PARAMS
    (project / "params.yaml").write_text(yaml.safe_dump(params))

    def run(model: str, few_rows: int) -> tuple[SizesResult, Basis]:
        profile = TINY | {"sizes": {"few_rows": few_rows}}
        (project / "profiles/tiny.yaml").write_text(yaml.safe_dump(profile))
        assert main(["prepare", "sine_and_line"]) == 0
        assert main(["sizes", "sine_and_line", model]) == 0
        files = Files(project)
        result = STUDIES["sizes"].read(files, "sine_and_line", model)
        info = TableDescription.model_validate_json(files.table_info("sine_and_line").read_text())
        return result, Basis(settings.load(files), info, {})

    return run


def unexpected(result: SizesResult, basis: Basis) -> list[str]:
    return [one.where for one in result.expected(basis) if one.found != one.expected]


def test_where_a_task_has_few_rows_fewer_task_parameters_are_tried(sized) -> None:
    result, basis = sized("lc", few_rows=5)
    assert result.fractions["0.5"].halvings is None
    part = result.fractions["0.1"]
    assert part.halvings[0].settings == part.search.best
    assert len(part.halvings) > 1 or part.search.best.task_dim == 1
    best = min(part.halvings, key=lambda trial: trial.score)
    assert part.hyperparameters == best.settings
    assert not unexpected(result, basis)


def test_the_audit_expects_what_was_tried(sized) -> None:
    result, basis = sized("lc", few_rows=5)

    def forged(halvings) -> list[str]:
        part = result.fractions["0.1"].model_copy(update={"halvings": halvings})
        fractions = result.fractions | {"0.1": part}
        return unexpected(result.model_copy(update={"fractions": fractions}), basis)

    tried = result.fractions["0.1"].halvings
    assert "fractions.0.1.halvings" in forged(None)
    assert "fractions.0.1.halvings.0.settings" in forged(tried[1:])
    assert "fractions.0.1.hyperparameters" in forged(
        [one.model_copy(update={"score": -one.score}) for one in tried]
    )


@pytest.mark.parametrize(("model", "few_rows"), [("lc", 0), ("cs", 1000)])
def test_otherwise_the_network_is_the_search_s(sized, model: str, few_rows: int) -> None:
    result, basis = sized(model, few_rows)
    for part in result.fractions.values():
        assert part.halvings is None and part.hyperparameters == part.search.best
    assert not unexpected(result, basis)
