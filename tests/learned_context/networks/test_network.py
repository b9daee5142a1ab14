"""Every network against a textbook form that builds the one-hot and concatenated inputs."""

from dataclasses import replace

import pytest
import torch

from learned_context.networks.network import Network, Shape
from learned_context.networks.registry import ARCHITECTURES

KINDS = list(ARCHITECTURES)


def shape_of(kind, tasks=5, width=7, inputs=3, blocks=2, task_dim=2):
    has_parameters = ARCHITECTURES[kind].has_task_parameters
    return Shape(kind, inputs, tasks, width, blocks, task_dim if has_parameters else 0)


def random_network(shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    network = Network.initial(shape, generator, torch.device("cpu"), torch.float64)
    network.flat.copy_(torch.randn(network.flat.shape, generator=generator, dtype=torch.float64))
    return network


def random_rows(shape, rows=40, seed=1):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, shape.inputs, generator=generator, dtype=torch.float64)
    task = torch.randint(0, shape.tasks, (rows,), generator=generator)
    y = torch.randn(rows, generator=generator, dtype=torch.float64)
    return x, task, y


def textbook(shape, parameters, x, task):
    """The paper's equations, row by row and layer by layer, with the inputs it writes."""
    p, outputs = parameters, []
    for row, j in zip(x, task.tolist(), strict=True):
        if shape.kind == "lc":  # Equation 15: z = [x; beta_j]
            inputs, first = torch.cat([row, p["beta"][j]]), torch.cat([p["A"], p["L"]], dim=1)
        elif shape.kind == "cs":  # Equation 11: z = [x; c_j]
            one_hot = torch.zeros(shape.tasks, dtype=row.dtype)
            one_hot[j] = 1
            inputs, first = torch.cat([row, one_hot]), torch.cat([p["A"], p["L"].T], dim=1)
        else:
            inputs, first = row, p["A"]

        def modulated(place, units, j=j):  # FiLM: (1 + G beta) u + H beta
            if shape.kind != "film":
                return units
            scales, shifts = (p["F"] @ p["beta"][j]).view(2, shape.blocks + 1, shape.width)
            return (1 + scales[place]) * units + shifts[place]

        z = modulated(0, first @ inputs + p["b1"])
        k = 2
        for block in range(shape.blocks):
            inner = modulated(block + 1, p[f"W{k}"] @ torch.relu(z) + p[f"b{k}"])
            z = z + p[f"W{k + 1}"] @ torch.relu(inner) + p[f"b{k + 1}"]
            k += 2
        h = p[f"W{k}"] @ z + p[f"b{k}"]
        outputs.append(p["beta"][j] @ h if shape.kind == "ll" else h[0])
    return torch.stack(outputs)


@pytest.mark.parametrize("blocks", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_equal_the_textbook(kind, blocks):
    shape = shape_of(kind, blocks=blocks)
    network = random_network(shape)
    x, task, _ = random_rows(shape)
    expected = textbook(shape, network.views, x, task)
    assert torch.allclose(network.predict(x, task, rows=7), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_task_and_a_hundred_thousand_tasks_both_work(kind):
    for tasks in (1, 100_000):
        shape = shape_of(kind, tasks=tasks)
        network = Network.initial(shape, torch.Generator().manual_seed(0), torch.device("cpu"))
        task = torch.tensor([0, tasks - 1])
        assert network.predict(torch.zeros(2, 3), task).shape == (2,)


@pytest.mark.parametrize("kind", KINDS)
def test_initial_weights_are_he_normal_and_the_rest_is_zero(kind):
    shape = shape_of(kind, width=300, inputs=60, tasks=40, task_dim=4)
    network = Network.initial(shape, torch.Generator().manual_seed(0), torch.device("cpu"))
    fan_in = {"lc": 64, "cs": 100, "film": 64}.get(kind, 60)
    assert network.views["A"].std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.03)
    assert network.views["W2"].std().item() == pytest.approx((2 / 300) ** 0.5, rel=0.03)
    if kind in ("lc", "cs"):
        assert network.views["L"].std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.1)
    for name, view in network.views.items():
        if name.startswith("b"):  # the biases and beta
            assert not view.any(), name


def test_the_task_parameters_stand_behind_the_shared_ones():
    network = random_network(shape_of("lc"))
    assert torch.equal(network.flat[network.groups["task"]], network.views["beta"].ravel())
    assert network.groups["task"].stop == Network.size(network.shape)
    assert random_network(shape_of("cs")).groups == {
        "shared": slice(0, Network.size(shape_of("cs")))
    }


def test_options_that_are_off_leave_no_trace_in_a_file():
    plain = Shape("lc", 1, 2, 3, 2, 1)
    assert list(plain.as_dict()) == ["kind", "inputs", "tasks", "width", "blocks", "task_dim"]
    assert Shape("fs", 1, 2, 3, 2).as_dict()["task_dim"] == 0
    changed = Shape("lc", 1, 2, 3, 2, 1, last_relu=True, intercepts=True)
    assert Shape(**changed.as_dict()) == changed


@pytest.mark.parametrize("kind", KINDS)
def test_members_predict_what_each_predicts_alone(kind):
    shape = replace(shape_of(kind), last_relu=True, intercepts=True)
    alone = [random_network(shape, seed) for seed in range(3)]
    together = Network.stack(alone)
    x, task, _ = random_rows(shape)
    expected = torch.stack([network.predict(x, task) for network in alone])
    assert torch.allclose(together.predict(x, task, rows=7), expected, rtol=1e-12, atol=1e-12)
    assert together.members == 3 and alone[0].members is None
    assert torch.equal(together.member(1).flat, alone[1].flat)
    again = Network.from_parameters(shape, together.parameters())
    assert torch.equal(again.flat, together.flat)


@pytest.mark.parametrize("kind", KINDS)
def test_intercepts_and_the_last_relu_change_the_output_as_they_say(kind):
    shape = replace(shape_of(kind, blocks=0), intercepts=True, last_relu=True)
    network = random_network(shape)
    x, task, _ = random_rows(shape)
    intercept = network.views["intercept"].clone()
    before = network.predict(x, task)
    network.views["intercept"].zero_()
    assert torch.allclose(before - network.predict(x, task), intercept[task])
    network.views["beta" if kind == "film" else "b1"].zero_()  # no negative scales
    network.views["b1"].fill_(-1e6)  # no unit is active: only the last bias is left
    constant = network.views["b2"]
    expected = network.views["beta"][task] @ constant if kind == "ll" else constant.expand(len(x))
    assert torch.allclose(network.predict(x, task), expected)


def test_parameters_make_the_same_network_again():
    network = random_network(shape_of("ll"))
    again = Network.from_parameters(network.shape, network.parameters())
    assert torch.equal(again.flat, network.flat)


def test_a_missing_or_misshapen_parameter_is_named():
    network = random_network(shape_of("lc"))
    parameters = network.parameters()
    del parameters["W3"]
    with pytest.raises(ValueError, match="parameter 'W3' is missing"):
        Network.from_parameters(network.shape, parameters)
    with pytest.raises(ValueError, match="parameter 'beta' has the wrong size"):
        Network.from_parameters(shape_of("lc", tasks=6), network.parameters())


def test_impossible_shapes_are_refused():
    with pytest.raises(ValueError, match="needs task_dim >= 1, not 0"):
        Shape("lc", 1, 1, 8, 2)
    with pytest.raises(ValueError, match="must be at least 1"):
        Shape("fs", 0, 1, 8, 2)
    with pytest.raises(ValueError, match="kind must be one of lc, cs, ll, fs, film, not 'gp'"):
        Shape("gp", 1, 1, 8, 2)
