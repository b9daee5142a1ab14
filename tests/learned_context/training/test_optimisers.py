"""The written-out optimisers against torch.optim, and members against single trainings."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from learned_context.networks.network import Network
from learned_context.networks.task_rows import TaskRows
from learned_context.scaling import Scaler
from learned_context.training.data import Tensors
from learned_context.training.epoch import Step
from learned_context.training.gradient import gradient_of
from learned_context.training.optimisers import OPTIMISERS, Reference
from learned_context.training.plan import Hyperparameters, Options, Plan
from learned_context.training.schedule import CosineSchedule
from learned_context.training.trainer import DivergedError, Training, train, train_members
from tests.learned_context.networks.test_network import KINDS, random_network, random_rows, shape_of
from tests.learned_context.training.test_trainer import HYPER, PLAN, waves

OPTIONS = Options(dropout=0.2, last_relu=True, intercepts=True, lambda_intercept=0.05)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_step_equals_torchs(optimizer):
    shape = replace(shape_of("lc"), intercepts=True)
    hyper = Hyperparameters(0.1, shape.width, 1e-2, 3e-2, shape.task_dim)
    plan, options = Plan(1, 1, momentum=0.7), replace(OPTIONS, optimizer=optimizer)
    networks = []
    for make in (OPTIMISERS[optimizer], Reference):
        network = random_network(shape)
        gradient = gradient_of(network, 40)
        step = Step(gradient, make(network, gradient.flat, hyper, plan, options))
        for number in range(1, 4):
            x, task, y = random_rows(shape, seed=number)
            numbers = torch.tensor(step.optimiser.numbers(0.005, number), dtype=torch.float64)
            step(x, TaskRows(task, shape.tasks), y, numbers)
        networks.append(network)
    assert torch.allclose(networks[0].flat, networks[1].flat, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("optimizer", "kept"), [("sgd", lambda p: 1 - 2 * p), ("adamw", lambda p: 1 - p)]
)
def test_every_group_of_parameters_has_its_own_penalty(optimizer, kept):
    shape = replace(shape_of("lc"), intercepts=True)
    network = random_network(shape)
    before = network.flat.clone()
    gradient = torch.zeros_like(network.flat)  # only the penalties move anything
    hyper, options = Hyperparameters(1, 7, 0.01, 0.02, 2), Options(optimizer, lambda_intercept=0.03)
    optimiser = OPTIMISERS[optimizer](network, gradient, hyper, Plan(1, 1), options)
    optimiser.step(torch.tensor(optimiser.numbers(1.0, 1), dtype=torch.float64))
    for group, penalty in (("shared", 0.01), ("task", 0.02), ("intercept", 0.03)):
        part = network.groups[group]
        assert torch.allclose(network.flat[part], before[part] * kept(penalty)), group


def training_of(kind, plan=PLAN, options=OPTIONS, hyper=HYPER, reference=False):
    rows = waves()
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, torch.device("cpu"))
    data = Tensors(data.x.double(), data.task, data.y.double())
    return Training(data, scaler, 6, kind, hyper, plan, options, reference)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_fast_training_equals_the_reference(kind, optimizer):
    options = replace(OPTIONS, optimizer=optimizer)
    plan = Plan(epochs=8, batches=3)
    fast, reference = (
        training_of(kind, plan, options, reference=reference).single(seed=2)
        for reference in (False, True)
    )
    assert torch.allclose(fast.network.flat, reference.network.flat, rtol=1e-8, atol=1e-10)
    assert fast.losses == pytest.approx(reference.losses, rel=1e-9)


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("kind", KINDS)
def test_members_equal_single_trainings(kind, optimizer, reference):
    options = replace(OPTIONS, optimizer=optimizer)
    plan = Plan(epochs=6, batches=3)
    training = training_of(kind, plan, options, reference=reference)
    together = training.members([3, 4, 5])
    for seed, member in zip([3, 4, 5], together, strict=True):
        alone = training.single(seed)
        assert torch.allclose(member.network.flat, alone.network.flat, rtol=1e-8, atol=1e-10)
        assert member.losses == pytest.approx(alone.losses, rel=1e-9)


@pytest.mark.parametrize("reference", [False, True])
def test_members_that_diverge_or_end_early_do_not_disturb_the_others(reference):
    hyper = replace(HYPER, peak_rate=0.2)  # some seeds diverge, and some more often than others
    plan = Plan(epochs=80, batches=3, lowest_rate=0.03, window_min=3)
    training = training_of("lc", plan, Options(), hyper, reference)
    seeds = [1, 2, 3, 4]
    together, alone = training.members(seeds), [training.single(seed) for seed in seeds]
    assert len({len(one.losses) for one in alone}) > 1, "they end at different times"
    assert len({one.restarts for one in alone}) > 1, "they diverge at different times"
    for member, one in zip(together, alone, strict=True):
        assert (member.restarts, member.finished) == (one.restarts, one.finished)
        assert member.losses == pytest.approx(one.losses, rel=1e-6)
        assert torch.allclose(member.network.flat, one.network.flat, rtol=1e-5, atol=1e-7)


def test_members_in_single_precision_learn_as_one_does():
    rows = waves()
    one = train(rows, 6, "lc", HYPER, PLAN, seed=3)
    members = train_members(rows, 6, "lc", HYPER, PLAN, seeds=[3, 4])
    assert members[0].losses == pytest.approx(one.losses, rel=1e-2)
    assert members[0].predict(rows) == pytest.approx(one.predict(rows), abs=0.3)


def test_a_member_that_always_diverges_says_so():
    wild = replace(HYPER, peak_rate=1e9)
    with pytest.raises(DivergedError, match="diverged 3 times"):
        train_members(waves(), 6, "lc", wild, replace(PLAN, max_restarts=2), seeds=[1, 2])


def test_the_cosine_rises_to_the_peak_and_falls_to_zero():
    schedule = CosineSchedule(0.1, 20, 0.05)
    assert schedule.rate() == 0
    assert schedule.rate(0.5) == pytest.approx(0.05)
    rates = []
    while not schedule.finished:
        rates.append(schedule.rate())
        schedule.end_epoch(1.0)
    assert len(rates) == 20
    assert rates[1] == pytest.approx(0.1)
    assert rates[1:] == sorted(rates[1:], reverse=True)
    assert rates[10] == pytest.approx(0.1 * (1 + math.cos(math.pi * 9 / 19)) / 2)
    assert schedule.rate() == pytest.approx(0)


@pytest.mark.parametrize("kind", ["lc", "film"])
def test_adamw_learns_in_few_steps(kind):
    rows = waves()
    options = Options("adamw", last_relu=True, intercepts=True)
    plan = Plan(epochs=100, batches=4)
    fit = train(rows, 6, kind, replace(HYPER, peak_rate=0.01), plan, 1, options=options)
    assert np.sqrt(np.mean((fit.predict(rows) - rows.y) ** 2)) < 0.05 * rows.y.std()
    assert fit.network.shape.last_relu and fit.network.shape.intercepts


def test_a_network_of_members_takes_its_penalties_for_each(monkeypatch):
    shape = shape_of("cs")
    network = Network.stack([random_network(shape, seed) for seed in range(2)])
    gradient = torch.zeros_like(network.flat)
    optimiser = OPTIMISERS["sgd"](network, gradient, HYPER, PLAN, Options())
    before = network.flat.clone()
    gradient.fill_(1.0)
    numbers = torch.tensor([[[-0.1], [0.0]]], dtype=torch.float64)  # the second member rests
    optimiser.step(numbers)
    assert torch.equal(network.flat[1], before[1])
    assert not torch.equal(network.flat[0], before[0])
