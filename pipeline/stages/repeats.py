"""repeats: the tuned network trained again with other seeds (Table 3)."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from pipeline.models.network import Kind
from pipeline.stages.experiment import ENGINE, Experiment, chosen, read_result
from pipeline.stages.progress import ProgressLine
from pipeline.training.trainer import Trained

CODE = (*ENGINE, "pipeline/stages/repeats.py")
SUMMARY = ("seed", "rmse", "restarts", "epochs", "peak_rate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")
    parser.add_argument("model", choices=get_args(Kind))


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "repeats", CODE)
    kind: Kind = arguments.model
    files, count = experiment.files, experiment.settings.profile.repeats
    hyper = chosen(files.result("tune", experiment.name, kind))
    path = files.result("train", experiment.name, kind)
    base = {name: read_result(path, name) for name in SUMMARY}
    rows, test = experiment.prepared.train_rows(), experiment.prepared.test_rows()
    checkpoint = experiment.checkpoint(model=kind, base=base)

    with (
        experiment.record(files.result("repeats", experiment.name, kind)) as result,
        ProgressLine() as progress,
    ):
        trainings = [base]  # the base study's training is the first of the ten
        for number in range(1, count):
            seed = experiment.seed("train", kind, 1.0, number)
            label = f"{experiment.name} {kind} training {number + 1} of {count}"

            def compute(seed: int = seed, label: str = label) -> tuple[dict[str, Any], Trained]:
                trained = experiment.fit(rows, kind, hyper, seed, progress, label)
                return experiment.outcome(trained, seed, hyper, test), trained

            trainings.append(_summary(checkpoint.once(str(number), compute)[0]))
        errors = [training["rmse"] for training in trainings]
        result.update(
            experiment.provenance(model=kind, fraction=1.0),
            min=min(errors),
            max=max(errors),
            diverged=sum(training["restarts"] for training in trainings),
            trainings=trainings,
        )
    checkpoint.clear()


def _summary(outcome: dict[str, Any]) -> dict[str, Any]:
    return {name: outcome[name] for name in SUMMARY}
