import numpy as np
import pytest
import statsmodels.api as sm

from learned_context.training.schedule import RateSchedule, RateSettings, convergence_p


@pytest.mark.parametrize("seed", range(20))
def test_the_closed_form_equals_statsmodels_likelihood_ratio_test(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 60))
    losses = rng.normal(size=count) + rng.normal() * np.arange(count) / count
    full = sm.OLS(losses, sm.add_constant(np.arange(count))).fit()
    flat = sm.OLS(losses, np.ones(count)).fit()
    _, expected, _ = full.compare_lr_test(flat)
    assert convergence_p(losses.tolist()) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_constant_losses_have_converged_and_a_perfect_line_has_not():
    assert convergence_p([0.3] * 10) == 1.0
    assert convergence_p([3.0, 2.0, 1.0, 0.0]) < 1e-6


def settings(**changes):
    values = {
        "peak": 0.8,
        "lowest": 0.1,
        "epochs": 100,
        "warmup": 4,
        "window": 3,
        "converged_p": 0.51,
        "loss_near_zero": 0.0,
    }
    return RateSettings(**{**values, **changes})


def test_the_warm_up_is_linear_in_the_steps_from_the_lowest_rate_to_the_peak():
    schedule = RateSchedule(settings())
    rates = []
    for _ in range(4):
        rates += [schedule.rate(0.0), schedule.rate(0.5)]
        schedule.end_epoch(1.0)
    assert rates == pytest.approx([0.1 + 0.7 * step / 8 for step in range(8)])
    assert schedule.rate() == schedule.rate(0.5) == 0.8
    assert RateSchedule(settings()).rate() == 0.1


def after_warm_up(**changes):
    schedule = RateSchedule(settings(**changes))
    for _ in range(4):
        schedule.end_epoch(1.0)
    return schedule


def test_losses_of_the_warm_up_do_not_count_and_a_rate_stays_for_a_window():
    schedule = after_warm_up()
    rates = []
    for _ in range(9):  # constant losses converge as soon as they may
        rates.append(schedule.rate())
        schedule.end_epoch(1.0)
    assert rates == [0.8] * 3 + [0.4] * 3 + [0.2] * 3


def test_losses_have_converged_only_above_the_given_p():
    schedule = after_warm_up(converged_p=1.0)  # the p of constant losses, which is not above it
    for _ in range(9):
        schedule.end_epoch(1.0)
    assert schedule.rate() == 0.8


def test_a_loss_that_is_no_number_has_no_slope():
    assert convergence_p([1.0, float("nan"), 2.0]) == 1.0


def test_a_falling_loss_keeps_its_rate():
    schedule = after_warm_up()
    for epoch in range(30):
        schedule.end_epoch(1.0 / (epoch + 1))
    assert schedule.rate() == 0.8


def test_the_window_slides_until_the_loss_has_converged():
    schedule = after_warm_up(window=4)
    for loss in (9.0, 7.0, 5.0, 3.0, 1.0, 0.9, 1.1):
        schedule.end_epoch(loss)
        assert schedule.rate() == 0.8
    schedule.end_epoch(0.95)  # 1.0, 0.9, 1.1, 0.95: no slope
    assert schedule.rate() == 0.4


def test_training_ends_below_the_lowest_rate_but_not_at_it():
    schedule = after_warm_up()
    epochs = 0
    while not schedule.finished:
        schedule.end_epoch(1.0)
        epochs += 1
    assert schedule.finished == "the rate is back at its lowest"
    assert epochs == 12  # 0.8, 0.4, 0.2 and 0.1 for three epochs each, then 0.05


def test_training_ends_with_the_last_epoch_or_a_loss_near_zero():
    schedule = after_warm_up(epochs=6)
    schedule.end_epoch(1.0)
    assert not schedule.finished
    schedule.end_epoch(0.5)
    assert schedule.finished == "the last epoch"
    schedule = after_warm_up(loss_near_zero=1e-3)
    schedule.end_epoch(1e-3)
    assert schedule.finished == "the loss is near zero"
