"""Methods: what the paper says, what was done here, and the value it was done with."""

from __future__ import annotations

from typing import Any

from pipeline.reporting.blocks import DASH, Cell, Table
from pipeline.reporting.choices import CHOICES, TOPICS
from pipeline.reporting.formatting import short
from pipeline.reporting.results import Results
from pipeline.reporting.story import Story


def story() -> Story:
    keyed = sum(bool(choice.keys) for choice in CHOICES)
    return Story(
        f"{len(CHOICES)} choices that the paper leaves open, and how each was made",
        f"{keyed} of the {len(CHOICES)} choices have a key in `params.yaml` or in the profile that "
        "changes them; the value behind this report is next to it.",
    )


def choices(results: Results, topic: str) -> Table:
    return Table.of(
        f"choices_{topic.lower()}",
        "",
        TOPICS[topic],
        {
            "Topic": lambda choice: choice.topic,
            "The paper": lambda choice: choice.paper,
            "Here": lambda choice: choice.here,
            "Key and value": lambda choice: _values(results, choice.keys),
        },
        cards=True,
    )


def _values(results: Results, keys: tuple[str, ...]) -> Cell:
    shown = "; ".join(f"{key} = {_show(value(results, key))}" for key in keys)
    return Cell(shown, style="code") if shown else DASH


def value(results: Results, key: str) -> Any:
    """The value of a key in params.yaml, or below `profile.` in the profile."""
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
        shown = (f"({_show(item)})" if isinstance(item, dict) else _show(item) for item in content)
        return f"[{', '.join(shown)}]"
    return short(content) if isinstance(content, float) else str(content)
