"""What an estimator does with its tasks after `fit`: add, update, list and compare them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from learned_context.estimator import inputs
from learned_context.estimator.labels import read_labels
from learned_context.training.data import Tensors

if TYPE_CHECKING:
    from learned_context.columns import Columns
    from learned_context.estimator.added_levels import AddedLevels
    from learned_context.estimator.model import Model


class NewTasks:
    """Methods of a fitted estimator; the shared network stays as it is."""

    model_: Model
    columns_: Columns
    added_levels_: AddedLevels
    has_tasks_: bool
    kind: str
    task_column: str | int | None

    def add_task(self, label: Any, X: Any, y: Any) -> Self:
        """Estimate the parameters of a task that was not fitted, from one row or more.

        The networks stay as they are. X has the features alone, without the task's column. A
        level of a category that no fitted row has counts as an average one, with a warning.
        """
        rows = self._new_rows(X, y)
        return self._add(*rows, [label] * len(rows[0]))

    def add_tasks(self, X: Any, y: Any, task: Any = None) -> Self:
        """Add many tasks at once, with one label a row: much faster than one by one."""
        check_is_fitted(self)
        X, task = inputs.task_of(X, task, self.task_column)
        if task is None:
            raise ValueError("pass task=...: one label a row")
        return self._add(*self._new_rows(X, y), task)

    def _add(
        self, x: NDArray[np.float64], target: NDArray[np.float64], levels: AddedLevels, task: Any
    ) -> Self:
        numbers = self.model_.labels.numbers(task, len(x))
        values, _ = read_labels(task, len(x))
        if (numbers >= 0).any():
            known = values[int(np.argmax(numbers))]
            raise ValueError(f"task {known!r} is already there; use update_task")
        codes, unique = pd.factorize(values, sort=True)
        labels = self.model_.labels.added(unique.tolist())
        rows = self._tensors(x, codes, target)
        self.model_ = self.model_.with_new_tasks(labels, rows)
        self.added_levels_ = levels
        return self

    def update_task(self, label: Any, X: Any, y: Any) -> Self:
        """Estimate a known task again, from these rows alone: rows are not kept, so pass all."""
        x, target, levels = self._new_rows(X, y)
        number = self._number(label)
        rows = self._tensors(x, np.zeros(len(x)), target)
        self.model_ = self.model_.with_updated_task(number, rows)
        self.added_levels_ = levels
        return self

    @property
    def tasks_(self) -> list[Any]:
        """The labels of all tasks: those fitted, then those added."""
        check_is_fitted(self)
        return self.model_.labels.tolist()

    @property
    def task_parameters_(self) -> pd.DataFrame:
        """One row a task, indexed by its label: its parameters in the main network.

        The main network is the first one of the setting with the most weight; the others have
        parameters of their own. For an added task the MAP estimate.
        """
        check_is_fitted(self)
        model = self.model_
        voice = model.ensemble.voices[model.main]
        if not voice.adapts:
            raise AttributeError(f"a network of kind {self.kind!r} has no task parameters")
        theta = model.ensemble.posteriors[model.main].means[0, :, 0]
        index = pd.Index(model.labels.values, name="task")
        return pd.DataFrame(theta, index=index, columns=voice.parameter_names)

    def nearest_tasks(self, label: Any, k: int = 5) -> pd.Series:
        """The k tasks most like this one, with their distance, nearest first.

        The distance is that of what the tasks bring to every network (the axes and scales of
        the parameters are arbitrary), in units of the fitted tasks' spread.
        """
        check_is_fitted(self)
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"k must be an integer, 1 or more, not {k!r}")
        contexts = self.model_.contexts()
        number = self._number(label)
        distance = pd.Series(
            np.linalg.norm(contexts - contexts[number], axis=1),
            index=pd.Index(self.model_.labels.values, name="task"),
            name="distance",
        )
        return distance.drop(distance.index[number]).nsmallest(int(k))

    def _number(self, label: Any) -> int:
        number = self.model_.labels.number(label)
        if number < 0:
            raise ValueError(self.model_.labels.unknown(label))
        return number

    def _new_rows(
        self,
        X: Any,
        y: Any,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], AddedLevels]:
        check_is_fitted(self)
        if not self.has_tasks_:
            raise ValueError("the estimator was fitted without task: there is no task to add to")
        named = isinstance(X, pd.DataFrame) and isinstance(self.task_column, str)
        if named and self.task_column in X.columns:
            raise ValueError(f"X has the task's column {self.task_column!r}: leave it out here")
        x, levels = inputs.features(self, X, self.columns_, of_added=slice(None))
        return x, inputs.target(y, len(x)), levels

    def _tensors(
        self, x: NDArray[np.float64], task: NDArray[Any], y: NDArray[np.float64]
    ) -> Tensors:
        device = self.model_.device
        scaled_x, scaled_y = inputs.standardised(x, y, self.model_.scaler)
        number = torch.from_numpy(task.astype(np.int64))
        return Tensors(
            torch.from_numpy(scaled_x).to(device),
            number.to(device),
            torch.from_numpy(scaled_y).to(device),
        )
