"""Training as one function of its arguments: same arguments, same machine, same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from pipeline.models.network import Kind, Network, Shape
from pipeline.tables.rows import Rows
from pipeline.tables.scaling import Scaler
from pipeline.training.data import Tensors
from pipeline.training.gradient import Gradient
from pipeline.training.schedule import RateSchedule, RateSettings

DIVERGED_LOSS = 100.0
"""Times the loss of predicting the mean, which is 1 for a standardised target."""


@dataclass(frozen=True)
class Hyperparameters:
    """What the search chooses (Table 6)."""

    peak_rate: float
    width: int
    lambda_shared: float
    lambda_task: float = 0.0
    task_dim: int = 0


@dataclass(frozen=True)
class Plan:
    """How long and how to train: what the budget and the appendix on the optimizer fix."""

    epochs: int
    batches: int
    blocks: int = 2
    momentum: float = 0.7
    lowest_rate: float = 1e-8
    warmup: float = 0.1
    window: float = 0.01
    window_min: int = 3
    converged_p: float = 0.51
    loss_near_zero: float = 1e-8
    retry_rate: float = 0.9
    max_restarts: int = 50
    compile: bool = False

    def rates(self, peak: float) -> RateSettings:
        return RateSettings(
            peak=peak,
            lowest=self.lowest_rate,
            epochs=self.epochs,
            warmup=math.ceil(self.warmup * self.epochs),
            window=max(self.window_min, round(self.window * self.epochs)),
            converged_p=self.converged_p,
            loss_near_zero=self.loss_near_zero,
        )


@dataclass(frozen=True)
class Progress:
    """What a display may show while training."""

    epoch: int
    epochs: int
    loss: float
    rate: float
    restarts: int


@dataclass
class Trained:
    network: Network
    scaler: Scaler
    losses: list[float] = field(default_factory=list)
    """Mean squared error of every epoch, in units of the target's variance."""
    rates: list[float] = field(default_factory=list)
    restarts: int = 0
    peak_rate: float = 0.0
    finished: str = ""

    def predict(self, rows: Rows) -> NDArray[np.float64]:
        """Predictions in original units."""
        device = self.network.flat.device
        with one_thread(device), torch.no_grad():
            tensors = Tensors.of(rows, self.scaler, device)
            return self.scaler.original(self.network.predict(tensors.x, tensors.task).cpu().numpy())


class DivergedError(Exception):
    """Training diverged at every rate that was tried."""


def train(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    plan: Plan,
    seed: int,
    device: torch.device | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Trained:
    """Fit one network to `rows` by Equation 20; after a divergence, again at 0.9 of the rate."""
    device = device or torch.device("cpu")
    scaler = Scaler.fit(rows)
    with one_thread(device), torch.no_grad():
        data = Tensors.of(rows, scaler, device)
        for restarts in range(plan.max_restarts + 1):
            # A retry draws anew: the same weights and batches would diverge alike.
            generator = torch.Generator().manual_seed(seed + restarts)
            trained = _attempt(data, scaler, tasks, kind, hyper, plan, generator, restarts, report)
            if trained.finished != "diverged":
                return trained
            hyper = replace(hyper, peak_rate=hyper.peak_rate * plan.retry_rate)
    raise DivergedError(
        f"diverged {plan.max_restarts + 1} times, last at peak rate "
        f"{hyper.peak_rate / plan.retry_rate:.3g}"
    )


def _attempt(
    data: Tensors,
    scaler: Scaler,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    plan: Plan,
    generator: torch.Generator,
    restarts: int,
    report: Callable[[Progress], None] | None,
) -> Trained:
    device = data.x.device
    task_dim = hyper.task_dim if kind in ("lc", "ll") else 0
    shape = Shape(kind, data.x.shape[1], tasks, hyper.width, plan.blocks, task_dim)
    network = Network.initial(shape, generator, device)
    batches = min(plan.batches, len(data))
    bounds = [len(data) * index // batches for index in range(batches + 1)]
    step = Step(network, hyper, plan, -(-len(data) // batches))
    schedule = RateSchedule(plan.rates(hyper.peak_rate))
    trained = Trained(network, scaler, restarts=restarts, peak_rate=hyper.peak_rate)
    while not schedule.finished:
        order = torch.randperm(len(data), generator=generator).to(device)
        x, task, y = (part.index_select(0, order) for part in (data.x, data.task, data.y))
        squared = torch.zeros((), dtype=network.flat.dtype, device=device)
        for index in range(batches):
            part = slice(bounds[index], bounds[index + 1])
            squared += step(x[part], task[part], y[part], schedule.rate(index / batches))
        rate = schedule.rate()
        loss = float(squared) / len(data)  # the epoch's only synchronisation with the device
        trained.losses.append(loss)
        trained.rates.append(rate)
        if not loss < DIVERGED_LOSS:  # also true for NaN
            trained.finished = "diverged"
            return trained
        schedule.end_epoch(loss)
        if report:
            report(Progress(schedule.epoch, plan.epochs, loss, rate, restarts))
    trained.finished = schedule.finished
    return trained


class Step:
    """One step of gradient descent with momentum on Equation 20.

    The penalties are lambda times the squared norm, so their gradient is 2 lambda times the
    parameters: alpha stands in the flat vector's first part, the task parameters in its second.
    """

    def __init__(
        self, network: Network, hyper: Hyperparameters, plan: Plan, batch_rows: int
    ) -> None:
        self.network = network
        self.momentum = plan.momentum
        self.gradient = Gradient(network, batch_rows)
        self.velocity = torch.zeros_like(network.flat)
        self._batch = torch.compile(self.gradient.batch) if plan.compile else self.gradient.batch
        shared = slice(None, network.shared_size)
        specific = slice(network.shared_size, None)
        self._penalties = [
            (self.gradient.flat[part], network.flat[part], 2 * penalty)
            for part, penalty in ((shared, hyper.lambda_shared), (specific, hyper.lambda_task))
            if network.flat[part].numel()
        ]

    def __call__(
        self, x: torch.Tensor, task: torch.Tensor, y: torch.Tensor, rate: float
    ) -> torch.Tensor:
        """Update the network; give the sum of the batch's squared errors before the update."""
        squared: torch.Tensor = self._batch(x, task, y)
        for gradient, parameters, decay in self._penalties:
            gradient.add_(parameters, alpha=decay)
        self.velocity.mul_(self.momentum).add_(self.gradient.flat)
        self.network.flat.add_(self.velocity, alpha=-rate)
        return squared


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """Sums must not depend on how many threads share them: on the CPU, one does all."""
    before = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def choose_device(name: str) -> torch.device:
    """`auto` is CUDA where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
