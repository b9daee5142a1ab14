"""holdout: learned-context networks on two of three task groups, with 2, 4, 8 task parameters."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from pipeline.settings import SETTINGS_FROM
from pipeline.stages.experiment import ENGINE, Experiment, chosen
from pipeline.stages.progress import ProgressLine
from pipeline.tables.selection import GROUPS
from pipeline.training.trainer import Hyperparameters, Trained

CODE = (*ENGINE, "pipeline/stages/holdout.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "holdout", CODE)
    files, dimensions = experiment.files, experiment.settings.profile.holdout.dimensions
    base = _settings(experiment)
    checkpoint = experiment.checkpoint(base=str(base))
    path = files.result("holdout", experiment.name, "lc")
    models = files.models(experiment.name) / "holdout-lc"
    with experiment.record(path) as result, ProgressLine() as progress:
        networks: list[dict[str, Any]] = []
        for group in range(GROUPS):
            rows = experiment.prepared.group_rows(group, held_out=False, part="train")
            test = experiment.prepared.group_rows(group, held_out=False, part="test")
            for dimension in dimensions:
                hyper = replace(base, task_dim=dimension)
                seed = experiment.seed("train", "lc", "holdout", group, dimension)
                label = f"{experiment.name} without group {group}, {dimension} task parameters"

                def compute(
                    rows: Any = rows,
                    test: Any = test,
                    hyper: Hyperparameters = hyper,
                    seed: int = seed,
                    label: str = label,
                ) -> tuple[dict[str, Any], Trained]:
                    trained = experiment.fit(rows, "lc", hyper, seed, progress, label)
                    return experiment.outcome(trained, seed, hyper, test), trained

                name = f"{group}-{dimension}"
                outcome = checkpoint.deliver(name, compute, models)
                networks.append({"group": group, "rows": len(rows), **outcome})
        result.update(experiment.provenance(model="lc"), networks=networks)
    checkpoint.clear()


def _settings(experiment: Experiment) -> Hyperparameters:
    """Appendix C: copied from the study with 50% of the training rows."""
    path = experiment.files.result("sizes", experiment.name, "lc")
    return chosen(path, "fractions", str(SETTINGS_FROM), "search")
