"""Levels of a category that no fitted row had, but rows of an added task do.

A country of a continent that was not fitted is still a task. The networks have no weights for
such a level, so it counts as an average one: its columns hold their means over the fitted rows.
A level that was added is known from then on, in rows of all tasks. Any other unknown level in a
row of a fitted task that is predicted is an error, as it may be a typing mistake.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from learned_context.columns import Columns


@dataclass(frozen=True)
class AddedLevels:
    of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the column's name."""

    def with_those_of(self, frame: pd.DataFrame, columns: Columns) -> AddedLevels:
        """Also the unknown levels of these rows, with a warning that names them."""
        found = dict(self.of)
        for name, values, levels in _categories(frame, columns):
            known = (*levels, *found.get(name, ()))
            new = sorted(set(values.dropna().astype(str)) - set(known))
            if new:
                found[name] = (*found.get(name, ()), *new)
                warnings.warn(
                    f"column {name!r}: no fitted row has {', '.join(map(repr, new[:8]))}; "
                    "counted as an average level",
                    stacklevel=5,
                )
        return AddedLevels(found)

    def encode(
        self, frame: pd.DataFrame, columns: Columns, means: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """As `columns` does; `means` are those of the encoded columns in the fitted rows."""
        if not self.of:
            return columns.encode(frame)
        known, places = frame.copy(), np.zeros((len(frame), len(means)), dtype=bool)
        start = 0
        for number, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
            own = Columns((name,), (levels,), columns.encoding)
            width = len(own.encoded_names)
            if levels is not None and name in self.of:
                texts = frame.iloc[:, number].astype(object)
                is_added = texts.map(str).isin(self.of[name]).to_numpy()
                known.isetitem(number, texts.where(~is_added, levels[0]).to_numpy())
                places[:, start : start + width] = is_added[:, None]
            start += width
        return np.where(places, means, columns.encode(known))


def _categories(
    frame: pd.DataFrame, columns: Columns
) -> Iterator[tuple[str, pd.Series, tuple[str, ...]]]:
    for number, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
        if levels is not None:
            yield name, frame.iloc[:, number], levels
