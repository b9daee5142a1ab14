"""How wide intervals are, for known and for added tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learned_context.estimator import LearnedContextRegressor
from learned_context.estimator.calibration import LEVELS, Quantiles
from tests.learned_context.estimator.conftest import curves


def test_quantiles_hold_their_share_of_new_errors() -> None:
    old, new = np.random.default_rng(0).laplace(size=(2, 20_000))
    found = Quantiles.of(old)
    for level in (0.5, 0.9, 0.99):
        assert (np.abs(new) <= found.at(level)).mean() == pytest.approx(level, abs=0.01)


def test_halfway_is_as_many_times_one_as_the_other_is_of_it() -> None:
    narrow, wide = Quantiles(1.0, 2 * LEVELS), Quantiles(9.0, 8 * LEVELS)
    for found in (narrow.halfway(wide), wide.halfway(narrow)):
        assert found.scale == 3
        assert found.sizes == pytest.approx(4 * LEVELS)
    assert narrow.halfway(narrow).sizes == pytest.approx(narrow.sizes)


def test_added_tasks_are_halfway_between_held_out_and_known_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = []

    def of(errors: Any, original: Any = Quantiles.of) -> Quantiles:
        measured.append(original(errors))
        return measured[-1]

    monkeypatch.setattr(Quantiles, "of", of)
    rows = curves(range(9), 14)
    estimator = LearnedContextRegressor(quality="fast", width=4, epochs=3, random_state=0)
    found = estimator.fit(rows[["x"]], rows.y, rows.well).model_.calibration
    known, *held_out = measured
    assert (found.known.sizes == known.sizes).all()
    assert list(found.added) == [1, 2, 5, 10]
    for own, added in zip(held_out, found.added.values(), strict=True):
        assert added.scale**2 == pytest.approx(own.scale * known.scale)
        assert added.sizes**2 == pytest.approx(own.sizes * known.sizes)
