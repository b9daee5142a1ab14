"""Another stage's result, damaged: one line that names the file and the entry."""

import json

import pytest

from pipeline.errors import UserError
from pipeline.stages.experiment import chosen, read_result
from pipeline.training.trainer import Hyperparameters

BEST = {"peak_rate": 0.1, "width": 64, "lambda_shared": 1e-8, "lambda_task": 0.0, "task_dim": 2}


def test_the_chosen_settings_are_read_from_their_place(tmp_path):
    path = tmp_path / "lc.json"
    path.write_text(json.dumps({"fractions": {"0.5": {"search": {"best": BEST}}}}))
    assert chosen(path, "fractions", "0.5", "search") == Hyperparameters(**BEST)


@pytest.mark.parametrize(
    ("content", "entry"),
    [({}, "best"), ([1], "best"), ({"best": {}}, "best"), ({"best": {"rate": 1}}, "best")],
)
def test_a_result_without_its_settings(tmp_path, content, entry):
    path = tmp_path / "lc.json"
    path.write_text(json.dumps(content))
    with pytest.raises(UserError) as caught:
        chosen(path)
    assert str(caught.value) == (
        f"{path}: no valid entry {entry!r}; the file is damaged, restore it with `git checkout` "
        "or run its stage again"
    )


def test_a_result_without_an_entry(tmp_path):
    path = tmp_path / "lc.json"
    path.write_text(json.dumps({"networks": []}))
    assert read_result(path, "networks") == []
    with pytest.raises(UserError, match=r"lc\.json: no valid entry 'dimensions'"):
        read_result(path, "dimensions")
