"""Features as numbers: the one place where a category becomes columns.

Three encodings by name: `number` (the place of a level in the sorted list), `onehot` (one column
of zeros and ones for every level) and `both`. The pipeline's tables and the estimator use it.

Only pandas frames have categories; booleans are 0 and 1. The levels are those of the table that
was fitted. A level that appears later has no weights, so it is an error and not a row of zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Encoding = Literal["number", "onehot", "both"]
MOST_LEVELS = 1000
"""A column with more is most often a name of the row or of the task."""
NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")


@dataclass(frozen=True)
class Columns:
    """Names of the features, the levels of each (None for a number), and their encoding."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...] | None, ...]
    encoding: Encoding = "both"

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Columns:
        return cls(tuple(names), (None,) * len(names))

    @classmethod
    def fit(cls, frame: pd.DataFrame, encoding: Encoding = "both") -> Columns:
        levels = tuple(
            _levels(frame.iloc[:, place], name)
            if _is_category(frame.iloc[:, place], name)
            else None
            for place, name in enumerate(frame.columns)
        )
        return cls(tuple(map(str, frame.columns)), levels, encoding)

    @property
    def has_categories(self) -> bool:
        return any(levels is not None for levels in self.levels)

    @property
    def encoded_names(self) -> list[str]:
        """Names of the encoded columns."""
        return [name for name, _ in self._encoded()]

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which encoded columns say by 0 or 1 whether a row has a level."""
        return np.array([indicator for _, indicator in self._encoded()], dtype=bool)

    def _encoded(self) -> Iterator[tuple[str, bool]]:
        for name, levels in zip(self.names, self.levels, strict=True):
            if levels is None or self.encoding != "onehot":
                yield name, False
            if levels is not None and self._has_indicators(levels):
                yield from ((f"{name}={level}", True) for level in levels)

    def _has_indicators(self, levels: tuple[str, ...]) -> bool:
        """The number of two levels already says all."""
        return self.encoding == "onehot" or (self.encoding == "both" and len(levels) > 2)

    def place(self, feature: str | int) -> int:
        """The place of a numeric feature among the encoded columns."""
        if isinstance(feature, str) and feature not in self.names:
            raise ValueError(f"no feature {feature!r}; there are {', '.join(self.names)}")
        number = self.names.index(feature) if isinstance(feature, str) else feature
        if not 0 <= number < len(self.names):
            raise ValueError(f"no feature {feature}; there are {len(self.names)}")
        if self.levels[number] is not None:
            raise ValueError(f"feature {self.names[number]!r} is a category, not a number")
        before = Columns(self.names[:number], self.levels[:number], self.encoding)
        return len(before.encoded_names)

    def encode(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """The rows as numbers; the frame's columns are the features, in order."""
        encoded = np.empty((len(frame), len(self.encoded_names)))
        start = 0
        for place, (name, levels) in enumerate(zip(self.names, self.levels, strict=True)):
            values = frame.iloc[:, place]
            if levels is None:
                encoded[:, start] = _numbers(values, name)
                start += 1
                continue
            code = _codes(values, name, levels)
            if self.encoding != "onehot":
                encoded[:, start] = code
                start += 1
            if self._has_indicators(levels):
                encoded[:, start : start + len(levels)] = code[:, None] == np.arange(len(levels))
                start += len(levels)
        return encoded


def _codes(values: pd.Series, name: str, levels: tuple[str, ...]) -> NDArray[np.int64]:
    texts = _texts(values, name)
    code = pd.Index(levels, dtype=object).get_indexer(pd.Index(texts)).astype(np.int64)
    if (code < 0).any():
        stranger = texts.iloc[int(np.argmin(code))]
        raise ValueError(
            f"column {name!r}: {stranger!r} is none of the fitted categories "
            f"{', '.join(map(repr, levels[:8]))}"
        )
    return np.asarray(code)


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
