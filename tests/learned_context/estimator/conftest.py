"""A small family of tasks, and estimators fitted on it once for all tests."""

from __future__ import annotations

from copy import copy

import numpy as np
import pandas as pd
import pytest

from learned_context.estimator import LearnedContextRegressor

NOISE = 0.1
QUICK = {"quality": "fast", "width": 24, "task_dim": 2, "epochs": 100, "random_state": 0}
PAPER = {
    "optimizer": "sgd",
    "members": 1,
    "width": 24,
    "task_dim": 2,
    "epochs": 60,
    "random_state": 0,
}


def curves(tasks: range, rows: int, seed: int = 0) -> pd.DataFrame:
    """Task j is a sine whose phase is a number of its own in [-1, 1]."""
    frames = []
    for task in tasks:
        random = np.random.default_rng([seed, task])
        x = random.uniform(-2, 2, rows)
        y = np.sin(2 * x + phase(task)) + random.normal(0, NOISE, rows)
        side = np.where(random.uniform(size=rows) < 0.5, "left", "right")
        frames.append(pd.DataFrame({"x": x, "side": side, "y": y, "well": f"w{task:02d}"}))
    return pd.concat(frames, ignore_index=True)


def phase(task: int) -> float:
    return float(np.random.default_rng(task).uniform(-1, 1))


@pytest.fixture(scope="session")
def known() -> pd.DataFrame:
    return curves(range(20), 40)


@pytest.fixture(scope="session")
def new() -> pd.DataFrame:
    return curves(range(20, 24), 60)


@pytest.fixture(scope="session")
def _lc(known: pd.DataFrame) -> LearnedContextRegressor:
    return LearnedContextRegressor(**QUICK).fit(known[["x", "side"]], known.y, known.well)


@pytest.fixture
def lc(_lc: LearnedContextRegressor) -> LearnedContextRegressor:
    """A copy: models do not change, so a shallow one is enough."""
    return copy(_lc)


@pytest.fixture(scope="session")
def _ll(known: pd.DataFrame) -> LearnedContextRegressor:
    estimator = LearnedContextRegressor(kind="ll", **QUICK)
    return estimator.fit(known[["x", "side"]], known.y, known.well)


@pytest.fixture
def ll(_ll: LearnedContextRegressor) -> LearnedContextRegressor:
    return copy(_ll)
