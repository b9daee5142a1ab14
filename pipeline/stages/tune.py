"""tune: choose a network's hyperparameters by LIPO, on the validation part (Appendix C)."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any, get_args

from pipeline.models.network import Kind
from pipeline.search.lipo import Evaluation, best, search
from pipeline.search.log import Log
from pipeline.search.space import Box, table_6
from pipeline.search.tuning import settled, trial
from pipeline.stages.experiment import ENGINE, Checkpoint, Experiment
from pipeline.stages.progress import ProgressLine
from pipeline.training.trainer import Plan

CODE = (*ENGINE, "pipeline/search", "pipeline/stages/tune.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")
    parser.add_argument("model", choices=get_args(Kind))


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "tune", CODE)
    kind: Kind = arguments.model
    with experiment.record(experiment.files.result("tune", experiment.name, kind)) as result:
        checkpoint = experiment.checkpoint(model=kind)
        result.update(experiment.provenance(model=kind, fraction=1.0))
        with ProgressLine() as progress:
            result.update(tune(experiment, kind, 1.0, checkpoint, progress))
    checkpoint.clear()


def tune(
    experiment: Experiment,
    kind: Kind,
    fraction: float,
    checkpoint: Checkpoint,
    progress: ProgressLine,
) -> dict[str, Any]:
    """Search on a fraction of the training rows; every evaluation is kept as it comes."""
    params, budget = experiment.settings.params, experiment.settings.profile.search
    fit, validation = experiment.prepared.search_rows(fraction, params.validation)
    seed = experiment.seed("search", kind, fraction)
    box, plan = _box(experiment, kind), _plan(experiment, len(fit))
    label = f"{experiment.name} {kind} search on {fraction:.0%}"
    evaluate = trial(
        experiment.rows.take(fit),
        experiment.rows.take(validation),
        len(experiment.tasks),
        kind,
        plan,
        seed,
        experiment.device,
        progress.training(label),
    )
    log = Log(checkpoint.path(f"search-{fraction}.jsonl"))
    evaluations = search(box, evaluate, budget.evaluations, seed, log)
    return {
        "seed": seed,
        "rows": {"fit": len(fit), "validation": len(validation)},
        "plan": asdict(plan),
        "space": [asdict(dimension) for dimension in box.dimensions],
        "best": settled(best(evaluations), plan),
        "score": best(evaluations).score,
        "evaluations": [_without_time(evaluation) for evaluation in evaluations],
    }


def _plan(experiment: Experiment, rows: int) -> Plan:
    search_settings = experiment.settings.profile.search
    return experiment.plan(rows, search_settings.budget, search_settings.max_restarts)


def _box(experiment: Experiment, kind: Kind) -> Box:
    """Table 6, with the width's upper end from the profile."""
    space = experiment.settings.params.space
    low, high = space.width
    high = max(low, min(high, experiment.settings.profile.search.width_max))
    return table_6(kind, len(experiment.tasks), **{**dict(space), "width": (low, high)})


def _without_time(evaluation: Evaluation) -> dict[str, Any]:
    fields = asdict(evaluation)
    for name in ("seconds", "point"):
        del fields[name]
    return fields
