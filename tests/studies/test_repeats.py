"""The repeats: one after the other on a CPU, side by side on another device, the same numbers."""

from pathlib import Path

import pytest
import yaml

from pipeline.__main__ import main
from pipeline.files import Files
from pipeline.studies import STUDIES
from pipeline.studies.framework import experiment
from tests.learned_context.pretend_device import pretend_device
from tests.small_study import PARAMS, ROOT, TINY


@pytest.fixture
def repeated(project: Path):
    """Runs the repeats of a small network; the network itself is trained once."""
    for package in ("pipeline", "learned_context"):  # a result names the digest of its code
        (project / package).symlink_to(ROOT / package)
    params = yaml.safe_load((project / "params.yaml").read_text()) | PARAMS
    (project / "params.yaml").write_text(yaml.safe_dump(params))
    (project / "profiles/tiny.yaml").write_text(yaml.safe_dump(TINY | {"repeats": 4}))
    assert main(["prepare", "frequency"]) == 0
    for study in ("tune", "train"):
        assert main([study, "frequency", "lc"]) == 0

    def repeat():
        assert main(["repeats", "frequency", "lc"]) == 0
        return STUDIES["repeats"].read(Files(project), "frequency", "lc").trainings

    return repeat


def test_repeats_side_by_side_are_those_one_by_one(repeated, monkeypatch) -> None:
    one_by_one = repeated()
    together = []
    train_members = experiment.train_members

    def counted(*arguments):
        found = train_members(*arguments)
        together.append(len(found))
        return found

    monkeypatch.setattr(experiment, "train_members", counted)
    with pretend_device() as device:
        monkeypatch.setattr(experiment, "choose_device", lambda name: device.device)
        side_by_side = repeated()
    assert together == [3], "the first training is the base study's"
    assert [one.seed for one in side_by_side] == [one.seed for one in one_by_one]
    errors = [one.rmse for one in one_by_one]
    assert len(set(errors)) == 4
    assert [one.rmse for one in side_by_side] == pytest.approx(errors, rel=1e-4)
