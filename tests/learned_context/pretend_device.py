"""A torch device that is not the CPU, for a machine that has no other.

Its tensors compute on the CPU, so results can be compared to the bit. As on a GPU, an operation
on tensors of two devices is refused, so is a CPU generator for a tensor that is elsewhere, and so
are sums whose order would vary there.
Operations, copies and synchronisations (whatever makes the host wait) are counted, with the
innermost line of the library that caused each. Torch's interface for this is experimental.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NAME = "pretend"
UNORDERED = {"index_add_", "index_add", "scatter_add_", "scatter_add", "index_reduce_"}
"""Sums whose order varies on a GPU from run to run."""
READS_BACK = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "equal", "is_nonzero"}


class MixedDevicesError(RuntimeError):
    pass


class UnorderedSumError(RuntimeError):
    pass


class _Backend:
    """What torch asks of a device's module."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass


class PretendTensor(torch.Tensor):
    """Claims to be on the device; `held` has the values."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> PretendTensor:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(NAME, 0),
        )
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self) -> str:
        return f"PretendTensor({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return _computed(None, operation, args, kwargs or {})


class PretendDevice(TorchDispatchMode):
    """While it is active, tensors can be made on the device, and everything is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.device = torch.device(NAME, 0)
        self.operations: Counter[str] = Counter()
        self.uploads: Counter[str] = Counter()
        self.downloads: Counter[str] = Counter()
        self.synchronisations: Counter[str] = Counter()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return _computed(self, operation, args, kwargs or {})

    def forget(self) -> None:
        for counter in (self.operations, self.uploads, self.downloads, self.synchronisations):
            counter.clear()


def _computed(
    counts: PretendDevice | None, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    name = operation.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    is_there = any(isinstance(tensor, PretendTensor) for tensor in tensors)
    asked = kwargs.get("device")
    goes_there = is_there if asked is None else torch.device(asked).type == NAME
    if name in ("_to_copy", "copy_"):
        source = args[1] if name == "copy_" else args[0]
        target_there = isinstance(args[0], PretendTensor) if name == "copy_" else goes_there
        goes_there = target_there
        if counts and isinstance(source, PretendTensor) != target_there:
            waits = not (kwargs.get("non_blocking") or (len(args) > 2 and args[2]))
            (counts.uploads if target_there else counts.downloads)[_place()] += 1
            if waits:
                counts.synchronisations[f"{name} {_place()}"] += 1
    else:
        _refuse_mixtures(operation, name, tensors, is_there, goes_there, args, kwargs)
        if counts and is_there:
            if name in READS_BACK or _uses_mask(name, args):
                counts.synchronisations[f"{name} {_place()}"] += 1
            if not operation.is_view:
                counts.operations[name] += 1
    if asked is not None and torch.device(asked).type == NAME:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inner_args, inner_kwargs = tree_map(
        lambda leaf: leaf.held if isinstance(leaf, PretendTensor) else leaf, (args, kwargs)
    )
    result = operation(*inner_args, **inner_kwargs)
    known = {id(tensor.held): tensor for tensor in tensors if isinstance(tensor, PretendTensor)}

    def outside(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if not goes_there:  # never the memory of the device
            return leaf.clone() if id(leaf) in known else leaf
        return known[id(leaf)] if id(leaf) in known else PretendTensor(leaf)

    return tree_map(outside, result)


def _refuse_mixtures(
    operation: Any,
    name: str,
    tensors: list[torch.Tensor],
    is_there: bool,
    goes_there: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    # As in torch, a number in a zero-dimensional CPU tensor may join.
    strangers = [t for t in tensors if not isinstance(t, PretendTensor) and t.dim() > 0]
    if is_there and strangers:
        devices = [str(tensor.device) for tensor in tensors]
        raise MixedDevicesError(f"{operation}: tensors on {devices}")
    accumulates = name in UNORDERED or (name == "index_put_" and len(args) > 3 and args[3])
    if is_there and accumulates:
        raise UnorderedSumError(f"{operation}: adds in an order that varies on a GPU")
    if goes_there and kwargs.get("generator") is not None:
        raise MixedDevicesError(f"{operation}: a CPU generator for a tensor elsewhere")
    if goes_there and name in ("randperm", "randn", "rand", "normal_", "random_", "bernoulli_"):
        raise MixedDevicesError(f"{operation}: random numbers that another device does not have")


def _uses_mask(name: str, args: tuple[Any, ...]) -> bool:
    if name not in ("index", "index_put_", "index_put"):
        return False
    return any(isinstance(i, torch.Tensor) and i.dtype == torch.bool for i in tree_leaves(args[1]))


def _place() -> str:
    frame = sys._getframe()
    while frame is not None:
        path = frame.f_code.co_filename
        if "/learned_context/" in path and "/tests/" not in path:
            return f"{path.rsplit('/learned_context/', 1)[1]}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "a test"


def _register() -> bool:
    """Whether this version of torch can register a device in Python."""
    try:
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
    except ImportError:
        return False
    _setup_privateuseone_for_python_backend(rename=NAME, backend_module=_Backend())
    return True


IS_REGISTERED = _register()
"""On import, when tests are collected: the first gradient that a process computes fixes the devices
that its later gradients may be on."""


@contextmanager
def pretend_device() -> Iterator[PretendDevice]:
    """Skips the test where torch has no such interface."""
    if not IS_REGISTERED:
        pytest.skip("this version of torch cannot register a device in Python")
    with PretendDevice() as device:
        yield device
