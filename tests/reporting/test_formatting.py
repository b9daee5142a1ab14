"""Numbers and labels as people read them."""

import pytest

from pipeline.reporting.blocks import missing
from pipeline.reporting.drawing import axis_label
from pipeline.reporting.formatting import percent, short, show


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (12345.6, None, "12\u202f300"),
        (0.00004, 2, "4 × 10⁻⁵"),
        (0.004, 2, "0.0040"),
        (0, 2, "0.00"),
        (-0.5, 1, "−0.5"),
        (float("nan"), None, "–"),
    ],
)
def test_a_number_has_no_exponent_and_a_small_one_is_not_zero(value, decimals, text):
    assert show(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (0.0001, "0.0001"), (1.5, "1.5"), (25, "25"), (1e-15, "10⁻¹⁵")],
)
def test_a_setting_has_no_zeros_at_its_end(value, text):
    assert short(value) == text


def test_none_and_all_are_whole_percentages():
    assert [percent(share, 1) for share in (0, 0.234, 1)] == ["0%", "23.4%", "100%"]


def test_a_long_label_of_an_axis_has_two_lines():
    assert axis_label("observed consumer price index (% of 2015)") == (
        "observed consumer price index\n(% of 2015)"
    )
    assert axis_label("age (years)") == "age (years)"


def test_what_is_missing_shows_the_command_as_code():
    assert "<code>make arena</code>" in missing("Not run yet: `make arena`.").html()
