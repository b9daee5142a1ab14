"""scikit-learn's own checks, with a short training; slow tests run other settings, and defaults."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learned_context.estimator import LearnedContextRegressor

SHORT = {"quality": "fast", "width": 16, "epochs": 120}


@parametrize_with_checks([LearnedContextRegressor(**SHORT)])
def test_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        *(LearnedContextRegressor(kind=kind, **SHORT) for kind in ("cs", "ll", "fs")),
        LearnedContextRegressor(kind="film", quality="fast"),  # too small a network scores badly
        LearnedContextRegressor(**SHORT, optimizer="sgd", members=1),
    ]
)
def test_check_of_others(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([LearnedContextRegressor()])
def test_check_of_the_defaults(estimator: Any, check: Any) -> None:
    check(estimator)
