"""What the figures read of results/illustrate: lists that must fit each other."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from pipeline.reporting.shapes import ByTask, Floats, Head, Pair, Shape, Some, same_length

Hours = Annotated[list[str], Field(min_length=4, max_length=4)]
Point = Annotated[list[Any], Field(min_length=4, max_length=4)]


class Curves(Shape):
    grid: Floats
    tasks: dict[str, dict[str, Floats]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Curves:
        same_length(self.grid, *(one for levels in self.tasks.values() for one in levels.values()))
        return self


class Response(Shape):
    feature: str
    grid: Floats
    beta: Some
    values: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Response:
        same_length(self.beta, self.values)
        same_length(self.grid, *self.values)
        return self


class Density(Shape):
    grid: Floats
    rows: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Density:
        same_length(self.grid, *self.rows)
        return self


class Samples(Shape):
    grid: Floats
    truth: Floats
    samples: list[list[Floats]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Samples:
        same_length(self.grid, self.truth, *(one for some in self.samples for one in some))
        return self


class Likelihood(Shape):
    omega: float
    points: Annotated[list[Pair], Field(min_length=1)]
    true: Density
    model: Density
    curves: Samples

    @model_validator(mode="after")
    def _one_row_a_point(self) -> Likelihood:
        same_length(self.points, self.true.rows, self.model.rows, self.curves.samples)
        return self


class Explored(Shape):
    """The response at every pair of values of two task parameters."""

    feature: str
    level: str
    grid: Floats
    beta: Annotated[list[Some], Field(min_length=2, max_length=2)]
    values: list[Floats]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Explored:
        same_length(range(len(self.beta[0]) * len(self.beta[1])), self.values)
        same_length(self.grid, *self.values)
        return self


class Explorer(Shape):
    target_mean: dict[str, float]
    metric: Annotated[list[Pair], Field(min_length=2, max_length=2)]
    response: Explored | None = None


class Illustrate(Head):
    task_uncertainty: dict[str, ByTask]
    curves: Curves | None = None
    response: Response | None = None
    likelihood: Likelihood | None = None
    explorer: Explorer | None = None


class Yearly(Shape):
    """Inflation."""

    grid: Floats
    tasks: dict[str, list[float | None]]

    @model_validator(mode="after")
    def _on_the_grid(self) -> Yearly:
        same_length(self.grid, *self.tasks.values())
        return self


class ByHour(Shape):
    """Bike sharing."""

    hours: Hours
    tasks: dict[str, dict[str, Pair]]


class Points(Shape):
    """Death rate: age, sex, part, rate."""

    tasks: dict[str, list[Point]]


class Inflation(Illustrate):
    curves: Curves
    observed: Yearly


class BikeSharing(Illustrate):
    observed: ByHour


class DeathRate(Illustrate):
    curves: Curves
    observed: Points


DATASETS: dict[str, type[Illustrate]] = {
    "bike_sharing": BikeSharing,
    "death_rate": DeathRate,
    "inflation": Inflation,
}
"""Those of which a figure shows the data itself."""
