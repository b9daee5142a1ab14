"""sizes: tuned and trained anew on a fraction of every task's training rows (Table 4)."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any, get_args

from pipeline.models.network import Kind
from pipeline.stages.experiment import ENGINE, Experiment
from pipeline.stages.progress import ProgressLine
from pipeline.stages.tune import tune
from pipeline.training.trainer import Hyperparameters, Trained

CODE = (*ENGINE, "pipeline/search", "pipeline/stages/sizes.py", "pipeline/stages/tune.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")
    parser.add_argument("model", choices=get_args(Kind))


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "sizes", CODE)
    kind: Kind = arguments.model
    prepared, test = experiment.prepared, experiment.prepared.test_rows()
    checkpoint = experiment.checkpoint(model=kind)
    path = experiment.files.result("sizes", experiment.name, kind)
    with experiment.record(path) as result, ProgressLine() as progress:
        fractions: dict[str, Any] = {}
        for fraction in experiment.settings.params.fractions:
            rows = prepared.train_rows(fraction)
            tuned = tune(experiment, kind, fraction, checkpoint, progress)
            hyper = Hyperparameters(**tuned["best"])
            seed = experiment.seed("train", kind, fraction, 0)
            label = f"{experiment.name} {kind} on {fraction:.0%}"

            def compute(
                rows: Any = rows, hyper: Any = hyper, seed: int = seed, label: str = label
            ) -> tuple[dict[str, Any], Trained]:
                trained = experiment.fit(rows, kind, hyper, seed, progress, label)
                return experiment.outcome(trained, seed, hyper, test), trained

            outcome, _ = checkpoint.once(f"train-{fraction}", compute)
            fractions[str(fraction)] = {
                "rows": {"train": len(rows), "test": len(test)},
                "plan": asdict(experiment.final_plan(len(rows))),
                **outcome,
                "search": tuned,
            }
        result.update(experiment.provenance(model=kind), fractions=fractions)
    checkpoint.clear()
