"""The features as numbers: a column of strings or categories becomes a few columns.

Only pandas frames have such columns; everything else must be numbers. Booleans are 0 and 1.
Levels are rows of the cosine basis, a rotation of the one-hot code: all columns are standardised
later, which makes a level that few rows have enormous in a column of its own, and less so in
columns that it shares with frequent ones. The levels are those of the rows that were fitted: a
level that appears later has no weights, so it is an error and not a row of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MOST_LEVELS = 1000
"""A column with more is most often a name of the row or of the task."""
NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")


@dataclass(frozen=True)
class Columns:
    """Names of the features, and the levels of each; None for a number."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def of_numbers(cls, count: int) -> Columns:
        return cls(tuple(f"x{index}" for index in range(count)), (None,) * count)

    @classmethod
    def fit(cls, frame: pd.DataFrame) -> Columns:
        levels = tuple(
            _levels(frame.iloc[:, place], name)
            if _is_category(frame.iloc[:, place], name)
            else None
            for place, name in enumerate(frame.columns)
        )
        return cls(tuple(map(str, frame.columns)), levels)

    @property
    def has_categories(self) -> bool:
        return any(levels is not None for levels in self.levels)

    @property
    def encoded(self) -> int:
        """How many columns the network sees."""
        return sum(1 if levels is None else max(1, len(levels) - 1) for levels in self.levels)

    def place(self, feature: str | int) -> int:
        """Where a numeric feature stands among the encoded columns."""
        if isinstance(feature, str) and feature not in self.names:
            raise ValueError(f"no feature {feature!r}; there are {', '.join(self.names)}")
        number = self.names.index(feature) if isinstance(feature, str) else feature
        if not 0 <= number < len(self.names):
            raise ValueError(f"no feature {feature}; there are {len(self.names)}")
        if self.levels[number] is not None:
            raise ValueError(f"feature {self.names[number]!r} is a category, not a number")
        return Columns(self.names[:number], self.levels[:number]).encoded

    def encode(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        encoded = np.empty((len(frame), self.encoded))
        start = 0
        for place, (name, levels) in enumerate(zip(self.names, self.levels, strict=True)):
            values = frame.iloc[:, place]
            if levels is None:
                encoded[:, start] = _numbers(values, name)
                start += 1
                continue
            code = pd.Index(levels, dtype=object).get_indexer(pd.Index(_texts(values, name)))
            if (code < 0).any():
                stranger = _texts(values, name).iloc[int(np.argmin(code))]
                raise ValueError(
                    f"column {name!r}: {stranger!r} is none of the fitted categories "
                    f"{', '.join(map(repr, levels[:8]))}"
                )
            waves = _waves(code, len(levels))
            encoded[:, start : start + waves.shape[1]] = waves
            start += waves.shape[1]
        return encoded


def _waves(code: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    """The cosine basis (DCT-II) without its constant, at the level of every row.

    As a matrix of all levels its columns are orthonormal. A single level is a column of zeros.
    """
    if levels == 1:
        return np.zeros((len(code), 1))
    wave = np.arange(1, levels)
    return np.sqrt(2 / levels) * np.cos(np.pi * (code[:, None] + 0.5) * wave / levels)


def _levels(values: pd.Series, name: Any) -> tuple[str, ...]:
    found = _texts(values, name).unique()
    if len(found) > MOST_LEVELS:
        raise ValueError(
            f"column {name!r} has {len(found)} categories, more than {MOST_LEVELS}: leave it out, "
            "or pass it as task"
        )
    return tuple(sorted(found))


def _is_category(values: pd.Series, name: Any) -> bool:
    if isinstance(values.dtype, pd.CategoricalDtype):
        return True
    found = pd.api.types.infer_dtype(values, skipna=True)
    if found in ("string", "empty") and not pd.api.types.is_numeric_dtype(values.dtype):
        return True
    if found in NUMBERS:
        return False
    raise ValueError(f"column {name!r} holds {found} values: make them numbers or strings")


def _numbers(values: pd.Series, name: str) -> NDArray[np.float64]:
    try:
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} must be numbers, as when it was fitted") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"Input X contains NaN or infinity, in column {name!r}")
    return np.asarray(numbers)


def _texts(values: pd.Series, name: Any) -> pd.Series:
    """Levels as strings, so that 1 in a category and "1" read from a file are one."""
    if values.isna().any():
        raise ValueError(f"Input X contains NaN, in column {name!r}: make it a level of its own")
    return values.astype(str).astype(object)
