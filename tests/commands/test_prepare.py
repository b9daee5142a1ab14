from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline import settings
from pipeline.__main__ import main
from pipeline.datasets.registry import GENERATED
from pipeline.files import Files
from pipeline.tables.description import TableDescription
from pipeline.tables.prepared import Prepared
from tests.commands.test_download import LINES, change, failure, unpinned_inflation

# Table 1: tasks, features, training rows, test rows, std.
TABLE_1 = {
    "frequency": (250, 1, 30000, 25000, None),
    "sine_and_line": (100, 1, 6000, 10000, None),
    "schools": (139, 7, 12339, 3023, 12.72),
    "parkinson": (42, 16, 4717, 1158, 10.70),
    "bike_sharing": (24, 6, 13915, 3464, 181.38),
    "inflation": (45, 1, 6684, 1344, 34.61),
    "death_rate": (915, 2, 16470, 16470, 0.12),
}
OTHER_EDITIONS = {
    "obesity": (191, 2, 8022, 8022, 4.70),
    "height": (200, 2, 20200, 20200, 7.56),
    "sarcos": (7, 21, 7 * 32819, 31143, 18.81),
}


def read(project: Path, dataset: str) -> Prepared:
    files = Files(project)
    return Prepared.read(files, dataset)


@pytest.mark.parametrize("dataset", ["frequency", "sine_and_line"])
def test_generated_tables(project: Path, dataset: str) -> None:
    assert main(["prepare", dataset]) == 0
    check_counts(read(project, dataset).info, (TABLE_1 | OTHER_EDITIONS)[dataset])


def check_counts(info: TableDescription, expected: tuple) -> None:
    tasks, features, train, test, std = expected
    assert (len(info.tasks), len(info.features)) == (tasks, features)
    assert (info.rows.train, info.rows.test) == (train, test)
    assert std is None or round(info.std, 2) == std


@pytest.fixture
def with_raw(project: Path, raw_files: Callable[[str, str], list[Path]]) -> Callable[[str], Path]:
    """Puts the real files of the chosen edition into the scratch project."""

    def put(dataset: str) -> Path:
        edition = settings.load(Files()).dataset(dataset).edition
        folder = Files().raw(dataset, edition)
        folder.mkdir(parents=True)
        for path in raw_files(dataset, edition):
            (folder / path.name).write_bytes(path.read_bytes())
        return folder

    return put


@pytest.mark.mirror
@pytest.mark.parametrize(
    "dataset",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "sarcos" else ())
        for name in (TABLE_1 | OTHER_EDITIONS)
        if name not in GENERATED
    ],
)
def test_real_tables(project: Path, with_raw: Callable[[str], Path], dataset: str) -> None:
    with_raw(dataset)
    assert main(["prepare", dataset]) == 0
    info = read(project, dataset).info
    check_counts(info, (TABLE_1 | OTHER_EDITIONS)[dataset])
    assert info.comparable == (dataset not in ("obesity", "height"))
    derived = ("inflation", "death_rate")
    assert bool(info.differs) == (dataset in OTHER_EDITIONS or dataset in derived)


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("dataset", "edition", "rows"),
    [("inflation", "oecd_from_1973", 7656), ("height", "lancet_2020_regions", 9450)],
)
def test_real_files_in_the_paper_editions_formats(
    project: Path, with_raw: Callable[[str], Path], dataset: str, edition: str, rows: int
) -> None:
    change(project / "params.yaml", "dataset", dataset, "edition", value=edition)
    with_raw(dataset)
    assert main(["prepare", dataset]) == 0
    assert len(read(project, dataset).frame) == rows


@pytest.mark.mirror
@pytest.mark.slow
def test_sarcos_leak_and_clean_split(project: Path, with_raw: Callable[[str], Path]) -> None:
    with_raw("sarcos")
    assert main(["prepare", "sarcos"]) == 0
    official = read(project, "sarcos")
    # Every test row is a training row.
    assert official.info.rows.leaked == official.info.rows.test == 31143
    change(project / "params.yaml", "dataset", "sarcos", "split", value="clean")
    assert main(["prepare", "sarcos"]) == 0
    clean = read(project, "sarcos").info
    rows = {"train": 7 * (32819 - 4449), "test": 31143, "leaked": 0}
    assert clean.rows.model_dump() == rows
    assert not clean.comparable and clean.differs.endswith("Clean split.")


@pytest.mark.mirror
def test_truncated_real_file(
    project: Path, with_raw: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = with_raw("parkinson") / "parkinsons_updrs.data"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-100]))
    assert failure(capsys, "prepare", "parkinson") == (
        "raw/parkinson/paper/parkinsons_updrs.data: gives 5775 rows instead of 5875; it is "
        "truncated or of another edition: delete it and download it again"
    )
    assert not (project / "data").exists()


def test_missing_raw_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert failure(capsys, "prepare", "schools") == (
        "raw/schools/paper/ILEA567.DAT: does not exist; run `dvc repro download@schools`"
    )
    assert not (project / "data").exists()


def test_no_official_split_to_clean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unpinned_inflation(project, 60, LINES)
    assert main(["download", "inflation"]) == 0
    change(project / "params.yaml", "dataset", "inflation", "split", value="clean")
    assert failure(capsys, "prepare", "inflation") == (
        "params.yaml: dataset.inflation.split: 'clean' is not valid; valid: years, quarters"
    )
    assert not (project / "data").exists()


def test_preparing_again_gives_equal_bytes(project: Path) -> None:
    files = Files(project)
    paths = [files.table("sine_and_line"), files.table_info("sine_and_line")]
    assert main(["prepare", "sine_and_line"]) == 0
    first = [path.read_bytes() for path in paths]
    assert main(["prepare", "sine_and_line"]) == 0
    assert [path.read_bytes() for path in paths] == first


def test_seeds_change_the_content(project: Path) -> None:
    digests = set()
    for key, seed in (("data", 1), ("data", 7), ("split", 7)):
        change(project / "params.yaml", "seeds", key, value=seed)
        assert main(["prepare", "sine_and_line"]) == 0
        digests.add(read(project, "sine_and_line").info.content_sha256)
    assert len(digests) == 3


def test_a_draw_is_that_of_later_seeds(project: Path) -> None:
    def digest() -> str:
        assert main(["prepare", "sine_and_line"]) == 0
        return read(project, "sine_and_line").info.content_sha256

    change(project / "params.yaml", "dataset", "sine_and_line", "draw", value=3)
    drawn = digest()
    assert read(project, "sine_and_line").info.seeds == {"data": 4, "split": 5}
    change(project / "params.yaml", "dataset", "sine_and_line", "draw", value=0)
    first = digest()
    for key, seed in (("data", 4), ("split", 5)):
        change(project / "params.yaml", "seeds", key, value=seed)
    assert digest() == drawn != first


def test_info(project: Path) -> None:
    assert main(["prepare", "sine_and_line"]) == 0
    text = (project / "results/data/sine_and_line/table.json").read_text()
    info = json.loads(text)
    assert info["features"] == [{"name": "x", "kind": "number", "unit": ""}]
    assert info["tasks"]["line 01"].keys() == {"train", "test", "kind", "slope", "intercept"}
    assert info["seeds"] == {"data": 1 + 2, "split": 2 + 2}  # the study's draw is the third
    frame = pd.read_parquet(project / "data" / "sine_and_line" / "table.parquet")
    assert info["std"] == pytest.approx(frame["target"].std(ddof=0))
