"""Whatever may be wrong with a file: other values, keys too many or too few, lost bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([0, -1, 1e400, "", "lc", "1", "2001-99-99", [], {}, [1], {"a": 1}, [[0.5]]])
    | st.text(max_size=8)
    | st.lists(st.floats() | st.text(max_size=3), max_size=3)
    | st.dictionaries(st.text(max_size=4) | st.integers(), st.integers(), max_size=2)
)
QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def places(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """Where something stands in nested mappings and lists."""
    if path:
        yield path
    if isinstance(content, (dict, list)):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from places(value, (*path, key))


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """The content with a value replaced, a key taken away or a key added."""
    content = json.loads(json.dumps(content))
    for _ in range(draw(st.integers(1, 2))):
        found = list(places(content))
        *parents, last = draw(st.sampled_from(found)) if found else [None]
        if last is None:
            return draw(VALUES)
        place = content
        for key in parents:
            place = place[key]
        action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if action == "replace":
            place[last] = draw(VALUES)
        elif action == "remove":
            del place[last]
        elif isinstance(place, dict):
            place[draw(st.text(max_size=5))] = draw(VALUES)
        else:
            place.insert(0, draw(VALUES))
    return content


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes cut short, or some of them changed."""
    if draw(st.booleans()):
        return content[: draw(st.integers(0, len(content)))]
    place = draw(st.integers(0, len(content)))
    return (
        content[:place] + draw(st.binary(max_size=6)) + content[place + draw(st.integers(0, 6)) :]
    )
