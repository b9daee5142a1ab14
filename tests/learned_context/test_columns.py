"""The one encoding of categories, by its three names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from learned_context.columns import Columns, Encoding

FRAME = pd.DataFrame({"size": [1.5, 2.0, 3.0], "colour": ["red", "blue", "red"], "up": [True] * 3})
LEVELS = (None, ("blue", "green", "red"), None)


@pytest.mark.parametrize(
    ("encoding", "names", "second"),
    [
        ("number", ["size", "colour", "up"], [2.0, 0.0, 1.0]),
        ("onehot", ["size", "colour=blue", "colour=green", "colour=red", "up"], [2, 1, 0, 0, 1]),
        (
            "both",
            ["size", "colour", "colour=blue", "colour=green", "colour=red", "up"],
            [2, 0, 1, 0, 0, 1],
        ),
    ],
)
def test_encodings(encoding: Encoding, names: list[str], second: list[float]) -> None:
    columns = Columns(("size", "colour", "up"), LEVELS, encoding)
    assert columns.encoded_names == names
    assert columns.encode(FRAME)[1].tolist() == second
    assert [name for name, is_one in zip(names, columns.indicators, strict=True) if is_one] == [
        name for name in names if "=" in name
    ]
    assert columns.place("up") == len(names) - 1


def test_two_levels_are_one_number() -> None:
    columns = Columns.fit(FRAME)
    assert columns.levels == (None, ("blue", "red"), None)
    assert columns.encoded_names == ["size", "colour", "up"]
    assert columns.encode(FRAME)[:, 1].tolist() == [1, 0, 1]


def test_a_number_written_as_text_is_the_same_level() -> None:
    columns = Columns.fit(pd.DataFrame({"code": pd.Categorical([1, 2, 3])}))
    again = columns.encode(pd.DataFrame({"code": ["3", "1"]}))
    assert (again == columns.encode(pd.DataFrame({"code": pd.Categorical([3, 1])}))).all()


def test_what_cannot_be_encoded_is_named() -> None:
    columns = Columns.fit(FRAME)
    for frame, message in (
        (FRAME.assign(colour="pink"), "column 'colour': 'pink' is none of .* 'blue', 'red'"),
        (FRAME.assign(size="big"), "column 'size' must be numbers"),
        (FRAME.assign(size=np.inf), "infinity, in column 'size'"),
        (FRAME.assign(colour=[None, "red", "red"]), "NaN, in column 'colour'"),
    ):
        with pytest.raises(ValueError, match=message):
            columns.encode(frame)
