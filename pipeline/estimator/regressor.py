"""`LearnedContextRegressor`: fit on many tasks once, then only handle task parameters."""

from __future__ import annotations

from collections.abc import Iterator
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

from pipeline.estimator import fitting, inputs, model_file, settings
from pipeline.estimator.labels import Labels, read_labels
from pipeline.estimator.model import Model
from pipeline.estimator.new_tasks import NewTasks
from pipeline.models.network import Kind
from pipeline.tables.rows import Rows
from pipeline.training.data import Tensors

BLOCK_ROWS = 16384
"""Rows whose distributions are in memory at once."""


class LearnedContextRegressor(NewTasks, RegressorMixin, BaseEstimator):
    """One network for many related tasks; every task has a few parameters of its own.

    Settings
    --------
    kind : "lc" learned context; "cs" context sensitive, "ll" last layer, "fs" fully shared.
    task_dim : task parameters of every task (lc, ll); no more than there are tasks.
    width, blocks : units of a layer, residual blocks.
    peak_rate, momentum : of the gradient descent; a rate that diverges is lowered by itself.
    lambda_shared, lambda_task : penalties on the squared shared and task parameters.
    epochs, batch_rows : None for a rule by the number of rows, of about 3000 steps.
    search : so many settings are tried by LIPO on a part held out, next to the given ones.
    unknown : what `predict` does with a label that it does not know: "error", or "prior" for
        the mean over the fitted tasks, with their spread in the standard deviation.
    random_state : of the initial weights, the batches and the parts held out.
    device : "auto", "cpu" or "cuda".

    Features may be numbers, booleans (0 and 1) and, in a DataFrame, strings or categories (a new
    level is an error). A feature that has one value in all fitted rows is ignored. Task labels
    are strings, numbers or booleans of one sort. Without `task` all rows are one task. The noise
    is the error on a tenth of the rows, held out from a first training, and at most the target's
    variance; then the network is trained on all rows. In cross-validation
    a fold may hold tasks that were not fitted: set unknown="prior" there, or split within tasks.
    GridSearchCV and pipelines pass `task` on if they are told to, as scikit-learn has it:

        sklearn.set_config(enable_metadata_routing=True)
        model = LearnedContextRegressor().set_fit_request(task=True).set_score_request(task=True)
        GridSearchCV(model, {"width": [32, 64]}).fit(X, y, task=wells)
    """

    model_: Model
    loss_curve_: list[float]

    def __init__(
        self,
        *,
        kind: Kind = "lc",
        task_dim: int = 6,
        width: int = 64,
        peak_rate: float = 0.1,
        lambda_shared: float = 0.0,
        lambda_task: float = 1e-3,
        epochs: int | None = None,
        batch_rows: int | None = None,
        blocks: int = 2,
        momentum: float = 0.7,
        search: int = 0,
        unknown: Literal["error", "prior"] = "error",
        random_state: int | np.random.RandomState | None = None,
        device: str = "auto",
    ) -> None:
        self.kind = kind
        self.task_dim = task_dim
        self.width = width
        self.peak_rate = peak_rate
        self.lambda_shared = lambda_shared
        self.lambda_task = lambda_task
        self.epochs = epochs
        self.batch_rows = batch_rows
        self.blocks = blocks
        self.momentum = momentum
        self.search = search
        self.unknown = unknown
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any, task: Any = None) -> Self:
        """Train on rows X, y with one label a row in `task`; at least two rows."""
        chosen = self.get_params()
        settings.check(chosen)
        x, columns = inputs.fit_features(self, X, fewest=2)
        target = inputs.target(y, len(x))
        inputs.check_size(x, target)
        values, sort = read_labels(inputs.SINGLE_TASK if task is None else task, len(x))
        codes, unique = pd.factorize(values, sort=True)
        rows = Rows(x, codes.astype(np.int64), target)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        device = settings.device(self.device)
        fitted = fitting.fit(rows, len(unique), self.kind, chosen, seed, device)
        trained = fitted.trained
        self.columns_ = columns
        self.has_tasks_ = task is not None
        self.n_iter_ = len(trained.losses)
        self.loss_curve_ = trained.losses
        self.hyperparameters_ = fitted.hyper
        self.search_results_ = pd.DataFrame(
            [{**trial.settings, "score": trial.score} for trial in fitted.evaluations]
        )
        labels = Labels.of(unique.tolist(), sort)
        network = trained.network
        model = Model(network, trained.scaler, fitted.noise, labels, network, None)
        self.model_ = model.with_fitted_posterior(Tensors.of(rows, trained.scaler, device))
        return self

    def predict(
        self,
        X: Any,
        task: Any = None,
        return_std: bool = False,
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The expected target of every row and, if asked for, its standard deviation.

        For an added task whose rows leave several modes, the mean over the modes. The deviation
        is that of a new row: the noise and the uncertainty of the task's parameters.
        """
        x, number = self._rows(X, task)
        mean = self.model_.original(self.model_.mean(x, number))
        if not return_std:
            return mean
        std = np.empty(len(mean))
        for rows in _blocks(number):
            std[rows] = self.model_.prediction(x[rows], number[rows]).std
        return mean, std * self.model_.scaler.y_std

    def predict_interval(
        self,
        X: Any,
        task: Any = None,
        level: float = 0.95,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends between which a new row lies with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level!r}")
        x, number = self._rows(X, task)
        ends = np.empty((2, len(number)))
        for rows in _blocks(number):
            ends[:, rows] = self.model_.prediction(x[rows], number[rows]).interval(level)
        low, high = self.model_.original(ends)
        return low, high

    def score(self, X: Any, y: Any, task: Any = None) -> float:
        """The coefficient of determination R^2 of the predictions."""
        return float(r2_score(y, self.predict(X, task)))

    @property
    def noise_std_(self) -> float:
        """The standard deviation of a new row of a fitted task, measured on rows held out."""
        check_is_fitted(self)
        return float(np.sqrt(self.model_.noise) * self.model_.scaler.y_std)

    def save(self, path: str | Path) -> None:
        """Write one safetensors file: arrays and JSON, nothing that could run."""
        check_is_fitted(self)
        model_file.save(Path(path), self)

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> Self:
        """Read what `save` wrote; a damaged or newer file is a UserError."""
        loaded = model_file.load(Path(path), cls, settings.device(device))
        return loaded.set_params(device=device)

    def _rows(self, X: Any, task: Any) -> tuple[torch.Tensor, NDArray[np.int64]]:
        check_is_fitted(self)
        x = inputs.features(self, X, self.columns_)
        if (task is not None) != self.has_tasks_:
            raise ValueError(
                "pass task=..., as in fit; scikit-learn's searches and pipelines do so after "
                "set_fit_request and set_score_request (the class's help shows how)"
                if self.has_tasks_
                else "fitted without task: leave it out here too"
            )
        number = self.model_.labels.numbers(inputs.SINGLE_TASK if task is None else task, len(x))
        if self.unknown == "error" and (number < 0).any():
            stranger = read_labels(task, len(x))[0][int(np.argmin(number))]
            raise ValueError(self.model_.labels.unknown(stranger))
        device = self.model_.network.flat.device
        scaled, _ = inputs.standardised(x, None, self.model_.scaler)
        return torch.from_numpy(scaled).to(device), number


def _blocks(number: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Places of rows whose tasks are all known or all not, a limited number at once."""
    for places in (np.flatnonzero(number >= 0), np.flatnonzero(number < 0)):
        for start in range(0, len(places), BLOCK_ROWS):
            yield places[start : start + BLOCK_ROWS]
