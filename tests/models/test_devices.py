"""What studies compute from networks has the CPU's bits on another, simulated, device."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from learned_context.new_tasks.gauss_newton import Effort
from learned_context.training.plan import Plan
from learned_context.training.trainer import train
from pipeline.models import illustrations
from pipeline.models.held_out import HeldOut
from tests.learned_context.pretend_device import pretend_device
from tests.learned_context.training.test_trainer import HYPER, waves


@pytest.fixture
def trained():
    """A network, and the same one elsewhere."""
    here = train(waves(), 6, "lc", replace(HYPER, task_dim=1), Plan(20, 6), 1)
    with pretend_device() as elsewhere:
        yield here, replace(here, network=here.network.to(elsewhere.device))


def test_the_numbers_for_figures(trained):
    line = np.linspace(-1, 1, 7)[:, None]
    here, there = (
        (
            illustrations.parameters(one),
            illustrations.brought(one),
            illustrations.posterior_stds(one, waves(), 0.05),
            illustrations.responses(one, line, np.array([[0.5], [-1.0]])),
        )
        for one in trained
    )
    for expected, found in zip(here, there, strict=True):
        assert np.array_equal(expected, found)
    assert illustrations.likelihoods(trained[0], 0.1, 0.1, 1) == illustrations.likelihoods(
        trained[1], 0.1, 0.1, 1
    )


def test_held_out_tasks(trained):
    rows = waves()
    own = rows.take(np.flatnonzero(rows.task >= 4))
    effort = Effort(candidates=16, starts=3, steps=5)
    found = []
    for one in trained:
        held_out = HeldOut(one, np.arange(4), np.array([4, 5]), 0.05)
        found.append(
            (held_out.by_gauss_newton(own, own, effort), held_out.by_lipo(own, own, 5, seed=1))
        )
    for here, there in zip(*found, strict=True):
        assert np.array_equal(here.beta, there.beta)
        assert np.array_equal(here.task_rmse, there.task_rmse, equal_nan=True)
        assert here.rmse == there.rmse
    assert not torch.equal(trained[0].network.views["beta"][4:], torch.zeros(2, 1))
