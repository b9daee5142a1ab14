"""params.yaml and one profile as one frozen object, checked once at the boundary.

A mistake becomes one line that names the file, the key and what is valid.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from pipeline.errors import UserError
from pipeline.files import Files, read_text

# Numbers are strict: `true` or "1" is none.
Network = Literal["lc", "cs", "ll", "fs"]
Positive = Annotated[int, Field(ge=1, strict=True)]
Share = Annotated[float, Field(gt=0, le=1, strict=True)]
Rate = Annotated[float, Field(gt=0, strict=True)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Names = Annotated[tuple[Name, ...], Field(min_length=1)]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        """A misspelt key is reported as such, rather than the key that it leaves missing."""
        if isinstance(content, dict):
            unknown = [str(key) for key in content if key not in cls.model_fields]
            if unknown:
                valid = ", ".join(sorted(cls.model_fields))
                raise ValueError(f"unknown key {unknown[0]!r}; valid: {valid}")
        return content


class Seeds(Section):
    data: Annotated[int, Field(ge=0, strict=True)]
    split: Annotated[int, Field(ge=0, strict=True)]
    search: Annotated[int, Field(ge=0, strict=True)]
    train: Annotated[int, Field(ge=0, strict=True)]


class NetworkShape(Section):
    """What Appendix C fixes for all networks."""

    blocks: Positive
    momentum: Annotated[float, Field(ge=0, lt=1, strict=True)]


class Space(Section):
    """Table 6: the lower and upper end of each hyperparameter."""

    peak_rate: tuple[Rate, Rate]
    width: tuple[Positive, Positive]
    lambda_shared: tuple[Rate, Rate]
    lambda_task: tuple[Rate, Rate]
    task_dim: tuple[Positive, Positive]

    @model_validator(mode="after")
    def _ordered(self) -> Space:
        for name in type(self).model_fields:
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name}: the lower end {low} is above the upper end {high}")
        return self


class Schedule(Section):
    """Appendix B: the two-stage learning rate."""

    lowest_rate: Annotated[float, Field(gt=0, strict=True)]
    warmup: Share
    window: Share
    converged_p: Annotated[float, Field(gt=0, lt=1, strict=True)]
    loss_near_zero: Annotated[float, Field(ge=0, strict=True)]
    retry_rate: Annotated[float, Field(gt=0, lt=1, strict=True)]


OWN_KEYS = ("task", "target", "features", "train_share")


class DatasetKeys(Section):
    """Keys of one dataset. The synthetic ones have sizes, an own file has columns."""

    edition: Name
    # generated datasets
    tasks: Annotated[int, Field(ge=3, strict=True)] | None = None
    train_rows: Positive | None = None
    test_rows: Positive | None = None
    noise: Annotated[float, Field(ge=0, strict=True)] | None = None
    # sarcos
    split: Literal["official", "clean"] | None = None
    # a dataset of one's own: columns of its file, and the share of a task's rows for training
    task: str | None = None
    target: str | None = None
    features: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    train_share: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _all_of_an_own_file(self) -> DatasetKeys:
        absent = [name for name in OWN_KEYS if getattr(self, name) is None]
        if absent and len(absent) < len(OWN_KEYS):
            raise ValueError(f"{absent[0]}: missing; a dataset of one's own has it")
        return self

    @property
    def is_own(self) -> bool:
        return self.task is not None


class Budget(Section):
    """Epochs and batches an epoch for tables with fewer than `rows_below` training rows."""

    rows_below: Positive | None = None
    epochs: Annotated[int, Field(ge=4, strict=True)]
    batches: Positive


Budgets = Annotated[tuple[Budget, ...], Field(min_length=1)]


def _check_budgets(budgets: tuple[Budget, ...]) -> None:
    limits = [budget.rows_below for budget in budgets]
    if limits[-1] is not None or None in limits[:-1]:
        raise ValueError("budget: the last entry, and no other, has no rows_below")
    if limits[:-1] != sorted(set(limits[:-1])):  # type: ignore[type-var]
        raise ValueError("budget: the entries' rows_below must rise")


class Search(Section):
    evaluations: Positive
    width_max: Positive
    max_restarts: Annotated[int, Field(ge=0, strict=True)]
    budget: Budgets

    @model_validator(mode="after")
    def _checked(self) -> Search:
        _check_budgets(self.budget)
        return self


class Train(Section):
    budget: Budgets
    window_min: Annotated[int, Field(ge=3, strict=True)]
    max_restarts: Annotated[int, Field(ge=0, strict=True)]
    device: Literal["auto", "cpu", "cuda"]
    compile: Annotated[bool, Field(strict=True)]

    @model_validator(mode="after")
    def _checked(self) -> Train:
        _check_budgets(self.budget)
        return self


class Lipo(Section):
    evaluations: Positive
    shares: tuple[Share, ...]


class GaussNewton(Section):
    candidates: Positive
    rows: Positive
    starts: Positive
    steps: Positive


class HoldOut(Section):
    dimensions: Annotated[tuple[Positive, ...], Field(min_length=1)]
    shares: Annotated[tuple[Share, ...], Field(min_length=1)]
    lipo: Lipo
    gauss_newton: GaussNewton

    @model_validator(mode="after")
    def _checked(self) -> HoldOut:
        unknown = [share for share in self.lipo.shares if share not in self.shares]
        if unknown:
            raise ValueError(f"lipo.shares: {unknown[0]} is not one of shares {list(self.shares)}")
        return self


class Profile(Section):
    """Budgets and nothing else."""

    search: Search
    train: Train
    repeats: Annotated[int, Field(ge=2, strict=True)]
    dimensions: Annotated[tuple[Positive, ...], Field(min_length=1)]
    holdout: HoldOut


SETTINGS_FROM = 0.5
"""Appendix C: the hold-out study's hyperparameters come from the search on this fraction."""


class Params(Section):
    """What a person changes."""

    profile: Name
    datasets: Names
    models: Annotated[tuple[Network, ...], Field(min_length=1)]
    compared: tuple[Network, ...]
    fractions: tuple[Annotated[float, Field(gt=0, lt=1, strict=True)], ...]
    varied: tuple[Literal["lc", "ll"], ...]
    leak_share: Share
    seeds: Seeds
    validation: Annotated[float, Field(gt=0, lt=1, strict=True)]
    categories: Literal["onehot", "number"]
    network: NetworkShape
    space: Space
    schedule: Schedule
    dataset: dict[Name, DatasetKeys]

    @model_validator(mode="after")
    def _consistent(self) -> Params:
        for name in self.datasets:
            if name not in self.dataset:
                valid = ", ".join(sorted(self.dataset))
                raise ValueError(f"datasets: {name!r} has no entry below 'dataset'; valid: {valid}")
        for key in ("models", "compared", "varied"):
            if "lc" not in getattr(self, key):
                raise ValueError(f"{key}: must hold 'lc', the network that the studies are about")
            for name in getattr(self, key):
                if name not in self.models:
                    raise ValueError(f"{key}: {name!r} is not one of models {list(self.models)}")
        if SETTINGS_FROM not in self.fractions:
            raise ValueError(
                f"fractions: must hold {SETTINGS_FROM}, whose search gives the hold-out study "
                "its settings"
            )
        # Stages are named by these: a value twice would be a stage twice.
        for key in ("datasets", "models", "compared", "varied", "fractions"):
            values = getattr(self, key)
            if len(set(values)) < len(values):
                raise ValueError(f"{key}: a value stands there twice")
        return self


class Settings(Section):
    params: Params
    profile: Profile

    @model_validator(mode="after")
    def _consistent(self) -> Settings:
        lowest, highest = self.params.space.width[0], self.profile.search.width_max
        if lowest > highest:
            raise ValueError(f"space.width: {lowest} is above the profile's width_max {highest}")
        return self

    def dataset(self, name: str) -> DatasetKeys:
        try:
            return self.params.dataset[name]
        except KeyError:
            valid = ", ".join(sorted(self.params.dataset))
            raise UserError(f"dataset {name!r} is not in params.yaml; valid: {valid}") from None


def load(files: Files) -> Settings:
    if not files.params.exists():
        raise UserError(f"{files.params}: does not exist; run this in the project's root folder")
    params = load_section(files.params, Params)
    path = files.profile(params.profile)
    if not path.exists():
        valid = ", ".join(sorted(other.stem for other in path.parent.glob("*.yaml")))
        raise UserError(f"{files.params}: profile: no {path}; valid: {valid}")
    profile = load_section(path, Profile)
    try:
        return Settings(params=params, profile=profile)
    except ValidationError as error:
        raise UserError(f"{files.params}: {_explain(error.errors()[0])}") from error


S = TypeVar("S", bound=Section)


def load_section(path: Path, kind: type[S]) -> S:
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise UserError(f"{path}: {line}not valid YAML ({problem})") from error
    except (ValueError, RecursionError) as error:  # such as a date of the thirteenth month
        raise UserError(f"{path}: not valid YAML ({error})") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: must be a mapping of keys to values")
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{path}: {_explain(error.errors()[0])}") from error


def _explain(detail: ErrorDetails) -> str:
    """One line: the key, what is wrong with it, what is valid."""
    where = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]
    ).lstrip(".")
    if detail["type"] == "missing":
        return f"{where}: missing"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "value_error":
        return f"{where}: {message}" if where else message
    shown = repr(detail["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"{where}: {shown} is not valid; {message[0].lower()}{message[1:]}"
