"""The declaration of a study: all that DVC, the plan, the report and the audit know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

from learned_context.networks.registry import ARCHITECTURES, Architecture
from pipeline import checked
from pipeline.files import Files, read_json
from pipeline.settings import Params
from pipeline.studies.framework.results import DoesNotApply, StudyResult
from pipeline.studies.plumbing.costs import Work

R = TypeVar("R", bound=StudyResult)
FURTHER = "results/dvc.yaml"
"""The stages of the studies that build on the base study."""
BASE_ONLY = "_base_only"
"""Ends the name of a stage for the models of `base_only`: a DVC matrix takes one list."""


@dataclass(frozen=True)
class Upstream:
    """What a study reads of another one, for the same dataset and model."""

    study: str
    networks: bool = False
    """The networks that it trained, too."""
    every_model: bool = False
    """The results of all models, by their names."""


def any_model(architecture: Architecture) -> str:
    return ""


def needs_task_parameters(architecture: Architecture) -> str:
    if architecture.has_task_parameters:
        return ""
    return f"a {architecture.title} network has no task parameters"


def needs_context(architecture: Architecture) -> str:
    """The paper's hold-out study is about a learned context."""
    if architecture.has_context:
        return ""
    return f"a {architecture.title} network has no learned context"


@dataclass(frozen=True)
class Study(Generic[R]):
    name: str
    """The verb, the stage's name and the folder below results/."""
    title: str
    result: type[R]
    compute: Callable[..., R]
    """From an `Experiment` and the inputs; it knows no paths."""
    cost: Callable[[Work], float]
    """The expected seconds of one stage."""
    by_model: bool = True
    """One stage for each dataset and model; otherwise one for each dataset."""
    base: bool = False
    """Part of the base study: in dvc.yaml, and for the models of `base_only` as well."""
    why_not: Callable[[Architecture], str] = any_model
    """Why an architecture cannot take part; empty if it can."""
    inputs: Mapping[str, Upstream] = field(default_factory=dict)
    """By the name of the computation's argument."""
    params: tuple[str, ...] = ()
    """The keys of params.yaml that the computation reads."""
    profile: tuple[str, ...] = ()
    """The profile's keys that it reads."""
    networks: Literal["none", "one", "several"] = "none"
    """What it saves besides its result: the networks named in the checkpoint."""

    def models(self, params: Params) -> tuple[str, ...]:
        """The models that have a stage; one that cannot take part says so in its result."""
        if not self.by_model:
            return ("",)
        return (*params.models, *params.base_only) if self.base else params.models

    def reason_against(self, model: str) -> str:
        """Why the study does not apply to this model; empty if it does."""
        return self.why_not(ARCHITECTURES[model]) if self.by_model else ""

    def path(self, files: Files, dataset: str, model: str = "") -> Path:
        """Where the result is: of a model, or of all models together."""
        return files.result(self.name, dataset, model if self.by_model else self.name)

    def networks_path(self, files: Files, dataset: str, model: str = "") -> Path:
        """The file or folder of the networks that it saves."""
        end = ".safetensors" if self.networks == "one" else ""
        return files.models(dataset) / f"{self.name}-{model}{end}"

    def address(self, params: Params, dataset: str, model: str = "") -> str:
        """The stage's name for DVC."""
        place = "" if self.base else f"{FURTHER}:"
        name = self.name + (BASE_ONLY if model in params.base_only else "")
        return f"{place}{name}@{dataset}" + (f"-{model}" if self.by_model else "")

    def read(self, files: Files, dataset: str, model: str = "") -> R | DoesNotApply:
        """The typed result; a damaged one is an error that names the file and the field."""
        path = self.path(files, dataset, model)
        content = read_json(path)
        remedy = (
            f"restore it with `git checkout {path}`, or compute it again with "
            f"`python -m pipeline {' '.join(filter(None, (self.name, dataset, model)))}`"
        )
        if isinstance(content, dict) and "does_not_apply" in content:
            return checked.parse(path, content, DoesNotApply, remedy)
        return checked.parse(path, content, self.result, remedy)
