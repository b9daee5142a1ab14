"""The stages in a real DVC repository: what reruns after which change, and equal bits."""

import shutil

import numpy as np
import pytest

from pipeline.adaptation import illustrations
from pipeline.training.storage import load_network
from tests import small_study
from tests.small_study import change, dvc, stale, state

DATASETS = ("frequency",)
TRAINED = {
    f"{stage}@{dataset}-{model}"
    for dataset in DATASETS
    for stage, models in {
        "train": ("lc", "cs", "ll", "fs"),
        "repeats": ("lc", "cs", "ll"),
        "dimension": ("lc", "ll"),
    }.items()
    for model in models
} | {f"{stage}@{dataset}" for dataset in DATASETS for stage in ("holdout", "clean")}
TUNED = {f"tune@{dataset}-{model}" for dataset in DATASETS for model in ("lc", "cs", "ll", "fs")}
EDITION = {"download@frequency", "prepare@frequency"}
SIZES = {f"sizes@{dataset}-{model}" for dataset in DATASETS for model in ("lc", "cs", "ll")}


def of(stage):
    return {name for name in TRAINED if name.startswith(stage)}


def each(stage):
    return {f"{stage}@{dataset}" for dataset in DATASETS}


OTHERS = each("linear") | each("adapt") | each("illustrate")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = small_study.make_project(tmp_path_factory.mktemp("study"))
    small_study.run(folder, *small_study.STUDY, "prepare@sine_and_line")
    return folder


@pytest.fixture
def study(finished):
    """One dataset's study and another's table; what a test changes is put back."""
    kept = {path: (finished / path) for path in ("params.yaml", "profiles", "pipeline", "raw")}
    copies = finished.parent / "kept"
    for name, path in kept.items():
        target = copies / name
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(path, target) if path.is_dir() else shutil.copy2(path, target)
    yield finished
    for name, path in kept.items():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.move(copies / name, path)


def changed(study):
    """What DVC reports of the stages that have been run: those of sine_and_line have not."""
    return {name for name in stale(study) if "frequency" in name or name.startswith("prepare")}


def test_after_a_run_dvc_has_nothing_to_do(study):
    assert changed(study) == set()
    output = dvc(study, "repro", "results/dvc.yaml:adapt@frequency")
    assert "Data and pipelines are up to date." in output


@pytest.mark.parametrize(
    ("file", "key", "value", "expected"),
    [
        ("params.yaml", "dataset.frequency.noise", 0.2, {"prepare@frequency"}),
        ("params.yaml", "dataset.frequency.edition", "other", EDITION),
        ("params.yaml", "seeds.split", 5, {"prepare@frequency", "prepare@sine_and_line"}),
        ("params.yaml", "seeds.search", 5, TUNED | SIZES),
        ("params.yaml", "seeds.train", 5, TRAINED | SIZES | each("adapt")),
        ("params.yaml", "network.momentum", 0.5, TUNED | SIZES | TRAINED),
        ("params.yaml", "space.peak_rate", [0.01, 0.1], TUNED | SIZES),
        ("params.yaml", "fractions", [0.5], SIZES),
        ("params.yaml", "leak_share", 0.9, each("clean")),
        ("profiles/tiny.yaml", "search.evaluations", 3, TUNED | SIZES),
        ("profiles/tiny.yaml", "train.budget", [{"epochs": 7, "batches": 2}], TRAINED | SIZES),
        ("profiles/tiny.yaml", "repeats", 3, of("repeats")),
        ("profiles/tiny.yaml", "dimensions", [1], of("dimension")),
        ("profiles/tiny.yaml", "holdout.lipo.evaluations", 6, each("adapt")),
        ("profiles/tiny.yaml", "holdout.dimensions", [2, 3], each("holdout") | each("adapt")),
    ],
)  # fmt: skip
def test_a_changed_value_reruns_exactly_what_reads_it(study, file, key, value, expected):
    change(study / file, {key: value})
    assert changed(study) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("settings.py", set()),
        ("execution/runner.py", set()),
        ("stages/progress.py", set()),
        ("search/log.py", TUNED | SIZES),
        ("stages/repeats.py", of("repeats")),
        ("adaptation/laplace.py", each("adapt") | each("illustrate")),
        ("datasets/frequency.py", {"prepare@frequency", "prepare@sine_and_line"}),
        ("training/schedule.py", TUNED | SIZES | TRAINED | OTHERS),
    ],
)  # fmt: skip
def test_a_change_in_the_code_reruns_only_what_it_computes(study, module, expected):
    path = study / "pipeline" / module
    path.write_text(path.read_text() + "\n# changed\n")
    assert changed(study) == expected


def test_a_dataset_that_leaves_the_list_takes_its_stages_along(study):
    change(study / "params.yaml", {"datasets": ["frequency"]})
    assert changed(study) == set()
    names = dvc(study, "stage", "list", "--all", "--name-only")
    assert "@frequency" in names
    assert "sine_and_line" not in names


def test_a_stage_that_runs_again_gives_the_same_bytes(study):
    before = state(study)
    for stage in ("prepare@frequency", "train@frequency-lc"):
        dvc(study, "repro", "--force", "--single-item", stage)
    for stage in ("sizes@frequency-ll", "adapt@frequency"):
        dvc(study, "repro", "--force", "--single-item", f"results/dvc.yaml:{stage}")
    assert state(study) == before


def test_every_result_says_what_it_came_from(study):
    import json

    for path in (study / "results").rglob("*.json"):
        if path.name.endswith(".run.json") or "results/data/" in path.as_posix():
            continue
        result = json.loads(path.read_text())
        for key in ("study", "dataset", "profile", "edition", "data", "code"):
            assert result[key], (path, key)
        info = json.loads((study / f"results/data/{result['dataset']}/table.json").read_text())
        assert result["data"] == info["content_sha256"]
        times = json.loads(path.with_suffix(".run.json").read_text())
        assert times["seconds"] > 0
        assert "seconds" not in path.read_text()


def test_the_explorers_numbers_are_the_networks_response(study):
    import json

    folder = study / "data/frequency/models/dimension-lc"
    result = json.loads((study / "results/illustrate/frequency/lc.json").read_text())
    response = result["explorer"]["response"]
    first, second = map(np.array, response["beta"])
    x, beta = np.array(response["grid"])[:, None], np.array([[first[3], second[5]]])
    exact = illustrations.responses(load_network(folder / "2.safetensors"), x, beta)[0]
    place = 3 * len(second) + 5  # the second parameter changes first
    np.testing.assert_allclose(response["values"][place], exact, rtol=2e-3)


def test_no_scratch_stays_behind_a_finished_run(study):
    runners = ("dask", "logs", "progress", "run.lock")
    left = [path for path in (study / "scratch").iterdir() if path.name not in runners]
    assert not [path for folder in left for path in folder.iterdir()]


def test_a_stage_that_fails_leaves_the_old_result(study):
    import subprocess
    import sys

    change(study / "params.yaml", {"network.momentum": 7.0})
    path = study / "results/train/frequency/lc.json"
    before = path.read_bytes()
    ended = subprocess.run(
        [sys.executable, "-m", "dvc", "repro", "--single-item", "train@frequency-lc"],
        cwd=study,
        env=small_study.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "network.momentum: 7.0 is not valid; input should be less than 1" in ended.stderr
    assert path.read_bytes() == before
    change(study / "params.yaml", {"network.momentum": 0.7})
    dvc(study, "checkout", "data/frequency/models/train-lc.safetensors")
