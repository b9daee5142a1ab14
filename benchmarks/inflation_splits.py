"""Which rows of Inflation are test rows? The paper's errors beside those of two rules.

Table 1 gives counts only. Two rules give them exactly: eight whole years in each country with at
least 28 years of data (`years`), and a random sixth of all quarters (`quarters`). The errors of
linear models depend on nothing but the rows, so over many splits they say how likely the paper's
own are under each rule. Networks are trained on a few splits of each rule with the settings that
the study's search chose on its own split, by `years`. They interpolate, so what counts is how far a
test row is from training rows; a third rule, `two_years`, has four blocks of two years each and
almost the paper's counts.

What is done is kept in the output file: an interrupted run goes on from there, and a clone without
data prints what is recorded. Errors of other rows, and of networks with other settings, are not
kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.draws import raw_table, split_table
from benchmarks.linear_draws import LINEAR
from benchmarks.paper_budget import CaseTraining, as_json, raw_of, study_setting
from benchmarks.shared import options, run_main
from learned_context import metrics
from learned_context.training.trainer import train
from pipeline import settings
from pipeline.datasets.inflation import SPLITS
from pipeline.datasets.table import TaskTable
from pipeline.files import Files, read_json, write_json
from pipeline.reporting.paper import load_paper
from pipeline.tables.prepared import Prepared

DATASET = "inflation"
NETWORKS = ("lc", "cs", "ll")
RULES = {**SPLITS, "two_years": replace(SPLITS["years"], length=2.0, test=4, at_least=14)}


def error(prepared: Prepared, model: str, seed: int, trainings: dict[str, CaseTraining]) -> float:
    """The test error of one model on one split."""
    rows = prepared.encode(prepared.frame)
    known, test = rows.take(prepared.train_rows()), rows.take(prepared.test_rows())
    tasks = len(prepared.tasks)
    if model in LINEAR:
        return metrics.rmse(test.y, LINEAR[model](known, tasks).predict(test))
    chosen = trainings[model]
    trained = train(known, tasks, model, chosen.hyper, chosen.plan, seed)
    return metrics.rmse(test.y, trained.predict(test))


def summary(errors: list[float], printed: float) -> dict[str, float | int]:
    """How far the paper's error is from those of a rule, in their standard deviations."""
    mean, deviation = float(np.mean(errors)), float(np.std(errors, ddof=1))
    return {
        "splits": len(errors),
        "mean": mean,
        "std": deviation,
        "paper": printed,
        "deviations": (printed - mean) / deviation,
    }


Errors = dict[str, dict[str, list[float]]]
"""By rule and model, one for each split."""


def kept_errors(content: dict[str, Any], settings: dict[str, Any], raw: dict[str, str]) -> Errors:
    """Of a report of the same raw rows, without networks that were trained with other settings."""
    if content.get("raw") != raw:
        return {}
    earlier = content.get("settings", {})
    return {
        rule: {
            model: errors
            for model, errors in by_model.items()
            if model in LINEAR or (model in earlier and earlier[model] == settings[model])
        }
        for rule, by_model in content.get("errors", {}).items()
    }


def study(
    table: Callable[[], TaskTable],
    trainings: dict[str, CaseTraining],
    wanted: dict[str, int],
    path: Path,
    raw: dict[str, str],
) -> dict[str, Any]:
    """Errors and the networks' settings; what is in the file is not computed again.

    `raw` has the hashes of the raw files that `table` reads.
    """
    content = read_json(path) if path.exists() else {}
    used = {m: as_json(made) for m, made in trainings.items()}
    settings = content.get("settings", {}) | used
    found = kept_errors(content, settings, raw)
    report = {"raw": raw, "settings": settings, "errors": found}
    for name, rule in RULES.items():
        by_model = found.setdefault(name, {})
        for seed in range(max(wanted.values())):
            missing = [m for m, count in wanted.items() if len(by_model.get(m, [])) == seed < count]
            if missing:
                prepared = split_table(table(), DATASET, rule, seed)
                for model in missing:
                    errors = by_model.setdefault(model, [])
                    errors.append(error(prepared, model, seed, trainings))
                if seed % 20 == 0 or set(missing) - set(LINEAR):
                    print(f"{name}, split {seed}: {', '.join(missing)}", flush=True)
                    write_json(path, report)
    return report


def main() -> None:
    parser = options(__doc__, "inflation_splits.json")
    parser.add_argument("--linear", type=int, default=200, help="splits for the linear models")
    parser.add_argument("--networks", type=int, default=5, help="splits for the networks")
    parser.add_argument("--project", type=Path, default=Path(), help="where raw files are")
    arguments = parser.parse_args()
    files = Files(arguments.project.resolve())
    keys = settings.load(files).dataset(DATASET)
    chosen = NETWORKS if arguments.networks else ()
    trainings = {model: study_setting(files, DATASET, model) for model in chosen}
    wanted = dict.fromkeys(LINEAR, arguments.linear) | dict.fromkeys(trainings, arguments.networks)
    table = cache(lambda: raw_table(files, DATASET))
    found = study(table, trainings, wanted, arguments.output, raw_of(files, DATASET))
    paper = load_paper(files)
    report: dict[str, Any] = {"edition": keys.edition, "rules": {}}
    for rule, by_model in found["errors"].items():
        report["rules"][rule] = {
            model: summary(values, paper.value("base", DATASET, model) or float("nan"))
            for model, values in by_model.items()
            if len(values) > 1
        }
        for model, line in report["rules"][rule].items():
            print(
                f"{rule} {model}: {line['mean']:.3f} ± {line['std']:.3f} over {line['splits']}; "
                f"the paper has {line['paper']}, {line['deviations']:+.1f} deviations away"
            )
    write_json(arguments.output, {**report, **found})


if __name__ == "__main__":
    run_main(main)
