"""params.yaml and one profile as one frozen object, checked once at the boundary.

A mistake becomes one line that names the file, the key and what is valid.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from learned_context.errors import UserError
from learned_context.networks.registry import ARCHITECTURES
from pipeline.checked import explain
from pipeline.files import Files, read_yaml

# Numbers are strict: `true` or "1" is none.
# Above these ends nobody wants a value, and a typing error would fill the memory.
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Positive = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
Width = Annotated[int, Field(ge=1, le=100_000, strict=True)]
Share = Annotated[float, Field(gt=0, le=1, strict=True)]
Rate = Annotated[float, Field(gt=0, le=1e6, strict=True)]
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
    data: Seed
    split: Seed
    search: Seed
    train: Seed


class NetworkShape(Section):
    """What Appendix C fixes for all networks."""

    blocks: Annotated[int, Field(ge=1, le=100, strict=True)]
    momentum: Annotated[float, Field(ge=0, lt=1, strict=True)]


class Space(Section):
    """Table 6: the lower and upper end of each hyperparameter."""

    peak_rate: tuple[Rate, Rate]
    width: tuple[Width, Width]
    lambda_shared: tuple[Rate, Rate]
    lambda_task: tuple[Rate, Rate]
    task_dim: tuple[Width, Width]

    @model_validator(mode="after")
    def _ordered(self) -> Space:
        for name in type(self).model_fields:
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name}: the lower end {low} is above the upper end {high}")
        return self


class Schedule(Section):
    """Appendix B: the two-stage learning rate."""

    lowest_rate: Rate
    warmup: Share
    window: Share
    converged_p: Annotated[float, Field(gt=0, lt=1, strict=True)]
    loss_near_zero: Annotated[float, Field(ge=0, le=1e6, strict=True)]
    retry_rate: Annotated[float, Field(gt=0, lt=1, strict=True)]


MOST_ROWS = 20_000_000
"""Of a generated dataset."""
OWN_KEYS = ("task", "target", "features", "train_share")


class DatasetKeys(Section):
    """Keys of one dataset. The synthetic ones have sizes, an own file has columns."""

    edition: Name
    # generated datasets
    tasks: Annotated[int, Field(ge=3, le=1_000_000, strict=True)] | None = None
    train_rows: Positive | None = None
    test_rows: Positive | None = None
    noise: Annotated[float, Field(ge=0, le=1e6, strict=True)] | None = None
    # a dataset with a choice of splits: pipeline.datasets.registry.split_rule knows which
    split: Name | None = None
    # another random draw than the first: added to seeds.data and seeds.split
    draw: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    # your own dataset: columns of its file, and the share of a task's rows for training
    task: str | None = None
    target: str | None = None
    features: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    train_share: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _checked(self) -> DatasetKeys:
        rows = (self.tasks or 0) * ((self.train_rows or 0) + (self.test_rows or 0))
        if rows > MOST_ROWS:
            raise ValueError(
                f"tasks, train_rows and test_rows: they make {rows} rows, more than {MOST_ROWS}"
            )
        absent = [name for name in OWN_KEYS if getattr(self, name) is None]
        if absent and len(absent) < len(OWN_KEYS):
            raise ValueError(f"{absent[0]}: missing; your own dataset needs it")
        return self

    @property
    def is_own(self) -> bool:
        return self.task is not None


class Budget(Section):
    """Epochs and batches an epoch for tables with fewer than `rows_below` training rows."""

    rows_below: Positive | None = None
    epochs: Annotated[int, Field(ge=4, le=10_000_000, strict=True)]
    batches: Positive


def _rising(budgets: tuple[Budget, ...]) -> tuple[Budget, ...]:
    limits = [budget.rows_below for budget in budgets]
    if limits[-1] is not None or None in limits[:-1]:
        raise ValueError("the last entry, and no other, has no rows_below")
    if limits[:-1] != sorted(set(limits[:-1])):  # type: ignore[type-var]
        raise ValueError("the entries' rows_below must rise")
    return budgets


Budgets = Annotated[tuple[Budget, ...], Field(min_length=1), AfterValidator(_rising)]


class Search(Section):
    evaluations: Positive
    width_max: Width
    max_restarts: Annotated[int, Field(ge=0, le=1000, strict=True)]
    finalists: Annotated[int, Field(ge=0, le=1000, strict=True)]
    """How many of the best trials are trained again, as long as a final training."""
    openings: Annotated[int, Field(ge=0, le=1000, strict=True)]
    """How many in a row must not diverge, or the best finalist's rate is lowered."""
    budget: Budgets


class Train(Section):
    budget: Budgets
    window_min: Annotated[int, Field(ge=3, le=1_000_000, strict=True)]
    max_restarts: Annotated[int, Field(ge=0, le=1000, strict=True)]
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")]
    precision: Literal["highest", "high"]
    """Of float32 products on a GPU: high allows TF32."""


class Sizes(Section):
    few_rows: Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
    """Rows of a task, on average: with fewer, fewer task parameters than found are tried."""


class Lipo(Section):
    evaluations: Positive
    shares: tuple[Share, ...]


class GaussNewton(Section):
    candidates: Positive
    rows: Positive
    starts: Positive
    steps: Positive


class HoldOut(Section):
    dimensions: Annotated[tuple[Width, ...], Field(min_length=1, max_length=100)]
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
    repeats: Annotated[int, Field(ge=2, le=10_000, strict=True)]
    sizes: Sizes
    dimensions: Annotated[tuple[Width, ...], Field(min_length=1, max_length=100)]
    holdout: HoldOut


SETTINGS_FROM = 0.5
"""Appendix C: the hold-out study's hyperparameters come from the search on this fraction."""


class Params(Section):
    """What a person changes."""

    profile: Name
    datasets: Names
    models: Names
    base_only: tuple[Name, ...]
    fractions: tuple[Annotated[float, Field(gt=0, lt=1, strict=True)], ...]
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
        for key in ("models", "base_only"):
            for name in getattr(self, key):
                if name not in ARCHITECTURES:
                    valid = ", ".join(ARCHITECTURES)
                    raise ValueError(f"{key}: no network {name!r}; valid: {valid}")
        if "lc" not in self.models:
            raise ValueError("models: must hold 'lc', the network that the studies are about")
        if both := set(self.models) & set(self.base_only):
            raise ValueError(f"base_only: {min(both)!r} is one of models, too")
        if SETTINGS_FROM not in self.fractions:
            raise ValueError(
                f"fractions: must hold {SETTINGS_FROM}, whose search gives the hold-out study "
                "its settings"
            )
        # Stages are named by these: a value twice would be a stage twice.
        for key in ("datasets", "models", "base_only", "fractions"):
            values = getattr(self, key)
            if len(set(values)) < len(values):
                raise ValueError(f"{key}: a value is there twice")
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

    def table_seeds(self, dataset: str) -> dict[str, int]:
        """Of a dataset's rows and splits: a later draw has later seeds."""
        seeds, draw = self.params.seeds, self.dataset(dataset).draw or 0
        return {"data": seeds.data + draw, "split": seeds.split + draw}


def load(files: Files, profile_name: str | None = None) -> Settings:
    """Of params.yaml and the profile that it names, or another one."""
    if not files.params.exists():
        raise UserError(
            f"{files.params}: does not exist; run this in the project's root folder, or restore "
            "the file with `git checkout params.yaml`"
        )
    params = load_section(files.params, Params)
    if profile_name is not None:
        params = params.model_copy(update={"profile": profile_name})
    path = files.profile(params.profile)
    if not path.exists():
        valid = ", ".join(sorted(other.stem for other in path.parent.glob("*.yaml")))
        raise UserError(f"{files.params}: profile: no {path}; valid: {valid}")
    profile = load_section(path, Profile)
    try:
        return Settings(params=params, profile=profile)
    except ValidationError as error:
        raise UserError(f"{files.params}: {explain(error)}") from error


S = TypeVar("S", bound=Section)


def load_section(path: Path, kind: type[S]) -> S:
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: must be a mapping of keys to values")
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from error
