"""The linear stage where statsmodels gives up."""

import numpy as np

from pipeline.models.linear import fit_regression
from pipeline.stages import linear
from pipeline.tables.rows import Rows


def test_a_singular_mixed_model_is_the_regression_and_says_so(monkeypatch):
    def singular(rows, tasks):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(linear, "fit_mixed", singular)  # rare, and not on every machine
    rng = np.random.default_rng(1)
    rows = Rows(rng.normal(size=(40, 2)), np.repeat(np.arange(4), 10), rng.normal(size=40))
    found = linear.mixed(rows, 4)
    assert not found.converged
    assert np.array_equal(found.predict(rows), fit_regression(rows, 4).predict(rows))
