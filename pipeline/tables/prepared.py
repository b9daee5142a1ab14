"""A prepared table as later stages read it: selections of rows, and arrays for the models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from learned_context.columns import Columns, Encoding
from learned_context.errors import UserError
from learned_context.rows import Rows
from pipeline.files import Files, open_parser
from pipeline.tables import selection
from pipeline.tables.description import TableDescription, read_description

Part = Literal["train", "test"]


@dataclass(frozen=True)
class Prepared:
    frame: pd.DataFrame
    info: TableDescription

    @classmethod
    def read(cls, files: Files, dataset: str) -> Prepared:
        table, info = files.table(dataset), read_description(files, dataset)
        frame = open_parser(table, pd.read_parquet, "parquet table")
        names = [feature.name for feature in info.features]
        orders = [f"{name}_order" for name in selection.ORDERS]
        for column in ("task", *names, "target", "part", *orders, "group", "leaked"):
            if column not in frame.columns:
                raise UserError(f"{table}: no column {column!r}; delete it and run `dvc repro`")
        return cls(frame, info)

    @property
    def tasks(self) -> list[str]:
        """The tasks' names; a task's number is its place here."""
        return list(self.info.tasks)

    @property
    def features(self) -> list[str]:
        return [feature.name for feature in self.info.features]

    def train_rows(self, fraction: float = 1.0) -> np.ndarray:
        return np.flatnonzero(selection.fraction_mask(self.frame, fraction))

    def search_rows(self, fraction: float, validation: float) -> tuple[np.ndarray, np.ndarray]:
        """The fraction's training rows, parted into those that fit and those that score."""
        rows = selection.fraction_mask(self.frame, fraction)
        scoring = selection.validation_mask(self.frame, fraction, validation)
        return np.flatnonzero(rows & ~scoring), np.flatnonzero(scoring)

    def test_rows(self) -> np.ndarray:
        return np.flatnonzero(self.frame["part"] == "test")

    def group_rows(
        self, group: int, *, held_out: bool, part: Part, share: float = 1.0
    ) -> np.ndarray:
        """Rows of the held-out group's tasks, or of all others; of training rows a share."""
        mask = (self.frame["group"].to_numpy() == group) == held_out
        in_part = (self.frame["part"] == part).to_numpy()
        if part == "train":
            counts = selection.counts_per_row(self.frame, in_part)
            in_part = selection.within(self.frame["holdout_order"].to_numpy(), counts, share)
        return np.flatnonzero(mask & in_part)

    def encode(self, frame: pd.DataFrame, categories: Encoding = "onehot") -> Rows:
        """Numbers for rows of `self.frame`: a category becomes one column a level, or its number.

        The levels are those of the whole table, so that every selection has the same columns.
        """
        return Rows(
            x=self._columns(categories).encode(frame[self.features]),
            task=_numbers(frame["task"], self.tasks),
            y=frame["target"].to_numpy(dtype=np.float64),
        )

    def encoded_names(self, categories: Encoding = "onehot") -> list[str]:
        """The names of the columns that `encode` makes."""
        return self._columns(categories).encoded_names

    def _columns(self, categories: Encoding) -> Columns:
        levels = (
            tuple(feature.categories or []) if feature.kind == "category" else None
            for feature in self.info.features
        )
        return Columns(tuple(self.features), tuple(levels), categories)


def _numbers(values: pd.Series, levels: list[str]) -> np.ndarray:
    return pd.Categorical(values.astype(str), categories=levels).codes.astype(np.int64)
