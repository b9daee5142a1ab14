"""Is the paper's error on few rows within reach of any setting?

For a cell of Table 4 that is worse than the paper's, settings are drawn at random from the box of
Table 6 and trained as the study trains, on the same few rows: some with the widths that the profile
allows, some with all of the paper's. They are scored on the training rows that the fraction leaves
out, which are many: no search could choose so well. Test rows are not used. A search that finds the
best of all these settings would still have about the lowest error printed here.

The settings of the study are then trained on more rows of every task: how many would the paper's
error take? And the estimator's defaults, which average several networks and Gaussian processes, are
fitted to the few rows: what do these tell at all? Where all tasks are measured at the same points,
such as the ages of a life table, a Gaussian says that too, of the targets and of their cube roots.
Its means and covariances come from all training rows, those that are scored included, so no
prediction of that form from the few rows alone can be expected to be better.

What is in the output file, of the same settings and the same error in the study, is not computed
again, and a clone without data prints what is recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.paper_budget import Case, as_json, cases, read_cases, study_setting
from benchmarks.shared import chosen, options, run_main
from learned_context import metrics
from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor
from learned_context.rows import Rows
from learned_context.search.space import Box, table_6
from learned_context.training.plan import Hyperparameters
from learned_context.training.trainer import DivergedError, Plan, train
from pipeline import settings
from pipeline.files import Files, write_json
from pipeline.reporting.results import Results
from pipeline.studies.framework.plans import final_plan, width_range
from pipeline.tables.prepared import Prepared

QUANTILES = (0.1, 0.5, 0.9)
Scale = Callable[[np.ndarray], np.ndarray]
MORE_ROWS = (1.0, 1.5, 2.0)
"""Times the case's share of every task's rows."""
SEEDS = 3
"""Trainings for each number of rows."""
POINTS, TOGETHER = 100, 20
"""A Gaussian has at most 100 points, and any two of them are measured in at least 20 tasks."""
FLATTEST = 1e-6
"""The smallest eigenvalue kept, relative to the largest: covariances that are estimated pair by
pair may have negative ones."""
SCALES: dict[str, tuple[Scale, Scale]] = {
    "as they are": (np.asarray, np.asarray),
    "in cube roots": (np.cbrt, lambda root: root**3),
}
"""Of the targets for the Gaussian, and back."""


def box_of(
    params: settings.Settings, model: str, tasks: int, width: tuple[int, int] | None = None
) -> Box:
    """Table 6, with the profile's widths or others."""
    space = {**dict(params.params.space), "width": width or width_range(params)}
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


def parted(prepared: Prepared, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a fraction of the training rows, and of those that it leaves out."""
    few = prepared.train_rows(fraction)
    return few, np.setdiff1d(prepared.train_rows(), few)


def parts(prepared: Prepared, rows: Rows, fraction: float) -> tuple[Rows, Rows]:
    few, other = parted(prepared, fraction)
    return rows.take(few), rows.take(other)


def estimator_error(prepared: Prepared, fraction: float) -> float:
    """Of the library's estimator with its defaults, on the rows that the fraction leaves out."""
    few, other = parted(prepared, fraction)
    known, left = prepared.frame.iloc[few], prepared.frame.iloc[other]
    model = LearnedContextRegressor(random_state=0, device="cpu")
    model.fit(known[prepared.features], known["target"], task=known["task"])
    return metrics.rmse(
        left["target"].to_numpy(), model.predict(left[prepared.features], task=left["task"])
    )


def gaussian_errors(prepared: Prepared, fraction: float) -> dict[str, float] | None:
    """Of predictions by the covariances of all training rows, on the rows left out.

    None where tasks are measured at points of their own.
    """
    target = prepared.frame["target"].to_numpy()
    left = target[parted(prepared, fraction)[1]]
    found = {}
    for name, (transform, back) in SCALES.items():
        predicted = gaussian(prepared, fraction, transform(target))
        if predicted is None:
            return None
        found[name] = metrics.rmse(left, back(predicted))
    return found


def gaussian(prepared: Prepared, fraction: float, y: np.ndarray) -> np.ndarray | None:
    """Linear predictions of the rows left out; `y` are the targets of all rows."""
    few, other = parted(prepared, fraction)
    point = prepared.frame.groupby(prepared.features, observed=True).ngroup().to_numpy()
    if point.max() >= POINTS:
        return None
    task, train = prepared.frame["task"].to_numpy(), prepared.train_rows()
    long = pd.DataFrame({"task": task[train], "point": point[train], "y": y[train]})
    if long.duplicated(["task", "point"]).any():
        return None
    wide = long.pivot(index="task", columns="point", values="y")
    pairs = wide.cov(min_periods=TOGETHER).to_numpy()
    if np.isnan(pairs).any():
        return None
    sizes, axes = np.linalg.eigh(pairs)
    covariance = (axes * np.maximum(sizes, FLATTEST * sizes[-1])) @ axes.T
    mean = wide.mean().to_numpy()
    predicted = np.empty(len(other))
    for name in prepared.tasks:
        known, wanted = few[task[few] == name], task[other] == name
        known_points, wanted_points = point[known], point[other[wanted]]
        weights = np.linalg.solve(
            covariance[np.ix_(known_points, known_points)], y[known] - mean[known_points]
        )
        predicted[wanted] = (
            mean[wanted_points] + covariance[np.ix_(wanted_points, known_points)] @ weights
        )
    return predicted


def summary(tried: list[dict[str, Any]]) -> dict[str, Any]:
    errors = [one["error"] for one in tried if one["error"] is not None]
    if not errors:
        raise UserError("no setting could be trained: draw more of them, --settings and --wide")
    return {
        "settings": len(tried),
        "lowest": min(errors),
        "quantiles": {str(q): float(np.quantile(errors, q)) for q in QUANTILES},
        "tried": tried,
    }


def measure(
    files: Files, case: Case, narrow: int, wide: int, known: dict[str, Any]
) -> dict[str, Any]:
    """The numbers are of settings with the profile's widths and with the paper's; `known` is what
    an earlier run found, kept if the study still trains as it did then."""
    made = study_setting(files, case.dataset, case.model, case.fraction)
    setting = as_json(made)
    if known.get("setting") != setting or known.get("ours") != case.ours:
        known = {}
    if known and known["settings"] >= narrow and known["wide"]["settings"] >= wide:
        return known
    loaded, prepared = settings.load(files), Prepared.read(files, case.dataset)
    rows, tasks = prepared.encode(prepared.frame, loaded.params.categories), len(prepared.tasks)

    def relative_error(
        fraction: float, hyper: Hyperparameters, plan: Plan, seed: int
    ) -> float | None:
        divided = parts(prepared, rows, fraction)
        found = error(divided, tasks, case.model, hyper, plan, seed)
        return None if found is None else found / prepared.info.std

    def tried(count: int, box: Box, earlier: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        random = np.random.default_rng(0)
        for number in range(count):
            hyper = drawn(box, random)
            one = earlier[number] if number < len(earlier) else {}
            if {**asdict(hyper), "error": one.get("error")} != one:
                found = relative_error(case.fraction, hyper, made.plan, made.seed)
                one = {**asdict(hyper), "error": found}
            yield one

    own_widths = box_of(loaded, case.model, tasks)
    every_width = box_of(loaded, case.model, tasks, loaded.params.space.width)
    found = summary(list(tried(narrow, own_widths, known.get("tried", []))))
    wider = summary(list(tried(wide, every_width, known.get("wide", {}).get("tried", []))))
    bounds = gaussian_errors(prepared, case.fraction)
    by_rows = {}
    for times in MORE_ROWS:
        share = times * case.fraction
        kept = len(prepared.train_rows(share))
        plan = Plan(**final_plan(loaded, kept))
        errors = [relative_error(share, made.hyper, plan, made.seed + n) for n in range(SEEDS)]
        by_rows[f"{kept / tasks:.3g}"] = float(np.mean([one for one in errors if one is not None]))
    return {
        "name": case.name,
        **asdict(case),
        "setting": setting,
        "estimator": known.get("estimator")
        or estimator_error(prepared, case.fraction) / prepared.info.std,
        "gaussian": bounds and {name: one / prepared.info.std for name, one in bounds.items()},
        "error_by_rows_a_task": by_rows,
        **found,
        "wide": wider,
    }


def main() -> None:
    parser = options(__doc__, "random_settings.json")
    parser.add_argument("--project", type=Path, default=Path(), help="where tables and results are")
    parser.add_argument("--only", nargs="*", help="names of cases, as paper_budget.py --list has")
    parser.add_argument("--settings", type=int, default=100, help="with the profile's widths")
    parser.add_argument("--wide", type=int, default=12, help="settings with the paper's widths")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    files = Files(arguments.project.resolve())
    found = read_cases(arguments.output)
    worse = {
        case.name: case
        for case in cases(Results(files))
        if case.fraction < 1 and case.ours > case.paper
    }
    for case in chosen(worse, arguments.only).values():
        known = found.get(case.name, {})
        numbers = arguments.settings, arguments.wide
        found[case.name] = one = measure(files, case, *numbers, known)
        write_json(arguments.output, list(found.values()))
        bounds = ", ".join(f"{name} {bound:.4f}" for name, bound in (one["gaussian"] or {}).items())
        of_all_rows = f"a Gaussian of all training rows {bounds}; " if bounds else ""
        by_rows = ", ".join(f"{e:.4f} with {n}" for n, e in one["error_by_rows_a_task"].items())
        print(
            f"{case.name}: lowest of {one['settings']} settings {one['lowest']:.4f}, median "
            f"{one['quantiles']['0.5']:.4f}; with the paper's widths lowest of "
            f"{one['wide']['settings']} {one['wide']['lowest']:.4f}; "
            f"the estimator {one['estimator']:.4f}; {of_all_rows}"
            f"the study's settings by rows a task: {by_rows}; "
            f"the paper's test error {case.paper:g}, ours {case.ours:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    run_main(main)
