"""What a page says first: a title that states the finding, and the answer in a sentence or two."""

from __future__ import annotations

from typing import NamedTuple


class Story(NamedTuple):
    title: str
    answer: str


NOTHING = "No dataset has results of this study yet."
