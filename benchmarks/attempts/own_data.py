"""Files of one's own: spreadsheets' exports, damaged and hostile files, wrong columns and names."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from benchmarks.attempts.harness import Attempt, Ending, Scratch, call, refused, works, written

HEAD = "well,x,valve,flow"
ROWS = [f"w{n % 6},{n / 8},{'open' if n % 4 else 'shut'},{n * n % 50 + n / 16}" for n in range(60)]
COLUMNS = ("--task", "well", "--target", "flow")


def text(*lines: str, end: str = "\n", encoding: str = "utf-8") -> bytes:
    return (end.join(lines) + end).encode(encoding)


def european(line: str) -> str:
    return line.replace(",", ";").replace(".", ",")


def with_row(row: str) -> bytes:
    return text(HEAD, *ROWS, row)


def parquet(**columns: object) -> bytes:
    whole: dict[str, object] = {
        "well": [f"w{n % 6}" for n in range(60)],
        "x": np.arange(60) / 8,
        "flow": np.arange(60) ** 2 % 50.0,
    }
    target = io.BytesIO()
    pa.parquet.write_table(pa.table(whole | columns), target)
    return target.getvalue()


def dictionary_bomb() -> bytes:
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4_000_000, np.int8)), ["w"])
    target = io.BytesIO()
    pa.parquet.write_table(pa.table({f"c{n}": column for n in range(30)}), target)
    return target.getvalue()


PLAIN = text(HEAD, *ROWS)
EUROPEAN = [european(line) for line in (HEAD, *ROWS)]
TABBED = [line.replace(",", "\t") for line in (HEAD, *ROWS)]
NUMBERED = [f"{n},{row}" for n, row in enumerate(ROWS)]
GERMAN = HEAD.replace("x", "größe µ")
QUOTED = [row.replace("w0", '"w,""0"""') for row in ROWS]
COMMAS = [f'w{n % 6},"{n % 7},5",{n},{n * n % 50}' for n in range(60)]
FORMULA = [row.replace("w0", "=cmd()") for row in ROWS]
LARGE = [f"{row},{2**60 + 7 * n * n % 31}" for n, row in enumerate(ROWS)]
BIG_LABELS = [2**53 + n % 6 for n in range(60)]
HOLE = pa.array([None, *(n % 6 for n in range(59))])
WITHOUT_FEATURES = [f"w{n % 6},{n}" for n in range(60)]
TWO_TASKS = [row for row in ROWS if row < "w2"]
OTHERS_EMPTY = [row if row < "w2" else row[2:] for row in ROWS]
CONSTANT_TARGET = [f"{row.rpartition(',')[0]},1" for row in ROWS]
TARGET_TWICE = [f"{row},{2 * float(row.split(',')[3])}" for row in ROWS]
WORDS = [f"w{n % 6},{n},t{n},{n * n % 31}" for n in range(202)]
DAYS = pd.date_range("2020", periods=60)

ACCEPTED: list[tuple[str, str, bytes, str]] = [
    ("plain", "wells.csv", PLAIN, "60 rows"),
    ("semicolons and decimal commas", "w.csv", text(*EUROPEAN), "decimal commas, read as"),
    ("a spreadsheet's sep line", "w.csv", text("sep=;", *EUROPEAN), "separated by ';'"),
    ("tabs", "w.csv", text(*TABBED), "separated by tabs"),
    ("Windows line ends", "w.csv", text(HEAD, *ROWS, end="\r\n"), "60 rows"),
    ("a byte-order mark", "w.csv", b"\xef\xbb\xbf" + PLAIN, "60 rows"),
    ("no last line end", "w.csv", PLAIN[:-1], "60 rows"),
    ("blank lines", "w.csv", text("", HEAD, "", *ROWS, "", ",,,"), "60 rows"),
    ("a column without a name", "w.csv", text(f",{HEAD}", *NUMBERED), "column 1 has no name"),
    ("the index of a frame", "w.csv", text(f"Unnamed: 0,{HEAD}", *NUMBERED), "pandas' row number"),
    ("rows without a task", "w.csv", text(HEAD, *ROWS, ",1,a,2", ",1,a,3"), r"2 \(well 2\)"),
    ("missing numbers", "w.csv", text(HEAD, *ROWS, "w1,NA,a,2", "w1,1,a,"), "left out.*: 2"),
    ("a task with one row", "w.csv", with_row("alone,1,open,1"), "single row.*: 1"),
    ("quoted decimal commas", "w.csv", text("well,x,z,flow", *COMMAS), "warning: x: numbers with"),
    ("a constant column", "w.csv", text(f"{HEAD},one", *(f"{r},1" for r in ROWS)), "constant"),
    ("letters of all kinds", "w.csv", text(GERMAN, *ROWS), "größe µ"),
    ("spaces around names", "w.csv", text(" well , x , valve , flow ", *ROWS), "60 rows"),
    ("quotes and commas in a label", "w.csv", text(HEAD, *QUOTED), "6 tasks"),
    ("control characters", "w.csv", text(HEAD.replace("x", "x\x1b[2J"), *ROWS), r"\\x1b"),
    ("markup in a name", "w.csv", text(HEAD.replace("x", "<script>x"), *ROWS), "script"),
    ("a formula in a label", "w.csv", text(HEAD, *FORMULA), "60 rows"),
    ("capital letters and spaces", "My Wells 2.csv", PLAIN, "my_wells_2: added"),
    ("huge whole numbers", "w.csv", text(f"{HEAD},id", *LARGE), "above 2..53"),
    ("parquet", "w.parquet", parquet(), "60 rows"),
    ("parquet with large labels", "w.parquet", parquet(well=BIG_LABELS), "6 tasks"),
    ("parquet with a missing label", "w.parquet", parquet(well=HOLE), r"1 \(well 1\)"),
    ("parquet with booleans", "w.parquet", parquet(on=[n % 2 == 0 for n in range(60)]), "on"),
]
ACCEPTED_WORDS: list[tuple[str, tuple[str, ...], str]] = [
    ("another share", ("--train-share", "0.5"), "30 rows for training"),
    ("one feature", ("--features", "x"), "numbers: x"),
    ("another name", ("--name", "mine"), "mine: added"),
]
REFUSED_FILES: list[tuple[str, str, bytes, str]] = [
    ("empty", "w.csv", b"", "w.csv: is empty"),
    ("blank", "w.csv", b"\n\n", "w.csv: is empty"),
    ("a header alone", "w.csv", text(HEAD), "holds no rows"),
    ("a short line", "w.csv", with_row("w1,1,open"), "line 62: 3 cells under 4"),
    ("a long line", "w.csv", with_row("w1,1,open,2,3"), "line 62: 5 cells under 4"),
    ("an open quote", "w.csv", with_row('w1,1,"open,2'), "line 62: not valid csv"),
    ("a word for a number", "w.csv", with_row("w1,1,open,high"), "line 62: flow is 'high'"),
    ("infinity", "w.csv", with_row("w1,1,open,inf"), "line 62: flow is 'inf'"),
    ("a huge number", "w.csv", with_row("w1,1e300,open,1"), "line 62: x is '1e300'"),
    ("thousands' marks", "w.csv", with_row('w1,1,open,"1,234.5"'), "flow is '1,234.5'"),
    ("both decimal marks", "w.csv", text(*EUROPEAN, "w1;1;open;1.5"), "flow is"),
    ("a column twice", "w.csv", text("well,x,x,flow", *ROWS), "two columns are called 'x'"),
    ("no features", "w.csv", text("well,flow", *WITHOUT_FEATURES), "nothing to"),
    ("two tasks", "w.csv", text(HEAD, *TWO_TASKS), "2 tasks in column 'well'"),
    ("two tasks, others empty", "w.csv", text(HEAD, *OTHERS_EMPTY), r"2 tasks.*: 40 \(well 40\)"),
    ("too few rows", "w.csv", text(HEAD, *ROWS[:6]), "0 of 6 rows are for testing"),
    ("a constant target", "w.csv", text(HEAD, *CONSTANT_TARGET), "flow has one value"),
    ("the target twice", "w.csv", text(f"{HEAD},twice", *TARGET_TWICE), "twice is perfectly corr"),
    ("two hundred words", "w.csv", text(HEAD, *WORDS), "'valve' is text .* 202"),
    ("a taken column", "w.csv", text(HEAD.replace("x", "group"), *ROWS), "'group' cannot be"),
    ("Latin-1", "w.csv", text(GERMAN, *ROWS, encoding="latin-1"), "not UTF-8"),
    ("UTF-16", "w.csv", text(HEAD, *ROWS, encoding="utf-16"), "not UTF-8"),
    ("gzip", "w.csv", gzip.compress(PLAIN), "packed with gzip; unpack it first"),
    ("a name of gzip", "w.csv.gz", gzip.compress(PLAIN), "ends in .csv or .parquet"),
    ("a workbook", "w.xlsx", b"PK\x03\x04", "ends in .csv or .parquet"),
    ("a workbook called csv", "w.csv", b"PK\x03\x04\x14\x00\xff\xfe", "not UTF-8"),
    ("zeros", "w.csv", bytes(500), "w.csv: "),
    ("a web page", "w.csv", b"<!DOCTYPE html><html><p>moved</p></html>", "holds no rows"),
    ("parquet cut", "w.parquet", parquet()[:300], "not a readable parquet file"),
    ("parquet that is none", "w.parquet", b"PAR1 and no more", "not a readable parquet file"),
    ("parquet with dates", "w.parquet", parquet(day=DAYS), "'day' holds"),
    ("parquet with lists", "w.parquet", parquet(many=[[n] for n in range(60)]), "'many' holds"),
    ("parquet with bytes", "w.parquet", parquet(raw=[b"x"] * 60), "'raw' holds bytes"),
    ("parquet of 120 million cells", "w.parquet", dictionary_bomb(), "unpacked, it is"),
]
REFUSED_WORDS: list[tuple[str, tuple[str, ...], str]] = [
    ("no such task", ("--task", "pad"), "no column 'pad'; there are well"),
    ("no such target", ("--target", "oil"), "no column 'oil'"),
    ("no such feature", ("--features", "x,y"), "no column 'y'"),
    ("a feature twice", ("--features", "x,x"), "'x' is named twice"),
    ("the target as a feature", ("--features", "flow"), "named twice"),
    ("the name of a paper's dataset", ("--name", "schools"), "is taken"),
    ("a name with a path", ("--name", "../x"), "'../x' is not valid"),
    ("a name with a slash", ("--name", "a/b"), "'a/b' is not valid"),
    ("a name that YAML changes", ("--name", "on"), "'on' is not valid"),
    ("a name too long", ("--name", "a" * 41), "is not valid"),
    ("no name", ("--name", ""), "'' is not valid"),
    ("the name of a folder", ("--name", "by_hand"), "is taken"),
    ("a share of one", ("--train-share", "1"), "not between 0 and 1"),
    ("a share below zero", ("--train-share", "-1"), "not between 0 and 1"),
    ("a share that is a word", ("--train-share", "most"), "invalid float"),
    ("a share that is no number", ("--train-share", "nan"), "not between 0 and 1"),
]


def attempts() -> Iterator[Attempt]:
    accepted = [(name, file, content, (), says) for name, file, content, says in ACCEPTED]
    accepted += [(name, "w.csv", PLAIN, words, says) for name, words, says in ACCEPTED_WORDS]
    for name, file, content, words, says in accepted:
        yield works(f"add {name}", _add_use_remove(file, words), says, _file(file, content))
    rejected = [(name, file, content, (), says) for name, file, content, says in REFUSED_FILES]
    rejected += [(name, "w.csv", PLAIN, words, says) for name, words, says in REFUSED_WORDS]
    for name, file, content, words, says in rejected:
        yield refused(f"add {name}", add(f"mine/{file}", *words), says, _file(file, content))
    yield from _replacing_and_removing()


def _file(name: str, content: bytes) -> Callable[[Scratch], object]:
    return written(f"mine/{name}", content)


def add(file: str, *words: str) -> Callable[[Scratch], Ending]:
    return call("add-dataset", file, *COLUMNS, *words)


def added(scratch: Scratch) -> None:
    """The plain file as the dataset `wells`."""
    scratch.write("mine/wells.csv", PLAIN)
    assert add("mine/wells.csv")(scratch).code == 0


def _add_use_remove(file: str, words: tuple[str, ...]) -> Callable[[Scratch], Ending]:
    """Added, prepared and removed again: the repository is as it was."""

    def act(scratch: Scratch) -> Ending:
        before = scratch.state()
        ending = add(f"mine/{file}", *words)(scratch)
        if ending.code != 0:
            return ending
        name = ending.out.strip().splitlines()[-1].split(":")[0]
        for verb in ("download", "prepare", "remove-dataset"):
            if (used := scratch.call(verb, name)).code != 0:
                return used
        if scratch.state() != before:
            differ = sorted(dict(before.items() ^ scratch.state().items()))
            return Ending(-1, err=f"adding and removing leaves {differ}")
        if any(char in ending.out for char in "\x1b\x07"):
            return Ending(-1, err="a control character was printed")
        return ending

    return act


def _replacing_and_removing() -> Iterator[Attempt]:
    copy, again = "raw/by_hand/wells/wells.csv", add("mine/wells.csv", "--replace")
    owners = ("raw/by_hand/wells/notes.txt", "raw/by_hand/wells/old/a.csv", "data/wells/b")

    def remove_beside_others(scratch: Scratch) -> Ending:
        for name in owners:
            scratch.write(name, "mine")
        ending = scratch.call("remove-dataset", "wells")
        gone = [name for name in owners if not scratch.path(name).exists()]
        return Ending(-1, err=f"{gone[0]} is gone") if gone else ending

    yield refused("add twice", add("mine/wells.csv"), "already; `python", added)
    yield works("replace", again, "wells: added", added)
    yield works(
        "remove with files of the owner's beside",
        remove_beside_others,
        "kept raw/by_hand/wells/notes.txt",
        added,
    )
    yield works(
        "add again after git took the entries back",
        add("mine/wells.csv"),
        "wells: added",
        lambda s: (added(s), s.git("checkout", ".")),
    )
    yield refused(
        "replace a copy that its owner has changed",
        again,
        "add-dataset did not make it; move it away",
        lambda s: (added(s), s.write(copy, "corrected")),
    )
    own_folder = "is in the pipeline's own folder"
    yield refused("add a file of the copies' folder", add(copy), own_folder, written(copy, PLAIN))
    yield refused("add a folder", add("docs"), "docs: a file that ends in")
    inside = written("mine/a.csv/b", "x")
    yield refused("add a folder called csv", add("mine/a.csv"), "mine/a.csv: is a folder", inside)
    yield refused("add what is not there", add("nothing.csv"), "nothing.csv: does not exist")
    papers = call("remove-dataset", "schools")
    yield refused("remove a paper's dataset", papers, "one of the paper's datasets")
    for name in ("nothing", "*", "../..", ""):
        yield refused(f"remove {name!r}", call("remove-dataset", name), "no dataset of your own")
