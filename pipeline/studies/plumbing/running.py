"""Runs a study for one dataset and model: reads its inputs, computes, writes its outputs."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Mapping
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learned_context.errors import UserError
from learned_context.files import replacing
from pipeline import checked, settings
from pipeline.files import Files, code_digest, digest, run_info
from pipeline.settings import Settings
from pipeline.studies import STUDIES
from pipeline.studies.framework.results import DoesNotApply, StudyResult
from pipeline.studies.plumbing.code import code_of
from pipeline.studies.plumbing.run_info import RunInfo
from pipeline.studies.plumbing.study import Study
from pipeline.tables.description import read_description

if TYPE_CHECKING:
    from learned_context.training.trainer import Trained

VERSIONS = ("dlib-bin", "numpy", "pandas", "pyarrow", "statsmodels", "torch")


def run(study: Study[Any], files: Files, dataset: str, model: str = "") -> None:
    started, worked = time.perf_counter(), time.process_time()
    chosen = settings.load(files)
    chosen.dataset(dataset)  # an unknown name is an error here
    if study.by_model and model not in study.models(chosen.params):
        valid = ", ".join(study.models(chosen.params))
        raise UserError(f"{study.name}: model {model!r} is not in params.yaml; valid: {valid}")
    described = read_description(files, dataset)
    head: dict[str, Any] = {
        "study": study.name,
        "dataset": dataset,
        "model": model or None,
        "profile": chosen.params.profile,
        "edition": described.edition,
        "data": described.content_sha256,
        "code": code_digest(Path(), code_of(study)),
    }
    reason = study.reason_against(model)
    inputs: dict[str, Any] = {}
    if not reason:
        inputs = read_inputs(study, files, chosen, dataset, model)
        missing = [one for one in inputs.values() if isinstance(one, DoesNotApply)]
        reason = missing[0].does_not_apply if missing else ""
    if reason:
        device = "none"
        result: StudyResult = DoesNotApply(**head, does_not_apply=reason)
        if study.networks == "several":  # an output of the stage all the same
            study.networks_path(files, dataset, model).mkdir(parents=True, exist_ok=True)
    else:
        device, result = _compute(study, files, chosen, head, inputs)
    path = study.path(files, dataset, model)
    checked.write(path, result)
    run = RunInfo(
        seconds=round(time.perf_counter() - started, 3),
        cpu_seconds=round(time.process_time() - worked, 3),
        profile=chosen.params.profile,
        device=device,
        cpu=_cpu() if device != "none" else "none",
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        versions={name: version(name) for name in VERSIONS},
    )
    checked.write(run_info(path), run)


def read_inputs(
    study: Study[Any], files: Files, chosen: Settings, dataset: str, model: str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for argument, upstream in study.inputs.items():
        source = STUDIES[upstream.study]
        if upstream.every_model:
            models = chosen.params.models
            found[argument] = {one: source.read(files, dataset, one) for one in models}
        else:
            found[argument] = source.read(files, dataset, model)
    return found


def _compute(
    study: Study[Any],
    files: Files,
    chosen: Settings,
    head: dict[str, Any],
    inputs: Mapping[str, Any],
) -> tuple[str, StudyResult]:
    import torch

    from learned_context.training.devices import device_name, enough_memory
    from learned_context.training.storage import load_network
    from pipeline.studies.framework.checkpoint import Checkpoint
    from pipeline.studies.framework.experiment import Experiment
    from pipeline.studies.plumbing.progress import ProgressLine
    from pipeline.tables.prepared import Prepared

    dataset, model = head["dataset"], head["model"] or ""
    sources = [STUDIES[one.study] for one in study.inputs.values() if one.networks]
    key = digest({**head, "settings": chosen.model_dump(mode="json"), "inputs": _plain(inputs)})
    checkpoint = Checkpoint(files.scratch(study.name, f"{dataset}-{key}"))

    def upstream_network(name: str) -> Trained:
        (source,) = sources
        folder = source.networks_path(files, dataset, model)
        return load_network(folder / f"{name}.safetensors", experiment.device)

    with closing(ProgressLine()) as progress:
        experiment = Experiment(
            head=head,
            settings=chosen,
            prepared=Prepared.read(files, dataset),
            checkpoint=checkpoint,
            progress=progress,
            upstream_network=upstream_network,
        )
        try:
            result: StudyResult = study.compute(experiment, **inputs)
        except torch.OutOfMemoryError:
            with enough_memory(experiment.device):  # one line that names the device
                raise
        except OSError as error:
            if error.filename is None:  # a write to an open file does not name it
                error.filename = str(checkpoint.folder)
            raise
    if study.networks != "none":
        _deliver(checkpoint.networks(), study.networks_path(files, dataset, model))
    checkpoint.clear()
    # The device is chosen when a computation asks for it; the linear models never do.
    used = device_name(experiment.device) if "device" in vars(experiment) else "cpu"
    return used, result


def _plain(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value) if isinstance(value, dict) else checked.as_json(value)
        for name, value in inputs.items()
    }


def _deliver(networks: list[Path], destination: Path) -> None:
    """Copy the networks to the stage's output: a file, or a folder that holds no others."""
    targets = {destination / network.name: network for network in networks}
    if destination.suffix:
        targets = {destination: networks[0]}
    else:
        for other in set(destination.glob("*")) - targets.keys():
            other.unlink()
    for target, network in targets.items():
        with replacing(target) as temporary:
            shutil.copyfile(network, temporary)


def _cpu() -> str:
    import torch

    return torch.backends.cpu.get_cpu_capability()
