"""The written-out gradient against autograd, and one step against torch.optim.SGD."""

import pytest
import torch

from pipeline.models.network import Network
from pipeline.training import gradient as gradient_module
from pipeline.training.gradient import Gradient
from pipeline.training.trainer import Hyperparameters, Plan, Step
from tests.models.test_network import KINDS, random_network, random_rows, shape_of


def autograd_loss(network, x, task, y, lambda_shared=0.0, lambda_task=0.0):
    """Equation 20, on leaves that autograd follows."""
    leaf = network.flat.detach().clone().requires_grad_()
    copy = Network(network.shape, leaf)
    loss = ((copy._predict(x, task) - y) ** 2).mean()
    shared, specific = leaf[: network.shared_size], leaf[network.shared_size :]
    loss = loss + lambda_shared * (shared**2).sum() + lambda_task * (specific**2).sum()
    return loss, leaf


@pytest.mark.parametrize("chunk", [1024, 16, 7])
@pytest.mark.parametrize("blocks", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_equals_autograd_in_double_precision(kind, blocks, chunk, monkeypatch):
    monkeypatch.setattr(gradient_module, "CHUNK_ROWS", chunk)
    shape = shape_of(kind, blocks=blocks)
    network = random_network(shape)
    x, task, y = random_rows(shape)
    loss, leaf = autograd_loss(network, x, task, y)
    (expected,) = torch.autograd.grad(loss, leaf)
    gradient = Gradient(network, len(y))
    for _ in range(2):  # a second batch must not see the first one's buffers
        squared = gradient.batch(x, task, y)
        assert torch.allclose(gradient.flat, expected, rtol=1e-10, atol=1e-12)
        assert squared.item() / len(y) == pytest.approx(loss.item(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_equals_torchs_sgd_on_the_penalised_loss(kind):
    shape = shape_of(kind)
    network = random_network(shape)
    hyper = Hyperparameters(0.1, shape.width, 1e-2, 3e-2, shape.task_dim)
    step = Step(network, hyper, Plan(1, 1, momentum=0.7), 40)
    leaf = network.flat.detach().clone().requires_grad_()
    optimizer = torch.optim.SGD([leaf], lr=0.005, momentum=0.7)
    for number in range(3):
        x, task, y = random_rows(shape, seed=number)
        mirror = Network(shape, leaf.detach().clone())
        loss, copy = autograd_loss(mirror, x, task, y, 1e-2, 3e-2)
        (leaf.grad,) = torch.autograd.grad(loss, copy)
        optimizer.step()
        step(x, task, y, rate=0.005)
        assert torch.allclose(network.flat, leaf, rtol=1e-10, atol=1e-12)


def test_the_shared_penalty_leaves_the_task_parameters_alone():
    shape = shape_of("lc")
    network = random_network(shape)
    before = network.flat.clone()
    x, task, y = random_rows(shape)
    y = network.predict(x, task)  # no error: only the penalty moves anything
    Step(network, Hyperparameters(1, 7, 0.01, 0.0, 2), Plan(1, 1), 40)(x, task, y, rate=1.0)
    shared = network.shared_size
    assert torch.allclose(network.flat[:shared], before[:shared] * (1 - 0.02))
    assert torch.allclose(network.flat[shared:], before[shared:], rtol=1e-12)
