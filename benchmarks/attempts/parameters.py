"""Wrong and extreme values in params.yaml and the profile."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from ruamel.yaml import YAML

from benchmarks.attempts.harness import Attempt, Scratch, call, refused, works

PARAMS, PROFILE = "params.yaml", "profiles/workstation.yaml"
GONE = object()
BIG = 10**11

REFUSED: list[tuple[str, Any, str]] = [
    ("profile", "huge", r"profile: no .*huge\.yaml; valid: paper, smoke, workstation"),
    ("profile", "../params", r"profile: '\.\./params' is not valid"),
    ("profile", "", r"profile: '' is not valid"),
    ("profile", 3, r"profile: 3 is not valid"),
    ("profile", None, r"profile: None is not valid"),
    ("profile", GONE, r"profile: missing"),
    ("datasets", [], r"datasets: \[\] is not valid"),
    ("datasets", "frequency", r"datasets: 'frequency' is not valid"),
    ("datasets", ["iris"], r"datasets: 'iris' has no entry below 'dataset'; valid: bike_sharing"),
    ("datasets", ["frequency", "frequency"], r"datasets: a value is there twice"),
    ("datasets", ["Frequency"], r"datasets\[0\]: 'Frequency' is not valid"),
    ("datasets", [["frequency"]], r"datasets\[0\]: \['frequency'\] is not valid"),
    ("datasets", {"frequency": 1}, r"datasets: "),
    ("datasets", None, r"datasets: None is not valid"),
    ("models", [], r"models: \[\] is not valid"),
    ("models", ["mlp"], r"models: no network 'mlp'; valid: .*lc"),
    ("models", ["cs"], r"models: must hold 'lc'"),
    ("models", ["lc", "lc"], r"models: a value is there twice"),
    ("models", ["LC"], r"models\[0\]: 'LC' is not valid"),
    ("models", ["lc", "film"], r"base_only: 'film' is one of models, too"),
    ("base_only", ["lc"], r"base_only: 'lc' is one of models, too"),
    ("base_only", ["mlp"], r"base_only: no network 'mlp'"),
    ("base_only", "fs", r"base_only: 'fs' is not valid"),
    ("fractions", [0.1], r"fractions: must hold 0\.5"),
    ("fractions", [0.5, 1.5], r"fractions\[1\]: 1\.5 is not valid"),
    ("fractions", [0.5, 0], r"fractions\[1\]: 0 is not valid"),
    ("fractions", [0.5, 0.5], r"fractions: a value is there twice"),
    ("fractions", [0.5, float("nan")], r"fractions\[1\]: nan is not valid"),
    ("fractions", [0.5, "half"], r"fractions\[1\]: 'half' is not valid"),
    ("leak_share", 7, r"leak_share: 7 is not valid"),
    ("leak_share", 0, r"leak_share: 0 is not valid"),
    ("leak_share", "0.5", r"leak_share: '0\.5' is not valid"),
    ("leak_share", True, r"leak_share: True is not valid"),
    ("leak_share", GONE, r"leak_share: missing"),
    ("seeds.data", -1, r"seeds\.data: -1 is not valid"),
    ("seeds.data", 1.5, r"seeds\.data: 1\.5 is not valid"),
    ("seeds.data", 10**30, r"seeds\.data: 1000.* is not valid"),
    ("seeds.split", "two", r"seeds\.split: 'two' is not valid"),
    ("seeds.search", None, r"seeds\.search: None is not valid"),
    ("seeds.train", [4], r"seeds\.train: \[4\] is not valid"),
    ("seeds.sarch", 3, r"seeds: unknown key 'sarch'; valid: data, search"),
    ("seeds", 5, r"seeds: 5 is not valid"),
    ("validation", 1.0, r"validation: 1\.0 is not valid"),
    ("validation", -0.2, r"validation: -0\.2 is not valid"),
    ("validation", float("inf"), r"validation: inf is not valid"),
    ("categories", "embedding", r"categories: 'embedding' is not valid"),
    ("categories", True, r"categories: True is not valid"),
    ("network.blocks", 0, r"network\.blocks: 0 is not valid"),
    ("network.blocks", BIG, r"network\.blocks: 1000.* is not valid"),
    ("network.momentum", 1.0, r"network\.momentum: 1\.0 is not valid"),
    ("network.momentum", "high", r"network\.momentum: 'high' is not valid"),
    ("network.depth", 3, r"network: unknown key 'depth'; valid: blocks, momentum"),
    ("space.peak_rate", [1.5, 0.1], r"peak_rate: the lower end 1\.5 is above the upper end 0\.1"),
    ("space.peak_rate", [0.0, 1.0], r"space\.peak_rate\[0\]: 0\.0 is not valid"),
    ("space.peak_rate", [0.1], r"space\.peak_rate"),
    ("space.peak_rate", [0.1, 1e300], r"space\.peak_rate\[1\]: 1e\+300 is not valid"),
    ("space.width", [50, BIG], r"space\.width\[1\]: 1000.* is not valid"),
    ("space.width", [50.5, 60], r"space\.width\[0\]: 50\.5 is not valid"),
    ("space.width", [400, 500], r"space\.width: 400 is above the profile's width_max 100"),
    ("space.task_dim", [0, 5], r"space\.task_dim\[0\]: 0 is not valid"),
    ("space.lambda_task", "small", r"space\.lambda_task: 'small' is not valid"),
    ("space.dropout", [0, 1], r"space: unknown key 'dropout'"),
    ("schedule.warmup", 2, r"schedule\.warmup: 2 is not valid"),
    ("schedule.window", 0, r"schedule\.window: 0 is not valid"),
    ("schedule.converged_p", 1.0, r"schedule\.converged_p: 1\.0 is not valid"),
    ("schedule.retry_rate", 1.0, r"schedule\.retry_rate: 1\.0 is not valid"),
    ("schedule.lowest_rate", -1e-8, r"schedule\.lowest_rate: -1e-08 is not valid"),
    ("schedule.loss_near_zero", 1e300, r"schedule\.loss_near_zero: 1e\+300 is not valid"),
    ("dataset.frequency.noise", 1e300, r"dataset\.frequency\.noise: 1e\+300 is not valid"),
    ("dataset.frequency.noise", -1, r"dataset\.frequency\.noise: -1 is not valid"),
    ("dataset.frequency.tasks", BIG, r"dataset\.frequency\.tasks: 1000.* is not valid"),
    ("dataset.frequency.tasks", 2, r"dataset\.frequency\.tasks: 2 is not valid"),
    ("dataset.frequency.train_rows", 10**7, r"dataset\.frequency: tasks, train_rows and test_rows"),
    ("dataset.frequency.test_rows", 0, r"dataset\.frequency\.test_rows: 0 is not valid"),
    ("dataset.frequency.edition", "second", r"dataset\.frequency\.edition: 'second' is not in"),
    ("dataset.frequency.rows", 4, r"dataset\.frequency: unknown key 'rows'"),
    ("dataset.frequency.task", "well", r"dataset\.frequency: target: missing"),
    ("dataset.height.edition", "../x", r"dataset\.height\.edition: '\.\./x' is not valid"),
    ("dataset.sarcos.split", "random", r"dataset\.sarcos\.split: 'random' is not valid"),
    ("dataset.inflation.draw", -1, r"dataset\.inflation\.draw: -1 is not valid"),
    ("dataset.inflation.split", "random", r"dataset\.inflation\.split: 'random' is not valid"),
    ("dataset.frequency", GONE, r"datasets: 'frequency' has no entry below 'dataset'"),
    ("dataset", {}, r"datasets: 'frequency' has no entry below 'dataset'"),
    ("dataset", [1], r"dataset: \[1\] is not valid"),
    ("learning_rate", 0.1, r"unknown key 'learning_rate'; valid: base_only"),
    ("3", 0.1, r"unknown key '3'"),
]
PROFILE_REFUSED: list[tuple[str, Any, str]] = [
    ("search.evaluations", 0, r"search\.evaluations: 0 is not valid"),
    ("search.evaluations", BIG, r"search\.evaluations: 1000.* is not valid"),
    ("search.budget", [], r"search\.budget: \[\] is not valid"),
    ("search.budget", [{"rows_below": 5, "epochs": 4, "batches": 1}], r"the last entry, and no"),
    ("search.budget", [{"epochs": 1, "batches": 1}], r"search\.budget\[0\]\.epochs: 1 is not"),
    ("search.width_max", 10, r"space\.width: 50 is above the profile's width_max 10"),
    ("train.device", "tpu", r"train\.device: 'tpu' is not valid"),
    ("train.max_restarts", -1, r"train\.max_restarts: -1 is not valid"),
    ("train.window_min", 2, r"train\.window_min: 2 is not valid"),
    ("repeats", 1, r"repeats: 1 is not valid"),
    ("repeats", BIG, r"repeats: 1000.* is not valid"),
    ("sizes.few_rows", -1, r"sizes\.few_rows: -1 is not valid"),
    ("sizes", GONE, r"sizes: missing"),
    ("dimensions", [], r"dimensions: \[\] is not valid"),
    ("dimensions", [0], r"dimensions\[0\]: 0 is not valid"),
    ("holdout.shares", [2.0], r"holdout\.shares\[0\]: 2\.0 is not valid"),
    ("holdout.lipo.shares", [0.3], r"lipo\.shares: 0\.3 is not one of shares"),
    ("holdout.gauss_newton.steps", 0, r"holdout\.gauss_newton\.steps: 0 is not valid"),
    ("holdout", GONE, r"holdout: missing"),
    ("budget", 3, r"unknown key 'budget'"),
]
VALID: list[tuple[str, Any]] = [
    ("leak_share", 1),
    ("seeds.data", 0),
    ("seeds.data", 2**62),
    ("datasets", ["frequency"]),
    ("models", ["lc"]),
    ("base_only", []),
    ("dataset.frequency.noise", 0),
    ("dataset.frequency.tasks", 3),
    ("dataset.sarcos.split", "clean"),
    ("categories", "onehot"),
]


def changed(file: str, key: str, value: Any) -> Callable[[Scratch], None]:
    """Set or remove one key, as an editor would."""

    def change(scratch: Scratch) -> None:
        round_trip = YAML()
        content = round_trip.load(scratch.read(file))
        *parents, last = key.split(".")
        section = content
        for parent in parents:
            section = section[parent]
        if value is GONE:
            del section[last]
        else:
            section[last] = value
        text = io.StringIO()
        round_trip.dump(content, text)
        scratch.write(file, text.getvalue())

    return change


def attempts() -> Iterator[Attempt]:
    for file, table in ((PARAMS, REFUSED), (PROFILE, PROFILE_REFUSED)):
        for key, value, says in table:
            name = f"{file}: {key} is {'gone' if value is GONE else repr(value)}"
            yield refused(name, call("validate"), says, changed(file, key, value))
    for key, value in VALID:
        name = f"{PARAMS}: {key} is {value!r}, which is valid"
        yield works(name, call("validate"), "valid", changed(PARAMS, key, value))
