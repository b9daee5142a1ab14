from __future__ import annotations

import numpy as np
import pytest

from learned_context.errors import UserError
from pipeline.datasets import frequency, sine_and_line
from pipeline.settings import DatasetKeys

FREQUENCY = DatasetKeys(edition="paper", tasks=250, train_rows=120, test_rows=100, noise=0.1)
SINE_AND_LINE = DatasetKeys(edition="paper", tasks=100, train_rows=60, test_rows=100, noise=0.3)


def test_frequency_is_what_the_paper_says() -> None:
    table = frequency.generate(FREQUENCY, seed=1)
    frame = table.frame
    assert frame["task"].nunique() == 250
    assert (frame["part"] == "train").sum() == 30000
    assert (frame["part"] == "test").sum() == 25000
    assert frame["target"].std(ddof=0) == pytest.approx(0.36, abs=0.01)
    omega = frame["task"].map(lambda name: table.tasks[name]["frequency"])
    assert omega.between(0.5, 4).all() and frame["x"].between(0, 1).all()
    noise = frame["target"] - 0.5 * np.sin(2 * np.pi * omega * frame["x"]) - 0.5
    assert noise.std() == pytest.approx(0.1, rel=0.02)


def test_sine_and_line_is_what_the_paper_says() -> None:
    table = sine_and_line.generate(SINE_AND_LINE, seed=1)
    frame = table.frame
    assert [task["kind"] for task in table.tasks.values()] == ["line"] * 50 + ["sine"] * 50
    assert (frame["part"] == "train").sum() == 6000
    assert (frame["part"] == "test").sum() == 10000
    # The paper's 3.93 is one draw of 100 tasks; draws spread by about 0.2.
    assert frame["target"].std(ddof=0) == pytest.approx(3.93, abs=0.6)
    for name, rows in frame.groupby("task"):
        task = table.tasks[name]
        if task["kind"] == "line":
            truth = task["slope"] * rows["x"] + task["intercept"]
        else:
            truth = task["amplitude"] * np.sin(rows["x"] + task["phase"])
        assert np.std(rows["target"] - truth) == pytest.approx(0.3, rel=0.3)


def test_seed_decides() -> None:
    first, again, other = (frequency.generate(FREQUENCY, seed).frame for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first["x"].equals(other["x"])


def test_missing_size() -> None:
    with pytest.raises(UserError) as caught:
        frequency.generate(DatasetKeys(edition="paper", tasks=5, train_rows=3, noise=0.1), 1)
    assert str(caught.value) == (
        "params.yaml: dataset.frequency.test_rows: missing; a number is needed"
    )
