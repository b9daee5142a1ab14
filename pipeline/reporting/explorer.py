"""The task explorer as a block of a page: its data and its scripts are in the page itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from pipeline.reporting.blocks import PageBlock, asset

SCRIPTS = ("chart.js", "explorer.js")


@dataclass(frozen=True)
class Explorer(PageBlock):
    """Maps of tasks that a reader can search, colour and move in; see assets/explorer.js."""

    template = "explorer.html"

    caption: str
    datasets: Sequence[dict[str, Any]]
    palette: Sequence[str]  # from the lowest value to the highest
    opening: dict[str, str]  # what is shown first: dataset and task

    def data(self) -> Markup:
        content = {"datasets": self.datasets, "palette": self.palette, "opening": self.opening}
        # `<`, `>`, `&` and `'` become escapes of JSON: no name can end the element or open one.
        return htmlsafe_json_dumps(content, allow_nan=False, separators=(",", ":"))

    def source(self) -> Markup:
        return Markup("".join(map(asset, SCRIPTS)))

    def _repr_html_(self) -> str:
        return f"<p>The explorer of {len(self.datasets)} datasets is on the page.</p>"
