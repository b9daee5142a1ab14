"""clean: networks trained without the training rows that the test part holds.

On Sarcos the official test rows are among the training rows, so every published test error,
the paper's included, is measured on rows that were trained on. This study retrains with the
base study's settings on the other rows and tests on the same test rows. On a dataset without
such a leak it only says so.
"""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.errors import UserError
from pipeline.models.network import Kind
from pipeline.stages.experiment import ENGINE, Experiment, chosen
from pipeline.stages.progress import ProgressLine
from pipeline.training.trainer import Trained

CODE = (*ENGINE, "pipeline/stages/clean.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "clean", CODE)
    prepared, params = experiment.prepared, experiment.settings.params
    rows, test = prepared.train_rows(), prepared.test_rows()
    clean = rows[~prepared.frame["leaked"].to_numpy()[rows]]
    leaked = len(rows) - len(clean)
    if not len(clean):
        raise UserError(f"{experiment.name}: every training row is also a test row")
    tuned = {
        kind: chosen(experiment.files.result("tune", experiment.name, kind))
        for kind in params.compared
    }
    checkpoint = experiment.checkpoint(tuned=str(tuned))
    path = experiment.files.result("clean", experiment.name, "clean")
    with experiment.record(path) as result, ProgressLine() as progress:
        result.update(
            experiment.provenance(fraction=1.0),
            rows={"train": len(clean), "leaked": leaked, "test": len(test)},
            models={},
        )
        if leaked / len(test) > params.leak_share:
            for kind, hyper in tuned.items():
                seed = experiment.seed("train", kind, "clean")
                label = f"{experiment.name} {kind} without the leaked rows"

                def compute(
                    kind: Kind = kind, hyper: Any = hyper, seed: int = seed, label: str = label
                ) -> tuple[dict[str, Any], Trained]:
                    trained = experiment.fit(clean, kind, hyper, seed, progress, label)
                    return experiment.outcome(trained, seed, hyper, test), trained

                result["models"][kind] = checkpoint.once(kind, compute)[0]
    checkpoint.clear()
