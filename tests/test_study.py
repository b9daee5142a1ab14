"""The stages in a real DVC repository: what reruns after which change, and equal bits."""

import shutil

import numpy as np
import pytest

from learned_context.training.storage import load_network
from pipeline.models import illustrations
from tests.small_study import change, dvc, git, python, stale, state

DATASETS = ("frequency",)
MODELS = ("lc", "cs")
BASE_ONLY = ("fs", "film")
TRAINED = {
    f"{stage}@{dataset}-{model}"
    for dataset in DATASETS
    for stage, models in {
        "train": MODELS,
        "train_base_only": BASE_ONLY,
        "repeats": MODELS,
        "dimension": MODELS,
        "holdout": MODELS,
    }.items()
    for model in models
} | {f"clean@{dataset}" for dataset in DATASETS}
TUNED = {f"tune@{dataset}-{model}" for dataset in DATASETS for model in MODELS}
TUNED |= {f"tune_base_only@{dataset}-{model}" for dataset in DATASETS for model in BASE_ONLY}
EDITION = {"download@frequency", "prepare@frequency"}
SIZES = {f"sizes@{dataset}-{model}" for dataset in DATASETS for model in MODELS}


def of(stage):
    return {name for name in TRAINED if name.startswith(stage)}


def each(stage):
    return {f"{stage}@{dataset}" for dataset in DATASETS}


def networks(stage):
    return {f"{stage}@{dataset}-{model}" for dataset in DATASETS for model in MODELS}


OTHERS = each("linear") | networks("adapt") | networks("illustrate")


def slow(*values):
    """A case that `make test-slow` tries: each of them asks DVC for the state of all stages."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def finished(finished_study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "project"
    shutil.copytree(finished_study, folder, symlinks=True)
    return folder


@pytest.fixture
def study(finished):
    """What a test changes is put back."""
    yield finished
    git(finished, "reset", "--quiet", "--hard")


def changed(study):
    return {name for name in stale(study) if not name.startswith("check")}


def test_after_a_run_dvc_has_nothing_to_do(study):
    assert changed(study) == set()
    output = dvc(study, "repro", "results/dvc.yaml:adapt@frequency-lc")
    assert "Data and pipelines are up to date." in output


@pytest.mark.parametrize(
    ("file", "key", "value", "expected"),
    [
        ("params.yaml", "dataset.frequency.noise", 0.2, {"prepare@frequency"}),
        slow("params.yaml", "dataset.frequency.edition", "other", EDITION),
        ("params.yaml", "seeds.split", 5, {"prepare@frequency"}),
        ("params.yaml", "seeds.search", 5, TUNED | SIZES),
        ("params.yaml", "seeds.train", 5, TRAINED | SIZES | networks("adapt")),
        slow("params.yaml", "network.momentum", 0.5, TUNED | SIZES | TRAINED),
        slow("params.yaml", "space.peak_rate", [0.01, 0.1], TUNED | SIZES),
        ("params.yaml", "fractions", [0.5], SIZES),
        slow("params.yaml", "leak_share", 0.9, each("clean")),
        ("profiles/tiny.yaml", "search.evaluations", 3, TUNED | SIZES),
        slow(
            "profiles/tiny.yaml",
            "train.budget",
            [{"epochs": 7, "batches": 2}],
            TUNED | TRAINED | SIZES,
        ),
        ("profiles/tiny.yaml", "repeats", 3, of("repeats")),
        slow("profiles/tiny.yaml", "dimensions", [1], of("dimension")),
        ("profiles/tiny.yaml", "holdout.lipo.evaluations", 6, networks("adapt")),
        slow(
            "profiles/tiny.yaml",
            "holdout.dimensions",
            [3],
            networks("holdout") | networks("adapt"),
        ),
    ],
)  # fmt: skip
def test_a_changed_value_reruns_exactly_what_reads_it(study, file, key, value, expected):
    change(study / file, {key: value})
    assert changed(study) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("settings.py", set()),
        slow("execution/runner.py", set()),
        ("studies/plumbing/running.py", set()),
        ("studies/repeats.py", of("repeats")),
        slow("studies/tune.py", TUNED | SIZES),
        slow("datasets/frequency.py", {"prepare@frequency"}),
        slow("../learned_context/files.py", set()),
        slow("../learned_context/search/log.py", TUNED | SIZES),
        slow("../learned_context/new_tasks/gauss_newton.py", networks("adapt")),
        ("../learned_context/new_tasks/objective.py", networks("adapt") | networks("illustrate")),
        ("../learned_context/training/schedule.py", TUNED | SIZES | TRAINED | OTHERS),
    ],
)  # fmt: skip
def test_a_change_in_the_code_reruns_only_what_it_computes(study, module, expected):
    path = study / "pipeline" / module
    path.write_text(path.read_text() + "\n# changed\n")
    assert changed(study) == expected


def test_a_dataset_that_leaves_the_list_takes_its_stages_along(study):
    both = ["frequency", "sine_and_line"]
    change(study / "params.yaml", {"datasets": both})
    assert {name for name in changed(study) if "@frequency" in name} == set()
    names = dvc(study, "stage", "list", "--all", "--name-only")
    assert all(f"@{name}" in names for name in both)
    change(study / "params.yaml", {"datasets": ["frequency"]})
    assert changed(study) == set()


def test_a_stage_that_runs_again_gives_the_same_bytes(study):
    before = state(study)
    stages = ["prepare@frequency", "train@frequency-lc"]
    stages += ["results/dvc.yaml:sizes@frequency-cs", "results/dvc.yaml:adapt@frequency-lc"]
    output = dvc(study, "repro", "--force", "--single-item", *stages)
    assert all(f"Running stage '{stage}'" in output for stage in stages)
    assert state(study) == before


def test_the_explorers_numbers_are_the_networks_response(study):
    import json

    folder = study / "data/frequency/models/dimension-lc"
    result = json.loads((study / "results/illustrate/frequency/lc.json").read_text())
    (plane,) = result["explorer"]["planes"]
    first, second = map(np.array, plane["beta"])
    x, beta = np.array(plane["grid"])[:, None], np.array([[first[3], second[5]]])
    exact = illustrations.responses(load_network(folder / "2.safetensors"), x, beta)[0]
    place = 3 * len(second) + 5  # the second parameter changes first
    np.testing.assert_allclose(plane["levels"][""][place], exact, rtol=2e-3)
    rows = result["explorer"]["points"]["tasks"]
    parts = {part for some in rows.values() for part, *_ in some}
    assert set(rows) == set(result["explorer"]["target_mean"]) and parts == {0, 1}


def test_no_scratch_stays_behind_a_finished_run(study):
    runners = ("dask", "logs", "progress", "run.lock")
    left = [path for path in (study / "scratch").iterdir() if path.name not in runners]
    assert not [path for folder in left for path in folder.iterdir()]


def test_a_stage_that_fails_leaves_the_old_result(study):
    change(study / "params.yaml", {"network.momentum": 7.0})
    path = study / "results/train/frequency/lc.json"
    before = path.read_bytes()
    ended = python(study, "dvc", "repro", "--single-item", "train@frequency-lc", expected=255)
    assert "network.momentum: 7.0 is not valid; input should be less than 1" in ended.stderr
    assert path.read_bytes() == before
    change(study / "params.yaml", {"network.momentum": 0.7})
    dvc(study, "checkout", "data/frequency/models/train-lc.safetensors")
