"""Names from data inside Markdown and LaTeX: shown as they are, never obeyed."""

from __future__ import annotations

import re

TEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"$^\dagger$",
    "–": "--",
    "−": "$-$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "β": r"$\beta$",
    "λ": r"$\lambda$",
    "α": r"$\alpha$",
    "’": "'",
}


def markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(text.split()))


def tex(text: str) -> str:
    return "".join(TEX.get(char, char) for char in " ".join(text.split()))
