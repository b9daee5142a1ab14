"""Reading raw files strictly: text first, then checked conversion, errors that name the place.

A frame's index is the row's position in its file, and the index's name is the unit ("line",
"record", "row"), so that an error can name the place even after rows were dropped.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet

from learned_context.errors import UserError
from pipeline.datasets.table import TaskTable

AGAIN = "delete it and download it again"
LARGEST = 512 * 2**20
"""Bytes of a file, unpacked. The largest real one has 10 MB, the WHO's indicator about 100."""


def is_web_page(path: Path) -> bool:
    """A site that has moved a file often answers with a page, and status 200."""
    with path.open("rb") as file:
        start = file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head"))


def refuse_web_page(path: Path) -> None:
    if is_web_page(path):
        raise UserError(f"{path}: line 1: a web page instead of data; {AGAIN}")


def read_cells(path: Path) -> pd.DataFrame:
    """All cells of a csv file as text, header included; the index is the line in the file."""
    refuse_web_page(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UserError(f"{path}: is larger than {LARGEST // 2**20} MB; {AGAIN}")
        # Some exports end their lines with two carriage returns, which pandas takes for a blank
        # line. Text throughout: pandas would read the country code NA as missing.
        text = re.sub(r"\r+\n", "\n", content.decode("utf-8-sig"))
        cells = pd.read_csv(
            io.StringIO(text), header=None, dtype=str, keep_default_na=False, skip_blank_lines=False
        )
    except (ValueError, EOFError, OSError, zlib.error) as error:
        first_line = str(error).strip().splitlines()[0]
        raise UserError(f"{path}: not a readable csv file ({first_line}); {AGAIN}") from error
    return cells.set_axis(pd.RangeIndex(1, len(cells) + 1, name="line"))


def read_csv(path: Path, columns: Collection[str]) -> pd.DataFrame:
    """The named columns of a csv file with one header line, as text."""
    cells = read_cells(path)
    header = cells.iloc[0].tolist()
    for column in columns:
        if column not in header:
            raise UserError(
                f"{path}: line 1: no column {column!r}, found {', '.join(map(str, header[:8]))}; "
                "the file is of another edition or damaged"
            )
    places = [header.index(column) for column in columns]
    return cells.iloc[1:, places].set_axis(list(columns), axis=1)


def read_parquet(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The named columns of a parquet file."""
    try:
        table = pyarrow.parquet.read_table(path)
    except (ValueError, OSError) as error:  # pyarrow's own errors are of these kinds
        first_line = str(error).strip().splitlines()[0]
        raise UserError(f"{path}: not a readable parquet file ({first_line}); {AGAIN}") from error
    for column in columns:
        if column not in table.column_names:
            raise UserError(
                f"{path}: no column {column!r}, found {', '.join(table.column_names[:8])}; "
                "the file is of another edition or damaged"
            )
    frame = table.select(list(columns)).to_pandas(ignore_metadata=True)
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))


def spelling(path: Path, spellings: Sequence[str]) -> str:
    """The one of several spellings of a column's name that the file's header uses."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(csv.reader(file), [])
    return next((name for name in spellings if name in header), spellings[0])


def place(frame: pd.DataFrame, position: int) -> str:
    return f"{frame.index.name} {frame.index[position]}"


def numbers(
    path: Path,
    frame: pd.DataFrame,
    column: str,
    low: float = -np.inf,
    high: float = np.inf,
) -> pd.Series:
    """The column as finite float64 within [low, high]."""
    values = pd.to_numeric(frame[column], errors="coerce").astype("float64")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= low) & (values <= high)))
    if len(wrong):
        text = frame[column].iloc[wrong[0]]
        bounds = f" of at least {low:g}" if np.isinf(high) else f" from {low:g} to {high:g}"
        bounds = "" if np.isinf(low) else bounds
        raise UserError(
            f"{path}: {place(frame, wrong[0])}: {column} is {str(text)!r}, "
            f"not a number{bounds}; {AGAIN}"
        )
    return values


def codes(
    path: Path, frame: pd.DataFrame, column: str, levels: Mapping[str, str] | Collection[str]
) -> pd.Series:
    """The column's codes as the names of their levels; any other code is an error."""
    names = dict(levels) if isinstance(levels, Mapping) else {code: code for code in levels}
    values = frame[column].astype(object).map(names)
    wrong = np.flatnonzero(values.isna())
    if len(wrong):
        text = frame[column].iloc[wrong[0]]
        raise UserError(
            f"{path}: {place(frame, wrong[0])}: {column} is {str(text)!r}, "
            f"not one of {', '.join(names)}; {AGAIN}"
        )
    return values


def check_rows(path: Path, table: TaskTable, rows: int, tasks: int) -> None:
    """A cut file can parse: the counts that the edition must have reveal it."""
    for what, found, expected in (
        ("rows", len(table.frame), rows),
        ("tasks", table.frame["task"].nunique(), tasks),
    ):
        if found != expected:
            raise UserError(
                f"{path}: gives {found} {what} instead of {expected}; it is truncated or of "
                f"another edition: {AGAIN}"
            )


def check_key(path: Path, table: TaskTable) -> None:
    """No two rows may have the same key."""
    if not table.key:
        return
    key = list(table.key)
    again = np.flatnonzero(table.frame.duplicated(key))
    if len(again):
        row = table.frame.iloc[again[0]]
        shown = ", ".join(f"{column} {row[column]}" for column in key)
        raise UserError(
            f"{path}: {place(table.frame, again[0])}: a second row for {shown}; {AGAIN}"
        )
