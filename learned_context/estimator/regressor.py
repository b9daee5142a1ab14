"""`LearnedContextRegressor`: fit on many tasks once, then only handle task parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from learned_context.estimator import inputs, model_file, routing, settings
from learned_context.estimator.added_levels import AddedLevels
from learned_context.estimator.fitting import Fitting
from learned_context.estimator.labels import Labels, read_labels
from learned_context.estimator.model import Model
from learned_context.estimator.new_tasks import NewTasks
from learned_context.networks.registry import Kind
from learned_context.rows import Rows
from learned_context.training.devices import DeviceError

BLOCK_ROWS = 16384
"""Rows whose distributions are in memory at once."""


class LearnedContextRegressor(NewTasks, RegressorMixin, BaseEstimator):
    """An ensemble of networks for many related tasks; every task has a few parameters of its own.

    A small portfolio of settings, from strong to hardly any regularisation, is scored on a fifth
    of every task's rows. The settings are weighted by their errors and trained again on all rows.
    Mixed models take part, linear ones and one of smooth curves (Gaussian processes), and get their
    weight where they predict better.

    Settings
    --------
    quality : "fast", "default" or "best": how many networks, for how long.
    members : networks in the ensemble; None for what `quality` says.
    task_column : name (or number) of the column of X that holds the task, if `task` is not passed.
        With it, cross_val_predict, GridSearchCV and all others of scikit-learn work as they are.
    unknown : what `predict` does with a label that it does not know: "error", or "prior" for
        the mean over the fitted tasks, with their spread in the standard deviation.
    search : number of LIPO trials for better hyperparameters (needs the extra `search`); the best
        one joins the portfolio.
    random_state : of the initial weights, the batches and the rows held out.
    n_jobs : settings that are trained at the same time; -1 for all cores. The result is the same.
    device : "auto" (CUDA where there is one), "cpu", "cuda" or "cuda:N".
    verbose : whether to show a progress bar.

    kind : how the task enters: "lc" learned context (also "cs", "ll", "fs", "film").
    task_dim : parameters of every task; no more than there are tasks.
    optimizer : "adamw", or "sgd" for the paper's training. With optimizer="sgd" and members=1
        the training is the one of the paper's study.
    width, blocks, epochs, batch_rows, peak_rate, momentum, lambda_shared, lambda_task : of every
        network, in place of the portfolio's; None for the portfolio's or a rule by the rows.

    Features may be numbers, booleans (0 and 1) and, in a DataFrame, strings or categories. A new
    level is an error, except in rows of added tasks: there it counts as an average one. A
    feature that has one value in all fitted rows is ignored. Task labels are strings, numbers or
    booleans of one sort. Without `task` all rows are one task.

    In cross-validation a fold may hold tasks that were not fitted: set unknown="prior" there, or
    split within tasks, as `learned_context.estimator.cross_val_predict` does. GridSearchCV and
    pipelines pass `task` on after

        sklearn.set_config(enable_metadata_routing=True)
        model = LearnedContextRegressor().set_fit_request(task=True).set_score_request(task=True)
        GridSearchCV(model, {"task_dim": [2, 8]}).fit(X, y, task=wells)

    Attributes of a fitted estimator: model_, tasks_, task_parameters_, noise_std_, weights_ (what
    each setting contributes), scores_ (errors on held-out rows), hyperparameters_ of each setting,
    loss_curve_, search_results_.
    """

    model_: Model
    loss_curve_: list[float]
    weights_: pd.Series
    scores_: pd.Series

    def __init__(
        self,
        *,
        quality: Literal["fast", "default", "best"] = "default",
        members: int | None = None,
        task_column: str | int | None = None,
        unknown: Literal["error", "prior"] = "error",
        search: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
        verbose: bool | int = False,
        kind: Kind = "lc",
        task_dim: int | None = None,
        optimizer: Literal["adamw", "sgd"] = "adamw",
        width: int | None = None,
        blocks: int | None = None,
        epochs: int | None = None,
        batch_rows: int | None = None,
        peak_rate: float | None = None,
        momentum: float | None = None,
        lambda_shared: float | None = None,
        lambda_task: float | None = None,
    ) -> None:
        self.quality = quality
        self.members = members
        self.task_column = task_column
        self.unknown = unknown
        self.search = search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
        self.kind = kind
        self.task_dim = task_dim
        self.optimizer = optimizer
        self.width = width
        self.blocks = blocks
        self.epochs = epochs
        self.batch_rows = batch_rows
        self.peak_rate = peak_rate
        self.momentum = momentum
        self.lambda_shared = lambda_shared
        self.lambda_task = lambda_task

    def fit(self, X: Any, y: Any, task: Any = None) -> Self:
        """Train on rows X, y with one label a row in `task`; at least two rows."""
        given = self.get_params()
        settings.check(given)
        if task is not None:
            routing.refuse_a_search_that_cannot_score(self)
        X, task = inputs.task_of(X, task, self.task_column)
        x, columns = inputs.fit_features(self, X, fewest=2)
        target = inputs.target(y, len(x))
        inputs.check_size(x, target)
        values, sort = read_labels(inputs.SINGLE_TASK if task is None else task, len(x))
        codes, unique = pd.factorize(values, sort=True)
        rows = Rows(x, codes.astype(np.int64), target)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        device = settings.device(self.device)
        fitted = Fitting(given, len(x), len(unique), columns.indicators, seed, device).run(rows)
        self.columns_ = columns
        self.added_levels_ = AddedLevels()
        self.has_tasks_ = task is not None
        self.n_iter_ = len(fitted.losses)
        self.loss_curve_ = fitted.losses
        self.hyperparameters_ = {name: trial.hyper for name, trial in fitted.trials.items()}
        self.weights_ = pd.Series(fitted.weights, name="weight")
        self.scores_ = pd.Series(fitted.errors, name="rmse")
        self.search_results_ = pd.DataFrame(fitted.evaluations)
        self.model_ = Model(
            fitted.ensemble,
            fitted.scaler,
            Labels.of(unique.tolist(), sort),
            fitted.calibration,
        )
        return self

    def predict(
        self,
        X: Any,
        task: Any = None,
        return_std: bool = False,
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The expected target of every row and, with `return_std`, its standard deviation.

        The deviation is that of a new row: the noise, what the members disagree about, and the
        uncertainty of the task's parameters.
        """
        x, number = self._rows(X, task)
        if not return_std:
            return self.model_.original(self.model_.mean(x, number))
        found = np.empty((2, len(number)))
        for rows in _blocks(len(number)):
            found[:, rows] = self.model_.mean_and_std(x[rows], number[rows])
        return self.model_.original(found[0]), found[1] * self.model_.scaler.y_std

    def predict_interval(
        self,
        X: Any,
        task: Any = None,
        level: float = 0.95,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends between which a new row lies with probability `level`.

        Calibrated on rows, and for added tasks also on tasks, held out of a first training. Errors
        of unknown tasks are taken as normal.
        """
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level!r}")
        x, number = self._rows(X, task)
        ends = np.empty((2, len(number)))
        for rows in _blocks(len(number)):
            ends[:, rows] = self.model_.interval(x[rows], number[rows], level)
        low, high = self.model_.original(ends)
        return low, high

    def score(self, X: Any, y: Any, task: Any = None) -> float:
        """The coefficient of determination R^2 of the predictions."""
        return float(r2_score(y, self.predict(X, task)))

    @property
    def noise_std_(self) -> float:
        """The noise's standard deviation: what is left of an error if a task is known well."""
        check_is_fitted(self)
        return float(np.sqrt(self.model_.calibration.noise) * self.model_.scaler.y_std)

    def save(self, path: str | Path) -> None:
        """Write one safetensors file: arrays and JSON, nothing that could run."""
        check_is_fitted(self)
        model_file.save(Path(path), self)

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> Self:
        """Read what `save` wrote; a damaged, inconsistent or newer file is a UserError."""
        loaded = model_file.load(Path(path), cls, settings.device(device))
        return loaded.set_params(device=device)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled on the CPU: it must load where there is no GPU."""
        state: dict[str, Any] = super().__getstate__()
        if "model_" in state:
            state = {**state, "model_": state["model_"].to(torch.device("cpu"))}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            with suppress(DeviceError):  # this machine may have no GPU, or fewer
                self.model_ = self.model_.to(settings.device(self.device))

    def _rows(self, X: Any, task: Any) -> tuple[torch.Tensor, NDArray[np.int64]]:
        check_is_fitted(self)
        X, task = inputs.task_of(X, task, self.task_column)
        x, _ = inputs.features(self, X, self.columns_, self._of_added(X, task))
        if (task is not None) != self.has_tasks_:
            raise ValueError(routing.PASS_TASK if self.has_tasks_ else routing.NO_TASK)
        number = self.model_.labels.numbers(inputs.SINGLE_TASK if task is None else task, len(x))
        settings.check_choice("unknown", self.unknown)  # it may be set after the fit
        if self.unknown == "error" and (number < 0).any():
            stranger = read_labels(task, len(x))[0][int(np.argmin(number))]
            raise ValueError(self.model_.labels.unknown(stranger))
        scaled, _ = inputs.standardised(x, None, self.model_.scaler)
        return torch.from_numpy(scaled).to(self.model_.device), number

    def _of_added(self, X: Any, task: Any) -> NDArray[np.bool_] | None:
        """Which rows belong to added tasks; None if no task was added."""
        base = self.model_.base
        if task is None or len(self.model_.labels) == base or not isinstance(X, pd.DataFrame):
            return None
        return self.model_.labels.numbers(task, len(X)) >= base


def _blocks(rows: int) -> Iterator[slice]:
    for start in range(0, rows, BLOCK_ROWS):
        yield slice(start, start + BLOCK_ROWS)
