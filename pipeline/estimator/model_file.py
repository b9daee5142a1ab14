"""An estimator as one safetensors file: arrays, and one JSON text that says what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import torch
from safetensors import safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from pipeline.adaptation.laplace import Posterior
from pipeline.errors import UserError
from pipeline.estimator.columns import Columns
from pipeline.estimator.labels import Labels
from pipeline.estimator.model import Model
from pipeline.files import write_bytes
from pipeline.models.network import Network, Shape
from pipeline.training.data import Scaler
from pipeline.training.trainer import Hyperparameters

if TYPE_CHECKING:
    from pipeline.estimator.regressor import LearnedContextRegressor

FORMAT = 2
KEY = "learned_context_regressor"
"""One metadata entry only: several would be written in an order that varies."""
POSTERIOR = ("weights", "means", "covariances")

Owner = TypeVar("Owner", bound="LearnedContextRegressor")


def save(path: Path, owner: LearnedContextRegressor) -> None:
    model = owner.model_
    tensors = {f"network.{name}": value for name, value in model.network.parameters().items()}
    tensors |= {
        "fitted.beta": model.fitted.parameters().get("beta", torch.zeros(0)),
        "scaler.x_mean": torch.from_numpy(np.ascontiguousarray(model.scaler.x_mean)),
        "scaler.x_std": torch.from_numpy(np.ascontiguousarray(model.scaler.x_std)),
        "scaler.y": torch.tensor([model.scaler.y_mean, model.scaler.y_std], dtype=torch.float64),
    }
    if model.posterior is not None:
        for name in POSTERIOR:
            values = np.ascontiguousarray(getattr(model.posterior, name))
            tensors[f"posterior.{name}"] = torch.from_numpy(values)
    tensors = {name: value.contiguous().cpu() for name, value in tensors.items()}
    settings = owner.get_params()
    if not isinstance(settings["random_state"], int | np.integer):
        settings["random_state"] = None  # a generator's state is of no use after the fit
    header = {
        "format": FORMAT,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "shape": model.network.shape.as_dict(),
        "noise": model.noise,
        "base": model.base,
        "labels": model.labels.tolist(),
        "sort": model.labels.sort,
        "columns": asdict(owner.columns_),
        "named": hasattr(owner, "feature_names_in_"),
        "has_tasks": owner.has_tasks_,
        "hyperparameters": asdict(owner.hyperparameters_),
        "losses": owner.loss_curve_,
        "search": owner.search_results_.to_dict("list"),
    }
    header["digest"] = _digest(header, tensors)
    content = to_bytes(tensors, metadata={KEY: json.dumps(header, allow_nan=False)})
    write_bytes(path, content)


def load(path: Path, cls: type[Owner], device: torch.device) -> Owner:
    if not path.is_file():
        raise UserError(f"{path}: does not exist")
    try:
        header, tensors = _read(path)
        return _restored(cls, header, tensors, device)
    except UserError:
        raise
    except Exception as error:
        # Whatever a library stumbles over, the user is told the same: the file is not whole.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: not a readable estimator file ({reason})") from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    with safe_open(path, framework="pt") as file:
        header = json.loads((file.metadata() or {})[KEY])
        if header["format"] != FORMAT:
            raise UserError(
                f"{path}: estimator format {header['format']!r}, but this version reads "
                f"{FORMAT}; install the version that wrote it"
            )
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.pop("digest") != _digest(header, tensors):
        raise UserError(f"{path}: damaged: its content is not what was written")
    return header, tensors


def _restored(
    cls: type[Owner], header: dict[str, Any], tensors: Mapping[str, Tensor], device: torch.device
) -> Owner:
    owner = cls(**header["settings"])
    parameters = {
        name.removeprefix("network."): value.to(device)
        for name, value in tensors.items()
        if name.startswith("network.")
    }
    y_mean, y_std = tensors["scaler.y"].tolist()
    x_mean, x_std = tensors["scaler.x_mean"].numpy(), tensors["scaler.x_std"].numpy()
    posterior = None
    if "posterior.means" in tensors:
        posterior = Posterior(*(tensors[f"posterior.{name}"].numpy() for name in POSTERIOR))
    labels = Labels.of(header["labels"], header["sort"])
    shape = Shape(**header["shape"])
    then = dict(parameters)
    if "beta" in then:
        then["beta"] = tensors["fitted.beta"].to(device)
    owner.model_ = Model(
        Network.from_parameters(shape, parameters),
        Scaler(x_mean, x_std, y_mean, y_std),
        header["noise"],
        labels,
        Network.from_parameters(replace(shape, tasks=header["base"]), then),
        posterior,
    )
    levels = [level if level is None else tuple(level) for level in header["columns"]["levels"]]
    owner.columns_ = Columns(tuple(header["columns"]["names"]), tuple(levels))
    owner.n_features_in_ = len(owner.columns_.names)
    if header["named"]:
        owner.feature_names_in_ = np.array(owner.columns_.names, dtype=object)
    owner.has_tasks_ = header["has_tasks"]
    owner.hyperparameters_ = Hyperparameters(**header["hyperparameters"])
    owner.loss_curve_ = header["losses"]
    owner.n_iter_ = len(owner.loss_curve_)
    owner.search_results_ = pd.DataFrame(header["search"])
    return owner


def _digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Of everything, as a flipped bit in an array or a number would else go unnoticed."""
    total = hashlib.sha256(json.dumps(header, sort_keys=True, allow_nan=False).encode())
    for name in sorted(tensors):
        total.update(name.encode() + b"\0" + tensors[name].numpy().tobytes())
    return total.hexdigest()


def _plain(value: Any) -> Any:
    """Settings may be numpy's numbers, as a search over a grid gives them."""
    return value.item() if isinstance(value, np.generic) else value
