"""Schools: exam scores of students in 139 schools of inner London, 1985 to 1987."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learned_context.errors import UserError
from pipeline.datasets import reading
from pipeline.datasets.splits import TaskShare
from pipeline.datasets.table import Feature, TaskTable

SPLIT = TaskShare(train=0.8)

WIDTHS = {
    "year": 1,
    "school": 3,
    "score": 2,
    "free_meals": 2,
    "vr1_share": 2,
    "gender": 1,
    "vr_band": 1,
    "ethnic_group": 2,
    "school_gender": 1,
    "denomination": 1,
}

# The paper does not name its seven features; all but the year reproduce its linear columns.
FEATURES = (
    Feature("free_meals", unit="%"),
    Feature("vr1_share", unit="%"),
    Feature("gender", "category"),
    Feature("vr_band", "category"),
    Feature("ethnic_group", "category"),
    Feature("school_gender", "category"),
    Feature("denomination", "category"),
)

LEVELS = {
    "gender": ("0", "1"),
    # 0 is not in the codebook, but 15 students have it: a level of its own.
    "vr_band": ("0", "1", "2", "3"),
    "ethnic_group": tuple(str(code) for code in range(1, 12)),
    "school_gender": ("1", "2", "3"),
    "denomination": ("1", "2", "3"),
}


def parse(edition: str, paths: Sequence[Path]) -> TaskTable:
    (path,) = paths
    raw = _read_fixed_width(path)
    reading.codes(path, raw, "year", ("1", "2", "3"))
    school = reading.numbers(path, raw, "school", 1, 139).astype(int)
    columns: dict[str, pd.Series] = {
        "task": school.map("school {:03}".format),
        "target": reading.numbers(path, raw, "score", 0, 99),
    }
    for feature in FEATURES:
        if feature.kind == "category":
            columns[feature.name] = reading.codes(path, raw, feature.name, LEVELS[feature.name])
        else:
            columns[feature.name] = reading.numbers(path, raw, feature.name, 0, 100)
    return TaskTable(pd.DataFrame(columns), FEATURES, "exam score", "points", "school")


def _read_fixed_width(path: Path) -> pd.DataFrame:
    reading.refuse_web_page(path)
    # The file ends with the end-of-file byte of DOS.
    text = path.read_bytes().decode("ascii", errors="replace").rstrip("\x1a")
    lines = text.splitlines()
    length = sum(WIDTHS.values())
    for number, line in enumerate(lines, start=1):
        if len(line) != length:
            raise UserError(
                f"{path}: line {number}: {len(line)} characters instead of {length}; "
                f"{reading.AGAIN}"
            )
    if not lines:
        raise UserError(f"{path}: is empty; {reading.AGAIN}")
    frame = pd.read_fwf(
        io.StringIO("\n".join(lines)),
        widths=list(WIDTHS.values()),
        names=list(WIDTHS),
        dtype=str,
        keep_default_na=False,
    )
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="line")
    return frame
