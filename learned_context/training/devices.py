"""Where to compute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from learned_context.errors import UserError


class DeviceError(UserError, ValueError):
    """A device that is unknown, missing or full."""


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


@contextmanager
def matrix_precision(device: torch.device, precision: str) -> Iterator[None]:
    """Whether a GPU may round the factors of float32 products to TF32."""
    before = torch.get_float32_matmul_precision()
    if device.type != "cpu":
        torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def enough_memory(device: torch.device) -> Iterator[None]:
    """One clear line when a GPU's memory runs out."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"the memory of {device_name(device)} is full; run fewer trainings on it at once, "
            "or train narrower networks or in smaller batches"
        ) from error


def capture_of(device: torch.device) -> Callable[[Callable[[], None]], Callable[[], None]] | None:
    """How to capture a function of fixed tensors on this device, if it can."""
    return _cuda_graph if device.type == "cuda" else None


def _cuda_graph(run: Callable[[], None]) -> Callable[[], None]:
    graph = torch.cuda.CUDAGraph()
    # Other threads may train on the same GPU, and allocate memory during the capture.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        run()
    return graph.replay


def choose_device(name: str) -> torch.device:
    """`auto` is CUDA where there is one; a device that is not there is an error."""
    if not isinstance(name, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise DeviceError(f"device must be auto, cpu, cuda or cuda:N, not {name!r}")
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if found else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= found:
        there = f"{found} of them" if found else "none"
        raise DeviceError(f"device is {name}, but torch finds {there}; use auto or cpu")
    return device


def device_name(device: torch.device) -> str:
    """The device as results record it."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device.type)
