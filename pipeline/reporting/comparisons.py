"""What `dvc metrics` and `dvc plots` compare between commits and experiments."""

from __future__ import annotations

from typing import Any

from learned_context.metrics import significant
from pipeline.reporting.blocks import csv_text
from pipeline.reporting.numbers import Numbers, best_errors
from pipeline.reporting.results import Results
from pipeline.studies import train

DIGITS = 6


def metrics(numbers: Numbers) -> dict[str, Any]:
    """The main numbers: test errors, and Table 5's best dimension by both estimators."""
    holdout = {
        estimator: {
            dataset: significant(error, DIGITS)
            for dataset, error in best_errors(numbers.holdout, estimator).items()
        }
        for estimator in sorted(numbers.holdout)
    }
    rmse = {
        dataset: {model: significant(error, DIGITS) for model, error in row.items()}
        for dataset, row in numbers.base.items()
    }
    return {"rmse": rmse, "holdout": holdout}


def plots(results: Results, numbers: Numbers) -> dict[str, str]:
    """Relative path -> csv: the error by task dimension, and the training curves."""
    files: dict[str, str] = {}
    for dataset, models in numbers.dimension.items():
        for model, errors in models.items():
            rows = [(dimension, significant(error, DIGITS)) for dimension, error in errors.items()]
            text = csv_text([("task_parameters", "error"), *rows])
            files[f"dimension/{dataset}-{model}.csv"] = text
    for (dataset, model), trained in results.every(train.STUDY, results.networks).items():
        curve = trained.curve
        steps = zip(curve.epoch, curve.loss, curve.rate, strict=True)
        files[f"training/{dataset}-{model}.csv"] = csv_text([("epoch", "loss", "rate"), *steps])
    return files
