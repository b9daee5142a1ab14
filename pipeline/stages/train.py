"""train: the final network of the base study, on all training rows (Table 2)."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import get_args

from pipeline.models.network import Kind
from pipeline.stages.experiment import ENGINE, Experiment, chosen, curve
from pipeline.stages.progress import ProgressLine
from pipeline.tables import metrics
from pipeline.training.storage import save_network

CODE = (*ENGINE, "pipeline/stages/train.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")
    parser.add_argument("model", choices=get_args(Kind))


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "train", CODE)
    kind: Kind = arguments.model
    files = experiment.files
    hyper = chosen(files.result("tune", experiment.name, kind))
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()
    observed = experiment.rows.take(test)
    seed = experiment.seed("train", kind, 1.0, 0)
    with experiment.record(files.result("train", experiment.name, kind)) as result:
        with ProgressLine() as progress:
            trained = experiment.fit(rows, kind, hyper, seed, progress, f"{experiment.name} {kind}")
        save_network(files.models(experiment.name) / f"train-{kind}.safetensors", trained)
        result.update(
            experiment.provenance(model=kind, fraction=1.0),
            rows={"train": len(rows), "test": len(test)},
            plan=asdict(experiment.final_plan(len(rows))),
            **experiment.outcome(trained, seed, hyper, test),
            curve=curve(trained),
            observed_predicted=metrics.histogram(observed.y, trained.predict(observed)),
        )
