"""An SVG that matplotlib wrote, as a part of a page: its inks follow the page's colours."""

from __future__ import annotations

import re

from markupsafe import escape

INK, SOFT, GRID, PAPER, BLUE = "#1c2024", "#586069", "#e6eaee", "#ffffff", "#0072b2"
"""Drawn with these, a figure follows the page from light to dark."""

_VARIABLES = {INK: "--ink", SOFT: "--soft", GRID: "--grid", PAPER: "--paper", BLUE: "--blue"}
_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_ROOT = re.compile(r"<svg\b[^>]*>")
_METADATA = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_ID = re.compile(r' id="([^"]+)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^")]+)')


def inline(svg: bytes, prefix: str, label: str) -> str:
    """The element alone, with ids that are unique on the page and a name for screen readers."""
    text = _METADATA.sub("", _HEAD.sub("", svg.decode(), count=1))
    box = re.search(r'viewBox="([^"]+)"', text)
    assert box is not None, "matplotlib writes a viewBox"
    root = f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(label)}">'
    text = _ROOT.sub(lambda _: root, text, count=1)
    used = {name for _, name in _REFERENCE.findall(text)}
    text = _ID.sub(lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", text)
    text = _REFERENCE.sub(rf"\g<1>{prefix}-\g<2>", text).replace("xlink:href", "href")
    return re.sub(r"\n\s*", "\n", following(text)).strip()


def following(text: str) -> str:
    """With the page's variables in place of the colours that follow it."""
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text
