"""From what a user passes to what a network takes: features, target, rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from learned_context.columns import Columns
from learned_context.estimator.added_levels import AddedLevels
from learned_context.scaling import Scaler

SINGLE_TASK = 0
"""The label of the only task when no task is given."""
LARGEST, SMALLEST = 1e100, 1e-100
"""The square of a larger number is infinite, that of a smaller one zero."""
FARTHEST = 1e9


def task_of(x: Any, task: Any, column: str | int | None) -> tuple[Any, Any]:
    """The features and the task: passed beside them, or as a column of theirs."""
    if column is None:
        return x, task
    if task is not None:
        raise ValueError("task is passed, but task_column names a column of X: use one of them")
    if isinstance(x, pd.DataFrame):
        name: Any = column
        if isinstance(column, int) and column not in x.columns:
            name = x.columns[column] if -x.shape[1] <= column < x.shape[1] else None
        if name not in x.columns:
            raise ValueError(f"X has no column {column!r}, which task_column names")
        return x.drop(columns=name), x[name]
    if not isinstance(column, int):
        raise ValueError(f"task_column is {column!r}: a name, so X must be a DataFrame")
    values = np.asarray(x)
    if values.ndim != 2 or not -values.shape[1] <= column < values.shape[1]:
        raise ValueError(f"X has no column {column}, which task_column names")
    return np.delete(values, column, axis=1), values[:, column]


def fit_features(owner: Any, x: Any, fewest: int) -> tuple[NDArray[np.float64], Columns]:
    """Check, learn the columns, encode; sets n_features_in_ and feature_names_in_ of `owner`."""
    if isinstance(x, pd.DataFrame):
        if x.shape[1] == 0:
            raise ValueError("X has 0 feature(s) while a minimum of 1 is required")
        columns = Columns.fit(x)
        if columns.has_categories:
            validate_data(owner, x, reset=True, skip_check_array=True)
            encoded = check_array(columns.encode(x), ensure_min_samples=fewest, estimator=owner)
            return encoded, columns
        _check_numbers(x)
    found = validate_data(owner, x, reset=True, dtype=np.float64, ensure_min_samples=fewest)
    names = getattr(owner, "feature_names_in_", None)
    if names is None:
        names = [f"x{number}" for number in range(found.shape[1])]
    return found, Columns.of_numbers([str(name) for name in names])


def features(
    owner: Any, x: Any, columns: Columns, of_added: NDArray[np.bool_] | slice | None = None
) -> tuple[NDArray[np.float64], AddedLevels]:
    """Check and encode rows of a fitted estimator.

    `of_added` says which of them belong to added tasks, and so may have new levels.
    """
    added: AddedLevels = owner.added_levels_
    if not columns.has_categories:
        _check_numbers(x)
        return np.asarray(validate_data(owner, x, reset=False, dtype=np.float64)), added
    if not isinstance(x, pd.DataFrame):
        raise ValueError("X must be a DataFrame: the fitted one has columns of categories")
    validate_data(owner, x, reset=False, skip_check_array=True)
    if of_added is not None:
        added = added.with_those_of(x[of_added], columns)
    encoded = added.encode(x, columns, owner.model_.scaler.x_mean)
    return np.asarray(check_array(encoded, estimator=owner)), added


def _check_numbers(x: Any) -> None:
    """Name the column that holds text, NaN or infinity; scikit-learn names only the value."""
    if not isinstance(x, pd.DataFrame):
        return
    for name, column in x.items():
        numbers = column
        if not pd.api.types.is_numeric_dtype(column):
            try:
                numbers = column.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"column {name!r} must be numbers: {error}") from None
        if numbers.isna().any():
            raise ValueError(f"Input X contains NaN, in column {name!r}")
        if np.isinf(numbers).any():
            raise ValueError(f"Input X contains infinity, in column {name!r}")


def target(y: Any, rows: int) -> NDArray[np.float64]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    values = column_or_1d(y, warn=True)
    if values.dtype.kind in "mM":
        raise ValueError("y must be numbers, not dates or durations")
    numbers = check_array(values, ensure_2d=False, dtype=np.float64, input_name="y")
    if len(numbers) != rows:
        raise ValueError(f"y has {len(numbers)} values for {rows} rows: inconsistent lengths")
    return np.asarray(numbers)


def check_size(x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Rows to fit: their variances must be numbers."""
    for name, values in (("X", x), ("y", y)):
        if np.abs(values).max() > LARGEST:
            raise ValueError(f"{name} has values beyond {LARGEST:g}: choose another unit")
        spread = np.ptp(values, axis=0)
        if ((spread > 0) & (spread < SMALLEST)).any():
            raise ValueError(
                f"{name} has values that differ by less than {SMALLEST:g}: choose another unit"
            )


def standardised(
    x: NDArray[np.float64], y: NDArray[np.float64] | None, scaler: Scaler
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows for a fitted network; not those so far away that single precision would overflow."""
    if y is None:
        y = np.full(len(x), scaler.y_mean)
    far = np.abs(x - scaler.x_mean) > FARTHEST * scaler.x_std
    far_rows = far.any(axis=1) | (np.abs(y - scaler.y_mean) > FARTHEST * scaler.y_std)
    if far_rows.any():
        raise ValueError(
            f"row {int(np.argmax(far_rows))} has a value more than {FARTHEST:g} standard "
            "deviations away from the fitted rows; check its unit"
        )
    return scaler.x(x), scaler.y(y)
