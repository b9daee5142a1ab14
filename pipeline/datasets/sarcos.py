"""Sarcos: the torques at the seven joints of a robot arm from its motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

from learned_context.errors import UserError
from pipeline.datasets import reading
from pipeline.datasets.splits import Given
from pipeline.datasets.table import Feature, TaskTable

SPLITS = {"official": Given(), "clean": Given(without_leak=True)}

JOINTS = 7
QUANTITIES = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s²"}
FEATURES = tuple(
    Feature(f"{quantity}_{joint}", unit=unit)
    for quantity, unit in QUANTITIES.items()
    for joint in range(1, JOINTS + 1)
)
TORQUES = [f"torque_{joint}" for joint in range(1, JOINTS + 1)]
COLUMNS = [feature.name for feature in FEATURES] + TORQUES


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    train_path, test_path = paths
    if edition == "recovered_rows":
        train = _read_recovered(train_path)
    else:
        train = _read_matrix(train_path, "sarcos_inv")
    test = _read_matrix(test_path, "sarcos_inv_test")
    rows = pd.concat([train.assign(part="train"), test.assign(part="test")])
    rows.index.name = "row"
    return TaskTable(
        frame=_one_row_a_joint(rows),
        features=FEATURES,
        target="torque",
        unit="N m",
        task="joint",
        key=("part", "row", "task"),
    )


def _one_row_a_joint(rows: pd.DataFrame) -> pd.DataFrame:
    """Every joint is a task with the same inputs and a torque of its own."""
    inputs = rows.drop(columns=TORQUES).assign(row=rows.index)
    return pd.concat(
        [
            inputs.assign(task=f"joint {joint}", target=rows[torque])
            for joint, torque in enumerate(TORQUES, start=1)
        ]
    )


def _read_matrix(path: Path, variable: str) -> pd.DataFrame:
    reading.refuse_web_page(path)
    try:
        # A reader of numbers: nothing in the file is executed.
        content = loadmat(str(path), variable_names=[variable])
    except Exception as error:  # scipy raises many kinds on damaged files
        raise UserError(f"{path}: not a readable .mat file ({error}); {reading.AGAIN}") from error
    if variable not in content:
        raise UserError(f"{path}: no variable {variable!r}; {reading.AGAIN}")
    matrix = np.asarray(content[variable])
    if matrix.ndim != 2 or matrix.shape[1] != len(COLUMNS) or matrix.dtype.kind != "f":
        raise UserError(
            f"{path}: {variable} is {matrix.dtype} {list(matrix.shape)}, "
            f"not numbers in {len(COLUMNS)} columns; {reading.AGAIN}"
        )
    frame = pd.DataFrame(matrix.astype("float64"), columns=COLUMNS)
    frame.index.name = "row"
    return pd.DataFrame({name: reading.numbers(path, frame, name) for name in COLUMNS})


def _read_recovered(path: Path) -> pd.DataFrame:
    """The recovered rows carry their row number in the original file."""
    inputs = [f"x{number}" for number in range(1, len(FEATURES) + 1)]
    torques = [f"y{number}" for number in range(1, JOINTS + 1)]
    raw = reading.read_csv(path, ["row", *inputs, *torques])
    row = reading.numbers(path, raw, "row", low=0).astype(int)
    values = {
        name: reading.numbers(path, raw, column)
        for name, column in zip(COLUMNS, inputs + torques, strict=True)
    }
    return pd.DataFrame(values).set_index(pd.Index(row, name="row"))
