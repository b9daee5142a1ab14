"""Is the paper's error on few rows within reach of any setting?

For a cell of Table 4, settings are drawn at random from the box of Table 6 and trained as the study
trains, on the same few rows. They are scored on the training rows that the fraction leaves out,
which are many: no search could choose so well. Test rows are not used. A search that finds the best
of all these settings would still have about the lowest error printed here.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.paper_budget import Case, cases, read_cases, study_setting
from benchmarks.shared import options
from learned_context import metrics
from learned_context.rows import Rows
from learned_context.search.space import Box, table_6
from learned_context.training.plan import Hyperparameters
from learned_context.training.trainer import DivergedError, Plan, train
from pipeline import settings
from pipeline.files import Files, write_json
from pipeline.reporting.results import Results
from pipeline.studies.framework.plans import width_range
from pipeline.tables.prepared import Prepared

QUANTILES = (0.1, 0.5, 0.9)


def box_of(params: settings.Settings, model: str, tasks: int) -> Box:
    space = {**dict(params.params.space), "width": width_range(params)}
    return table_6(model, tasks, **space)


def drawn(box: Box, random: np.random.Generator) -> Hyperparameters:
    return box.hyperparameters([random.uniform(*own.bounds()) for own in box.free])


def error(
    rows: tuple[Rows, Rows], tasks: int, model: str, hyper: Hyperparameters, plan: Plan, seed: int
) -> float | None:
    """On the other rows; None if the training diverges at every rate."""
    known, other = rows
    try:
        trained = train(known, tasks, model, hyper, plan, seed)
    except DivergedError:
        return None
    return metrics.rmse(other.y, trained.predict(other))


def summary(case: Case, tried: list[dict[str, Any]], chosen: float) -> dict[str, Any]:
    errors = sorted(one["error"] for one in tried if one["error"] is not None)
    return {
        "name": case.name,
        **asdict(case),
        "settings": len(tried),
        "lowest": errors[0],
        "quantiles": {str(q): float(np.quantile(errors, q)) for q in QUANTILES},
        "of_the_study": chosen,
        "tried": tried,
    }


def measure(files: Files, case: Case, count: int, known: list[dict[str, Any]]) -> dict[str, Any]:
    loaded, prepared = settings.load(files), Prepared.read(files, case.dataset)
    rows = prepared.encode(prepared.frame, loaded.params.categories)
    few = prepared.train_rows(case.fraction)
    parts = rows.take(few), rows.take(np.setdiff1d(prepared.train_rows(), few))
    tasks, made = len(prepared.tasks), study_setting(files, case.dataset, case.model, case.fraction)
    box, random = box_of(loaded, case.model, tasks), np.random.default_rng(0)
    tried = []
    for number in range(count):
        hyper = drawn(box, random)
        if number < len(known):
            tried.append(known[number])
            continue
        found = error(parts, tasks, case.model, hyper, made.plan, made.seed)
        scaled = None if found is None else found / prepared.info.std
        tried.append({**asdict(hyper), "error": scaled})
    chosen = error(parts, tasks, case.model, made.hyper, made.plan, made.seed)
    assert chosen is not None
    return summary(case, tried, chosen / prepared.info.std)


def main() -> None:
    parser = options(__doc__, "random_settings.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where tables and results are")
    parser.add_argument("--only", nargs="*", help="names of cases, as paper_budget.py --list has")
    parser.add_argument("--settings", type=int, default=100, help="drawn for each case")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    files = Files(arguments.project.resolve())
    found = read_cases(arguments.output)
    for case in cases(Results(files)):
        if case.fraction == 1.0 or (arguments.only and case.name not in arguments.only):
            continue
        known = found.get(case.name, {}).get("tried", [])
        found[case.name] = one = measure(files, case, arguments.settings, known)
        write_json(arguments.output, list(found.values()))
        print(
            f"{case.name}: lowest of {one['settings']} settings {one['lowest']:.4f}, median "
            f"{one['quantiles']['0.5']:.4f}, the study's {one['of_the_study']:.4f} on the same "
            f"rows; the paper's test error {case.paper:g}, ours {case.ours:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
