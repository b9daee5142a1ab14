"""Whether the numbers of the results agree with each other, with the tables and with the searches.

What is asked here holds for every honest result, however good its errors are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pipeline.auditing.findings import Check
from pipeline.auditing.project import Project, sections
from pipeline.auditing.provenance import LOOK, Result, other_result, results_of, table_info

ROUNDED = 1e-5
"""Errors of single tasks are kept with seven digits."""
HELD_OUT_ROUNDED = 1e-4
"""Those of held-out tasks with five."""

Questions = Iterator[tuple[str, bool, str]]
"""Where in a result, whether it holds, what is wrong if it does not."""


def sums(project: Project) -> Check:
    """The numbers inside a result fit together, and with the results they were made from."""
    check = Check("sums", "Do the numbers in the results agree with each other?")
    for place, _, path, result in results_of(project, check):
        look = LOOK.format(path, place)
        with check.reading(str(path), look):
            for where, holds, what in _questions(project, result):
                check.ask(holds, f"{path}: {where}", what, look)
    return check


def _questions(project: Project, result: Result) -> Questions:
    study, dataset = result["study"], result["dataset"]
    info = table_info(project, dataset)
    yield from _searches(result)
    yield from _rates(result, project.settings.params.schedule.retry_rate)
    yield from _settings(project, result)
    if study == "adapt":
        yield from _held_out_errors(result, info)
    elif study == "repeats":
        yield from _repeats(result, other_result(project, "train", dataset, result["model"]))
    elif study == "holdout":
        groups = other_result(project, "adapt", dataset, "lc").get("groups", [])
        for where, part in _outcomes(result):
            if groups:  # else `adapt` has not run yet
                yield from _errors(where, part, info, left_out=groups[part["group"]])
    else:
        for where, part in _outcomes(result):
            yield from _errors(where, part, info)


def _outcomes(result: Result) -> Iterator[tuple[str, Result]]:
    """Every training in a result: whatever has an error over all rows and one for each task."""
    for where, part in sections(result):
        if isinstance(part.get("task_rmse"), dict) and {"rmse", "normalised"} <= part.keys():
            yield where, part


def _errors(where: str, part: Result, info: Result, left_out: Collection[str] = ()) -> Questions:
    """The error over all rows is that of all tasks, none of them forgotten."""
    rows = {name: count for name, count in _test_rows(info).items() if name not in left_out}
    errors: Mapping[str, float] = part["task_rmse"]
    named = errors.keys() == rows.keys()
    yield f"{where}task_rmse", named, "does not name the tasks that have test rows"
    if named:
        expected = _over_all_rows(errors, rows)
        what = f"is {part['rmse']}; the tasks' errors make {expected:.7g}"
        yield f"{where}rmse", math.isclose(part["rmse"], expected, rel_tol=ROUNDED), what
    yield (
        f"{where}normalised",
        math.isclose(part["normalised"], part["rmse"] / info["std"], rel_tol=1e-12),
        "is not the error divided by the target's standard deviation",
    )


def _held_out_errors(result: Result, info: Result) -> Questions:
    groups, rows = result["groups"], _test_rows(info)
    names = sorted(name for group in groups for name in group)
    yield "groups", names == sorted(info["tasks"]), "do not part the tasks of the table"
    for number, fit in enumerate(result["fits"]):
        for method in {"gauss_newton", "lipo"} & fit.keys():
            part = fit[method]
            tasks = zip(groups[fit["group"]], part["task_rmse"], strict=True)
            expected = _over_all_rows({name: e for name, e in tasks if e is not None}, rows)
            yield (
                f"fits.{number}.{method}.rmse",
                math.isclose(part["rmse"], expected, rel_tol=HELD_OUT_ROUNDED),
                f"is {part['rmse']}; the tasks' errors make {expected:.5g}",
            )


def _test_rows(info: Result) -> dict[str, int]:
    return {name: task["test"] for name, task in info["tasks"].items() if task["test"]}


def _over_all_rows(errors: Mapping[str, float], rows: Mapping[str, int]) -> float:
    squared = sum(rows[name] * error**2 for name, error in errors.items())
    return math.sqrt(squared / sum(rows[name] for name in errors))


def _searches(result: Result) -> Questions:
    """The chosen trial is the one with the lowest score, at the rate that did not diverge."""
    for where, part in sections(result):
        if {"best", "score", "evaluations"} <= part.keys():
            best = min(part["evaluations"], key=lambda one: one["score"])
            rate = best["settings"]["peak_rate"] * part["plan"]["retry_rate"] ** best["restarts"]
            expected = {**best["settings"], "peak_rate": rate}
            yield (
                f"{where}best",
                part["score"] == best["score"] and _same_settings(part["best"], expected),
                "is not the evaluation with the lowest score, at the rate that did not diverge",
            )


def _rates(result: Result, retry_rate: float) -> Questions:
    """A training that diverged was repeated with a lower rate (Appendix C)."""
    for where, part in sections(result):
        if {"hyperparameters", "restarts", "peak_rate"} <= part.keys():
            expected = part["hyperparameters"]["peak_rate"] * retry_rate ** part["restarts"]
            yield (
                f"{where}peak_rate",
                math.isclose(part["peak_rate"], expected, rel_tol=ROUNDED),
                f"is {part['peak_rate']}; after {part['restarts']} restarts it is {expected:.7g}",
            )


def _repeats(result: Result, base: Result) -> Questions:
    errors = [training["rmse"] for training in result["trainings"]]
    restarts = sum(training["restarts"] for training in result["trainings"])
    found = result["min"], result["max"], result["diverged"]
    expected = min(errors), max(errors), restarts
    yield "min, max, diverged", found == expected, "are not those of the trainings"
    first = errors[0] == base.get("rmse")
    yield "trainings", first, "the first is not that of the base study"


def _settings(project: Project, result: Result) -> Questions:
    """Every training has the settings that its search chose (Appendix C says which search)."""
    study, dataset = result["study"], result["dataset"]
    free = ("task_dim",) if study in ("dimension", "holdout") else ()
    for where, part in _outcomes(result):
        if study == "linear":
            return
        if study == "sizes":
            origin, best = "its own search", part["search"]["best"]
        elif study == "holdout":
            origin = f"results/sizes/{dataset}/lc.json"
            halves = other_result(project, "sizes", dataset, "lc").get("fractions", {})
            best = halves.get("0.5", {}).get("search", {}).get("best", {})
        else:
            model = result.get("model") or where.split(".")[1]  # clean: `models.lc.`
            origin = f"results/tune/{dataset}/{model}.json"
            best = other_result(project, "tune", dataset, model).get("best", {})
        yield (
            f"{where}hyperparameters",
            _without(part["hyperparameters"], free) == _without(best, free),
            f"are not those that {origin} chose",
        )


def _same_settings(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(one[name], other[name], rel_tol=ROUNDED) for name in one
    )


def _without(settings: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in names}
