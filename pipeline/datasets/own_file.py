"""A csv or parquet file of one's own: its cells with their places, then text or numbers.

Errors speak to the file's owner: what is wrong where, and what to do about it.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from pipeline.datasets.fetch import LARGEST
from pipeline.errors import UserError

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What stands for a missing number, in capitals or not. A text is missing where it is empty."""
TEXTS = ("string", "boolean", "decimal", "empty")


def read(path: Path) -> pd.DataFrame:
    """The named columns as the file has them; the index is the place, its name the unit."""
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise UserError(f"{path}: a file that ends in {' or '.join(readers)} is needed")
    if not path.is_file():
        raise UserError(f"{path}: {'is a folder' if path.is_dir() else 'does not exist'}")
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
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start + 1} is not UTF-8 text; save it as csv in UTF-8"
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    places: list[int] = []
    rows: list[list[str]] = []
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            if any(cells):  # other lines are blank, or commas alone
                header = header or [cell.strip() for cell in cells]
                if len(cells) != len(header):
                    raise UserError(
                        f"{path}: line {line}: {len(cells)} cells under {len(header)} column names"
                    )
                places.append(line)
                rows.append(cells)
            line = reader.line_num + 1  # a quoted cell may span several
    except csv.Error as error:
        raise UserError(f"{path}: line {line}: not valid csv ({error})") from error
    if not rows:
        raise UserError(f"{path}: is empty")
    if len(header) == 1 and (other := next((mark for mark in ";\t" if mark in header[0]), "")):
        raise UserError(f"{path}: line 1: {other!r} between the cells; save it with commas")
    index = pd.Index(places[1:], name="line")
    frame = pd.DataFrame(rows[1:], index=index, columns=header, dtype=object)
    return frame.loc[:, [name != "" for name in header]]  # a frame's index has no name


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        table = pa.parquet.ParquetFile(path).read()
        # Whole numbers stay whole beside missing ones: a task 7 shall not be called 7.0.
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
    """The column as text without surrounding blanks; None where nothing stands."""
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
    numbers = pd.to_numeric(text.mask(missing), errors="coerce").astype("float64")
    return numbers, np.flatnonzero(numbers.isna() & ~missing)
