"""The numbers behind Tables 2 to 5 and the figures: ours, or the paper's, in one form.

The checks of the paper's sentences ask this form, and so can be put to both.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pipeline.reporting.labels import MODELS
from pipeline.reporting.paper import Paper
from pipeline.reporting.results import Result, Results

ByModel = dict[str, dict[str, float]]  # dataset -> model -> value
ALL = 1.0  # all training rows


@dataclass(frozen=True)
class Repeats:
    """Table 3's cell: relative to LC's base error."""

    low: float
    high: float
    diverged: int


@dataclass
class Numbers:
    std: dict[str, float] = field(default_factory=dict)
    base: ByModel = field(default_factory=dict)
    repeats: dict[str, dict[str, Repeats]] = field(default_factory=dict)
    sizes: dict[float, ByModel] = field(default_factory=dict)
    """share of the rows -> dataset -> model -> error relative to the standard deviation"""
    dimension: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)
    """dataset -> model -> task parameters -> error relative to LC's base error"""
    holdout: dict[str, dict[str, dict[int, dict[float, float]]]] = field(default_factory=dict)
    """estimator -> dataset -> task parameters -> share -> error relative to LC's base error"""

    def of(self, datasets: Container[str]) -> Numbers:
        """The numbers of these datasets alone."""

        def kept(by_dataset: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in by_dataset.items() if name in datasets}

        return Numbers(
            kept(self.std),
            kept(self.base),
            kept(self.repeats),
            {share: found for share, rows in self.sizes.items() if (found := kept(rows))},
            kept(self.dimension),
            {name: found for name, rows in self.holdout.items() if (found := kept(rows))},
        )


def properties(info: Result | None) -> dict[str, float]:
    """Table 1's row."""
    if info is None:
        return {}
    return {
        "features": len(info["features"]),
        "tasks": len(info["tasks"]),
        "train": info["rows"]["train"],
        "test": info["rows"]["test"],
        "std": info["std"],
    }


def from_results(results: Results) -> Numbers:
    numbers = Numbers()
    for dataset in results.datasets:
        _base(results, dataset, numbers)
        _sizes(results, dataset, numbers)
        reference = numbers.base.get(dataset, {}).get("lc")
        if reference:
            _repeats(results, dataset, reference, numbers)
            _dimension(results, dataset, reference, numbers)
            _holdout(results, dataset, reference, numbers)
    return numbers


def _base(results: Results, dataset: str, numbers: Numbers) -> None:
    params, linear = results.settings.params, results.get("linear", dataset, "linear")
    found: dict[str, float] = {}
    for model in MODELS:
        if model in ("lr", "lme"):
            result = linear and linear[model]
        else:
            result = results.get("train", dataset, model) if model in params.models else None
        if result:
            found[model] = result["rmse"]
            numbers.std[dataset] = result["rmse"] / result["normalised"]
    if found:
        numbers.base[dataset] = found


def _repeats(results: Results, dataset: str, reference: float, numbers: Numbers) -> None:
    for model in results.settings.params.compared:
        result = results.get("repeats", dataset, model)
        if result:
            numbers.repeats.setdefault(dataset, {})[model] = Repeats(
                result["min"] / reference, result["max"] / reference, result["diverged"]
            )


def _sizes(results: Results, dataset: str, numbers: Numbers) -> None:
    for model in results.settings.params.compared:
        base = results.get("train", dataset, model)
        smaller = results.get("sizes", dataset, model)
        found = {ALL: base} if base else {}
        found |= {
            float(share): r for share, r in (smaller or {"fractions": {}})["fractions"].items()
        }
        for share, result in found.items():
            by_dataset = numbers.sizes.setdefault(share, {})
            by_dataset.setdefault(dataset, {})[model] = result["normalised"]


def _dimension(results: Results, dataset: str, reference: float, numbers: Numbers) -> None:
    for model in results.settings.params.varied:
        result = results.get("dimension", dataset, model)
        if result:
            numbers.dimension.setdefault(dataset, {})[model] = {
                int(dimension): outcome["rmse"] / reference
                for dimension, outcome in result["dimensions"].items()
            }


def _holdout(results: Results, dataset: str, reference: float, numbers: Numbers) -> None:
    """The mean over the three groups, as the paper averages "over all iterations"."""
    result = results.get("adapt", dataset, "lc")
    if not result:
        return
    groups: dict[tuple[str, int, float], list[float]] = {}
    for fit in result["fits"]:
        for estimator in ("lipo", "gauss_newton"):
            if estimator in fit:
                key = (estimator, fit["task_dim"], fit["share"])
                groups.setdefault(key, []).append(fit[estimator]["rmse"])
    for (estimator, dimension, share), errors in groups.items():
        by_dataset = numbers.holdout.setdefault(estimator, {}).setdefault(dataset, {})
        by_dataset.setdefault(dimension, {})[share] = fmean(errors) / reference


def scalar_parameters(results: Results, dataset: str) -> dict[str, float]:
    """task -> its one task parameter."""
    if dataset not in results.datasets:
        return {}
    result = results.get("dimension", dataset, "lc")
    one = (result or {"dimensions": {}})["dimensions"].get("1", {})
    return {task: values[0] for task, values in one.get("task_parameters", {}).items()}


def from_paper(paper: Paper) -> Numbers:
    """What the paper prints; its figures' numbers are not printed."""
    numbers = Numbers()

    def rows(table: str) -> dict[str, dict[str, float]]:
        printed = paper.tables[table]
        return {
            dataset: dict(zip(printed.columns, values, strict=True))
            for dataset, values in printed.rows.items()
        }

    numbers.std = {dataset: row["std"] for dataset, row in rows("datasets").items()}
    numbers.base = rows("base")
    for dataset, row in rows("repeats").items():
        numbers.repeats[dataset] = {
            model: Repeats(row[f"{model} min"], row[f"{model} max"], int(row[f"{model} diverged"]))
            for model in ("lc", "cs", "ll")
        }
    for dataset, row in rows("sizes").items():
        for column, value in row.items():
            model, share = column.split()
            numbers.sizes.setdefault(float(share), {}).setdefault(dataset, {})[model] = value
    numbers.holdout = {
        "lipo": {
            dataset: {int(column): {ALL: value} for column, value in row.items()}
            for dataset, row in rows("holdout").items()
        }
    }
    return numbers
