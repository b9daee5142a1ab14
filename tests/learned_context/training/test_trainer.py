import numpy as np
import pytest
import torch

from learned_context.networks.network import Shape
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training import trainer
from learned_context.training.trainer import DivergedError, Hyperparameters, Plan, train


def waves(tasks=6, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(tasks), rows)
    x = rng.uniform(-1, 1, (len(task), 1))
    y = 10 + 3 * np.sin(x[:, 0] * (1 + task / 2)) + task
    return Rows(x, task, y)


HYPER = Hyperparameters(peak_rate=0.05, width=16, lambda_shared=1e-8, lambda_task=1e-6, task_dim=2)
PLAN = Plan(epochs=60, batches=6, window_min=5)


@pytest.mark.parametrize("kind", ["lc", "cs", "ll", "film"])
def test_multi_task_networks_learn_what_a_shared_one_cannot(kind):
    rows = waves()
    fits = {k: train(rows, 6, k, HYPER, PLAN, seed=1) for k in (kind, "fs")}
    errors = {k: np.sqrt(np.mean((fit.predict(rows) - rows.y) ** 2)) for k, fit in fits.items()}
    assert errors[kind] < 0.5 * errors["fs"]


def test_same_seed_same_bits_whatever_the_threads_and_the_global_random_state():
    rows, before = waves(), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        first = train(rows, 6, "lc", HYPER, PLAN, seed=3)
        torch.set_num_threads(2)
        torch.manual_seed(99)
        second = train(rows, 6, "lc", HYPER, PLAN, seed=3)
        assert torch.get_num_threads() == 2, "the caller's threads are given back"
    finally:
        torch.set_num_threads(before)
    assert torch.equal(first.network.flat, second.network.flat)
    assert first.losses == second.losses
    other = train(rows, 6, "lc", HYPER, PLAN, seed=4)
    assert not torch.equal(first.network.flat, other.network.flat)


def test_the_rates_follow_the_schedule():
    fit = train(waves(), 6, "lc", HYPER, PLAN, seed=1)
    assert len(fit.rates) == len(fit.losses) <= 60
    assert fit.rates[0] == PLAN.lowest_rate
    assert fit.rates[6] == HYPER.peak_rate  # a tenth of sixty epochs of warm-up
    assert all(a >= b for a, b in zip(fit.rates[6:], fit.rates[7:], strict=False))


def test_a_divergence_is_retried_at_nine_tenths_of_the_rate_and_counted():
    wild = Hyperparameters(peak_rate=1.0, width=16, lambda_shared=1e-8, task_dim=2)
    fit = train(waves(), 6, "lc", wild, PLAN, seed=1)
    assert fit.restarts > 3
    assert fit.peak_rate == pytest.approx(1.0 * 0.9**fit.restarts)
    assert np.isfinite(fit.losses).all()


def test_a_training_that_always_diverges_says_so():
    wild = Hyperparameters(peak_rate=1e9, width=16, lambda_shared=1e-8, task_dim=2)
    plan = Plan(epochs=20, batches=6, max_restarts=2)
    with pytest.raises(DivergedError, match=r"diverged 3 times, last at peak rate 8.1e\+08"):
        train(waves(), 6, "lc", wild, plan, seed=1)


def test_every_row_is_seen_once_an_epoch_in_nearly_equal_batches(monkeypatch):
    seen = []

    class Spy(trainer.Step):
        def __call__(self, x, tasks, y, numbers):
            seen.append(x[:, 0].clone())
            return super().__call__(x, tasks, y, numbers)

    monkeypatch.setattr(trainer, "Step", Spy)
    rows = waves(tasks=2, rows=25)
    fit = train(rows, 2, "fs", HYPER, Plan(epochs=4, batches=7), seed=1)
    scaled = np.sort(fit.scaler.x(rows.x)[:, 0])
    for epoch in range(4):
        batches = seen[7 * epoch : 7 * epoch + 7]
        assert {len(batch) for batch in batches} == {7, 8}
        assert np.array_equal(np.sort(torch.cat(batches).numpy()), scaled)
    assert not torch.equal(torch.cat(seen[:7]), torch.cat(seen[7:14])), "shuffled again"


def test_more_batches_than_rows_is_one_row_a_batch():
    rows = Rows(np.arange(3.0)[:, None], np.zeros(3, dtype=np.int64), np.arange(3.0))
    fit = train(rows, 1, "lc", HYPER, Plan(epochs=5, batches=50), seed=1)
    assert np.isfinite(fit.predict(rows)).all()


def test_constant_features_and_targets_do_no_harm():
    rows = Rows(np.ones((20, 2)), np.zeros(20, dtype=np.int64), np.full(20, 5.0))
    assert train(rows, 1, "fs", HYPER, PLAN, seed=1).predict(rows) == pytest.approx(5.0, abs=0.2)


def test_the_scaler_is_undone_by_original_units():
    rows = waves()
    scaler = Scaler.fit(rows)
    assert scaler.y(rows.y).mean() == pytest.approx(0, abs=1e-5)
    assert scaler.y(rows.y).std() == pytest.approx(1, abs=1e-5)
    assert scaler.original(scaler.y(rows.y)) == pytest.approx(rows.y, abs=1e-5)


def test_progress_reports_every_epoch_and_the_restarts():
    reports = []
    wild = Hyperparameters(peak_rate=1.0, width=16, lambda_shared=1e-8, task_dim=2)
    fit = train(waves(), 6, "lc", wild, PLAN, seed=1, report=reports.append)
    last = [report for report in reports if report.restarts == fit.restarts]
    assert [report.epoch for report in last] == list(range(1, len(fit.losses) + 1))


def test_only_networks_with_task_parameters_have_a_task_dimension():
    shapes = {
        kind: train(waves(), 6, kind, HYPER, PLAN, seed=1).network.shape for kind in ["cs", "lc"]
    }
    assert shapes == {"cs": Shape("cs", 1, 6, 16, 2, 0), "lc": Shape("lc", 1, 6, 16, 2, 2)}
