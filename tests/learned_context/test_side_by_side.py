"""Networks with different numbers of task parameters, side by side and one by one."""

from dataclasses import replace

import pytest
import torch

from learned_context.networks.registry import ARCHITECTURES
from learned_context.side_by_side import fit_padded, resized, train_dimensions
from learned_context.training.plan import Options, Plan
from learned_context.training.trainer import train
from tests.learned_context.networks.test_network import random_network, shape_of
from tests.learned_context.training.test_optimisers import OPTIONS, training_of
from tests.learned_context.training.test_trainer import HYPER, PLAN, waves

KINDS = [kind for kind, one in ARCHITECTURES.items() if one.has_task_parameters]


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("kind", KINDS)
def test_padded_networks_equal_single_trainings(kind, optimizer):
    """In double precision; nothing of the padding gets into a network."""
    options, plan = replace(OPTIONS, optimizer=optimizer), Plan(epochs=6, batches=3)
    trainings = [
        training_of(kind, plan, options, replace(HYPER, task_dim=count)) for count in (3, 1, 5)
    ]
    together = fit_padded(trainings, [3, 4, 5])
    for training, seed, padded in zip(trainings, [3, 4, 5], together, strict=True):
        alone = training.single(seed)
        assert padded.network.shape == alone.network.shape
        assert torch.allclose(padded.network.flat, alone.network.flat, rtol=1e-8, atol=1e-10)
        assert padded.losses == pytest.approx(alone.losses, rel=1e-9)


def test_one_that_diverges_or_ends_early_does_not_disturb_the_others():
    hyper = replace(HYPER, peak_rate=0.2)
    plan = Plan(epochs=80, batches=3, lowest_rate=0.03, window_min=3)
    trainings = [
        training_of("lc", plan, Options(), replace(hyper, task_dim=count)) for count in (1, 2, 4, 8)
    ]
    together = fit_padded(trainings, [1, 2, 3, 4])
    alone = [one.single(seed) for one, seed in zip(trainings, [1, 2, 3, 4], strict=True)]
    assert len({len(one.losses) for one in alone}) > 1, "they end at different times"
    assert len({one.restarts for one in alone}) > 1, "they diverge at different times"
    for padded, one in zip(together, alone, strict=True):
        assert (padded.restarts, padded.finished) == (one.restarts, one.finished)
        assert torch.allclose(padded.network.flat, one.network.flat, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_no_prediction(kind):
    shape = shape_of(kind)
    network = random_network(shape)
    wide = resized(network, replace(shape, task_dim=shape.task_dim + 4))
    x = torch.randn(20, shape.inputs, dtype=network.flat.dtype)
    task = torch.arange(20) % shape.tasks
    assert torch.allclose(wide.predict(x, task), network.predict(x, task))
    assert (resized(wide, shape).flat == network.flat).all()


def test_from_rows_to_predictions():
    rows = waves()
    hypers = [replace(HYPER, task_dim=count) for count in (1, 3)]
    found = train_dimensions(rows, 6, "lc", hypers, PLAN, [3, 4], torch.device("cpu"))
    for hyper, seed, one in zip(hypers, (3, 4), found, strict=True):
        alone = train(rows, 6, "lc", hyper, PLAN, seed)
        assert one.losses == pytest.approx(alone.losses, rel=1e-2)


def test_other_settings_must_be_the_same():
    hypers = [HYPER, replace(HYPER, width=HYPER.width + 1)]
    with pytest.raises(ValueError, match="may differ in task_dim alone"):
        train_dimensions(waves(), 6, "lc", hypers, PLAN, [3, 4], torch.device("cpu"))
