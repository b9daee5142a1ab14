"""The two optimisers, written out for a flat vector [P] or [K, P], and torch's own as reference.

What changes from step to step (the rate, AdamW's corrections of its means) is given as numbers
on the device, so that no step has to wait for the host.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from learned_context.networks.network import Network
from learned_context.training.plan import Hyperparameters, Options, Plan


class Optimiser(ABC):
    """Moves a network along a gradient."""

    count: int
    """How many numbers change from step to step."""
    is_capturable = True
    """Whether a step takes nothing else from the host."""

    def __init__(
        self,
        network: Network,
        gradient: Tensor,
        hyper: Hyperparameters,
        plan: Plan,
        options: Options,
    ) -> None:
        self.network, self.gradient, self.plan, self.options = network, gradient, plan, options
        penalties = {
            "shared": hyper.lambda_shared,
            "task": hyper.lambda_task,
            "intercept": options.lambda_intercept,
        }
        self.penalties = {group: penalties[group] for group in network.groups}
        self.state = self._initial_state()

    def _initial_state(self) -> tuple[Tensor, ...]:
        """What it remembers between steps, of the parameters' size."""
        return ()

    @abstractmethod
    def numbers(self, rate: float, step: int) -> tuple[float, ...]:
        """The changing numbers of the step with this rate; the first step is 1."""

    @abstractmethod
    def step(self, numbers: Tensor) -> None:
        """`numbers` is [count], or [count, K, 1] for members."""

    def forget(self, member: int | None) -> None:
        """Begin again: for one member, or for a network without members."""
        for remembered in self.state:
            (remembered if member is None else remembered[member]).zero_()


class Momentum(Optimiser):
    """Gradient descent with momentum on Equation 20.

    The penalties are lambda times the squared norm, so their gradient is 2 lambda times the
    parameters.
    """

    count = 1

    def _initial_state(self) -> tuple[Tensor, ...]:
        flat = self.network.flat
        self._penalised = [
            (self.gradient[..., part], flat[..., part], 2 * self.penalties[group])
            for group, part in self.network.groups.items()
        ]
        return (torch.zeros_like(flat),)

    def numbers(self, rate: float, step: int) -> tuple[float, ...]:
        return (-rate,)

    def step(self, numbers: Tensor) -> None:
        (velocity,) = self.state
        for gradient, parameters, decay in self._penalised:
            gradient.add_(parameters, alpha=decay)
        velocity.mul_(self.plan.momentum).add_(self.gradient)
        self.network.flat.addcmul_(velocity, numbers[0])


class AdamW(Optimiser):
    """Adam with decoupled penalties: a step multiplies every group by 1 - rate * lambda."""

    count = 3

    def _initial_state(self) -> tuple[Tensor, ...]:
        flat = self.network.flat
        self._buffer = torch.empty_like(flat)
        self._decayed = [
            (flat[..., part], self.penalties[group])
            for group, part in self.network.groups.items()
            if self.penalties[group]
        ]
        return torch.zeros_like(flat), torch.zeros_like(flat)

    def numbers(self, rate: float, step: int) -> tuple[float, ...]:
        first, second = (1 - beta**step for beta in self.options.betas)
        return (-rate, -rate / first, second**-0.5)

    def step(self, numbers: Tensor) -> None:
        less, ahead, correction = numbers.unbind(0)
        first, second = self.options.betas
        mean, square = self.state
        for parameters, penalty in self._decayed:
            parameters.addcmul_(parameters, less, value=penalty)
        mean.lerp_(self.gradient, 1 - first)
        square.mul_(second).addcmul_(self.gradient, self.gradient, value=1 - second)
        torch.sqrt(square, out=self._buffer)
        self._buffer.mul_(correction).add_(self.options.epsilon)
        torch.div(mean, self._buffer, out=self._buffer)
        self.network.flat.addcmul_(self._buffer, ahead)


class Reference(Optimiser):
    """torch.optim, with a parameter group for every penalty of every member."""

    count = 1
    is_capturable = False

    def _initial_state(self) -> tuple[Tensor, ...]:
        flat = self.network.flat
        self._groups: list[list[dict[str, object]]] = []
        is_sgd = self.options.optimizer == "sgd"
        for own, slope in zip(_rows(flat), _rows(self.gradient), strict=True):
            groups = []
            for group, part in self.network.groups.items():
                leaf = own[part].requires_grad_()  # the network's memory
                leaf.grad = slope[part]
                penalty = self.penalties[group]
                groups.append(
                    {"params": [leaf], "weight_decay": 2 * penalty if is_sgd else penalty}
                )
            self._groups.append(groups)
        everything = [group for groups in self._groups for group in groups]
        self._torch: torch.optim.Optimizer = (
            torch.optim.SGD(everything, lr=0.0, momentum=self.plan.momentum)
            if is_sgd
            else torch.optim.AdamW(
                everything, lr=0.0, betas=self.options.betas, eps=self.options.epsilon
            )
        )
        return ()

    def numbers(self, rate: float, step: int) -> tuple[float, ...]:
        return (rate,)

    def step(self, numbers: Tensor) -> None:
        groups = iter(self._torch.param_groups)
        for rate in numbers[0].flatten().tolist():
            for _ in self.network.groups:
                next(groups)["lr"] = rate
        self._torch.step()

    def forget(self, member: int | None) -> None:
        for group in self._groups[member or 0]:
            for leaf in group["params"]:  # type: ignore[attr-defined]
                self._torch.state.pop(leaf, None)


def _rows(flat: Tensor) -> tuple[Tensor, ...]:
    return flat.detach().unsqueeze(0).unbind(0) if flat.dim() == 1 else flat.detach().unbind(0)


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Momentum, "adamw": AdamW}
