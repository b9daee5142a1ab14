"""What `dvc metrics` and `dvc plots` compare between commits and experiments."""

from __future__ import annotations

import csv
import io
from typing import Any

from pipeline.reporting.numbers import Numbers, best_errors
from pipeline.reporting.results import Results
from pipeline.studies import train

DIGITS = 6


def metrics(numbers: Numbers) -> dict[str, Any]:
    """The main numbers: test errors, and Table 5's best dimension by both estimators."""
    holdout = {
        estimator: {
            dataset: _round(error)
            for dataset, error in best_errors(numbers.holdout, estimator).items()
        }
        for estimator in sorted(numbers.holdout)
    }
    rmse = {
        dataset: {model: _round(error) for model, error in row.items()}
        for dataset, row in numbers.base.items()
    }
    return {"rmse": rmse, "holdout": holdout}


def plots(results: Results, numbers: Numbers) -> dict[str, str]:
    """Relative path -> csv: the error by task dimension, and the training curves."""
    files: dict[str, str] = {}
    for dataset, models in numbers.dimension.items():
        for model, errors in models.items():
            rows = [(dimension, _round(error)) for dimension, error in errors.items()]
            files[f"dimension/{dataset}-{model}.csv"] = _csv(("task_parameters", "error"), rows)
    for (dataset, model), trained in results.every(train.STUDY, results.networks).items():
        curve = trained.curve
        steps = list(zip(curve.epoch, curve.loss, curve.rate, strict=True))
        files[f"training/{dataset}-{model}.csv"] = _csv(("epoch", "loss", "rate"), steps)
    return files


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _csv(header: tuple[str, ...], rows: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
