"""Errors of predictions, against numbers worked out by hand."""

import warnings

import numpy as np
import pytest

from learned_context import metrics

OBSERVED = np.array([1.0, 2.0, 3.0, 10.0])
PREDICTED = np.array([1.0, 4.0, 0.0, 6.0])


def test_the_error_is_the_root_of_the_mean_square():
    assert metrics.rmse(OBSERVED, PREDICTED) == pytest.approx(np.sqrt((0 + 4 + 9 + 16) / 4))
    assert isinstance(metrics.rmse(OBSERVED, PREDICTED), float)


def test_a_task_has_the_error_of_its_own_rows_and_a_task_without_rows_none():
    task = np.array([2, 0, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = metrics.task_rmse(OBSERVED, PREDICTED, task, 4)
    np.testing.assert_allclose(found, [np.sqrt(13 / 2), np.nan, np.sqrt(8), np.nan])


def test_a_number_is_rounded_to_its_significant_digits():
    assert metrics.significant(1234.56789) == 1234.568
    assert metrics.significant(0.000123456789, 3) == 0.000123
    assert metrics.significant(1.5) == 1.5


def cells(observed, predicted, **options):
    return metrics.histogram(np.array(observed), np.array(predicted), **options)


def test_the_histogram_counts_pairs_on_the_observations_own_range():
    found = cells([0.0, 1.0, 1.0, 4.0], [0.1, 1.2, 1.4, 3.9], bins=4)
    assert found == {
        "low": 0.0,
        "high": 4.0,
        "bins": 4,
        "cells": [[0, 0, 1], [1, 1, 2], [3, 3, 1]],
    }
    assert cells([0.0, 4.0], [0.0, 4.0])["bins"] == 40


def test_a_prediction_out_of_range_counts_at_the_histograms_edge():
    assert cells([0.0, 4.0], [9.0, -9.0], bins=2)["cells"] == [[0, 1, 1], [1, 0, 1]]


def test_equal_observations_have_a_histogram_of_width_one():
    found = cells([3.0, 3.0], [3.9, 2.0], bins=2)
    assert (found["low"], found["high"]) == (3.0, 4.0)
    assert found["cells"] == [[0, 0, 1], [0, 1, 1]]
