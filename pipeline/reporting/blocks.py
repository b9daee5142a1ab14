"""What a page is made of: text, tables, figures and cards, each in every form it is written in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files as package_files
from typing import Any, ClassVar, TypeVar

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from pipeline.reporting.escaping import markdown as _md
from pipeline.reporting.escaping import tex as _tex
from pipeline.reporting.svg import following

# Names of tasks come from data: everything is escaped unless this package wrote it.
ENVIRONMENT = Environment(
    loader=PackageLoader("pipeline.reporting", "assets"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)

GLOSSARY = "† Not the paper's file: the glossary of datasets on the Data page says how it differs."


class PageBlock:
    """A part of a page, written by its template in assets/."""

    template: ClassVar[str]

    def html(self, folder: str = "") -> str:
        """`folder` has the block's files, which the page links to."""
        return ENVIRONMENT.get_template(self.template).render(block=self, folder=folder)

    def _repr_html_(self) -> str | None:
        return self.html()

    def files(self) -> dict[str, bytes]:
        """What is written beside the page, by name."""
        return {}


def asset(name: str) -> str:
    return package_files("pipeline.reporting").joinpath("assets", name).read_text("utf-8")


def prose(text: str) -> tuple[Markup, ...]:
    """Paragraphs, separated by blank lines, with `code`, **bold** and [links](address)."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        safe = str(escape(" ".join(paragraph.split())))
        safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
        safe = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
        safe = re.sub(r"\[([^\]]+)\]\(([\w./#?=&;:-]+)\)", r'<a href="\2">\1</a>', safe)
        found.append(Markup(safe))  # escaped above
    return tuple(found)


@dataclass(frozen=True)
class Text(PageBlock):
    """Paragraphs; `heading` opens a section, `code` is shown as typed."""

    template = "text.html"

    paragraphs: tuple[str, ...] = ()
    heading: str = ""
    code: str = ""
    kind: str = "text"  # or "missing"

    @property
    def anchor(self) -> str:
        return re.sub(r"\W+", "-", self.heading.lower()).strip("-")


def missing(what: str) -> Text:
    """What is said in place of a block; `what` may have `code`."""
    return Text(prose(what), kind="missing")


@dataclass(frozen=True)
class Cell:
    text: str
    value: float | int | None = None  # in the csv, in full
    paper: str = ""  # the paper's number, below ours
    bold: bool = False
    why: str = ""  # the reason, which opens at a click, a touch or a key
    chip: str = ""  # good, bad or grey: shown as a coloured label
    address: str = ""  # where the text links to
    style: str = ""  # a class of the style sheet


DASH = Cell("–")


Item = TypeVar("Item")
PHONE = 48  # letters in a line of a table
WRAPPED = 20  # a longer text takes two lines there


@dataclass(frozen=True)
class Filter:
    """A choice among a column's values, above the table."""

    key: str  # in the page's address
    label: str
    column: int


@dataclass(frozen=True)
class Table(PageBlock):
    template = "table.html"

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    groups: Sequence[tuple[str, int]] = ()  # a first header row: text and columns
    sortable: bool = False
    cards: bool = False  # on a phone every row is a card
    filters: Sequence[Filter] = ()
    tall: bool = False  # scrolls in its own frame, below a header that stays
    marked: Sequence[int] = ()  # rows to stand out

    @classmethod
    def of(
        cls,
        name: str,
        caption: str,
        items: Iterable[Item],
        columns: Mapping[str, Callable[[Item], Cell | str]],
        **options: Any,
    ) -> Table:
        """A row for each item; `columns` has the cell below each title."""

        def row(item: Item) -> list[Cell]:
            made = [cell(item) for cell in columns.values()]
            return [Cell(one) if isinstance(one, str) else one for one in made]

        return cls(name, caption, tuple(columns), [row(item) for item in items], **options)

    def files(self) -> dict[str, bytes]:
        texts = {"csv": self.csv(), "md": self.markdown(), "tex": self.tex()}
        return {f"{self.name}.{kind}": text.encode() for kind, text in texts.items()}

    @cached_property
    def stacked(self) -> list[int]:
        """On a phone the first cell of a row is above the others: their widths, in letters.

        Empty where all of them have room beside each other, or where not even the others have.
        """
        if self.cards or not self.rows:
            return []
        # A chip has a frame, and a mark if it opens.
        texts = [
            [len(row[i].text) + 4 * bool(row[i].chip) for row in self.rows] for i in self._range()
        ]
        words = [[len(word) for word in title.split()] for title in self.header]
        first, *widths = (max(*t, *w) for t, w in zip(texts, words, strict=True))
        widths = [min(WRAPPED, width) + 1 for width in widths]
        room_for_all = first + sum(widths) + len(self.header) <= PHONE  # with space between them
        return widths if not room_for_all and sum(widths) <= PHONE else []

    @property
    def has_paper(self) -> bool:
        return any(cell.paper for row in self.rows for cell in row)

    @property
    def all_notes(self) -> tuple[str, ...]:
        marked = any("†" in cell.text for row in self.rows for cell in row)
        return (*self.notes, *((GLOSSARY,) if marked else ()))

    def is_number(self, column: int) -> bool:
        return any(row[column].value is not None or row[column].paper for row in self.rows)

    def titles(self) -> list[str]:
        """The header in one line, for the files: the group's name before the column's."""
        if not self.groups:
            return list(self.header)
        over = [name for name, span in self.groups for _ in range(span)]
        return [f"{a} {b}".strip() for a, b in zip(over, self.header, strict=True)]

    def csv(self) -> str:
        """One column more for every column that has the paper's numbers too."""
        twins = [any(row[i].paper for row in self.rows) for i in self._range()]
        titles = self.titles()
        lines = [_spread(titles, [f"{name} (paper)" for name in titles], twins)]
        for row in self.rows:
            own = [cell.text if cell.value is None else repr(cell.value) for cell in row]
            lines.append(_spread(own, [cell.paper for cell in row], twins))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()

    def markdown(self) -> str:
        align = ["---:" if self.is_number(i) else "---" for i in self._range()]
        lines = [f"**{_md(self.caption)}**", ""] if self.caption else []
        lines += [_md_row(map(_md, self.titles())), _md_row(align)]
        lines += [_md_row(_md_cell(cell) for cell in row) for row in self.rows]
        lines += [""] + [f"{_md(note)}  " for note in self.all_notes]
        return "\n".join(lines).rstrip() + "\n"

    def tex(self) -> str:
        align = "".join("r" if self.is_number(i) else "l" for i in self._range())
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(self.caption)}}}"]
        lines += [rf"\begin{{tabular}}{{{align}}}", r"\hline"]
        lines += [" & ".join(map(_tex, self.titles())) + r" \\", r"\hline"]
        lines += [" & ".join(map(_tex_cell, row)) + r" \\" for row in self.rows]
        lines += [r"\hline", r"\end{tabular}"]
        lines += [rf"\\ {{\footnotesize {_tex(note)}}}" for note in self.all_notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def _range(self) -> range:
        return range(len(self.header))


@dataclass(frozen=True)
class Mark:
    """An entry of a legend."""

    label: str
    colour: str
    marker: str = ""  # matplotlib's letter
    line: str = ""  # matplotlib's dashes; none if empty

    def svg(self) -> Markup:
        dashes = {"--": "5 3", ":": "1.5 3", "-.": "5 2 1.5 2"}.get(self.line, "")
        parts = []
        if self.line:
            parts.append(
                f'<path d="M0 6H32" style="stroke: {self.colour}" stroke-width="2.4" fill="none"'
                f"{f' stroke-dasharray={chr(34)}{dashes}{chr(34)}' if dashes else ''}/>"
            )
        if self.marker:
            parts.append(f'<path d="{_SHAPES.get(self.marker, _SHAPES["o"])}" '
                         f'style="fill: {self.colour}; stroke: {self.colour}"/>')  # fmt: skip
        svg = f'<svg viewBox="0 0 32 12" aria-hidden="true">{"".join(parts)}</svg>'
        return Markup(following(svg))


@dataclass(frozen=True)
class Ramp:
    """A colour bar: what the colours of a figure mean."""

    label: str
    low: str
    high: str
    colours: Sequence[str]


@dataclass(frozen=True)
class Drawing(PageBlock):
    """A figure: as one file for download, and as panels that a page arranges by its width."""

    template = "drawing.html"

    name: str
    caption: str
    svg: bytes
    png: bytes
    panels: Sequence[tuple[str, str]]  # title, SVG element
    columns: int = 1
    narrow: int = 1  # columns on a phone
    width: float = 38.0  # of a single panel, in rem
    legend: Sequence[Mark] = ()
    ramp: Ramp | None = None
    on_white: bool = False
    paper: str = ""  # the figure of the paper: its number and caption
    compared: str = ""  # what is the same there, and what is not

    def files(self) -> dict[str, bytes]:
        return {f"{self.name}.svg": self.svg, f"{self.name}.png": self.png}

    def _repr_html_(self) -> None:
        """A notebook shows the sheet; the panels need the page's style."""

    def _repr_png_(self) -> bytes:
        return self.png


@dataclass(frozen=True)
class Folded(PageBlock):
    """Tables that open at a click, below their summaries."""

    template = "folded.html"

    tables: Sequence[tuple[str, Table]]


@dataclass(frozen=True)
class Card:
    """One finding of the summary."""

    claim: str
    status: str
    tone: str  # good, bad or grey
    figure: str  # one number
    unit: str  # what it is of
    text: str
    page: str  # where the evidence is
    drawing: Drawing | None = None


@dataclass(frozen=True)
class Cards(PageBlock):
    template = "cards.html"

    cards: Sequence[Card]


def _spread(own: Sequence[str], paper: Sequence[str], twins: Sequence[bool]) -> list[str]:
    line: list[str] = []
    for value, printed, twin in zip(own, paper, twins, strict=True):
        line += [value, printed] if twin else [value]
    return line


def _md_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _md_cell(cell: Cell) -> str:
    text = f"**{_md(cell.text)}**" if cell.bold else _md(cell.text)
    return f"{text} ({_md(cell.paper)})" if cell.paper else text


def _tex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text)
    return rf"{text} {{\footnotesize ({_tex(cell.paper)})}}" if cell.paper else text


_SHAPES = {
    "o": "M19.5 6a3.5 3.5 0 1 1-7 0 3.5 3.5 0 1 1 7 0z",
    "s": "M12.7 2.7h6.6v6.6h-6.6z",
    "D": "M16 1.6l4.4 4.4-4.4 4.4-4.4-4.4z",
    "^": "M16 2l4 7.6h-8z",
    "v": "M16 10l4-7.6h-8z",
    "X": "M12.6 2.6l6.8 6.8M19.4 2.6l-6.8 6.8",
    "P": "M16 2v8M12 6h8",
    "*": "M16 1.5v9M12 3.5l8 5M20 3.5l-8 5",
    "x": "M12.6 2.6l6.8 6.8M19.4 2.6l-6.8 6.8",
}
