"""Training as one function of its arguments: same arguments, same machine, same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learned_context.networks.network import Network, Shape
from learned_context.networks.registry import Kind, architecture
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training.data import Tensors
from learned_context.training.devices import (
    capture_of,
    choose_device,
    enough_memory,
    matrix_precision,
    one_thread,
)
from learned_context.training.dropout import Masks, mask_generator
from learned_context.training.epoch import Epoch, Step
from learned_context.training.gradient import Autograd, gradient_of
from learned_context.training.optimisers import OPTIMISERS, Optimiser, Reference
from learned_context.training.plan import PAPER, Hyperparameters, Options, Plan

__all__ = ["Hyperparameters", "Options", "Plan", "choose_device", "one_thread"]

DIVERGED_LOSS = 100.0
"""Times the loss of predicting the mean, which is 1 for a standardised target."""


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


Report = Callable[[Progress], None]


def train(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    plan: Plan,
    seed: int,
    device: torch.device | None = None,
    report: Report | None = None,
    options: Options = PAPER,
) -> Trained:
    """Fit one network to `rows` by Equation 20; after a divergence, again at 0.9 of the rate."""
    device = device or torch.device("cpu")
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, device)
    training = Training(data, scaler, tasks, kind, hyper, plan, options)
    return training.single(seed, report)


def train_members(
    rows: Rows,
    tasks: int,
    kind: Kind,
    hyper: Hyperparameters,
    plan: Plan,
    seeds: Sequence[int],
    device: torch.device | None = None,
    report: Report | None = None,
    options: Options = PAPER,
) -> list[Trained]:
    """One network for each seed, trained side by side: up to rounding what `train` gives."""
    device = device or torch.device("cpu")
    scaler = Scaler.fit(rows)
    data = Tensors.of(rows, scaler, device)
    training = Training(data, scaler, tasks, kind, hyper, plan, options)
    return training.members(seeds, report)


class Training:
    """The trainings of one shape on the same rows."""

    def __init__(
        self,
        data: Tensors,
        scaler: Scaler,
        tasks: int,
        kind: Kind,
        hyper: Hyperparameters,
        plan: Plan,
        options: Options = PAPER,
        reference: bool = False,
        capture: bool = True,
    ) -> None:
        """`reference`: autograd with torch.optim, even where there is a faster way.

        `capture`: on CUDA, replay every epoch after the first as one graph.
        """
        self.data, self.scaler, self.hyper, self.plan = data, scaler, hyper, plan
        self.options, self.reference = options, reference
        self.capture = capture_of(data.x.device) if capture else None
        self.shape = Shape(
            kind,
            data.x.shape[1],
            tasks,
            hyper.width,
            plan.blocks,
            hyper.task_dim if architecture(kind).has_task_parameters else 0,
            options.last_relu,
            options.intercepts,
        )
        self.batches = min(plan.batches, len(data))

    def single(self, seed: int, report: Report | None = None) -> Trained:
        run = Run(self, seed, is_member=False)
        self._fit([run], report)
        return run.trained

    def members(self, seeds: Sequence[int], report: Report | None = None) -> list[Trained]:
        runs = [Run(self, seed, is_member=True) for seed in seeds]
        self._fit(runs, report)
        return [run.trained for run in runs]

    def _fit(self, runs: list[Run], report: Report | None) -> None:
        device = self.data.x.device
        precision = matrix_precision(device, self.plan.precision)
        with one_thread(device), precision, enough_memory(device), torch.no_grad():
            while runs:
                side_by_side = SideBySide(self, runs)
                while not side_by_side.ended:
                    side_by_side.epoch(report)
                side_by_side.release()
                runs = [run for run in runs if not run.trained.finished]


class Run:
    """One training: its seed, its schedule, and what came of it."""

    def __init__(self, training: Training, seed: int, is_member: bool) -> None:
        self.training, self.seed, self.is_member = training, seed, is_member
        self.peak_rate = training.hyper.peak_rate
        self.restarts = 0
        self.remembered: tuple[Tensor, ...] = ()
        """The optimiser's state, when another member has ended and this one goes on."""
        self._begin()

    def _begin(self) -> None:
        training, seed = self.training, self.seed + self.restarts
        # A retry draws other weights and batches: the same ones would diverge again.
        self.generator = torch.Generator().manual_seed(seed)
        self.mask_generator = mask_generator(seed)
        device, dtype = training.data.x.device, training.data.x.dtype
        self.network = Network.initial(training.shape, self.generator, device, dtype)
        self.schedule = training.options.schedule(training.plan, self.peak_rate)
        self.trained = Trained(
            self.network, training.scaler, restarts=self.restarts, peak_rate=self.peak_rate
        )
        self.draw_order()

    def draw_order(self) -> None:
        """The next epoch's order of the rows: on the CPU, so that it is the same everywhere."""
        self.order = torch.randperm(len(self.training.data), generator=self.generator)

    def numbers(self, optimiser: Optimiser) -> list[tuple[float, ...]]:
        """The optimiser's numbers for every step of the next epoch."""
        batches, going_on = self.training.batches, not self.trained.finished
        done = self.schedule.epoch * batches
        return [
            optimiser.numbers(going_on * self.schedule.rate(index / batches), done + index + 1)
            for index in range(batches)
        ]

    def end_epoch(self, loss: float, report: Report | None) -> bool:
        """Note the loss; whether the training goes on as it is, and does not begin again."""
        plan, rate = self.training.plan, self.schedule.rate()
        self.trained.losses.append(loss)
        self.trained.rates.append(rate)
        if not loss < DIVERGED_LOSS:  # also true for NaN
            if self.restarts == plan.max_restarts:
                raise DivergedError(
                    f"diverged {plan.max_restarts + 1} times, last at peak rate "
                    f"{self.peak_rate:.3g}"
                )
            self.restarts += 1
            self.peak_rate *= plan.retry_rate
            self._begin()
            return False
        self.schedule.end_epoch(loss)
        self.trained.finished = self.schedule.finished
        if report:
            report(Progress(self.schedule.epoch, plan.epochs, loss, rate, self.restarts))
        return True


class SideBySide:
    """Runs that share one flat vector until one of them ends."""

    def __init__(self, training: Training, runs: list[Run]) -> None:
        self.training, self.runs = training, runs
        self.has_members = runs[0].is_member
        hyper, plan, options = training.hyper, training.plan, training.options
        networks = [run.network for run in runs]
        self.network = Network.stack(networks) if self.has_members else networks[0]
        self.masks = Masks(options.dropout, self.network.flat) if options.dropout else None
        batch_rows = -(-len(training.data) // training.batches)
        make = Autograd if training.reference else gradient_of
        gradient = make(self.network, batch_rows, self.masks.draw if self.masks else None)
        optimiser = Reference if training.reference else OPTIMISERS[options.optimizer]
        self.optimiser = optimiser(self.network, gradient.flat, hyper, plan, options)
        for place, run in enumerate(runs):
            for state, remembered in zip(self.optimiser.state, run.remembered, strict=False):
                state[place].copy_(remembered)
        step = Step(gradient, self.optimiser)
        self._epoch = Epoch(training.data, self.network, step, training.batches, training.capture)
        self._stage()

    @property
    def ended(self) -> bool:
        """Torch's optimisers cannot be divided: with them all wait for the last."""
        finished = [bool(run.trained.finished) for run in self.runs]
        return all(finished) if self.training.reference else any(finished)

    def epoch(self, report: Report | None) -> None:
        runs = self.runs
        if self.masks:
            self.masks.generators = [run.mask_generator for run in runs]
        self._epoch.run([run.numbers(self.optimiser) for run in runs])
        for run in runs:  # while the device works
            run.draw_order()
        self._stage()
        # The epoch's only synchronisation with the device.
        squared = self._epoch.squared.cpu().view(-1).tolist()
        for place, (run, total) in enumerate(zip(runs, squared, strict=True)):
            loss = total / len(self.training.data)
            if not run.trained.finished and not run.end_epoch(loss, report):
                self._flat(place).copy_(run.network.flat)
                self.optimiser.forget(place if self.has_members else None)
                self._stage()

    def _stage(self) -> None:
        self._epoch.stage([run.order for run in self.runs])

    def release(self) -> None:
        """Give every run what is its own."""
        for place, run in enumerate(self.runs):
            run.network = Network(self.training.shape, self._flat(place).clone())
            run.trained.network = run.network
            run.remembered = tuple(state[place].clone() for state in self.optimiser.state)

    def _flat(self, place: int) -> Tensor:
        return self.network.flat[place] if self.has_members else self.network.flat
