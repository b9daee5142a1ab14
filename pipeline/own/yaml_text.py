"""One entry more or less in the text of a YAML file; every other byte stays.

remove-dataset gives the file's bytes back, which ruamel's round trip cannot: it joins a list that
a person has broken over two lines, and changes indents and line ends. Here its parser's marks say
where an entry is, and only that piece of the text changes, in flow and in block style. A text that
does not allow it is a ValueError.
"""

from __future__ import annotations

import io
import textwrap

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode


def added(text: str, key: str, entry: str) -> str:
    """`entry`, written as in block style, behind the last one of the list or mapping `key`."""
    collection = _collection(text, key)
    _, last = _span(collection, -1)
    if collection.flow_style:
        return f"{text[:last]}, {entry.removeprefix('- ')}{text[last:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    block = textwrap.indent(entry, " " * collection.start_mark.column).replace("\n", newline)
    end = _end_of_line(text, last)
    return text[:end] + newline + block + text[end:]


def removed(text: str, key: str, name: str) -> str:
    """The text without the item or entry `name`, and without what is between it and the one before.

    Unchanged if there is none of that name.
    """
    collection = _collection(text, key)
    names = _names(collection)
    if name not in names:
        return text
    if len(names) == 1:
        raise ValueError(f"{key}: {name!r} is the only one there; add another first")
    place = names.index(name)
    start, end = _span(collection, place)
    if place:
        _, start = _span(collection, place - 1)
    else:
        end, _ = _span(collection, 1)
    if not collection.flow_style:
        start = _end_of_line(text, start) if place else _start_of_line(text, start)
        end = _end_of_line(text, end) if place else _start_of_line(text, end)
    return text[:start] + text[end:]


def scalar(value: str) -> str:
    """A string as every YAML parser reads it: quoted unless it is a plain word."""
    if value.isascii() and value.isidentifier() and means_itself(value):
        return value
    quoting, text = YAML(typ="safe", pure=True), io.StringIO()
    quoting.default_style = '"'  # type: ignore[assignment]
    quoting.width = 2**31  # no line break
    quoting.dump(value, text)
    return text.getvalue().rstrip("\n")


def means_itself(word: str) -> bool:
    """Whether it is a string in YAML 1.1 too, in which `on` is true."""
    oldest = YAML(typ="safe", pure=True)
    oldest.version = (1, 1)
    return bool(oldest.load(word) == word)


def _collection(text: str, key: str) -> CollectionNode:
    root = YAML(typ="safe", pure=True).compose(text)
    for name, value in root.value if isinstance(root, MappingNode) else ():
        if name.value == key and isinstance(value, CollectionNode) and value.value:
            return value
    raise ValueError(f"{key}: a list or mapping with entries is needed")


def _names(collection: CollectionNode) -> list[str]:
    if isinstance(collection, MappingNode):
        return [key.value for key, _ in collection.value]
    return [item.value for item in collection.value]


def _span(collection: CollectionNode, place: int) -> tuple[int, int]:
    item = collection.value[place]
    first, last = item if isinstance(collection, MappingNode) else (item, item)
    # A block's own end mark stands behind the comments and blank lines that follow it.
    while isinstance(last, CollectionNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, MappingNode) else last.value[-1]
    return first.start_mark.index, last.end_mark.index


def _start_of_line(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _end_of_line(text: str, index: int) -> int:
    """Before the line break, of whichever kind; of the last line that has text before `index`."""
    index = len(text[:index].rstrip())
    end = text.find("\n", index)
    return len(text) if end < 0 else len(text[:end].removesuffix("\r"))
