"""What every computation gets: one dataset's rows, the settings, and how networks are trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import torch

from learned_context import metrics
from learned_context.rows import Rows
from learned_context.training.devices import choose_device
from learned_context.training.trainer import (
    Hyperparameters,
    Plan,
    Trained,
    train,
    train_members,
)
from pipeline.settings import Settings
from pipeline.studies.framework import plans
from pipeline.studies.framework.checkpoint import Checkpoint
from pipeline.studies.framework.results import ChosenSettings, PartRows, TrainingOutcome
from pipeline.studies.plumbing.progress import ProgressLine
from pipeline.tables.prepared import Prepared

O = TypeVar("O", bound=TrainingOutcome)  # noqa: E741


@dataclass(frozen=True)
class TestedTraining:
    """A trained network and its test."""

    trained: Trained
    observed: Rows
    predicted: np.ndarray


@dataclass
class Experiment:
    head: dict[str, Any]
    """What every result says first."""
    settings: Settings
    prepared: Prepared
    checkpoint: Checkpoint
    progress: ProgressLine
    upstream_network: Callable[[str], Trained]
    """A network of the study that this one builds on, by its name there."""

    @property
    def dataset(self) -> str:
        return str(self.head["dataset"])

    @property
    def model(self) -> str:
        return str(self.head["model"])

    @property
    def tasks(self) -> list[str]:
        return self.prepared.tasks

    @cached_property
    def device(self) -> torch.device:
        return choose_device(self.settings.profile.train.device)

    @cached_property
    def rows(self) -> Rows:
        return self.prepared.encode(self.prepared.frame, self.settings.params.categories)

    def seed(self, purpose: Literal["search", "train"], *parts: object) -> int:
        return plans.seed_for(self.settings, purpose, self.dataset, *parts)

    def final_plan(self, rows: int) -> Plan:
        return Plan(**plans.final_plan(self.settings, rows))

    def search_plan(self, rows: int) -> Plan:
        return Plan(**plans.search_plan(self.settings, rows))

    def scores(self, observed: Rows, predicted: np.ndarray) -> dict[str, Any]:
        """The fields of `Scored`."""
        errors = metrics.task_rmse(observed.y, predicted, observed.task, len(self.tasks))
        rmse = metrics.rmse(observed.y, predicted)
        return {
            "rmse": rmse,
            "normalised": rmse / self.prepared.info.std,
            "task_rmse": {
                name: metrics.significant(error)
                for name, error in zip(self.tasks, errors, strict=True)
                if np.isfinite(error)
            },
        }

    def train(
        self,
        name: str,
        rows: np.ndarray,
        test: np.ndarray,
        settings: ChosenSettings,
        seed: int,
        label: str,
        kind: type[O],
        model: str = "",
        trained: Trained | None = None,
        **more: Callable[[TestedTraining], Any],
    ) -> O:
        """A final training on the given rows at the profile's full budget, and its test.

        It is kept in the checkpoint by its name. `more` are the fields of the outcome that only
        one study has, as functions of the training. `trained`: the network, if it
        is there already.
        """

        def compute() -> tuple[O, Trained]:
            network = trained or train(
                *self._given(rows, settings, model or self.model),
                seed,
                self.device,
                self.progress.training(f"{self.dataset} {model or self.model} {label}".strip()),
            )
            observed = self.rows.take(test)
            training = TestedTraining(network, observed, network.predict(observed))
            outcome = kind(
                seed=seed,
                hyperparameters=settings,
                **self.scores(observed, training.predicted),
                restarts=network.restarts,
                peak_rate=network.peak_rate,
                epochs=len(network.losses),
                finished=network.finished,
                **{field: value(training) for field, value in more.items()},
            )
            return outcome, network

        return self.checkpoint.training(name, kind, compute)

    def train_again(
        self, seeds: Mapping[str, int], rows: np.ndarray, test: np.ndarray, settings: ChosenSettings
    ) -> list[TrainingOutcome]:
        """Like `train` for each of the names, with its seed.

        A GPU trains them side by side: one small network leaves it idle. A CPU core does not gain
        by that at the study's sizes (benchmarks/members.py).
        """
        side_by_side: dict[str, Trained] = {}
        missing = [name for name in seeds if not self.checkpoint.has(name)]
        if missing and self.device.type != "cpu":
            label = f"{self.dataset} {self.model} {len(missing)} trainings side by side"
            several = train_members(
                *self._given(rows, settings, self.model),
                [seeds[name] for name in missing],
                self.device,
                self.progress.training(label),
            )
            side_by_side = dict(zip(missing, several, strict=True))
        return [
            self.train(
                name,
                rows,
                test,
                settings,
                seed,
                f"training {number} of {len(seeds)}",
                TrainingOutcome,
                trained=side_by_side.get(name),
            )
            for number, (name, seed) in enumerate(seeds.items(), 1)
        ]

    def _given(
        self, rows: np.ndarray, settings: ChosenSettings, model: str
    ) -> tuple[Rows, int, str, Hyperparameters, Plan]:
        """What a training is given besides its seed."""
        hyper = Hyperparameters(**settings.model_dump())
        return self.rows.take(rows), len(self.tasks), model, hyper, self.final_plan(len(rows))

    def described(self, rows: np.ndarray, test: np.ndarray) -> dict[str, Any]:
        """The fields of a result that say what a final training was given."""
        return {
            "rows": PartRows(train=len(rows), test=len(test)),
            "plan": asdict(self.final_plan(len(rows))),
        }
