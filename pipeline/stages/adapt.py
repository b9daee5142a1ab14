"""adapt: every held-out task's parameters by MAP, the shared network frozen (Table 5)."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from pipeline.adaptation.gauss_newton import Effort
from pipeline.adaptation.study import Adapted, HeldOut
from pipeline.stages.experiment import ENGINE, Experiment, read_result
from pipeline.tables import metrics
from pipeline.tables.selection import GROUPS
from pipeline.training.storage import load_network

CODE = (*ENGINE, "pipeline/adaptation", "pipeline/search/solver.py", "pipeline/stages/adapt.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset")


def run(arguments: argparse.Namespace) -> None:
    experiment = Experiment(arguments.dataset, "adapt", CODE)
    budget = experiment.settings.profile.holdout
    holdout = experiment.files.result("holdout", experiment.name, "lc")
    networks = read_result(holdout, "networks")
    checkpoint = experiment.checkpoint(networks=networks)
    path = experiment.files.result("adapt", experiment.name, "lc")
    with experiment.record(path) as result:
        groups = [_tasks(experiment, group) for group in range(GROUPS)]
        fits: list[dict[str, Any]] = []
        for entry in networks:
            group, dimension = entry["group"], entry["hyperparameters"]["task_dim"]
            held_out = _open(experiment, group, dimension, entry["rmse"], groups)
            for share in budget.shares:
                compute = partial(_adapt, experiment, held_out, group, dimension, share)
                fits.append(checkpoint.keep(f"{group}-{dimension}-{share}", compute))
        names = [[experiment.tasks[number] for number in numbers] for numbers in groups]
        result.update(
            experiment.provenance(model="lc"),
            settings=budget.model_dump(mode="json"),
            groups=names,
            fits=fits,
        )
    checkpoint.clear()


def _tasks(experiment: Experiment, group: int) -> np.ndarray:
    rows = experiment.prepared.group_rows(group, held_out=True, part="train")
    return np.unique(experiment.rows.task[rows])


def _open(
    experiment: Experiment, group: int, dimension: int, rmse: float, groups: list[np.ndarray]
) -> HeldOut:
    folder = experiment.files.models(experiment.name) / "holdout-lc"
    trained = load_network(folder / f"{group}-{dimension}.safetensors")
    base = np.concatenate([tasks for number, tasks in enumerate(groups) if number != group])
    # s^2 is the base group's test error variance; the network works in standardised units.
    noise = (rmse / trained.scaler.y_std) ** 2
    return HeldOut(trained, base, groups[group], noise)


def _adapt(
    experiment: Experiment, held_out: HeldOut, group: int, dimension: int, share: float
) -> dict[str, Any]:
    """Both estimators on the same rows of the same tasks."""
    budget, prepared = experiment.settings.profile.holdout, experiment.prepared
    rows = experiment.rows.take(
        prepared.group_rows(group, held_out=True, part="train", share=share)
    )
    test = experiment.rows.take(prepared.group_rows(group, held_out=True, part="test"))
    seed = experiment.seed("train", "adapt", group, dimension, share)
    effort = Effort(**budget.gauss_newton.model_dump(), seed=seed)
    fits = {"gauss_newton": held_out.by_gauss_newton(rows, test, effort)}
    if share in budget.lipo.shares:
        fits["lipo"] = held_out.by_lipo(rows, test, budget.lipo.evaluations, seed)
    return {
        "group": group,
        "task_dim": dimension,
        "share": share,
        "rows": len(rows),
        **{name: _summary(adapted) for name, adapted in fits.items()},
    }


def _summary(adapted: Adapted) -> dict[str, Any]:
    return {
        "rmse": adapted.rmse,
        "task_rmse": [
            metrics.significant(error, 5) if np.isfinite(error) else None
            for error in adapted.task_rmse
        ],
        "objective": [metrics.significant(value, 6) for value in adapted.objective],
    }
