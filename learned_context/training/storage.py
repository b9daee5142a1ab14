"""A trained network as one safetensors file: arrays and text, nothing that could run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save

from learned_context.errors import UserError
from learned_context.files import parse_file, write_bytes
from learned_context.networks.network import Network, Shape
from learned_context.scaling import Scaler
from learned_context.training.trainer import Trained

FORMAT = 1


def save_network(path: Path, trained: Trained) -> None:
    scaler = trained.scaler
    tensors = {f"network.{name}": value for name, value in trained.network.parameters().items()}
    tensors |= {
        "scaler.x_mean": torch.from_numpy(np.ascontiguousarray(scaler.x_mean)),
        "scaler.x_std": torch.from_numpy(np.ascontiguousarray(scaler.x_std)),
        "scaler.y": torch.tensor([scaler.y_mean, scaler.y_std], dtype=torch.float64),
    }
    header = {"format": FORMAT, "shape": trained.network.shape.as_dict()}
    # One metadata entry only: several would be written in an order that varies.
    content = save(
        {name: value.contiguous().cpu() for name, value in tensors.items()},
        metadata={"learned_context": json.dumps(header)},
    )
    write_bytes(path, content)


def load_network(path: Path, device: torch.device | None = None) -> Trained:
    """Read what `save_network` wrote; a damaged or newer file is a clear error."""
    if not path.exists():
        raise UserError(f"{path}: does not exist")
    loaded: Trained = parse_file(path, _load, "model file", "write it again")
    loaded.network = loaded.network.to(device or torch.device("cpu"))
    return loaded


def _load(path: Path) -> Trained:
    with safe_open(path, framework="pt") as file:
        header = json.loads((file.metadata() or {}).get("learned_context", "{}"))
        if header.get("format") != FORMAT:
            raise UserError(
                f"{path}: model format {header.get('format')!r} is not {FORMAT}, the one that "
                "this version reads"
            )
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    shape = Shape(**header["shape"])
    parameters = {
        name.removeprefix("network."): value
        for name, value in tensors.items()
        if name.startswith("network.")
    }
    y_mean, y_std = tensors["scaler.y"].tolist()
    scaler = Scaler(
        tensors["scaler.x_mean"].numpy(), tensors["scaler.x_std"].numpy(), y_mean, y_std
    )
    return Trained(Network.from_parameters(shape, parameters), scaler)
