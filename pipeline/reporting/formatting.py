"""How numbers are written, on every page, in every table and in the README."""

from __future__ import annotations

import math

THIN = "\u202f"  # between groups of three digits; never breaks a line
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def show(value: float, decimals: int | None = None) -> str:
    """A number for people: `decimals` places, or three significant digits.

    Never an exponent like e+04; never zero for a number that is not zero.
    """
    if not math.isfinite(value):
        return "–"
    if decimals is None:
        return _significant(value)
    text = _grouped(value, decimals)
    if value and not any(digit in text for digit in "123456789"):
        return _significant(value, 2)
    return text


def short(value: float) -> str:
    """Three significant digits without zeros at the end: a setting, or a number at an axis."""
    text = show(value)
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def percent(share: float, decimals: int = 0) -> str:
    return f"{show(100 * share, 0 if share in (0, 1) else decimals)}%"


def signed(value: float, decimals: int | None = None) -> str:
    return ("+" if value > 0 else "") + show(value, decimals)


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{show(seconds, 0 if seconds >= 10 else 1)} seconds"
    if seconds < 5400:
        return f"{show(seconds / 60, 0)} minutes"
    return f"{show(seconds / 3600, 1)} hours"


def plural(count: int, noun: str, many: str = "") -> str:
    """`plural(3, "dataset")` is "3 datasets"; `plural(1, "is", "are")` is "1 is"."""
    return f"{show(count, 0)} {noun if count == 1 else many or noun + 's'}"


def listed(names: list[str]) -> str:
    """a, b and c"""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _significant(value: float, digits: int = 3) -> str:
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))  # 0.9996 is 1.00
    if not -4 <= exponent < 6:
        mantissa = f"{rounded / 10.0**exponent:.{digits - 1}f}".rstrip("0").rstrip(".")
        power = f"10{str(exponent).translate(_SUPERSCRIPT)}"
        return (power if mantissa == "1" else f"{mantissa} × {power}").replace("-", "−")
    text = _grouped(rounded, max(0, digits - 1 - exponent))
    return text.rstrip("0").rstrip(".") if float(rounded).is_integer() and "." in text else text


def _grouped(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    if "." not in text and abs(value) < 10_000:
        text = text.replace(",", "")
    return text.replace(",", THIN).replace("-", "−")
