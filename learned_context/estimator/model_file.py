"""An estimator as one safetensors file: arrays, and one JSON text that says what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import torch
from safetensors import safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from learned_context.columns import Columns
from learned_context.errors import UserError
from learned_context.estimator import model_checks, settings
from learned_context.estimator.added_levels import AddedLevels
from learned_context.estimator.calibration import LEVELS, Calibration, Quantiles
from learned_context.estimator.kernel_basis import KernelBasis
from learned_context.estimator.labels import Labels
from learned_context.estimator.logarithm import Logarithm
from learned_context.estimator.model import Ensemble, Model, Weights
from learned_context.estimator.task_fit import TaskPosterior
from learned_context.estimator.voices import LinearVoice, NetworkVoice, Voice
from learned_context.files import write_bytes
from learned_context.networks.network import Network, Shape
from learned_context.scaling import Scaler
from learned_context.training.plan import Hyperparameters

if TYPE_CHECKING:
    from learned_context.estimator.regressor import LearnedContextRegressor

FORMAT = 6
KEY = "learned_context_regressor"
"""One metadata entry only: several would be written in an order that varies."""
POSTERIOR = ("weights", "means", "covariances")

Owner = TypeVar("Owner", bound="LearnedContextRegressor")
Arrays = dict[str, Tensor]


def save(path: Path, owner: LearnedContextRegressor) -> None:
    model = owner.model_.to(torch.device("cpu"))
    ensemble = model.ensemble
    arrays: Arrays = {
        "scaler.x_mean": _tensor(model.scaler.x_mean),
        "scaler.x_std": _tensor(model.scaler.x_std),
        "scaler.y": torch.tensor([model.scaler.y_mean, model.scaler.y_std], dtype=torch.float64),
        "rows": _tensor(model.rows),
    }
    voices = []
    for place, (voice, posterior) in enumerate(
        zip(ensemble.voices, ensemble.posteriors, strict=True)
    ):
        own = _voice_arrays(voice)
        own |= {
            f"posterior.{name}": _tensor(getattr(posterior, name))
            for name in POSTERIOR
            if getattr(posterior, name) is not None
        }
        arrays |= {f"{place}.{name}": value for name, value in own.items()}
        described: dict[str, Any] = {
            "noise": voice.noise,
            "weight": ensemble.weights.known[place],
            "added_weights": {str(n): own[place] for n, own in ensemble.weights.added.items()},
        }
        if isinstance(voice, NetworkVoice):
            described["shape"] = voice.network.shape.as_dict()
        elif isinstance(voice, LinearVoice):
            described["bases"] = len(voice.bases)
            described["logarithm"] = asdict(voice.logarithm) if voice.logarithm else None
        voices.append(described)
    given = owner.get_params()
    settings.check(given)  # they may have been changed after the fit
    if not isinstance(given["random_state"], int | np.integer):
        given["random_state"] = None  # a generator's state is of no use after the fit
    header = {
        "format": FORMAT,
        "settings": {name: _plain(value) for name, value in given.items()},
        "voices": voices,
        "calibration": _calibration(model.calibration),
        "labels": model.labels.tolist(),
        "sort": model.labels.sort,
        "columns": asdict(owner.columns_),
        "added_levels": dict(owner.added_levels_.of),
        "named": hasattr(owner, "feature_names_in_"),
        "has_tasks": owner.has_tasks_,
        "weights": owner.weights_.to_dict(),
        "scores": owner.scores_.to_dict(),
        "hyperparameters": {name: asdict(own) for name, own in owner.hyperparameters_.items()},
        "losses": owner.loss_curve_,
        "search": owner.search_results_.to_dict("list"),
    }
    header["digest"] = _digest(header, arrays)
    # Copies: where two arrays are views of one, safetensors refuses both.
    arrays = {name: value.clone() for name, value in arrays.items()}
    content = to_bytes(arrays, metadata={KEY: json.dumps(header, allow_nan=False)})
    write_bytes(path, content)


def load(path: Path, cls: type[Owner], device: torch.device) -> Owner:
    if path.is_dir():
        raise UserError(f"{path}: a folder, not a file that `save` wrote; name the file in it")
    if not path.exists():
        raise UserError(f"{path}: does not exist")
    if not path.is_file():
        raise UserError(f"{path}: a device, pipe or socket, not a file that `save` wrote")
    try:
        header, arrays = _read(path)
        return _restored(cls, header, arrays, device)
    except UserError:
        raise
    except Exception as error:
        # Whatever a library finds wrong, the user gets the same message: the file is not whole.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: not a readable estimator file ({reason})") from error


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    with safe_open(path, framework="pt") as file:
        header = json.loads((file.metadata() or {})[KEY])
        if header["format"] != FORMAT:
            raise UserError(
                f"{path}: estimator format {header['format']!r}, but this version reads "
                f"{FORMAT}; install the version that wrote it"
            )
        # Copies lie where the sums of products are rounded as those of fitted arrays are.
        arrays = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    if header.pop("digest") != _digest(header, arrays):
        raise UserError(f"{path}: damaged: its content is not what was written")
    return header, arrays


def _restored(
    cls: type[Owner], header: dict[str, Any], arrays: Arrays, device: torch.device
) -> Owner:
    owner = cls(**header["settings"])
    settings.check(owner.get_params())
    model_checks.check_arrays(arrays)
    levels = [level if level is None else tuple(level) for level in header["columns"]["levels"]]
    owner.columns_ = Columns(
        tuple(header["columns"]["names"]), tuple(levels), header["columns"]["encoding"]
    )
    owner.added_levels_ = AddedLevels(
        {name: tuple(own) for name, own in header["added_levels"].items()}
    )
    voices = [
        _voice(described, _below(f"{place}.", arrays), device)
        for place, described in enumerate(header["voices"])
    ]
    posteriors = [_posterior(_below(f"{place}.posterior.", arrays)) for place in range(len(voices))]
    y_mean, y_std = arrays["scaler.y"].tolist()
    scaler = Scaler(arrays["scaler.x_mean"].numpy(), arrays["scaler.x_std"].numpy(), y_mean, y_std)
    weights = _restored_weights(header["voices"])
    owner.model_ = Model(
        Ensemble(tuple(voices), weights, tuple(posteriors), arrays["rows"].numpy()),
        scaler,
        Labels.of(header["labels"], header["sort"]),
        _restored_calibration(header["calibration"]),
    )
    model_checks.check(owner.model_, owner.columns_, owner.added_levels_)
    owner.n_features_in_ = len(owner.columns_.names)
    if header["named"]:
        owner.feature_names_in_ = np.array(owner.columns_.names, dtype=object)
    owner.has_tasks_ = header["has_tasks"]
    if not isinstance(owner.has_tasks_, bool) or len(header["labels"]) > 1 > owner.has_tasks_:
        raise ValueError("has_tasks does not go with the labels")
    owner.weights_ = pd.Series(header["weights"], name="weight", dtype=np.float64)
    owner.scores_ = pd.Series(header["scores"], name="rmse", dtype=np.float64)
    owner.hyperparameters_ = {
        name: Hyperparameters(**own) for name, own in header["hyperparameters"].items()
    }
    owner.loss_curve_ = [float(loss) for loss in header["losses"]]
    owner.n_iter_ = len(owner.loss_curve_)
    owner.search_results_ = pd.DataFrame(header["search"])
    return owner


def _restored_weights(voices: Sequence[Mapping[str, Any]]) -> Weights:
    counts = [int(rows) for rows in voices[0]["added_weights"]]
    if any([int(rows) for rows in voice["added_weights"]] != counts for voice in voices):
        raise ValueError("added_weights of the parts are for different numbers of rows")
    if any(rows < 1 for rows in counts):
        raise ValueError("added_weights are for numbers of rows below one")
    return Weights(
        tuple(float(voice["weight"]) for voice in voices),
        {rows: tuple(float(v["added_weights"][str(rows)]) for v in voices) for rows in counts},
    )


def _voice_arrays(voice: Voice) -> Arrays:
    if isinstance(voice, NetworkVoice):
        parameters = voice.network.parameters()
        own = {f"network.{name}": value.contiguous() for name, value in parameters.items()}
        return own | {"uncertain": _tensor(voice.uncertain)}
    assert isinstance(voice, LinearVoice)
    found = {
        "linear.fixed": voice.fixed,
        "linear.covariance": _tensor(voice.covariance),
        "linear.slopes": _tensor(voice.slopes),
        "linear.population": _tensor(voice.population),
    }
    for number, basis in enumerate(voice.bases):
        found |= {
            f"basis.{number}.features": _tensor(basis.features),
            f"basis.{number}.points": basis.points,
            f"basis.{number}.lengths": basis.lengths,
            f"basis.{number}.root": basis.root,
        }
    return found


def _voice(described: Mapping[str, Any], arrays: Arrays, device: torch.device) -> Voice:
    noise = float(described["noise"])
    if "shape" in described:
        parameters = _below("network.", arrays)
        network = Network.from_parameters(Shape(**described["shape"]), parameters)
        trained = NetworkVoice.of(network.to(device), noise)
        return replace(trained, uncertain=arrays["uncertain"].numpy())
    own = _below("linear.", arrays)
    voice = LinearVoice(
        noise,
        own["population"].numpy(),
        own["fixed"],
        own["covariance"].numpy(),
        own["slopes"].numpy(),
        tuple(_basis(_below(f"basis.{n}.", arrays)) for n in range(described["bases"])),
        Logarithm(**described["logarithm"]) if described["logarithm"] else None,
    )
    return voice.to(device)


def _basis(arrays: Arrays) -> KernelBasis:
    return KernelBasis(
        arrays["features"].numpy(), arrays["points"], arrays["lengths"], arrays["root"]
    )


def _posterior(arrays: Arrays) -> TaskPosterior:
    covariances = arrays.get("covariances")
    return TaskPosterior(
        arrays["weights"].numpy(),
        arrays["means"].numpy(),
        None if covariances is None else covariances.numpy(),
    )


def _calibration(calibration: Calibration) -> dict[str, Any]:
    def plain(quantiles: Quantiles) -> dict[str, Any]:
        return {"scale": quantiles.scale, "sizes": quantiles.sizes.tolist()}

    return {
        "noise": calibration.noise,
        "known": plain(calibration.known),
        "added": {str(rows): plain(found) for rows, found in calibration.added.items()},
    }


def _restored_calibration(plain: Mapping[str, Any]) -> Calibration:
    def quantiles(found: Mapping[str, Any]) -> Quantiles:
        sizes = np.array(found["sizes"], dtype=np.float64)
        if sizes.shape != LEVELS.shape or not (np.isfinite(sizes) & (sizes > 0)).all():
            raise ValueError("the intervals' calibration is not whole")
        if (np.diff(sizes) < 0).any():
            raise ValueError("the intervals' calibration falls with the level")
        if not 0 < found["scale"] < np.inf:
            raise ValueError("the intervals' calibration has no scale")
        return Quantiles(float(found["scale"]), sizes)

    added = {int(rows): quantiles(found) for rows, found in plain["added"].items()}
    if any(rows < 1 for rows in added):
        raise ValueError("the intervals' calibration is for numbers of rows below one")
    return Calibration(float(plain["noise"]), quantiles(plain["known"]), added)


def _below(prefix: str, arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }


def _tensor(values: Any) -> Tensor:
    """A copy: the format refuses arrays that share memory."""
    return torch.from_numpy(np.array(values, order="C"))


def _digest(header: Mapping[str, Any], arrays: Mapping[str, Tensor]) -> str:
    """Of everything: a flipped bit in an array or a number would otherwise go unnoticed."""
    total = hashlib.sha256(json.dumps(header, sort_keys=True, allow_nan=False).encode())
    for name in sorted(arrays):
        total.update(name.encode() + b"\0" + arrays[name].numpy().tobytes())
    return total.hexdigest()


def _plain(value: Any) -> Any:
    """Settings may be numpy's numbers, as a search over a grid gives them."""
    return value.item() if isinstance(value, np.generic) else value
