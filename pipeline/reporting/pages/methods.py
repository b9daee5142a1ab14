"""Methods: what the paper says, what was done here, and the value it was done with."""

from __future__ import annotations

from typing import Any

from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.choices import CHOICES
from pipeline.reporting.results import Results


def choices(results: Results) -> Table:
    return Table(
        "choices",
        "Every choice, with the key that changes it and the value that this report was made with. "
        "Keys are in params.yaml; those that begin with profile. are in "
        f"profiles/{results.settings.params.profile}.yaml.",
        ("Topic", "The paper", "Here", "Key and value"),
        [
            [Cell(c.topic), Cell(c.paper), Cell(c.here), Cell(_values(results, c.keys))]
            for c in CHOICES
        ],
    )


def _values(results: Results, keys: tuple[str, ...]) -> str:
    return "; ".join(f"{key} = {_show(value(results, key))}" for key in keys) or "–"


def value(results: Results, key: str) -> Any:
    """What stands at a key in params.yaml, or below `profile.` in the profile."""
    settings = results.settings
    content: Any = settings.params.model_dump(mode="json", exclude_none=True)
    parts = key.split(".")
    if parts[0] == "profile":
        content, parts = settings.profile.model_dump(mode="json", exclude_none=True), parts[1:]
    for part in parts:
        content = content.get(part) if isinstance(content, dict) else None
    return content


def _show(content: Any) -> str:
    if content is None:
        return "not set"
    if isinstance(content, dict):
        return ", ".join(f"{key} {_show(item)}" for key, item in content.items())
    if isinstance(content, list):
        return (
            "["
            + ", ".join(
                f"({_show(item)})" if isinstance(item, dict) else _show(item) for item in content
            )
            + "]"
        )
    return f"{content:g}" if isinstance(content, float) else str(content)
