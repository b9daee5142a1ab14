"""The base of everything that is written as JSON by one command and read by another.

Reading is strict: an unknown, missing or impossible field is one error that names the file and
the field. Writing goes through the same type, so that writer and reader cannot drift apart.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sized
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from learned_context.errors import UserError
from pipeline.files import read_json, write_json

Count = Annotated[int, Field(ge=0)]
Error = Annotated[float, Field(gt=0)]
"""A test error over many rows; that of a single task may be zero."""
TaskErrors = dict[str, Annotated[float, Field(ge=0)]]
Floats = list[float]
Some = Annotated[list[float], Field(min_length=1)]
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
ByTask = dict[str, Some]


class Checked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


C = TypeVar("C", bound=Checked)


def parse(path: Path, content: object, kind: type[C], remedy: str) -> C:
    """The typed content of a file; `remedy` says how to get the file back."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}; {remedy}") from None


def explain(error: ValidationError) -> str:
    """One line: the first field that is not valid, what is wrong with it, what is valid."""
    detail = error.errors(include_url=False)[0]
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"]]
    where = "".join(steps).lstrip(".")
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "missing":
        message = "missing"
    elif detail["type"] != "value_error":
        shown = reprlib.repr(detail["input"])  # never long, whatever aliases the file holds
        message = f"{shown} is not valid; {message[0].lower()}{message[1:]}"
    return f"{where}: {message}" if where else message


def read(path: Path, kind: type[C], remedy: str) -> C:
    return parse(path, read_json(path), kind, remedy)


def as_json(content: Checked) -> dict[str, object]:
    """What does not apply is left out: no field of a result means anything by being null."""
    return content.model_dump(mode="json", exclude_none=True)


def write(path: Path, content: Checked) -> None:
    write_json(path, as_json(content))


def same_length(*columns: Sized) -> None:
    """For validators: lists that belong together."""
    if len({len(column) for column in columns}) > 1:
        raise ValueError("lists that belong together differ in their lengths")
