from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from pipeline.datasets import reading, sarcos, splits
from tests.datasets.damage import AGAIN, error


@pytest.fixture
def sarcos_files(tmp_path: Path) -> list[Path]:
    """As in the official files, the test rows are every tenth training row."""
    train = np.random.default_rng(0).normal(size=(40, 28))
    paths = [tmp_path / "sarcos_inv.mat", tmp_path / "sarcos_inv_test.mat"]
    savemat(paths[0], {"sarcos_inv": train})
    savemat(paths[1], {"sarcos_inv_test": train[::10]})
    return paths


def test_sarcos_has_every_row_once_a_joint(sarcos_files: list[Path]) -> None:
    table = sarcos.parse("paper", sarcos_files)
    assert table.frame["task"].value_counts().to_dict() == {f"joint {j}": 44 for j in range(1, 8)}
    assert (table.frame["part"] == "test").sum() == 28
    assert len(table.features) == 21
    reading.check_key(sarcos_files[0], table)


def test_sarcos_damaged(sarcos_files: list[Path]) -> None:
    train = sarcos_files[0]
    whole = train.read_bytes()
    train.write_bytes(whole[: len(whole) // 2])
    assert error(lambda: sarcos.parse("paper", sarcos_files)).startswith(
        f"{train}: not a readable .mat file ("
    )
    savemat(train, {"other": np.ones((2, 28))})
    assert error(lambda: sarcos.parse("paper", sarcos_files)) == (
        f"{train}: no variable 'sarcos_inv'; {AGAIN}"
    )
    savemat(train, {"sarcos_inv": np.ones((2, 27))})
    assert error(lambda: sarcos.parse("paper", sarcos_files)) == (
        f"{train}: sarcos_inv is float64 [2, 27], not numbers in 28 columns; {AGAIN}"
    )
    matrix = np.ones((3, 28))
    matrix[2, 0] = np.nan
    savemat(train, {"sarcos_inv": matrix})
    assert error(lambda: sarcos.parse("paper", sarcos_files)) == (
        f"{train}: row 2: position_1 is 'nan', not a number; {AGAIN}"
    )


def test_sarcos_recovered_rows(sarcos_files: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    names = ["row", *[f"x{i}" for i in range(1, 22)], *[f"y{i}" for i in range(1, 8)]]
    path.write_text("\n".join([",".join(names), "7" + ",0.5" * 28, "7" + ",0.1" * 28]) + "\n")
    table = sarcos.parse("recovered_rows", [path, sarcos_files[1]])
    assert error(lambda: reading.check_key(path, table)) == (
        f"{path}: row 7: a second row for part train, row 7, task joint 1; {AGAIN}"
    )


def test_sarcos_clean_split_drops_the_test_rows(sarcos_files: list[Path]) -> None:
    table = sarcos.parse("paper", sarcos_files)
    names = [feature.name for feature in table.features]
    assert splits.leaked(table.frame, names).sum() == 28
    clean = splits.without_leak(table.frame, names)
    assert clean["part"].value_counts().to_dict() == {"train": 7 * 36, "test": 28}


def test_cut_gzip_file(sarcos_files: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"row,x1\n" * 1000)[:30])
    found = error(lambda: sarcos.parse("recovered_rows", [path, sarcos_files[1]]))
    assert found.startswith(f"{path}: not a readable csv file (Compressed file ended")
