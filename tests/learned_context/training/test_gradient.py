"""The written-out gradient against autograd, in double precision."""

from dataclasses import replace

import pytest
import torch

from learned_context.networks.network import Network
from learned_context.networks.registry import ARCHITECTURES
from learned_context.networks.task_rows import TaskRows
from learned_context.training import gradient as gradient_module
from learned_context.training.dropout import Masks, mask_generator
from learned_context.training.gradient import Autograd, Written, gradient_of
from tests.learned_context.networks.test_network import KINDS, random_network, random_rows, shape_of

WRITTEN = [kind for kind in KINDS if shape_of(kind).entry.gradient]


def batch_of(shape, seed=1):
    x, task, y = random_rows(shape, seed=seed)
    return x, TaskRows(task, shape.tasks), y


def test_only_architectures_without_a_written_gradient_use_autograd():
    assert set(ARCHITECTURES) - set(WRITTEN) == {"film"}
    for kind in KINDS:
        expected = Written if kind in WRITTEN else Autograd
        assert type(gradient_of(random_network(shape_of(kind)), 40)) is expected


@pytest.mark.parametrize("kind", KINDS)
def test_autograd_gives_the_derivative_of_the_mean_squared_error(kind):
    network = random_network(shape_of(kind))
    x, tasks, y = batch_of(network.shape)
    gradient = Autograd(network, len(y))
    squared = gradient.batch(x, tasks, y)
    loss = ((network.predict(x, tasks.task) - y) ** 2).mean()
    assert squared.item() / len(y) == pytest.approx(loss.item(), rel=1e-12)
    direction = torch.randn(network.flat.shape, dtype=torch.float64)
    losses = []
    for sign in (1, -1):
        moved = Network(network.shape, network.flat + sign * 1e-7 * direction)
        losses.append(((moved.predict(x, tasks.task) - y) ** 2).mean())
    slope = (losses[0] - losses[1]) / 2e-7
    assert slope.item() == pytest.approx((gradient.flat @ direction).item(), rel=1e-5)


@pytest.mark.parametrize("chunk", [1024, 16, 7])
@pytest.mark.parametrize("blocks", [0, 1, 2])
@pytest.mark.parametrize("kind", WRITTEN)
def test_the_written_gradient_equals_autograd(kind, blocks, chunk, monkeypatch):
    monkeypatch.setattr(gradient_module, "CHUNK_ROWS", chunk)
    network = random_network(shape_of(kind, blocks=blocks))
    _compare(network, *batch_of(network.shape))


@pytest.mark.parametrize("option", ["last_relu", "intercepts"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_with_the_trunks_options_too(kind, option):
    network = random_network(replace(shape_of(kind), **{option: True}))
    _compare(network, *batch_of(network.shape))


@pytest.mark.parametrize("chunk", [1024, 7])
@pytest.mark.parametrize("kind", WRITTEN)
def test_with_members_that_have_rows_of_their_own(kind, chunk, monkeypatch):
    monkeypatch.setattr(gradient_module, "CHUNK_ROWS", chunk)
    shape = replace(shape_of(kind), last_relu=True, intercepts=True)
    network = Network.stack([random_network(shape, seed) for seed in range(3)])
    x, task, y = map(torch.stack, zip(*(random_rows(shape, seed=s) for s in range(3)), strict=True))
    _compare(network, x, TaskRows(task, shape.tasks), y)


@pytest.mark.parametrize("kind", WRITTEN)
def test_with_dropout(kind):
    shape = shape_of(kind)
    network = Network.stack([random_network(shape, seed) for seed in range(2)])
    x, task, y = map(torch.stack, zip(*(random_rows(shape, seed=s) for s in range(2)), strict=True))
    found = []
    for make in (Autograd, Written):
        masks = Masks(0.4, network.flat)
        masks.generators = [mask_generator(seed) for seed in range(2)]
        gradient = make(network, 40, masks.draw)
        gradient.batch(x, TaskRows(task, shape.tasks), y)
        found.append(gradient.flat)
    assert torch.allclose(*found, rtol=1e-10, atol=1e-12)
    assert not torch.allclose(found[0][0], Autograd(network.member(0), 40).flat)


def test_masks_leave_out_their_share_keep_the_mean_and_differ_between_members():
    masks = Masks(0.25, torch.zeros(2, 5))
    masks.generators = [mask_generator(seed) for seed in (1, 2)]
    drawn = masks.draw(300, 101)
    assert drawn.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert (drawn == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert not torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn, masks.draw(300, 101))
    with pytest.raises(ValueError, match="dropout must be a share, 0 or more and below 1"):
        Masks(1.0, torch.zeros(5))


def _compare(network, x, tasks, y):
    reference, written = (make(network, y.shape[-1]) for make in (Autograd, Written))
    expected = reference.batch(x, tasks, y)
    for _ in range(2):  # a second batch must not see the first one's buffers
        squared = written.batch(x, tasks, y)
        assert torch.allclose(written.flat, reference.flat, rtol=1e-10, atol=1e-12)
        assert torch.allclose(squared, expected, rtol=1e-12)
