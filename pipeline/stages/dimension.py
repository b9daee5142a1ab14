"""dimension: networks with 1, 2, 4, 8, 16 task parameters, all else from the base study."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from pipeline.models.network import Kind
from pipeline.stages.experiment import ENGINE, Experiment, chosen
from pipeline.stages.progress import ProgressLine
from pipeline.tables import metrics
from pipeline.training.trainer import Trained

CODE = (*ENGINE, "pipeline/stages/dimension.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")
    parser.add_argument("model", choices=("lc", "ll"))


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "dimension", CODE)
    kind: Kind = arguments.model
    files = experiment.files
    base = chosen(files.result("tune", experiment.name, kind))
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()
    checkpoint = experiment.checkpoint(model=kind, base=str(base))
    path = files.result("dimension", experiment.name, kind)
    models = files.models(experiment.name) / f"dimension-{kind}"
    with experiment.record(path) as result, ProgressLine() as progress:
        dimensions: dict[str, Any] = {}
        for dimension in experiment.settings.profile.dimensions:
            hyper = replace(base, task_dim=dimension)
            seed = experiment.seed("train", kind, "dimension", dimension)
            label = f"{experiment.name} {kind} with {dimension} task parameters"

            def compute(
                hyper: Any = hyper, seed: int = seed, label: str = label
            ) -> tuple[dict[str, Any], Trained]:
                trained = experiment.fit(rows, kind, hyper, seed, progress, label)
                outcome = experiment.outcome(trained, seed, hyper, test)
                if hyper.task_dim <= 2:  # those that the paper draws
                    outcome["task_parameters"] = _task_parameters(experiment, trained)
                return outcome, trained

            outcome = checkpoint.deliver(str(dimension), compute, models)
            dimensions[str(dimension)] = outcome
        result.update(experiment.provenance(model=kind, fraction=1.0), dimensions=dimensions)
    checkpoint.clear()


def _task_parameters(experiment: Experiment, trained: Trained) -> dict[str, list[float]]:
    beta = trained.network.views["beta"].cpu().tolist()
    return {
        task: [metrics.significant(value) for value in values]
        for task, values in zip(experiment.tasks, beta, strict=True)
    }
