"""The linear study where statsmodels gives up."""

import numpy as np

from learned_context.rows import Rows
from pipeline.models import linear as models
from pipeline.studies import linear


def test_a_singular_mixed_model_is_the_regression_and_says_so(monkeypatch):
    def singular(rows, tasks):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(models, "fit_mixed", singular)  # rare, and not on every machine
    rng = np.random.default_rng(1)
    rows = Rows(rng.normal(size=(40, 2)), np.repeat(np.arange(4), 10), rng.normal(size=40))
    found = linear._mixed(rows, 4)
    assert not found.converged
    assert np.array_equal(found.predict(rows), models.fit_regression(rows, 4).predict(rows))
