from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.datasets import parkinson
from tests.datasets.damage import AGAIN, damaged, error


@pytest.fixture
def parkinson_file(tmp_path: Path) -> Path:
    path = tmp_path / "parkinsons_updrs.data"
    names = ["subject#", "age", "sex", "test_time", "motor_UPDRS", "total_UPDRS", *parkinson.VOICE]
    rows = [[1, 72, 0, -4.2, 28.2, 34.4, *[0.5] * 16], [42, 61, 0, 5.6, 20.1, 30.5, *[0.1] * 16]]
    path.write_text("\n".join(",".join(map(str, line)) for line in [names, *rows]) + "\n")
    return path


def test_parkinson(parkinson_file: Path) -> None:
    frame = parkinson.parse("paper", [parkinson_file]).frame
    assert frame["task"].tolist() == ["patient 01", "patient 42"]
    assert frame["target"].tolist() == [34.4, 30.5]


def test_parkinson_nan_in_a_feature(parkinson_file: Path) -> None:
    damaged(parkinson_file, "30.5,0.1", "30.5,nan")
    assert error(lambda: parkinson.parse("paper", [parkinson_file])) == (
        f"{parkinson_file}: line 3: Jitter(%) is 'nan', not a number; {AGAIN}"
    )
