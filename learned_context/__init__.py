"""Learned context: one network for many related tasks, a few trainable parameters for each.

The method of "Multi-task neural networks by learned contextual inputs" (Sandnes, Grimstad,
Kolbjørnsen, 2023), as a library: networks, training, new tasks, and a scikit-learn estimator.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learned_context.estimator.regressor import LearnedContextRegressor

__all__ = ["LearnedContextRegressor"]
_HOMES = {"LearnedContextRegressor": "learned_context.estimator.regressor"}


def __getattr__(name: str) -> Any:
    """Load on first use: somebody who only wants the errors or the names needs no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
