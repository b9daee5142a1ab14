"""add-dataset and remove-dataset on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest
import yaml
from dvc.repo import Repo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.__main__ import main
from pipeline.commands import add_dataset
from pipeline.commands.costs import profile_costs
from pipeline.datasets import sources
from pipeline.files import Files, sha256
from pipeline.settings import load
from tests.commands.test_download import change, failure
from tests.datasets.test_own import LINES as THREE_TASKS
from tests.datasets.test_own import write

LINES = [
    "well,x,valve,flow",
    *(f"w{n % 6},{n},{'open' if n % 4 else 'shut'},{n * n % 50}" for n in range(60)),
]
WORDS = ("--task", "well", "--target", "flow")


@pytest.fixture
def wells(project: Path) -> Path:
    Repo.init(str(project), no_scm=True).close()
    return write(project / "My wells.csv", LINES)


def kept(project: Path) -> dict[str, bytes]:
    """What a failed addition must leave as it was."""
    folders = (project / "raw", project / "data", project / "results")
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in [project / "params.yaml", *paths]}


def test_a_file_becomes_a_dataset(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{wells}: 60 rows",
        "  6 tasks (well) of 10 to 10 rows: 48 rows for training, 12 for testing",
        "  numbers: x",
        "  text, taken as categories: valve (2 levels); one column a level in the linear models, "
        "in the networks as `categories` in params.yaml says",
        "my_wells: added; `python -m pipeline plan '*@my_wells*'` says what runs for it",
    ]
    loaded = load(Files())
    assert loaded.params.datasets[-1] == "my_wells"
    assert loaded.dataset("my_wells").features == ("x", "valve")
    (file,) = sources.load(Files().sources).edition("my_wells", "own").files
    assert (file.sha256, file.size) == (sha256(wells), wells.stat().st_size)
    assert (project / "raw/by_hand/my_wells/my_wells.csv").read_bytes() == wells.read_bytes()


def test_the_stages_take_it_from_there(project: Path, wells: Path) -> None:
    assert main(["add-dataset", str(wells), *WORDS, "--name", "mine", "--train-share", "0.5"]) == 0
    wells.unlink()
    assert main(["download", "mine"]) == 0
    assert main(["prepare", "mine"]) == 0
    info = json.loads((project / "results/data/mine/table.json").read_text())
    assert info["rows"] == {"train": 30, "test": 30, "leaked": 0}
    assert (info["task"], info["target"], info["comparable"]) == ("well", "flow", False)
    assert (info["edition"], info["split"]) == ("own", "TaskShare")
    expected = profile_costs(project).seconds
    assert expected("train@mine-lc") < expected("train@frequency-lc")


def test_a_clone_without_the_file_is_told_where_to_put_it(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    (project / "raw/by_hand/my_wells/my_wells.csv").unlink()
    capsys.readouterr()
    assert failure(capsys, "download", "my_wells").endswith(
        "get it by hand from whoever added this dataset and put it at "
        "raw/by_hand/my_wells/my_wells.csv"
    )


def test_everything_suspicious_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flow = [float(n * n % 17) for n in range(30)]
    frame = pd.DataFrame(
        {
            "well": [f"w{n % 5}" for n in range(30)],
            "code": [n % 5 for n in range(30)],
            "x": range(30),
            "one": 1,
            "rounded": [round(value**1.5, 1) for value in flow],
            "flow": flow,
        }
    )
    frame.loc[0, "x"] = None
    alone = pd.DataFrame({**frame.iloc[:1], "well": "alone", "code": 9, "x": 1})
    lost = pd.DataFrame({**frame.iloc[:1], "well": "lost"})
    pd.concat([frame, alone, lost, frame[5:]]).to_csv("wells.csv", index=False)
    assert main(["add-dataset", "wells.csv", *WORDS]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "  rows left out, because a value is missing: 2 (x 2)",
        "  tasks left out with them, without a complete row: 1",
        "  tasks with a single row, which is for training: 1",
        "  warning: constant, and so of no use: one",
        "  warning: rounded rises or falls with flow almost without exception (rank correlation "
        "1.0000): is it computed from it? --features leaves it out",
        "  warning: code is another name of the task (well), one value each: models that must not "
        "know the task would know it",
    ):
        assert line in lines
    assert any(line.startswith("  training rows that are in the test part") for line in lines)


def test_a_row_number_that_pandas_left_in_a_file_is_no_feature(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(wells)
    frame[frame.index % 7 != 3].to_parquet("filtered.parquet")
    assert main(["add-dataset", "filtered.parquet", *WORDS]) == 0
    assert "__index_level_0__ is pandas' row number, and left out" in capsys.readouterr().out
    assert "__index_level_0__" not in load(Files(project)).dataset("filtered").features


def test_a_named_pipe_is_refused_and_not_waited_for(project, capsys):
    os.mkfifo("pipe.csv")
    assert main(["add-dataset", "pipe.csv", *WORDS]) == 2
    assert "pipe.csv: is not a regular file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv", *WORDS], "none.csv: does not exist"),
        (["raw", *WORDS], "raw: a file that ends in .csv or .parquet is needed"),
        (["My wells.csv", "--task", "pad", "--target", "flow"], "My wells.csv: no column 'pad'"),
        (["My wells.csv", "--task", "flow", "--target", "flow"], "My wells.csv: column 'flow' is"),
        (["My wells.csv", *WORDS, "--features", "x,"], "My wells.csv: no column ''; there are"),
        (["My wells.csv", *WORDS, "--name", "Wells"], "--name: 'Wells' is not valid; up to 40 of"),
        (["My wells.csv", *WORDS, "--name", "../x"], "--name: '../x' is not valid"),
        (["My wells.csv", *WORDS, "--name", "on"], "--name: 'on' is not valid"),
        (["My wells.csv", *WORDS, "--name", "a" * 41], "--name: 'aaaa"),
        (["My wells.csv", *WORDS, "--name", "schools"], "--name: 'schools' is taken; choose"),
        (["My wells.csv", *WORDS, "--name", "by_hand"], "--name: 'by_hand' is taken; choose"),
        (["My wells.csv", *WORDS, "--name", "schools", "--replace"], "--name: 'schools' is taken"),
        (["My wells.csv", *WORDS, "--train-share", "1"], "--train-share: 1.0 is not between 0"),
        (["My wells.csv", *WORDS, "--train-share", "nan"], "--train-share: nan is not between 0"),
        (["My wells.csv", *WORDS, "--train-share", "0.99"], "My wells.csv: 0 of 60 rows are for"),
        (["small.csv", *WORDS], "small.csv: too few rows: of 10% of the training rows none is"),
        (["bare.csv", *WORDS], "bare.csv: no column but well and flow: nothing to learn of"),
    ],
)
def test_a_mistake_changes_nothing(
    project: Path,
    wells: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(project / "small.csv", THREE_TASKS)
    write(project / "bare.csv", ["well,flow", "a,1"])
    before = kept(project)
    assert failure(capsys, "add-dataset", *words).startswith(message)
    assert kept(project) == before


def test_a_name_is_given_once_unless_it_is_replaced(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    capsys.readouterr()
    assert failure(capsys, "add-dataset", str(wells), *WORDS) == (
        "--name: there is a dataset 'my_wells' already; `python -m pipeline remove-dataset "
        "my_wells` removes it, --replace puts this file in its place, --name gives another name"
    )
    before = sources.load(Files().sources).edition("my_wells", "own").files[0].sha256
    write(wells, LINES[:-3])
    assert main(["add-dataset", str(wells), *WORDS, "--features", "x", "--replace"]) == 0
    edition = sources.load(Files().sources).edition("my_wells", "own")
    assert edition.rows == 57 and edition.files[0].sha256 == sha256(wells) != before
    assert load(Files()).dataset("my_wells").features == ("x",)
    assert main(["download", "my_wells"]) == 0
    pd.read_csv(wells).to_parquet(project / "other.parquet")
    words = ["other.parquet", *WORDS, "--name", "my_wells", "--replace"]
    assert main(["add-dataset", *words]) == 0
    assert [path.name for path in (project / "raw/by_hand/my_wells").iterdir()] == [
        "my_wells.parquet"
    ]


@pytest.mark.parametrize("failing", ["params.yaml", "raw/sources.yaml"])
def test_a_failure_half_way_leaves_everything_as_it_was(
    project: Path, wells: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kept(project)
    write_text = add_dataset.write_text

    def write_once(path: Path, text: str) -> None:
        write_text(path, text)
        if path == Path(failing):
            raise KeyboardInterrupt

    monkeypatch.setattr(add_dataset, "write_text", write_once)
    assert main(["add-dataset", str(wells), *WORDS]) == 130
    assert kept(project) == before


def test_removing_undoes_it_all(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = "schema: '2.0'\nstages:\n  prepare@mine:\n    cmd: a\n  report@mine:\n    cmd: b\n"
    (project / "dvc.lock").write_text(lock)
    before = kept(project)
    for name in ("mine", "mine_too"):
        assert main(["add-dataset", str(wells), *WORDS, "--name", name]) == 0
        assert main(["download", name]) == 0
        assert main(["prepare", name]) == 0
    capsys.readouterr()
    assert main(["remove-dataset", "mine"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "removed 1 file in data/mine",
        "removed 1 file in raw/by_hand/mine",
        "removed 1 file in raw/mine",
        "removed 1 file in results/data/mine",
        "mine: removed; `python -m pipeline run check report` brings the report up to date",
    ]
    assert (project / "data/mine_too/table.parquet").exists()
    assert (project / "dvc.lock").read_text() == lock.replace("  prepare@mine:\n    cmd: a\n", "")
    assert main(["remove-dataset", "mine_too"]) == 0
    assert kept(project) == before


def test_a_file_that_its_owner_put_there_stays(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS, "--name", "mine"]) == 0
    for verb in ("download", "prepare"):
        assert main([verb, "mine"]) == 0
    others = {
        "raw/by_hand/mine/notes.txt": "years of work",
        "raw/by_hand/mine/sub/older.csv": "a,b",
        "data/mine/sketch.ipynb": "{}",
        "results/data/mine/comments.md": "# good",
    }
    for name, text in others.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    capsys.readouterr()
    assert main(["remove-dataset", "mine"]) == 0
    report = capsys.readouterr().out
    for name, text in others.items():
        assert (project / name).read_text() == text
        assert f"kept {name}: no command made it" in report
    assert not (project / "raw/by_hand/mine/mine.csv").exists()
    assert not (project / "data/mine/table.parquet").exists()


def test_nothing_behind_a_link_is_removed(project: Path, wells: Path) -> None:
    assert main(["add-dataset", str(wells), *WORDS, "--name", "mine"]) == 0
    (project / "elsewhere").mkdir()
    (project / "elsewhere" / "lc.json").write_text("{}")
    (project / "results" / "train").mkdir(parents=True)
    (project / "results" / "train" / "mine").symlink_to(project / "elsewhere")
    assert main(["remove-dataset", "mine"]) == 0
    assert (project / "elsewhere" / "lc.json").exists()


def test_a_copy_that_its_owner_changed_stays(project: Path, wells: Path) -> None:
    copy = project / "raw/by_hand/mine/mine.csv"
    assert main(["add-dataset", str(wells), *WORDS, "--name", "mine"]) == 0
    copy.write_text("corrected by hand")
    assert main(["add-dataset", str(wells), *WORDS, "--name", "mine", "--replace"]) == 2
    assert copy.read_text() == "corrected by hand"
    assert main(["remove-dataset", "mine"]) == 0
    assert copy.read_text() == "corrected by hand"


def test_a_dataset_can_be_added_again_after_git_took_its_entries_back(
    project: Path, wells: Path
) -> None:
    entries = [project / "params.yaml", project / "raw/sources.yaml"]
    before = [path.read_bytes() for path in entries]
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    for path, content in zip(entries, before, strict=True):
        path.write_bytes(content)
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    assert main(["remove-dataset", "my_wells"]) == 0
    assert not (project / "raw/by_hand/my_wells").exists()


def test_replacing_removes_no_file_but_the_former_copy(project: Path, wells: Path) -> None:
    folder = project / "raw/by_hand/my_wells"
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    (folder / "notes.txt").write_text("mine")
    pd.read_csv(wells).to_parquet(project / "other.parquet")
    words = ["other.parquet", *WORDS, "--name", "my_wells", "--replace"]
    assert main(["add-dataset", *words]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["my_wells.parquet", "notes.txt"]


def test_a_file_in_the_folder_of_the_copies_is_not_added(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be the owner's only one, and remove-dataset removes it."""
    path = project / "raw/by_hand/mine/mine.csv"
    path.parent.mkdir(parents=True)
    wells.rename(path)
    found = failure(capsys, "add-dataset", str(path), *WORDS)
    assert found.endswith("is in the pipeline's own folder; give a file from elsewhere")


def test_the_layout_of_a_file_is_described(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["well;;x;flow", *(f"w{n % 6};{n};{n},5;{n * n % 50},25" for n in range(60))]
    lines += [";1;2,5;3,5"] * 4
    write(project / "wells.csv", lines)
    assert main(["add-dataset", "wells.csv", *WORDS]) == 0
    report = capsys.readouterr().out
    for line in (
        "  column 2 has no name, and is left out",
        "  cells are separated by ';'",
        "  decimal commas, read as decimal points: flow, x",
        "  rows left out, because a value is missing: 4 (well 4)",
    ):
        assert line in report.splitlines()


def test_decimal_commas_between_commas_are_warned_about(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["well,x,z,flow"]
    lines += [f'w{n % 6},"{n % 7},5",{n},{n * n % 50}' for n in range(60)]
    write(project / "wells.csv", lines)
    assert main(["add-dataset", "wells.csv", *WORDS]) == 0
    assert (
        "  warning: x: numbers with decimal commas are taken as categories; save the file with "
        "decimal points, or with semicolons between the cells"
    ) in capsys.readouterr().out.splitlines()


def test_control_characters_in_names_are_never_printed(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    title = "\x1b]0;gone\x07\u202e"
    lines = [LINES[0].replace("x", f"x{title}"), *LINES[1:]]
    write(project / f"a{title}.csv", lines)
    words = [f"a{title}.csv", *WORDS, "--name", "mine"]
    assert main(["add-dataset", *words]) == 0
    assert main(["add-dataset", *words]) == 2
    assert main(["add-dataset", f"a{title}.csv", "--task", "pad", "--target", f"no{title}"]) == 2
    captured = capsys.readouterr()
    assert "x\\x1b]0;gone\\x07" in captured.out
    for text in (captured.out, captured.err):
        assert not any(char in text for char in "\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "schools",
            "schools: one of the paper's datasets; take it out of `datasets` in params.yaml and "
            "none of its stages runs",
        ),
        ("nothing", "nothing: no dataset of your own; there are: my_wells"),
        ("*", "*: no dataset of your own; there are: my_wells"),
    ],
)
def test_only_what_was_added_is_removed(
    project: Path, wells: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    before = kept(project)
    capsys.readouterr()
    assert failure(capsys, "remove-dataset", name) == message
    assert kept(project) == before


def test_what_a_killed_addition_left_can_be_removed(project: Path, wells: Path) -> None:
    before, params = kept(project), (project / "params.yaml").read_bytes()
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    (project / "params.yaml").write_bytes(params)  # as if killed before it was written
    assert main(["remove-dataset", "my_wells"]) == 0
    assert kept(project) == before


def test_the_last_dataset_of_the_list_stays(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add-dataset", str(wells), *WORDS]) == 0
    change(project / "params.yaml", "datasets", value=["my_wells"])
    before = kept(project)
    capsys.readouterr()
    assert failure(capsys, "remove-dataset", "my_wells") == (
        "params.yaml: datasets: 'my_wells' is the only one there; add another first"
    )
    assert kept(project) == before


def test_a_dataset_with_a_module_of_its_own_is_not_replaced(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project / "params.yaml", "dataset", "my_wells", value={"edition": "paper"})
    found = failure(capsys, "add-dataset", str(wells), *WORDS, "--replace")
    assert found == "--name: 'my_wells' is taken; choose another"


def test_a_layout_that_cannot_be_changed_safely(
    project: Path, wells: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "raw" / "sources.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()), default_flow_style=True))
    before = kept(project)
    found = failure(capsys, "add-dataset", str(wells), *WORDS)
    assert found.startswith("raw/sources.yaml: its layout does not allow to change 'my_wells'")
    assert kept(project) == before


CELLS = st.one_of(
    st.sampled_from(["", "a", "b", "c", "0", "1", "-2.5", "1e99", "NaN", "inf", '"', "1e-320"]),
    st.text(st.characters(codec="utf-8"), max_size=3),
)
TEXTS = st.one_of(
    st.text(),
    st.builds(
        lambda head, rows: "\n".join(",".join(row) for row in [head, *rows]),
        st.sampled_from([["t", "y", "x"], ["t", "y", "x", "z"], ["x", "t", "y"]]),
        st.lists(st.lists(CELLS, min_size=3, max_size=4), max_size=12),
    ),
    st.builds(
        lambda rows: "t,y,x\n" + "\n".join(f"{t},{y},{x}" for t, y, x in rows),
        st.lists(
            st.tuples(st.sampled_from("abcdef"), st.floats(-9, 9), st.floats(allow_nan=False)),
            min_size=30,
            max_size=60,
        ),
    ),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=TEXTS)
def test_any_text_is_a_dataset_or_one_line_of_error(project: Path, wells: Path, text: str) -> None:
    before = kept(project)
    (project / "any.csv").write_bytes(text.encode())
    code = main(["add-dataset", "any.csv", "--task", "t", "--target", "y"])
    assert code in (0, 2)
    if code == 0:
        for verb in ("download", "prepare", "remove-dataset"):
            assert main([verb, "any"]) == 0
    assert kept(project) == before
