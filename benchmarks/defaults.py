"""Why the estimator's defaults are what they are: every choice measured on validation rows.

The datasets are the arena's, and only the training rows of its first split are used: a fifth of
every task's rows among them are the validation rows, test rows are never read. Every part of the
portfolio is scored on the folds, as in a fit, and trained again on all remaining rows. From
these predictions follow the errors of each part alone, of the choice of the best one, and of
averages with other sharpness, other folds, or parts left out. Errors are relative to the best
single part of each dataset, as geometric means over the datasets.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import torch

from benchmarks.arena import tracks
from benchmarks.arena.datasets import DATASETS, load
from benchmarks.shared import ROOT, options
from learned_context.columns import Columns
from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor, recipe, task_fit
from learned_context.estimator.fitting import Fitting, Fold, choose_folds
from learned_context.estimator.model import Ensemble
from learned_context.estimator.recipe import CURVES, LOG_CURVES, MIXED
from learned_context.metrics import rmse, significant
from learned_context.rows import Rows
from pipeline.files import read_json, write_json

VALIDATION_SPLIT = 100
"""Number of the split of the training rows; the arena's own are 0 to 4."""
SHARPNESSES = (1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
MEMBERS = 4
"""Networks of a part in the last training, the same for all parts."""


def rows_of(name: str) -> tuple[Rows, Rows, Columns, int]:
    """Rows to fit, validation rows, the columns and the number of tasks."""
    table = load(name, ROOT)
    train = tracks.known_tasks(table.task, 0).train
    features, task, y = table.features.iloc[train], table.task[train], table.target[train]
    columns = Columns.fit(features)
    codes, labels = pd.factorize(task, sort=True)
    rows = Rows(columns.encode(features), codes.astype(np.int64), y)
    split = tracks.known_tasks(task, VALIDATION_SPLIT)
    return rows.take(split.train), rows.take(split.test), columns, len(labels)


def measure(name: str) -> dict[str, Any]:
    fit, validation, columns, tasks = rows_of(name)
    given = LearnedContextRegressor(quality="default", members=MEMBERS).get_params()
    fitting = Fitting(given, len(fit), tasks, columns.indicators, 0, torch.device("cpu"))
    fitting.curves = fitting._curves(fit)
    folds = []
    for held_out in choose_folds(fit.task, fitting.folds, np.random.default_rng(0)):
        known = fitting._part(fit.take(~held_out), tasks)
        trials = fitting._trials(len(known.rows))
        counts = dict.fromkeys(trials, fitting.scoring)
        voices = fitting._networks(known, trials, counts, stage=10 + len(folds))
        voices |= fitting._mixed(known, MIXED)
        folds.append(Fold.of(known, fit.take(held_out), voices))
    whole = fitting._part(fit, tasks)
    trials = fitting._trials(len(fit))
    voices = fitting._networks(whole, trials, dict.fromkeys(trials, MEMBERS), stage=1)
    voices |= fitting._mixed(whole, MIXED)
    data = whole.like(validation)
    y = data.y.double().numpy()
    predicted = {
        part: Ensemble.alone(voice, task_fit.certain(voice.population)).mean(
            data.x, validation.task
        )
        for part, voice in voices.items()
    }
    names = list(predicted)
    alone = {part: rmse(y, found) for part, found in predicted.items()}
    squared = [np.stack([fold.squared[part] for part in names]) for fold in folds]
    every = np.concatenate(squared, axis=1)
    everything = np.ones(len(names), dtype=bool)
    networks = np.array([part not in MIXED for part in names])

    def average(errors: np.ndarray, used: np.ndarray, sharpness: float) -> float:
        random = np.random.default_rng(0)
        weights = recipe.weights(errors[used], random, sharpness=sharpness)
        each = np.stack([predicted[part] for part in names])[used]
        return rmse(y, weights @ each)

    default = recipe.SHARPNESS
    combined = {f"average, sharpness {s:g}": average(every, everything, s) for s in SHARPNESSES}
    combined["the best part of the folds"] = alone[names[int(every.mean(axis=1).argmin())]]
    combined["average, first fold alone"] = average(squared[0], everything, default)
    combined["average, no mixed models"] = average(every, networks, default)
    for place, part in enumerate(names):
        if part not in MIXED or part in (CURVES, LOG_CURVES):
            others = np.arange(len(names)) != place
            combined[f"average, without {part}"] = average(every, others, default)
    return {
        "rows": len(fit),
        "tasks": tasks,
        "parts": {part: significant(error, 5) for part, error in alone.items()},
        "combined": {how: significant(error, 5) for how, error in combined.items()},
    }


def summary(found: dict[str, Any]) -> dict[str, float]:
    """Geometric means over the datasets of errors relative to the best single part."""
    logs: dict[str, list[float]] = {}
    for one in found.values():
        best = min(one["parts"].values())
        for how, error in {**one["parts"], **one["combined"]}.items():
            logs.setdefault(how, []).append(float(np.log(error / best)))
    means = {how: significant(float(np.exp(np.mean(ratios))), 5) for how, ratios in logs.items()}
    return dict(sorted(means.items(), key=lambda item: item[1]))


def main() -> None:
    parser = options(__doc__, "defaults.json")
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), default=list(DATASETS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = read_json(arguments.output)["datasets"] if arguments.output.exists() else {}
    for name in arguments.datasets:
        if name in found:
            continue
        try:
            found[name] = measure(name)
        except UserError as error:
            print(f"{name} is left out: {error}")
            continue
        print(name, found[name]["combined"], flush=True)
        write_json(arguments.output, {"summary": summary(found), "datasets": found})
    for how, ratio in summary(found).items():
        print(f"{ratio:8.4f}  {how}")


if __name__ == "__main__":
    main()
