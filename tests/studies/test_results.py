"""The typed results: the committed ones are read whole, and damage is named by file and field."""

import json
import shutil
import subprocess
import sys

import pytest

from learned_context.errors import UserError
from pipeline import checked, settings
from pipeline.files import Files
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import DoesNotApply
from pipeline.tables.description import read_description
from tests.conftest import ROOT

FILES = Files(ROOT)
PARAMS = settings.load(FILES).params


def committed():
    return [
        pytest.param(study, dataset, model, id=study.address(PARAMS, dataset, model))
        for study in STUDIES.values()
        for dataset in PARAMS.datasets
        for model in study.models(PARAMS)
        if study.path(FILES, dataset, model).exists()
    ]


@pytest.mark.parametrize(("study", "dataset", "model"), committed())
def test_a_committed_result_is_what_its_type_says(study, dataset, model):
    result = study.read(FILES, dataset, model)
    content = json.loads(study.path(FILES, dataset, model).read_text())
    assert set(checked.as_json(result)) == set(content)
    assert (result.study, result.dataset) == (study.name, dataset)


@pytest.mark.parametrize("dataset", PARAMS.datasets)
def test_a_committed_description_is_what_its_type_says(dataset):
    content = json.loads(FILES.table_info(dataset).read_text())
    assert checked.as_json(read_description(FILES, dataset)) == content


@pytest.fixture
def copied(tmp_path):
    path = STUDIES["train"].path(Files(tmp_path), "frequency", "lc")
    path.parent.mkdir(parents=True)
    shutil.copy(STUDIES["train"].path(FILES, "frequency", "lc"), path)
    return Files(tmp_path), path


def damage(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c.pop("task_rmse"), "task_rmse: missing"),
        (
            lambda c: c.update(rmse="0.1"),
            "rmse: '0.1' is not valid; input should be a valid number",
        ),
        (lambda c: c.update(rmse=0.0), "rmse: 0.0 is not valid; input should be greater than 0"),
        (lambda c: c.update(luck=1), "luck: 1 is not valid; extra inputs are not permitted"),
        (lambda c: c["hyperparameters"].pop("width"), "hyperparameters.width: missing"),
        (lambda c: c["curve"]["loss"].pop(), "curve: lists that belong together differ"),
    ],
)
def test_damage_is_named_by_file_and_field(copied, change, problem):
    files, path = copied
    damage(path, change)
    with pytest.raises(UserError) as caught:
        STUDIES["train"].read(files, "frequency", "lc")
    assert str(caught.value).startswith(f"{path}: {problem}")
    assert f"`git checkout {path}`" in str(caught.value)
    assert "`python -m pipeline train frequency lc`" in str(caught.value)


def test_a_result_may_say_that_the_study_does_not_apply(copied):
    files, path = copied
    head = dict.fromkeys(("study", "dataset", "model", "profile", "edition", "data", "code"), "x")
    path.write_text(json.dumps(head | {"does_not_apply": "it cannot"}))
    result = STUDIES["train"].read(files, "frequency", "lc")
    assert isinstance(result, DoesNotApply)
    assert result.does_not_apply == "it cannot"


def test_each_study_comes_after_its_inputs_and_the_base_study_first():
    names = list(STUDIES)
    assert names[:3] == ["linear", "tune", "train"]
    for name, study in STUDIES.items():
        for upstream in study.inputs.values():
            assert names.index(upstream.study) < names.index(name)


def test_the_declarations_and_results_need_no_torch():
    script = "import sys, pipeline.studies; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
