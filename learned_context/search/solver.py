"""LIPO, as dlib has it, seeded.

dlib's `find_min_global` spends its own effort by the clock and so is not reproducible;
`global_function_search` with a seed is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dlib


class Maximiser:
    """dlib's solver with the points as tuples."""

    def __init__(
        self,
        lower: Sequence[float],
        upper: Sequence[float],
        seed: int,
        integer: Sequence[bool] | None = None,
        samples: int | None = None,
    ) -> None:
        """`samples`: random points at which it compares its upper bounds; dlib's own is 5000."""
        spec = dlib.function_spec(list(lower), list(upper), list(integer or [False] * len(lower)))
        self._search = dlib.global_function_search(spec)
        self._search.set_seed(seed)
        if samples is not None:
            self._search.set_monte_carlo_upper_bound_sample_num(samples)

    def ask(self) -> tuple[tuple[float, ...], Callable[[float], None]]:
        request = self._search.get_next_x()
        return tuple(float(coordinate) for coordinate in request.x), request.set
