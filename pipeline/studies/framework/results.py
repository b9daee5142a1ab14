"""What the results of several studies have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from pipeline.checked import Checked, Count, Error, TaskErrors

if TYPE_CHECKING:
    from pipeline.studies.plumbing.basis import Basis, Expectations

Share = Annotated[str, Field(pattern=r"^\d+(\.\d+)?(e-\d+)?$")]
Dimension = Annotated[str, Field(pattern=r"^[1-9]\d*$")]
ROUNDED = 1e-5
"""Errors of single tasks are kept with seven digits."""
Plan = dict[str, bool | int | float | str]
"""The training plan that the settings gave, key by key."""


class StudyResult(Checked):
    """The head of every result: what was computed, from which data, by which code."""

    study: str
    dataset: str
    model: str | None = None
    """The network; a study without this field compares several."""
    fraction: float | None = None
    """The share of every task's training rows, where it is one for the whole result."""
    profile: str
    edition: str
    data: str
    """`content_sha256` of the table."""
    code: str
    """The digest of the code that the stage depends on."""

    def expected(self, basis: Basis) -> Expectations:
        """Whatever of the result follows from other files; the audit compares it with them.

        It must name the seed of every training and search, and every training's hyperparameters.
        """
        yield from ()


class DoesNotApply(StudyResult):
    """The result of a study that a model cannot take part in."""

    does_not_apply: str
    """The reason, as the end of a sentence that begins with "does not apply, because"."""


class ChosenSettings(Checked):
    """Hyperparameters (Table 6); a network without task parameters has none of the last two."""

    peak_rate: float
    width: int
    lambda_shared: float
    lambda_task: float
    task_dim: int


class Scored(Checked):
    of_all_tasks: ClassVar[bool] = True
    """Whether every task with test rows has an error here."""
    rmse: Error
    """In the target's units, over all test rows."""
    normalised: Error
    """Divided by the target's standard deviation."""
    task_rmse: TaskErrors


class TrainingOutcome(Scored):
    """How a training went, and how the network does on the test rows."""

    seed: Count
    hyperparameters: ChosenSettings
    restarts: Count
    peak_rate: float
    """The rate that did not diverge."""
    epochs: Count
    finished: str


class PartRows(Checked):
    train: Count
    test: Count
