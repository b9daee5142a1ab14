"""What a page is made of: text, tables and figures, each in every form that it is written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment

from pipeline.reporting.escaping import markdown as _md
from pipeline.reporting.escaping import tex as _tex

# Names of tasks come from data: everything is escaped unless this package wrote it.
ENVIRONMENT = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)


@dataclass(frozen=True)
class Text:
    """Paragraphs; `heading` opens a section, `code` is shown as typed."""

    paragraphs: tuple[str, ...] = ()
    heading: str = ""
    code: str = ""
    kind: str = "text"  # or "missing", or "note"

    def html(self) -> str:
        return _TEXT.render(block=self)

    _repr_html_ = html


def heading(title: str, *paragraphs: str) -> Text:
    return Text(paragraphs, heading=title)


def missing(what: str) -> Text:
    return Text((f"{what} Nothing is shown in its place.",), kind="missing")


@dataclass(frozen=True)
class Cell:
    text: str
    value: float | int | None = None  # in the csv, in full
    paper: str = ""  # the paper's number, beside ours
    bold: bool = False
    title: str = ""  # a hint on hovering
    kind: str = ""  # a class of the style sheet, such as a verdict

    @property
    def is_number(self) -> bool:
        return self.value is not None


DASH = Cell("–", title="no result")


@dataclass(frozen=True)
class Table:
    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def html(self, folder: str = "") -> str:
        return _TABLE.render(table=self, folder=folder, has_paper=self.has_paper)

    _repr_html_ = html

    @property
    def has_paper(self) -> bool:
        return any(cell.paper for row in self.rows for cell in row)

    def is_number(self, column: int) -> bool:
        return any(row[column].is_number for row in self.rows)

    def csv(self) -> str:
        """One column more for every column that stands beside the paper's."""
        twins = [any(row[i].paper for row in self.rows) for i in range(len(self.header))]
        lines = [_spread(self.header, [f"{name} (paper)" for name in self.header], twins)]
        for row in self.rows:
            own = [cell.text if cell.value is None else repr(cell.value) for cell in row]
            lines.append(_spread(own, [cell.paper for cell in row], twins))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()

    def markdown(self) -> str:
        align = ["---:" if self.is_number(i) else "---" for i in self._range()]
        lines = [f"**{_md(self.caption)}**", "", _md_row(map(_md, self.header)), _md_row(align)]
        lines += [_md_row(_md_cell(cell) for cell in row) for row in self.rows]
        lines += [""] + [f"{_md(note)}  " for note in self.notes]
        return "\n".join(lines).rstrip() + "\n"

    def tex(self) -> str:
        align = "".join("r" if self.is_number(i) else "l" for i in self._range())
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(self.caption)}}}"]
        lines += [rf"\begin{{tabular}}{{{align}}}", r"\hline"]
        lines += [" & ".join(map(_tex, self.header)) + r" \\", r"\hline"]
        lines += [" & ".join(map(_tex_cell, row)) + r" \\" for row in self.rows]
        lines += [r"\hline", r"\end{tabular}"]
        lines += [rf"\\ {{\footnotesize {_tex(note)}}}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def _range(self) -> range:
        return range(len(self.header))


@dataclass(frozen=True)
class Drawing:
    """A figure as the bytes that are written."""

    name: str
    caption: str
    svg: bytes
    png: bytes

    def html(self, folder: str = "") -> str:
        return _DRAWING.render(drawing=self, folder=folder)

    def _repr_png_(self) -> bytes:
        return self.png


def _spread(own: Sequence[str], paper: Sequence[str], twins: Sequence[bool]) -> list[str]:
    line: list[str] = []
    for value, printed, twin in zip(own, paper, twins, strict=True):
        line += [value, printed] if twin else [value]
    return line


def _md_row(cells: object) -> str:
    return "| " + " | ".join(cells) + " |"  # type: ignore[arg-type]


def _md_cell(cell: Cell) -> str:
    text = f"**{_md(cell.text)}**" if cell.bold else _md(cell.text)
    return f"{text} ({_md(cell.paper)})" if cell.paper else text


def _tex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text)
    return rf"{text} {{\footnotesize ({_tex(cell.paper)})}}" if cell.paper else text


_TEXT = ENVIRONMENT.from_string(
    """\
{% if block.heading %}<h2>{{ block.heading }}</h2>
{% endif %}
{% for paragraph in block.paragraphs %}<p class="{{ block.kind }}">{{ paragraph }}</p>
{% endfor %}
{% if block.code %}<pre><code>{{ block.code }}</code></pre>
{% endif %}"""
)

_TABLE = ENVIRONMENT.from_string(
    """\
<figure class="table" id="{{ table.name }}">
<figcaption>{{ table.caption }}{% if has_paper %} \
<span class="paper">The paper's number stands below ours.</span>{% endif %}</figcaption>
{% if table.rows %}
<div class="scroll"><table>
<thead><tr>{% for name in table.header %}\
<th{% if table.is_number(loop.index0) %} class="number"{% endif %}>{{ name }}</th>\
{% endfor %}</tr></thead>
<tbody>
{% for row in table.rows %}
<tr>{% for cell in row %}\
<td class="{{ 'number ' if cell.paper or table.is_number(loop.index0) }}\
{{ 'long ' if cell.text | length > 60 }}{{ cell.kind }}"\
{% if cell.title %} title="{{ cell.title }}"{% endif %}>\
{% if cell.bold %}<b>{{ cell.text }}</b>{% else %}{{ cell.text }}{% endif %}\
{% if cell.paper %}<span class="paper">{{ cell.paper }}</span>{% endif %}</td>{% endfor %}</tr>
{% endfor %}
</tbody></table></div>
{% endif %}
{% for note in table.notes %}<p class="footnote">{{ note }}</p>
{% endfor %}
{% if folder %}<p class="files">{% for kind in ("csv", "md", "tex") %}\
<a href="{{ folder }}/{{ table.name }}.{{ kind }}">{{ kind }}</a> {% endfor %}</p>
{% endif %}
</figure>
"""
)

_DRAWING = ENVIRONMENT.from_string(
    """\
<figure class="drawing" id="{{ drawing.name }}">
<div class="scroll"><img src="{{ folder }}/{{ drawing.name }}.svg" \
alt="{{ drawing.caption }}"></div>
<figcaption>{{ drawing.caption }}</figcaption>
<p class="files">{% for kind in ("svg", "png") %}\
<a href="{{ folder }}/{{ drawing.name }}.{{ kind }}">{{ kind }}</a> {% endfor %}</p>
</figure>
"""
)
