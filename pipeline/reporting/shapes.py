"""What the report reads of every study's result: a file that lacks it is damaged.

Only what is read is named here; a result holds more.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Error = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Floats = list[float]
Some = Annotated[list[float], Field(min_length=1)]
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
ByTask = dict[str, Some]
Share = Annotated[str, Field(pattern=r"^\d+(\.\d+)?(e-\d+)?$")]
Dimension = Annotated[str, Field(pattern=r"^\d+$")]
Network = Literal["lc", "cs", "ll", "fs"]


class Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Head(Shape):
    profile: str
    code: str


class Scored(Shape):
    rmse: Error


class Outcome(Scored):
    normalised: Error
    task_rmse: dict[str, Annotated[float, Field(ge=0)]]


class Rows(Shape):
    train: Count
    test: Count
    leaked: Count


class FeatureName(Shape):
    name: str


class Task(Shape):
    train: Count
    kind: str | None = None
    slope: float | None = None
    intercept: float | None = None
    amplitude: float | None = None
    phase: float | None = None

    @model_validator(mode="after")
    def _true_parameters(self) -> Task:
        needed = {"line": ("slope", "intercept"), "sine": ("amplitude", "phase")}
        for name in needed.get(self.kind or "", ()):
            if getattr(self, name) is None:
                raise ValueError(f"a {self.kind} has no {name}")
        return self


class Info(Shape):
    edition: str
    comparable: bool
    differs: str
    raw: dict[str, str]
    split: str
    features: list[FeatureName]
    std: Error
    rows: Rows
    tasks: dict[str, Task]
    content_sha256: str


class Linear(Head):
    lr: Outcome
    lme: Outcome


class Best(Shape):
    peak_rate: float
    width: int
    lambda_shared: float
    lambda_task: float
    task_dim: int


class Trial(Shape):
    score: float
    diverged: bool


class Tune(Head):
    best: Best
    score: float
    evaluations: Annotated[list[Trial], Field(min_length=1)]


class Curve(Shape):
    epoch: list[int]
    loss: Floats
    rate: Floats

    @model_validator(mode="after")
    def _one_length(self) -> Curve:
        same_length(self.epoch, self.loss, self.rate)
        return self


class Histogram(Shape):
    low: float
    high: float
    bins: Annotated[int, Field(ge=1, le=1000)]
    cells: list[Annotated[list[Count], Field(min_length=3, max_length=3)]]

    @model_validator(mode="after")
    def _inside(self) -> Histogram:
        if not self.low < self.high:
            raise ValueError("low is not below high")
        if any(max(i, j) >= self.bins or not count for i, j, count in self.cells):
            raise ValueError("cells: one is outside the bins or empty")
        return self


class Train(Head, Outcome):
    curve: Curve
    observed_predicted: Histogram | None = None


class Repeats(Head):
    min: Error
    max: Error
    diverged: Count
    trainings: list[Scored]


class Sizes(Head):
    fractions: dict[Share, Outcome]


class WithParameters(Scored):
    task_parameters: ByTask = {}


class Dimensions(Head):
    dimensions: dict[Dimension, WithParameters]

    @model_validator(mode="after")
    def _as_many_as_said(self) -> Dimensions:
        for dimension, outcome in self.dimensions.items():
            if any(len(values) != int(dimension) for values in outcome.task_parameters.values()):
                raise ValueError(f"dimensions.{dimension}: a task has more or fewer parameters")
        return self


class Fitted(Scored):
    objective: Some


class Fit(Shape):
    task_dim: int
    share: Error
    gauss_newton: Fitted
    lipo: Fitted | None = None

    @model_validator(mode="after")
    def _same_tasks(self) -> Fit:
        if self.lipo:
            same_length(self.lipo.objective, self.gauss_newton.objective)
        return self


class Adapt(Head):
    fits: list[Fit]


class Clean(Head):
    models: dict[Network, Scored]


def same_length(*columns: Sized) -> None:
    if len({len(column) for column in columns}) > 1:
        raise ValueError("lists that belong together differ in their lengths")


def problem(content: object, kind: type[Shape]) -> str:
    """What is wrong with a result, in a few words; empty if nothing is."""
    try:
        kind.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        return f"{where}: {first['msg'].removeprefix('Value error, ').lower()}"
    return ""
