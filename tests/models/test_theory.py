import numpy as np
import pytest

from pipeline.models import theory


@pytest.mark.parametrize("tasks", [1, 2, 7, 50])
@pytest.mark.parametrize("delta", [0.125, 0.25, 0.4375])  # exact in binary
def test_the_indicator_network_gives_the_one_hot_vector_exactly(tasks, delta):
    beta = np.arange(1.0, tasks + 1)[:, None]
    assert np.array_equal(theory.task_indicator(tasks, delta)(beta), np.eye(tasks))


def test_between_tasks_the_indicator_is_the_triangle_of_equation_19():
    network, delta = theory.task_indicator(3, 0.25), 0.25
    beta = np.linspace(0, 4, 801)
    expected = np.maximum(0, 1 - np.abs(beta[:, None] - np.arange(1, 4)) / delta)
    assert network(beta[:, None]) == pytest.approx(expected, abs=1e-12)


def test_a_delta_outside_its_range_is_refused():
    with pytest.raises(ValueError, match=r"delta must lie between 0 and 0\.5, not 0\.5"):
        theory.task_indicator(3, 0.5)


def base_shape(x):
    return np.interp(x, [0, 0.5, 1, 1.5, 2], [0, 1, 0, 1, 0])


X = np.linspace(-2, 4, 1201)


@pytest.mark.parametrize("beta", [-0.5, 0.0, 0.75])
def test_equal_task_weights_translate_the_pyramid(beta):
    network = theory.pyramid(np.ones(4))
    assert network(np.column_stack([X, np.full_like(X, beta)]))[:, 0] == pytest.approx(
        base_shape(X + beta), abs=1e-12
    )


@pytest.mark.parametrize("beta", [-0.5, 0.0, 0.75])
def test_the_bias_as_task_weights_dilates_the_pyramid(beta):
    network = theory.pyramid(theory.PYRAMID_BIAS)
    expected = (1 + beta) * base_shape(X / (1 + beta))
    assert network(np.column_stack([X, np.full_like(X, beta)]))[:, 0] == pytest.approx(
        expected, abs=1e-12
    )


def test_a_last_layer_network_fails_on_the_sines_unless_it_has_a_feature_a_task():
    # The sines are orthogonal with equal norm, so each missing feature costs one of them.
    for features in (0, 3, 7):
        expected = np.sqrt(0.5 * (8 - features) / 8)
        assert theory.sine_family_rmse(8, features) == pytest.approx(expected, rel=1e-9)
    assert theory.sine_family_rmse(8, 8) < 1e-12
