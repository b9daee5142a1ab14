"""Why added tasks have weights and a prior of their own: measured on tasks held out again.

The datasets are those of the arena that are not the pipeline's, and only the fitted tasks of its
first two splits are used: a third of them is held out with another seed, added with 1, 2, 5 and 10
rows, and its other rows are predicted. The split's new tasks are not read, but another split of the
arena may have some of the fitted tasks as new ones. From one fit follow the errors of the voices
alone and of several weights, relative to those of the weights for known tasks, as geometric means
over datasets and splits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from learned_context.estimator import LearnedContextRegressor, added_tasks, recipe
from learned_context.estimator.calibration import nearest
from learned_context.estimator.fitting import Fitting
from learned_context.estimator.model import Spread
from learned_context.estimator.recipe import CURVES, INTERCEPTS, LOG_CURVES, MIXED, SLOPES
from learned_context.estimator.voices import LinearVoice, NetworkVoice, Voice
from learned_context.metrics import rmse, significant
from learned_context.new_tasks.objective import Floats
from learned_context.rows import Rows
from pipeline.files import read_json, write_json

FIRST_INNER_SPLIT = 100
"""The arena's own splits are 0 to 4."""
SPLITS = (0, 1)
LEVEL = 0.9
SMALL = tuple(name for name, dataset in DATASETS.items() if dataset.source != "pipeline")
REFERENCE, CHOSEN = "weights of known tasks", "the estimator's weights"
Weights = dict[str, float]


@dataclass(frozen=True)
class Case:
    """Rows to fit, and by their number the rows of new tasks that arrive, and their others."""

    fit: Rows
    arriving: dict[int, Rows]
    test: dict[int, Rows]
    columns: Columns


class RecordingFitting(Fitting):
    """Keeps what the weights of added tasks are computed from."""

    arrivals: Sequence[added_tasks.Arrival] = ()
    known: Mapping[str, float]

    def _of_added(
        self, arrivals: Any, known: Any, networks: Any, calibration: Any
    ) -> tuple[dict[int, Weights], dict[int, Any]]:
        self.arrivals, self.known = arrivals, known
        return super()._of_added(arrivals, known, networks, calibration)


def case_of(name: str, split: int) -> Case:
    table = load(name, ROOT)
    base = tracks.new_tasks(table.task, split).base
    features, task, y = table.features.iloc[base], table.task[base], table.target[base]
    inner = tracks.new_tasks(task, FIRST_INNER_SPLIT + split)
    columns = Columns.fit(features)
    x = columns.encode(features)

    def rows(index: np.ndarray) -> Rows:
        return Rows(x[index], pd.factorize(task[index], sort=True)[0].astype(np.int64), y[index])

    arriving = {count: rows(index) for count, index in inner.arriving.items()}
    test = {count: rows(index) for count, index in inner.test.items()}
    return Case(rows(inner.base), arriving, test, columns)


def measure(name: str, split: int) -> dict[str, Any]:
    case = case_of(name, split)
    tasks = int(case.fit.task.max()) + 1
    given = LearnedContextRegressor().get_params()
    cpu = torch.device("cpu")
    fitting = RecordingFitting(given, len(case.fit), tasks, case.columns.indicators, split, cpu)
    fitted = fitting.run(case.fit)
    whole = fitting._part(case.fit, tasks)
    chosen = [name for name in fitted.trials if fitted.weights[name] > 0]
    names = [*chosen, *_mixed_names(fitted.ensemble.voices)]
    voices = fitting._mixed(whole, MIXED) | dict(zip(names, fitted.ensemble.voices, strict=True))
    known = dict(zip(names, fitted.ensemble.weights.known, strict=True))
    found: dict[str, Any] = {"tasks": tasks, "rows": len(case.fit), "errors": {}, "coverage": {}}
    for count, few in case.arriving.items():
        arrived, data = whole.like(few), whole.like(case.test[count])
        spreads = {n: added_tasks.spread(v, arrived, data) for n, v in voices.items()}
        narrow = {n: added_tasks.spread(_narrow(v), arrived, data) for n, v in voices.items()}
        y = data.y.double().numpy()
        own = dict(zip(names, fitted.ensemble.weights.of(count), strict=True))
        errors = {REFERENCE: _error(y, spreads, known), CHOSEN: _error(y, spreads, own)}
        errors[f"{CHOSEN}, narrow prior"] = _error(y, narrow, own)
        for how, weights in _others(fitting, chosen, known, count):
            errors[how] = _error(y, spreads, weights)
        found["errors"][str(count)] = {how: significant(e, 5) for how, e in errors.items()}
        mixed = Spread.mixed([(weight, spreads[n]) for n, weight in own.items()])
        size = fitted.calibration.sizes(np.full(len(y), count), LEVEL)
        half = size * np.sqrt(mixed.uncertain + fitted.calibration.noise)
        found["coverage"][str(count)] = significant(float(np.mean(abs(y - mixed.mean) <= half)), 4)
    return found


def _mixed_names(voices: Sequence[Voice]) -> list[str]:
    mixed = [voice for voice in voices if isinstance(voice, LinearVoice)]
    lines = [INTERCEPTS if voice.size == 1 else SLOPES for voice in mixed]
    curves = [LOG_CURVES if voice.logarithm else CURVES for voice in mixed]
    named = zip(mixed, curves, lines, strict=True)
    return [curve if voice.bases else line for voice, curve, line in named]


def _narrow(voice: Voice) -> Voice:
    if not isinstance(voice, NetworkVoice):
        return voice
    return replace(voice, uncertain=np.zeros_like(voice.uncertain))


def _error(y: Floats, spreads: Mapping[str, Spread], weights: Weights) -> float:
    return rmse(y, Spread.mixed([(w, spreads[name]) for name, w in weights.items()]).mean)


def _others(
    fitting: RecordingFitting, networks: Sequence[str], known: Weights, count: int
) -> Iterator[tuple[str, Weights]]:
    """Weights that were not chosen."""
    total = sum(known[name] for name in networks)
    alone = {name: known[name] / total for name in networks}
    yield "networks alone", alone
    for name in (INTERCEPTS, SLOPES, CURVES):
        yield f"{name} alone", {name: 1.0}
    half = {name: weight / 2 for name, weight in alone.items()}
    yield "networks and curves even", half | {CURVES: 0.5}
    together = added_tasks.together(known, networks)
    squares = _by_squares(fitting, together)
    own = squares[nearest(squares, count)] if squares else together
    yield f"{CHOSEN}, by squares", added_tasks.apart(own, known, networks)
    for how, share_of, without in (
        ("by held-out tasks", _always(1.0), ()),
        ("three quarters by held-out tasks", _always(0.75), ()),
        ("half by held-out tasks", _always(0.5), ()),
        (f"{CHOSEN}, no curves", added_tasks.measured_share, (CURVES, LOG_CURVES)),
        (f"{CHOSEN}, no logarithms", added_tasks.measured_share, (LOG_CURVES,)),
        (f"{CHOSEN}, no lines", added_tasks.measured_share, (INTERCEPTS, SLOPES)),
    ):
        arrivals = [_without(without, arrival) for arrival in fitting.arrivals]
        left = {name: weight for name, weight in together.items() if name not in without}
        left = {name: weight / sum(left.values()) for name, weight in left.items()}
        random = np.random.default_rng([fitting.seed, 4])
        found = added_tasks.weights(arrivals, left, random, share_of)
        own = found[nearest(found, count)] if found else left
        yield how, added_tasks.apart(own, known, networks)


def _by_squares(fitting: RecordingFitting, known: Weights) -> dict[int, Weights]:
    """The estimator's weights, if held-out tasks counted by their squared errors."""
    found = {}
    for count, arrivals in added_tasks._by_count(fitting.arrivals).items():
        squared = np.concatenate([arrival.of_each_task() ** 2 for arrival in arrivals], axis=1)
        measured = recipe.weights(squared, np.random.default_rng([fitting.seed, 4]))
        share = added_tasks.measured_share(count)
        found[count] = {
            name: share * float(weight) + (1 - share) * known.get(name, 0.0)
            for name, weight in zip(arrivals[0].predicted, measured, strict=True)
        }
    return found


def _always(share: float) -> Callable[[int], float]:
    return lambda rows: share


def _without(names: Sequence[str], arrival: added_tasks.Arrival) -> added_tasks.Arrival:
    predicted = {name: own for name, own in arrival.predicted.items() if name not in names}
    return replace(arrival, predicted=predicted)


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """By number of rows: geometric means of ratios, datasets that gain and lose, and coverage."""
    measured = [(count, own) for one in found.values() for count, own in one["errors"].items()]
    counts = sorted({count for count, _ in measured}, key=int)
    ratios = {
        how: {
            count: significant(float(np.exp(np.mean(_logs(found, how, count)))), 5)
            for count in counts
        }
        for how in measured[0][1]
    }
    logs = {count: np.array(_logs(found, CHOSEN, count)) for count in counts}
    covered = {
        count: [one["coverage"][count] for one in found.values() if count in one["coverage"]]
        for count in counts
    }
    return {
        "ratios": ratios,
        "better": {count: int((own < -0.001).sum()) for count, own in logs.items()},
        "worse": {count: int((own > 0.001).sum()) for count, own in logs.items()},
        "coverage": {count: significant(float(np.mean(own)), 4) for count, own in covered.items()},
        "coverage_near": {
            count: int(sum(0.85 <= share <= 0.95 for share in own))
            for count, own in covered.items()
        },
        "cases": {count: len(own) for count, own in covered.items()},
    }


def _logs(found: Mapping[str, Any], how: str, count: str) -> list[float]:
    every = [one["errors"][count] for one in found.values() if count in one["errors"]]
    return [float(np.log(errors[how] / errors[REFERENCE])) for errors in every]


def main() -> None:
    parser = options(__doc__, "added_tasks.json")
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), default=list(SMALL))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = read_json(arguments.output)["datasets"] if arguments.output.exists() else {}
    for split in SPLITS:
        for name in arguments.datasets:
            key = f"{name}, split {split}"
            if key in found:
                continue
            try:
                found[key] = measure(name, split)
            except UserError as error:
                print(f"{name} is left out: {error}")
                continue
            print(key, found[key]["errors"], flush=True)
            write_json(arguments.output, {"summary": summary(found), "datasets": found})
    for how, ratios in summary(found)["ratios"].items():
        print("  ".join(f"{ratio:.4f}" for ratio in ratios.values()), how)


if __name__ == "__main__":
    main()
