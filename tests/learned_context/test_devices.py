"""Another device gives the CPU's bits, and is not kept waiting.

What runs here runs on a simulated device (`pretend_device`); a real GPU is tried by the tests
marked `gpu`, which are skipped where there is none.
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from learned_context.errors import UserError
from learned_context.estimator import LearnedContextRegressor, fitting
from learned_context.estimator import settings as estimator_settings
from learned_context.networks import task_rows
from learned_context.networks.network import Network, Shape
from learned_context.networks.registry import ARCHITECTURES
from learned_context.networks.task_rows import BatchSegments, Segments, TaskRows
from learned_context.new_tasks import gauss_newton, laplace, lipo
from learned_context.new_tasks.gauss_newton import Effort
from learned_context.new_tasks.objective import Prior, Problem
from learned_context.rows import Rows
from learned_context.search.tuning import trial
from learned_context.training import devices, trainer
from learned_context.training.data import Tensors
from learned_context.training.devices import choose_device, device_name
from learned_context.training.plan import Hyperparameters, Options, Plan
from learned_context.training.storage import load_network, save_network
from learned_context.training.trainer import Training, train, train_members
from tests.learned_context.estimator.conftest import curves
from tests.learned_context.pretend_device import (
    MixedDevicesError,
    PretendTensor,
    UnorderedSumError,
    pretend_device,
)
from tests.learned_context.training.test_trainer import HYPER, waves

CPU = torch.device("cpu")
PLAN = Plan(epochs=3, batches=3)
OPTIONS = Options("adamw", dropout=0.2, last_relu=True, intercepts=True, lambda_intercept=0.01)


@pytest.fixture
def elsewhere():
    with pretend_device() as device:
        yield device


def same(here, there):
    assert isinstance(there.network.flat, PretendTensor)
    assert torch.equal(here.network.flat, there.network.flat.cpu())
    assert here.losses == there.losses
    assert (here.predict(waves()) == there.predict(waves())).all()


def test_the_simulated_device_refuses_to_mix(elsewhere):
    there, here = torch.zeros(3, device=elsewhere.device), torch.ones(3)
    with pytest.raises(MixedDevicesError, match="tensors on"):
        there + here
    with pytest.raises(MixedDevicesError, match="generator"):
        torch.randperm(3, generator=torch.Generator(), device=elsewhere.device)
    with pytest.raises(UnorderedSumError, match="varies"):
        there.index_add_(0, torch.zeros(3, dtype=torch.int64).to(elsewhere.device), there)
    elsewhere.forget()
    assert (there + 1).cpu().tolist() == [1, 1, 1]
    assert elsewhere.synchronisations.total() == 1
    assert (there + torch.tensor(2.0)).cpu().tolist() == [2, 2, 2], "a number may join"


@pytest.mark.parametrize("options", [Options(), OPTIONS], ids=["paper", "adamw"])
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_training_gives_the_same_bits(elsewhere, kind, options):
    here, there = (
        train(waves(), 6, kind, HYPER, PLAN, 1, device, options=options)
        for device in (CPU, elsewhere.device)
    )
    same(here, there)


@pytest.mark.parametrize("kind", ["lc", "ll", "film"])
def test_members_give_the_same_bits(elsewhere, kind):
    wild = replace(HYPER, peak_rate=0.2)  # some begin again
    fits = [
        train_members(waves(), 6, kind, wild, PLAN, [1, 2], device)
        for device in (CPU, elsewhere.device)
    ]
    for here, there in zip(*fits, strict=True):
        same(here, there)


def test_a_search_trial_gives_the_same_score(elsewhere):
    rows = waves()
    found = [
        trial(rows, waves(seed=1), 6, "lc", PLAN, 1, device)(HYPER)
        for device in (CPU, elsewhere.device)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["lc", "ll", "film"])
def test_new_tasks_give_the_same_bits(elsewhere, kind, tmp_path):
    path = tmp_path / "network"
    save_network(path, train(waves(), 6, kind, HYPER, Plan(20, 6), 1))
    rows = waves(tasks=3, rows=20, seed=5)
    found = []
    for device in (CPU, elsewhere.device):
        network = load_network(path, device).network
        assert network.flat.device.type == device.type
        scaler = load_network(path).scaler
        base = network.task_parameters.double().cpu().numpy()
        tensors = Tensors.of(rows, scaler, device)
        problem = Problem(network, tensors, 3, 0.05, Prior.of_network(network))
        elsewhere.forget()
        fit = gauss_newton.fit(problem, base, Effort(candidates=16, starts=3, steps=5))
        searched = lipo.fit(problem, base, evaluations=5)
        predicted = laplace.predict(network, laplace.mixture(fit), tensors.x, rows.task, 0.05)
        found.append((fit.ends, fit.precisions, searched.beta, predicted.means, predicted.stds))
    for here, there in zip(*found, strict=True):
        assert (here == there).all()
    # One answer for each evaluation of all points, however many blocks they came in.
    downloads = sum(n for place, n in elsewhere.downloads.items() if "objective" in place)
    assert downloads <= 1 + 6 + 5


class InThisThread:
    """The simulated device knows one thread."""

    def __init__(self, workers):
        self.map = map

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


@pytest.mark.parametrize("kind", ["lc", "cs"])
def test_the_estimator_gives_the_same_numbers(elsewhere, kind, monkeypatch):
    known, new = curves(range(6), 12), curves(range(6, 7), 8)
    monkeypatch.setattr(fitting, "ThreadPoolExecutor", InThisThread)
    found = []
    for device in (CPU, elsewhere.device):
        monkeypatch.setattr(estimator_settings, "device", lambda name, device=device: device)
        settings = {"width": 8, "task_dim": 2, "epochs": 4, "random_state": 0, "members": 2}
        model = LearnedContextRegressor(kind=kind, **settings)
        model.fit(known[["x", "side"]], known.y, known.well)
        assert model.model_.device.type == device.type
        if kind == "lc":
            model.add_task("new", new[["x", "side"]], new.y)
        found.append(model.predict(known[["x", "side"]], known.well, return_std=True))
        restored = pickle.loads(pickle.dumps(model))  # noqa: S301  what scikit-learn's tools do
        assert restored.model_.device.type == device.type
        expected = model.predict(known[["x", "side"]], known.well)
        assert (restored.predict(known[["x", "side"]], known.well) == expected).all()
    assert np.array_equal(found[0], found[1])


def test_a_pickled_network_is_on_the_cpu_and_a_copy_is_where_it_was(elsewhere):
    network = Network.zeros(Shape("fs", 1, 1, 2, 1), elsewhere.device)
    assert pickle.loads(pickle.dumps(network)).flat.device == CPU  # noqa: S301
    assert copy.deepcopy(network).flat.device == elsewhere.device


# How long the device waits for the host.


def counted(elsewhere, kind, plan, rows, tasks, hyper):
    """Counts of two trainings, one epoch apart: the difference is one epoch's."""
    found = []
    for epochs in (plan.epochs, plan.epochs + 1):
        elsewhere.forget()
        train(rows, tasks, kind, hyper, replace(plan, epochs=epochs), 1, elsewhere.device)
        counters = (elsewhere.synchronisations, elsewhere.operations, elsewhere.uploads)
        found.append([counter.total() for counter in counters])
    return [after - before for before, after in zip(*found, strict=True)]


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_an_epoch_has_one_synchronisation_and_a_step_none(elsewhere, kind):
    calm = replace(HYPER, peak_rate=1e-4)
    for batches in (1, 4):
        plan = Plan(1, batches)
        synchronisations, _, uploads = counted(elsewhere, kind, plan, waves(), 6, calm)
        assert synchronisations == 1, "the loss"
        assert uploads == 2, "the order of the rows, and the rates"


def test_a_step_at_the_papers_batch_has_at_most_sixty_operations(elsewhere):
    random = np.random.default_rng(0)
    task = random.integers(0, 200, 30_000)
    rows = Rows(random.normal(size=(30_000, 3)), task, random.normal(size=30_000))
    hyper = Hyperparameters(1e-6, 16, 1e-8, 1e-8, 8)
    _, operations, _ = counted(elsewhere, "lc", Plan(1, 2), rows, 200, hyper)
    print(f"{operations / 2} operations a step")
    assert operations <= 2 * 60


class Recorder(TorchDispatchMode):
    """What a CUDA graph does: keep the operations of a pass, and do them again when asked."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        if not operation.is_view:
            self.kept.append((operation, args, kwargs or {}, result))
        return result

    def replay(self):
        for operation, args, kwargs, kept in self.kept:
            result = operation(*args, **kwargs)
            pairs = zip(_listed(kept), _listed(result), strict=True)
            for old, new in pairs:
                if old is not new:
                    old.copy_(new)


def _listed(result):
    return result if isinstance(result, tuple | list) else [result]


def recorded(run):
    """Like a capture, it leaves everything as it was."""
    step = run.__self__.step
    state = [step.gradient.network.flat, *step.optimiser.state]
    before = [tensor.clone() for tensor in state]
    with Recorder() as recorder:
        run()
    for tensor, value in zip(state, before, strict=True):
        tensor.copy_(value)
    return recorder.replay


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("kind", ["lc", "cs", "ll", "fs"])
def test_a_pass_that_is_captured_and_replayed_gives_the_same_bits(
    elsewhere, kind, optimizer, monkeypatch
):
    captures = []

    def capture(run):
        captures.append(run)
        return recorded(run)

    hyper, options = replace(HYPER, peak_rate=0.2), Options(optimizer)  # sgd begins again
    plain = train(waves(), 6, kind, hyper, PLAN, 1, elsewhere.device, options=options)
    monkeypatch.setattr(trainer, "capture_of", lambda device: capture)
    replayed = train(waves(), 6, kind, hyper, PLAN, 1, elsewhere.device, options=options)
    assert torch.equal(plain.network.flat.cpu(), replayed.network.flat.cpu())
    assert plain.losses == replayed.losses
    assert len(captures) == 1
    if optimizer == "adamw":
        masks = replace(options, dropout=0.2)
        train(waves(), 6, kind, hyper, PLAN, 1, elsewhere.device, options=masks)
    assert len(captures) == 1, "masks are drawn on the host: such a pass is not captured"


# Sums by task in one order.


@pytest.mark.parametrize("long", [10**9, 0], ids=["segments", "one-hot"])
@pytest.mark.parametrize("members", [None, 3])
def test_ordered_sums_equal_index_add(elsewhere, members, long, monkeypatch):
    monkeypatch.setattr(task_rows, "LONG_SEGMENT", long)
    generator = torch.Generator().manual_seed(0)
    lead = () if members is None else (members,)
    task = torch.randint(0, 9, (*lead, 70), generator=generator)
    rows = torch.randn(*lead, 70, 4, generator=generator)
    expected = torch.zeros(*lead, 9, 4)
    TaskRows(task, 9).add_to(expected, rows)
    there = torch.zeros(*lead, 9, 4, device=elsewhere.device)
    TaskRows(task.to(elsewhere.device), 9).add_to(there, rows.to(elsewhere.device))
    if long:
        assert torch.equal(there.cpu(), expected), "rows are added in their order"
    else:
        assert torch.allclose(there.cpu(), expected, atol=1e-5)


@pytest.mark.parametrize("long", [10**9, 0])
@pytest.mark.parametrize("members", [None, 3])
def test_one_sort_serves_all_batches_of_an_epoch(members, long, monkeypatch):
    monkeypatch.setattr(task_rows, "LONG_SEGMENT", long)
    lead = () if members is None else (members,)
    generator = torch.Generator().manual_seed(0)
    task, bounds = torch.randint(0, 5, (*lead, 23), generator=generator), [0, 7, 15, 23]
    found = BatchSegments(task, bounds, 5)(task)
    rows = torch.randn(*lead, 23, 2, generator=generator)
    for (start, stop), segments in zip(pairwise(bounds), found, strict=True):
        part = slice(start, stop)
        expected = Segments.of(task[..., part], 5).sums(rows[..., part, :])
        assert torch.equal(segments.sums(rows[..., part, :]), expected)


def test_a_large_table_of_beginnings_is_not_made():
    task = torch.zeros(8, dtype=torch.int64)
    assert BatchSegments.of(task, [0, 4, 8], 2**21) is not None
    assert BatchSegments.of(task, [0, 4, 8], 2**21 + 1) is None


# Which device.


def test_auto_is_cuda_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(UserError, match="device is cuda:2, but torch finds 2 of them"):
        choose_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == CPU
    with pytest.raises(UserError, match="device is cuda, but torch finds none; use auto or cpu"):
        choose_device("cuda")


@pytest.mark.parametrize("name", ["mps", "meta", "gpu", "cuda:", "cuda:x", "", None, 0])
def test_other_devices_are_refused(name):
    with pytest.raises(UserError, match="device must be auto, cpu, cuda or cuda:N, not"):
        choose_device(name)


def test_results_name_the_device_of_the_computation(elsewhere, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
    assert device_name(torch.device("cuda:1")) == "GPU 1"
    assert device_name(CPU) == "cpu"
    assert device_name(elsewhere.device) == "pretend"


def test_the_precision_of_products_is_changed_for_a_training_elsewhere_only(elsewhere):
    seen = []

    def note(progress):
        seen.append(torch.get_float32_matmul_precision())

    for device in (CPU, elsewhere.device):
        train(waves(), 6, "fs", HYPER, replace(PLAN, epochs=1, precision="high"), 1, device, note)
    assert seen == ["highest", "high"]
    assert torch.get_float32_matmul_precision() == "highest"


def test_a_full_device_is_one_clear_line(elsewhere, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(trainer, "gradient_of", full)
    with pytest.raises(UserError, match="the memory of pretend is full; run fewer trainings"):
        train(waves(), 6, "lc", HYPER, PLAN, 1, elsewhere.device)


@pytest.mark.gpu
class TestCuda:
    device = torch.device("cuda")

    @pytest.mark.parametrize("kind", ARCHITECTURES)
    def test_training_is_repeatable_and_close_to_the_cpu(self, kind):
        here, there, again = (
            train(waves(), 6, kind, HYPER, PLAN, 1, device)
            for device in (CPU, self.device, self.device)
        )
        assert torch.equal(there.network.flat, again.network.flat)
        assert there.losses == pytest.approx(here.losses, rel=1e-3)

    @pytest.mark.parametrize("kind", ARCHITECTURES)
    def test_the_graph_gives_the_bits_of_the_plain_pass(self, kind):
        rows = waves()
        scaler = trainer.Scaler.fit(rows)
        data = Tensors.of(rows, scaler, self.device)
        graph, plain = (
            Training(data, scaler, 6, kind, HYPER, PLAN, capture=capture).single(1)
            for capture in (True, False)
        )
        assert torch.equal(graph.network.flat, plain.network.flat)

    def test_members_are_close_to_single_trainings(self):
        together = train_members(waves(), 6, "lc", HYPER, PLAN, [1, 2], self.device)
        for seed, member in zip([1, 2], together, strict=True):
            alone = train(waves(), 6, "lc", HYPER, PLAN, seed, self.device)
            assert member.losses == pytest.approx(alone.losses, rel=1e-3)

    def test_the_device_is_named(self):
        assert devices.device_name(self.device) not in ("cpu", "cuda")

    def test_new_tasks_are_close_to_the_cpu(self):
        trained = train(waves(), 6, "lc", HYPER, Plan(20, 6), 1)
        rows, found = waves(tasks=3, rows=20, seed=5), []
        for device in (CPU, self.device):
            network = trained.network.to(device)
            tensors = Tensors.of(rows, trained.scaler, device)
            problem = Problem(network, tensors, 3, 0.05, Prior.of_network(network))
            base = network.task_parameters.double().cpu().numpy()
            fit = gauss_newton.fit(problem, base, Effort(candidates=16, starts=3, steps=5))
            found.append(fit.objective)
        assert found[1] == pytest.approx(found[0], rel=0.01)

    def test_the_estimator_uses_it_also_after_a_pickle(self):
        known = curves(range(6), 12)
        settings = {"width": 8, "task_dim": 2, "epochs": 4, "random_state": 0, "members": 2}
        model = LearnedContextRegressor(device="cuda", **settings)
        model.fit(known[["x", "side"]], known.y, known.well)
        restored = pickle.loads(pickle.dumps(model))  # noqa: S301
        assert model.model_.device.type == restored.model_.device.type == "cuda"
        expected = model.predict(known[["x", "side"]], known.well)
        assert restored.predict(known[["x", "side"]], known.well) == pytest.approx(expected)
