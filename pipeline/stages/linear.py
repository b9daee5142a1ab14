"""linear: linear regression and the linear mixed-effect model (Table 2)."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from pipeline.models.linear import Linear, fit_mixed, fit_regression
from pipeline.stages.experiment import ENGINE, Experiment
from pipeline.tables import metrics
from pipeline.tables.rows import Rows

CODE = (*ENGINE, "pipeline/stages/linear.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "linear", CODE)
    prepared = experiment.prepared
    rows = prepared.encode(prepared.frame, "onehot")  # the paper says so for linear models
    train, test = rows.take(prepared.train_rows()), rows.take(prepared.test_rows())
    tasks = len(experiment.tasks)
    with experiment.record(experiment.files.result("linear", experiment.name, "linear")) as result:
        result.update(
            experiment.provenance(fraction=1.0), rows={"train": len(train), "test": len(test)}
        )
        for name, fit in (("lr", fit_regression), ("lme", mixed)):
            model = fit(train, tasks)
            predicted = model.predict(test)
            rmse = metrics.rmse(test.y, predicted)
            errors = metrics.task_rmse(test.y, predicted, test.task, tasks)
            result[name] = {
                "rmse": rmse,
                "normalised": rmse / prepared.info["std"],
                "converged": model.converged,
                "task_rmse": {
                    task: metrics.significant(error)
                    for task, error in zip(experiment.tasks, errors, strict=True)
                    if error == error
                },
            }


def mixed(rows: Rows, tasks: int) -> Linear:
    """Where the features say the task, nothing is left for its intercept: plain regression."""
    try:
        return fit_mixed(rows, tasks)
    except np.linalg.LinAlgError:  # a variance of zero between the tasks
        return replace(fit_regression(rows, tasks), converged=False)
