"""A user's csv or parquet file: its cells with their places, then text or numbers.

Spreadsheets export csv as their country writes numbers: with semicolons between the cells, a comma
is the decimal mark. Errors speak to the file's owner: what is wrong where, and what to do about it.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from learned_context.errors import UserError
from pipeline.datasets.reading import LARGEST

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Texts that mean a missing number, in capitals or not. A missing text is an empty cell."""
TEXTS = ("string", "boolean", "decimal", "empty")
MOST_CELLS = 100_000_000
"""A parquet file of a few bytes can hold one value a billion times."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def read(path: Path) -> pd.DataFrame:
    """The named columns as the file has them; the index is the place, its name the unit.

    `frame.attrs` has the character between the cells, and the numbers of columns without a name.
    """
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise UserError(f"{path}: a file that ends in {' or '.join(readers)} is needed")
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not a regular file"
        raise UserError(f"{path}: {what if path.exists() else 'does not exist'}")
    size = path.stat().st_size
    if not 0 < size <= LARGEST:
        what = f"is larger than {LARGEST // 2**20} MB" if size else "is empty"
        raise UserError(f"{path}: {what}")
    try:
        frame = readers[path.suffix.lower()](path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from error
    names = list(frame.columns)
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{path}: two columns are called {name!r}; rename one of them")
    if frame.empty:
        raise UserError(f"{path}: holds no rows")
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        raise UserError(f"{path}: is packed with gzip; unpack it first")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start + 1} is not UTF-8 text; save it as csv in UTF-8"
        ) from error
    stream = io.StringIO(text, newline="")
    delimiter, line = _delimiter(stream)
    skipped = line - 1
    reader = csv.reader(stream, delimiter=delimiter, strict=True, skipinitialspace=True)
    places: list[int] = []
    rows: list[list[str]] = []
    header: list[str] = []
    try:
        for cells in reader:
            if any(cells):  # other lines are blank, or delimiters alone
                header = header or [cell.strip() for cell in cells]
                if len(cells) != len(header):
                    raise UserError(
                        f"{path}: line {line}: {len(cells)} cells under {len(header)} column names"
                    )
                places.append(line)
                rows.append(cells)
            line = skipped + reader.line_num + 1  # a quoted cell may span several
    except csv.Error as error:
        raise UserError(f"{path}: line {line}: not valid csv ({error})") from error
    if not rows:
        raise UserError(f"{path}: is empty")
    index = pd.Index(places[1:], name="line")
    frame = pd.DataFrame(rows[1:], index=index, columns=header, dtype=object)
    frame = frame.loc[:, [name != "" for name in header]]  # such as a frame's index
    unnamed = [number for number, name in enumerate(header, 1) if not name]
    frame.attrs.update(delimiter=delimiter, unnamed=unnamed)
    return frame


def _delimiter(stream: io.StringIO) -> tuple[str, int]:
    """The character between the cells, and the first line to read: spreadsheets may name it."""
    first = stream.readline()
    if told := re.fullmatch(r'"?sep=(.)"?\s*', first):
        return told[1], 2
    stream.seek(0)
    head = re.sub(
        r'"[^"]*"', "", next((line for line in io.StringIO(stream.getvalue()) if line.strip()), "")
    )
    counts = {mark: head.count(mark) for mark in ";\t,"}
    return max(counts, key=lambda mark: counts[mark]) if any(counts.values()) else ",", 1


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        with pa.parquet.ParquetFile(path) as file:
            about = file.metadata
            unpacked = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
            if about.num_rows * about.num_columns > MOST_CELLS or unpacked > LARGEST:
                raise UserError(
                    f"{path}: unpacked, it is larger than {MOST_CELLS} cells or "
                    f"{LARGEST // 2**20} MB"
                )
            table = file.read()
        # Whole numbers stay whole beside missing ones: a task 7 must not become 7.0.
        frame = table.to_pandas(ignore_metadata=True, types_mapper=_whole_numbers)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: not a readable parquet file ({first_line})") from error
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))


def _whole_numbers(kind: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
    if pa.types.is_integer(kind):
        return pd.UInt64Dtype() if pa.types.is_unsigned_integer(kind) else pd.Int64Dtype()
    return None


def as_text(path: Path, raw: pd.DataFrame, name: str) -> pd.Series:
    """The column as text without surrounding blanks; None for an empty cell."""
    values = raw[name]
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        values = values.astype(object)
        found = pd.api.types.infer_dtype(values, skipna=True)
        if found not in TEXTS:
            raise UserError(
                f"{path}: column {name!r} holds {found} values; make them numbers or text"
            )
    text = values.map(lambda value: str(value).strip(), na_action="ignore").astype(object)
    return text.where(values.notna() & (text != ""), None)


def as_numbers(path: Path, raw: pd.DataFrame, name: str) -> tuple[pd.Series, np.ndarray]:
    """The column as float64, NaN where missing, and the positions of what is no number."""
    values = raw[name]
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return values.astype("Float64").astype("float64"), np.array([], dtype=int)
    text = as_text(path, raw, name)
    if isinstance(values.dtype, pd.CategoricalDtype):  # a parquet file can say so, of codes too
        return pd.Series(np.nan, raw.index), np.flatnonzero(text.notna())
    missing = text.isna() | text.str.lower().isin(MISSING)
    if has_decimal_commas(text) and raw.attrs.get("delimiter", ",") != ",":
        text = text.str.replace(",", ".", regex=False)
    numbers = pd.to_numeric(text.mask(missing), errors="coerce").astype("float64")
    return numbers, np.flatnonzero(numbers.isna() & ~missing)


def has_decimal_commas(text: pd.Series) -> bool:
    """Whether some values are numbers only if a comma is the decimal mark, and none has a point."""
    values = text.dropna().astype(str)
    comma = values.str.contains(",", regex=False)
    return bool(
        comma.any()
        and values[comma].str.fullmatch(DECIMAL_COMMA).all()
        and not values.str.fullmatch(r"[+-]?\d*\.\d+").any()
    )
