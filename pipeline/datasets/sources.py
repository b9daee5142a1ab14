"""raw/sources.yaml, typed: where each edition's files come from and how to know them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from learned_context.errors import UserError
from pipeline.settings import Name, Positive, Section, load_section

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
Address = Annotated[str, Field(pattern=r"^https?://[^/\s]")]
"""Never a path of this machine: whoever writes raw/sources.yaml must not choose what is read."""
Below = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*$")
]
"""A path below the mirror."""
Digest = Literal["sha256", "git_blob"]
Text = Annotated[str, Field(min_length=1)]


class FileSource(Section):
    """One raw file: its name in the edition's folder, where it comes from, its hash."""

    name: FileName
    addresses: tuple[Address, ...]
    member: str | None = None
    mirror: Below | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    git_blob: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    size: Positive | None = None

    @property
    def pinned(self) -> bool:
        """Whether the file's bytes are known, not only its number of rows."""
        return self.sha256 is not None or self.git_blob is not None


class Edition(Section):
    comparable: bool
    differs: str
    rows: Positive | None = None
    tasks: Positive | None = None
    licence: Text
    citation: Text
    by_hand: Text
    files: tuple[FileSource, ...]
    """Empty for a dataset that `prepare` generates."""

    @model_validator(mode="after")
    def _consistent(self) -> Edition:
        if self.files and (self.rows is None or self.tasks is None):
            raise ValueError("rows and tasks: needed, a table of this edition is checked by them")
        names = [file.name for file in self.files]
        if len(set(names)) < len(names):
            raise ValueError("files: two entries have the same name")
        return self


class Sources(Section):
    dataset: dict[Name, dict[Name, Edition]]

    @model_validator(mode="after")
    def _differences_are_told(self) -> Sources:
        for dataset, editions in self.dataset.items():
            for name, edition in editions.items():
                if name != "paper" and not edition.differs:
                    raise ValueError(
                        f"dataset.{dataset}.{name}.differs: is empty, and it is not the paper's"
                    )
        return self

    def edition(self, dataset: str, edition: str) -> Edition:
        editions = self.dataset.get(dataset)
        if editions is None:
            valid = ", ".join(sorted(self.dataset))
            raise UserError(f"raw/sources.yaml: no dataset {dataset!r}; valid: {valid}")
        if edition not in editions:
            valid = ", ".join(sorted(editions))
            raise UserError(
                f"params.yaml: dataset.{dataset}.edition: {edition!r} is not in raw/sources.yaml; "
                f"valid: {valid}"
            )
        return editions[edition]


def load(path: Path) -> Sources:
    return load_section(path, Sources)
