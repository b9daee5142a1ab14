"""Task labels: what a label may be, and its number.

Labels are strings, numbers or booleans, all of one sort. In a list of "7" and 7 one of them is
most often a mistake, so mixed labels are refused rather than converted.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Sort = Literal["string", "number", "boolean"]
SORTS: dict[str, Sort] = {
    "string": "string",
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "boolean": "boolean",
}
DTYPES: dict[Sort, Any] = {"string": object, "number": None, "boolean": bool}
SHOWN = 3
"""How many labels an error message names."""


@dataclass(frozen=True)
class Labels:
    """The tasks' labels; a task's number is its place here."""

    values: pd.Index
    sort: Sort

    @classmethod
    def of(cls, values: Sequence[Any], sort: Sort) -> Labels:
        return cls(pd.Index(list(values), dtype=DTYPES[sort]), sort)

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        """Plain Python values."""
        return list(self.values.tolist())

    def numbers(self, task: Any, rows: int) -> NDArray[np.int64]:
        """The number of every row's task, -1 for a label that is not known."""
        given, sort = read_labels(task, rows)
        if sort != self.sort:
            raise ValueError(
                f"the task labels are {sort}s, but those of the fitted tasks are {self.sort}s, "
                f"as {_listed(self.tolist()[:SHOWN])}"
            )
        return np.asarray(self.values.get_indexer(given), dtype=np.int64)

    def number(self, label: Any) -> int:
        """The number of one label, -1 if it is not known."""
        return int(self.numbers([label], 1)[0])

    def added(self, values: Sequence[Any]) -> Labels:
        return Labels.of([*self.tolist(), *values], self.sort)

    def unknown(self, label: Any) -> str:
        """What to say of a label that is not known: it, and the known ones most like it."""
        label = label.item() if isinstance(label, np.generic) else label
        return (
            f"task {label!r} is not known; known labels like it: {_listed(self._like(label))}. "
            "Add it with add_task, or predict it with unknown='prior'"
        )

    def _like(self, label: Any) -> list[Any]:
        known = self.tolist()
        if self.sort == "string":
            return difflib.get_close_matches(str(label), known, SHOWN, 0.0)
        return sorted(known, key=lambda other: abs(float(other) - float(label)))[:SHOWN]


def read_labels(task: Any, rows: int) -> tuple[pd.Index, Sort]:
    """Check one label a row; a single label stands for all rows."""
    if isinstance(task, str | bool | int | float | np.generic):
        task = [task] * rows
    if isinstance(task, pd.DataFrame) and task.shape[1] == 1:
        task = task.iloc[:, 0]
    if isinstance(getattr(task, "dtype", None), pd.CategoricalDtype):
        task = np.asarray(task)
    if not isinstance(task, Iterable):
        raise ValueError(
            f"task must be one label a row, or a string, number or boolean for all, not {task!r}"
        )
    # A list goes to pandas as it is: numpy would turn [1, "a"] into two strings.
    values: Any = task if hasattr(task, "dtype") else list(task)
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"task must have one dimension, not {values.ndim}")
    if len(values) != rows:
        raise ValueError(f"task has {len(values)} labels for {rows} rows")
    found = pd.api.types.infer_dtype(values, skipna=False) if rows else "string"
    if found in SORTS and not pd.isna(np.asarray(values)).any():
        sort = SORTS[found]
        index = pd.Index(values, dtype=DTYPES[sort])
        if sort != "number" or np.isfinite(index.to_numpy(dtype=np.float64)).all():
            return index, sort
        raise ValueError("a task label is infinite")
    if found in SORTS or pd.isna(pd.Series(values, dtype=object)).any():
        raise ValueError("a task label is missing (NaN or None)")
    types = sorted({type(value).__name__ for value in values})
    raise ValueError(
        "task labels must be all strings, all numbers or all booleans, not "
        f"{' and '.join(types)}; convert them, for example with .astype(str)"
    )


def _listed(labels: Sequence[Any]) -> str:
    return ", ".join(map(repr, labels))
