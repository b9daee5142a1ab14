"""Ours against what users would pick for many tasks, with default settings.

The six datasets of the paper's edition, the pipeline's own split into training and test rows.
Every contestant gets the features and the task: boosted trees as a category, GPBoost as the
group of a random intercept, scikit-learn's network as one-hot columns, TabM as a category.
Root mean squared errors on the test rows, in the target's units, and processor seconds of fit
and predict on one thread. Not quite defaults: MLPRegressor and GPBoost see a standardised
target, GPBoost's rate is tuned, TabM has a limited time. What is not installed is skipped.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.arena.tabm_network import fit_network
from learned_context.estimator import LearnedContextRegressor
from learned_context.metrics import rmse
from pipeline.files import Files, write_json
from pipeline.tables.prepared import Prepared

DATASETS = ("frequency", "sine_and_line", "schools", "parkinson", "bike_sharing", "inflation")
SEED = 0
GPBOOST_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
TABM_SECONDS = 60.0
"""Its training ends after this time: on one core its full course takes up to an hour."""


@dataclass(frozen=True)
class Split:
    """Features with the task as the last column, a category; the target of the training rows."""

    train: pd.DataFrame
    y: np.ndarray
    test: pd.DataFrame
    categories: list[str]
    """The names of the columns that are not numbers, the task's among them."""


def read(files: Files, dataset: str) -> tuple[Split, np.ndarray]:
    prepared = Prepared.read(files, dataset)
    columns = prepared.frame[[*prepared.features, "task"]].copy()
    kinds = {feature.name: feature.kind for feature in prepared.info.features}
    categories = [name for name in columns if kinds.get(name, "category") == "category"]
    columns[categories] = columns[categories].astype(str).astype("category")
    train, test = prepared.train_rows(), prepared.test_rows()
    y = prepared.frame["target"].to_numpy(dtype=np.float64)
    return Split(columns.iloc[train], y[train], columns.iloc[test], categories), y[test]


def ours(**settings: Any) -> Callable[[Split], np.ndarray]:
    def run(split: Split) -> np.ndarray:
        estimator = LearnedContextRegressor(random_state=SEED, device="cpu", **settings)
        estimator.fit(split.train.drop(columns="task"), split.y, split.train["task"])
        return np.asarray(estimator.predict(split.test.drop(columns="task"), split.test["task"]))

    return run


def lightgbm(split: Split) -> np.ndarray:
    from lightgbm import LGBMRegressor

    # It refuses some characters in names, as those of parkinson have them.
    plain = {name: f"column {place}" for place, name in enumerate(split.train)}
    model = LGBMRegressor(random_state=SEED, n_jobs=1, verbose=-1)
    model.fit(split.train.rename(columns=plain), split.y)
    return np.asarray(model.predict(split.test.rename(columns=plain)))


def catboost(split: Split) -> np.ndarray:
    from catboost import CatBoostRegressor

    quiet = {"verbose": False, "allow_writing_files": False}
    model = CatBoostRegressor(
        random_seed=SEED, thread_count=1, cat_features=split.categories, **quiet
    )
    return np.asarray(model.fit(split.train, split.y).predict(split.test))


def gpboost(split: Split) -> np.ndarray:
    """Boosted trees of the features with a random intercept a task, in its 100 default rounds.

    Its steps are relative to the noise variance, so that its default rate of 0.1 is far too low
    for one unit of the target and diverges for another: the target is standardised, and a fifth
    of the rows chooses the rate.
    """
    mean, std = split.y.mean(), split.y.std()
    split = replace(split, y=(split.y - mean) / std)
    part = np.random.default_rng(SEED).uniform(size=len(split.y)) < 0.2
    trial = Split(split.train[~part], split.y[~part], split.train[part], split.categories)
    errors = {rate: rmse(split.y[part], _gpboost(trial, rate)) for rate in GPBOOST_RATES}
    return _gpboost(split, min(errors, key=lambda rate: errors[rate])) * std + mean


def _gpboost(split: Split, rate: float) -> np.ndarray:
    import gpboost as gpb

    codes = [name for name in split.categories if name != "task"]

    def numbers(frame: pd.DataFrame) -> np.ndarray:
        coded = frame.assign(**{name: frame[name].cat.codes for name in codes})
        return coded.drop(columns="task").to_numpy(dtype=np.float64)

    tasks = split.train["task"].astype(str).to_numpy()
    intercepts = gpb.GPModel(group_data=tasks, likelihood="gaussian", num_parallel_threads=1)
    places = [split.train.columns.get_loc(name) for name in codes]
    data = gpb.Dataset(numbers(split.train), split.y, categorical_feature=places or "auto")
    settings = {"verbose": -1, "num_threads": 1, "seed": SEED, "learning_rate": rate}
    model = gpb.train(settings, data, gp_model=intercepts)
    tasks = split.test["task"].astype(str).to_numpy()
    found = model.predict(numbers(split.test), group_data_pred=tasks, pred_latent=False)
    return np.nan_to_num(np.asarray(found["response_mean"]))  # a diverged rate is not chosen


def sklearn_mlp(split: Split) -> np.ndarray:
    # A careful user standardises the target: it does not do so itself.
    mean, std = split.y.mean(), split.y.std()
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), split.categories),
        remainder=StandardScaler(),
        sparse_threshold=0,
    )
    model = make_pipeline(encode, MLPRegressor(random_state=SEED))
    model.fit(split.train, (split.y - mean) / std)
    return np.asarray(model.predict(split.test)) * std + mean


def tabm(split: Split) -> np.ndarray:
    fitted = fit_network(split.train, split.y, split.categories, SEED, TABM_SECONDS)
    return fitted(split.test)


CONTESTANTS: dict[str, tuple[str | None, Callable[[Split], np.ndarray]]] = {
    "ours, lc": (None, ours()),
    "ours, ll": (None, ours(kind="ll")),
    "LightGBM": ("lightgbm", lightgbm),
    "CatBoost": ("catboost", catboost),
    "GPBoost": ("gpboost", gpboost),
    "MLPRegressor": (None, sklearn_mlp),
    "TabM": ("tabm", tabm),
}


def installed(package: str | None) -> bool:
    try:
        return package is None or importlib.import_module(package) is not None
    except ImportError as error:
        print(f"{package} is skipped: {error}")
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", type=Path, default=Path(), help="where the tables are")
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--search", type=int, default=0, help="ours with so many evaluations too")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/others.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    contestants = {name: run for name, (need, run) in CONTESTANTS.items() if installed(need)}
    if arguments.search:
        contestants[f"ours, lc, search={arguments.search}"] = ours(search=arguments.search)

    report: dict[str, Any] = {}
    for dataset in arguments.datasets:
        split, truth = read(Files(arguments.project), dataset)
        print(f"\n{dataset}: {len(split.y)} rows, {split.train['task'].nunique()} tasks")
        cells = {}
        for name, run in contestants.items():
            started = time.process_time()
            error = rmse(truth, run(split))
            seconds = round(time.process_time() - started, 1)
            cells[name] = {"rmse": float(f"{error:.6g}"), "seconds": seconds}
            print(f"  {name:24s} {error:10.4g}   {seconds:6.1f} s", flush=True)
        best = min(cells, key=lambda name: cells[name]["rmse"])
        report[dataset] = {"best": best, "contestants": cells}
        write_json(arguments.output, report)


if __name__ == "__main__":
    main()
