"""A file of one's own: what is read, and what is said of a file that cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from pipeline.datasets import own, own_file, splits
from pipeline.settings import DatasetKeys
from tests.datasets.damage import error

LINES = [
    "well,x,valve,flow",
    *(f"w{n % 3},{n},{'open' if n % 2 else 'shut'},{n * n}" for n in range(30)),
]


def keys(**changes: object) -> DatasetKeys:
    given = {"task": "well", "target": "flow", "features": ("x", "valve"), "train_share": 0.8}
    return DatasetKeys(edition="own", **given | changes)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "wells.csv", LINES)


def write(path: Path, lines: list[str], encoding: str = "utf-8") -> Path:
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def test_numbers_and_text_become_a_table(file: Path) -> None:
    table = own.parse(keys(), file)
    assert [(feature.name, feature.kind) for feature in table.features] == [
        ("x", "number"),
        ("valve", "category"),
    ]
    assert table.frame.columns.tolist() == ["task", "x", "valve", "target"]
    assert table.frame["task"].unique().tolist() == ["w0", "w1", "w2"]
    assert table.frame["x"].dtype == table.frame["target"].dtype == np.float64
    assert (table.task, table.target, len(table.frame)) == ("well", "flow", 30)


def test_a_frame_written_in_either_format_is_the_same_table(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "well": [7, 8, 9] * 10,
            "x": np.linspace(0, 1, 30),
            "valve": [True, False] * 15,
            "flow": np.arange(30),
        }
    )
    frame.to_csv(tmp_path / "wells.csv")  # with the index, a column without a name
    frame.to_parquet(tmp_path / "wells.parquet")
    tables = [own.parse(keys(), tmp_path / f"wells.{kind}") for kind in ("csv", "parquet")]
    one, other = (table.frame.reset_index(drop=True) for table in tables)
    pd.testing.assert_frame_equal(one, other)
    assert one["task"].unique().tolist() == ["7", "8", "9"]
    assert tables[0].features == tables[1].features


@pytest.mark.parametrize("hole", ["", " ", "NA", "NaN", "null"])
def test_rows_without_a_number_are_left_out(tmp_path: Path, hole: str) -> None:
    lines = [*LINES, f"w1,{hole},open,1", f"w2,1,open,{hole}", "w2,1,,1", ",1,open,1", "", ",,,"]
    path = write(tmp_path / "wells.csv", lines)
    assert len(own.typed(path, own_file.read(path), keys())) == 34
    assert len(own.parse(keys(), path).frame) == 30


def test_a_parquet_file_may_have_missing_values_and_its_own_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "well": pd.array([1, 2, 3, None, 3], dtype="Int64"),
            "x": [1.0, 2.0, 3.0, 4.0, None],
            "valve": pd.Categorical(["1", "2", "1", "1", "1"]),
            "flow": range(5),
        }
    )
    frame.to_parquet(tmp_path / "wells.parquet")
    table = own.parse(keys(), tmp_path / "wells.parquet")
    assert table.frame["task"].tolist() == ["1", "2", "3"]
    assert table.features[1].kind == "category"


def test_quotes_bytes_and_line_ends_of_spreadsheets(tmp_path: Path) -> None:
    lines = [line.replace("w0", '"w,""0""\r\nend"') for line in LINES]
    path = tmp_path / "wells.csv"
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert set(own.parse(keys(), path).frame["task"]) == {'w,"0"\r\nend', "w1", "w2"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is empty"),
        (LINES[:1], "holds no rows"),
        ([*LINES, "w1,1,open"], "line 32: 3 cells under 4 column names"),
        ([*LINES, 'w1,1,"op\nen",x1'], "line 32: flow is 'x1': not a number; correct it, or"),
        ([*LINES, "w1,1,open,inf"], "line 32: flow is 'inf': numbers up to 1e+100 are needed"),
        ([*LINES, "w1,1e300,open,1"], "line 32: x is '1e300': numbers up to 1e+100 are needed"),
        ([*LINES, 'w1,1,"open,3'], "line 32: not valid csv (unexpected end of data)"),
        (["well,x,x,flow", *LINES[1:]], "two columns are called 'x'; rename one of them"),
        (["well,y,valve,flow", *LINES[1:]], "no column 'x'; there are well, y, valve, flow"),
        ([*LINES, 'w1,1,open,"3,5"'], "line 32: flow is '3,5': not a number; correct it, with a"),
        ([*LINES[:1], *LINES[1::3]], "1 tasks in column 'well'; at least 3 are needed"),
        (
            [*LINES[:1], *LINES[1::3], *(f",{n},open,1" for n in range(9)), "w1,,open,1"],
            "1 tasks in column 'well'; at least 3 are needed, the hold-out study divides them into "
            "three groups; rows left out, because a value is missing: 10 (well 9, x 1)",
        ),
        ([*LINES[:1], "a,,open,1", "b,,open,2"], "no row has a value in every column; 'x' lacks"),
        (
            [LINES[0], *(f"w{n % 3},{n},t{n},{n}" for n in range(101))],
            "column 'valve' is text (line 2: valve is 't0') with 101 different values",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, lines: list[str], message: str) -> None:
    path = write(tmp_path / "wells.csv", lines)
    if not lines:
        path.write_text("")
    assert error(lambda: own.parse(keys(), path)).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "well"}, "column 'well' is named twice; task, target and features differ"),
        ({"features": ("x", "x")}, "column 'x' is named twice"),
        ({"features": ("x", "flow")}, "column 'flow' is named twice"),
        ({"features": ("z",)}, "no column 'z'; there are well, x, valve, flow"),
        ({"target": "valve", "features": ("x",)}, "line 2: valve is 'shut': not a number"),
    ],
)
def test_columns_have_one_role(file: Path, changes: dict[str, object], message: str) -> None:
    assert error(lambda: own.parse(keys(**changes), file)).startswith(f"{file}: {message}")


def test_names_of_the_prepared_table_are_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "wells.csv", ["well,group,valve,flow", *LINES[1:]])
    found = error(lambda: own.parse(keys(features=("group",)), path))
    assert found.startswith(f"{path}: column 'group' cannot be a feature")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("wells.parquet", b"PAR1 and no more", "not a readable parquet file ("),
        ("wells.csv", "flöde".encode("latin-1"), "byte 3 is not UTF-8 text; save it as csv"),
        ("wells.csv", gzip.compress(b"well,x", mtime=0), "is packed with gzip; unpack it first"),
        ("wells.xlsx", b"PK", "a file that ends in .csv or .parquet is needed"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    found = error(lambda: own.parse(keys(), tmp_path / name))
    assert found.startswith(f"{tmp_path / name}: {message}")


def test_dates_are_neither_numbers_nor_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"well": list("abc"), "x": pd.date_range("2020", periods=3), "flow": 1.0})
    frame.to_parquet(tmp_path / "wells.parquet")
    found = error(lambda: own.parse(keys(features=("x",)), tmp_path / "wells.parquet"))
    assert found.endswith("column 'x' holds datetime values; make them numbers or text")


@pytest.mark.parametrize(
    ("rows", "share", "message"),
    [
        ([("abc"[n % 3], n, n) for n in range(6)], 0.8, "0 of 6 rows are for testing, and one of"),
        ([("abc"[n % 3], n, 1) for n in range(30)], 0.8, "flow has one value in all training rows"),
        ([("abc"[n % 3], f"t{n}", n) for n in range(12)], 0.5, "6 training rows for 12 columns"),
        ([("abc"[n % 3], n, 5 - 2 * n) for n in range(30)], 0.8, "x is perfectly correlated with"),
        ([("abc"[n % 3], f"t{n % 2}", n % 2) for n in range(30)], 0.8, "flow is a sum of the feat"),
    ],
)
def test_a_split_must_leave_every_study_its_rows(
    tmp_path: Path, rows: list[tuple], share: float, message: str
) -> None:
    lines = ["well,x,flow", *(",".join(map(str, row)) for row in rows)]
    chosen = keys(features=("x",), train_share=share)
    table = own.parse(chosen, write(tmp_path / "wells.csv", lines))
    frame = splits.split(table.frame, ["x"], own.split_rule(chosen), 2, "wells")
    found = error(lambda: own.check_split("wells.csv", table, frame))
    assert found.startswith(f"wells.csv: {message}")


def test_a_task_with_one_row_is_for_training(tmp_path: Path) -> None:
    path = write(tmp_path / "wells.csv", [*LINES, "alone,1,open,1"])
    table = own.parse(keys(), path)
    frame = splits.split(table.frame, ["x", "valve"], own.split_rule(keys()), 2, "wells")
    assert frame.loc[frame["task"] == "alone", "part"].tolist() == ["train"]


def european(line: str) -> str:
    """As a spreadsheet of most of Europe exports it."""
    return line.replace(",", ";").replace(".", ",")


@pytest.mark.parametrize("start", [[], ["sep=;"], ["", ""]])
def test_semicolons_and_decimal_commas_are_the_same_table(tmp_path: Path, start: list[str]) -> None:
    lines = [LINES[0], *(f"w{n % 3}.{n % 2},{n / 8},{n % 2}.5,{n * n / 4}" for n in range(30))]
    plain = write(tmp_path / "plain.csv", lines)
    spreadsheet = write(tmp_path / "wells.csv", [*start, *map(european, lines)])
    one, other = (own.parse(keys(), path) for path in (plain, spreadsheet))
    assert one.features == other.features
    columns = ["x", "valve", "target"]
    pd.testing.assert_frame_equal(
        one.frame[columns].reset_index(drop=True), other.frame[columns].reset_index(drop=True)
    )
    assert other.frame["task"].iloc[0] == "w0,0"  # a label stays as it is written
    path = write(tmp_path / "wrong.csv", [*start, *map(european, lines), "w1,0;1;2;x"])
    assert f"line {len(start) + 32}: flow is 'x'" in error(lambda: own.parse(keys(), path))


def test_tabs_between_the_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "wells.csv", [line.replace(",", "\t") for line in LINES])
    assert len(own.parse(keys(), path).frame) == 30


def test_points_and_commas_in_one_column_are_not_guessed(tmp_path: Path) -> None:
    lines = ["well;x;valve;flow", *(f"w{n % 3};{n};a;{n},5" for n in range(30)), "w1;1;a;1.250"]
    path = write(tmp_path / "wells.csv", lines)
    found = error(lambda: own.parse(keys(), path))
    assert "line 2: flow is '0,5': not a number; correct it, with a decimal point" in found


@pytest.mark.parametrize("hole", [[], [None]])
def test_labels_above_two_to_the_53_stay_exact(tmp_path: Path, hole: list[None]) -> None:
    labels = [2**53 + n % 3 for n in range(30)]
    frame = pd.DataFrame(
        {
            "well": pd.array([*labels, *hole], dtype="Int64"),
            "x": np.arange(30.0 + len(hole)),
            "valve": "a",
            "flow": 1.0,
        }
    )
    frame.to_parquet(tmp_path / "wells.parquet")
    table = own.parse(keys(), tmp_path / "wells.parquet")
    assert table.frame["task"].tolist() == list(map(str, labels))


def test_a_small_parquet_file_that_unpacks_to_a_huge_table_is_refused(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, np.int8)), ["w"])
    table = pa.table({f"c{n}": column for n in range(40)})
    path = tmp_path / "wells.parquet"
    pa.parquet.write_table(table, path)
    assert path.stat().st_size < 1_000_000
    found = error(lambda: own.parse(keys(), path))
    assert found == f"{path}: unpacked, it is larger than 100000000 cells or 512 MB"
