"""Methods: what the paper fixes, and every choice that was made where it is silent."""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.results import Results


class Choice(NamedTuple):
    topic: str
    paper: str  # what the paper says, if anything
    here: str
    keys: tuple[str, ...] = ()  # in params.yaml, or profile.<key> in the profile


CHOICES = (
    Choice(
        "Regularisation",
        "“regularized by the L2 norm”",
        "λ times the squared L2 norm, summed over all shared parameters (λα) and over all tasks "
        "(λβ); SGD's weight decay of 2λ has the same gradient",
    ),
    Choice(
        "Lowest rate",
        "“Starting at 1^{-8}”",
        "read as 10^-8",
        ("schedule.lowest_rate",),
    ),
    Choice(
        "Convergence",
        "“flagged if the test is above 0.51”",
        "0.51 is the p-value of the likelihood-ratio test, LR = −n log(1 − r²) with one degree of "
        "freedom; constant losses count as converged; a rising loss is not flagged",
        ("schedule.converged_p", "schedule.window", "profile.train.window_min"),
    ),
    Choice(
        "Near zero",
        "“the loss is sufficiently close to zero”",
        "the mean squared error in units of the target's variance",
        ("schedule.loss_near_zero",),
    ),
    Choice(
        "Initial weights",
        "He initializer; task parameters zero",
        "He normal, fan-in, gain of the ReLU, zero biases; zero task parameters for last-layer "
        "networks too",
    ),
    Choice(
        "Scale of the data",
        "“approximately unit scale”",
        "features and target standardised by the training rows' mean and standard deviation; "
        "errors in the original unit",
    ),
    Choice(
        "Discrete features",
        "one-hot for the linear models; of the networks nothing is said",
        "how networks see a discrete feature",
        ("categories",),
    ),
    Choice(
        "Divergence",
        "“multiply the peak learning rate by 0.9 and retry”",
        "a loss that is not finite, or 100 times that of predicting the mean; retries are counted "
        "and limited",
        ("schedule.retry_rate", "profile.train.max_restarts", "profile.search.max_restarts"),
    ),
    Choice(
        "Blocks and momentum",
        "two residual blocks, 0.7",
        "as in the paper",
        ("network.blocks", "network.momentum"),
    ),
    Choice(
        "Budget",
        "10 000 epochs of two batches below 100 000 rows, else 1000 epochs of 20",
        "the profile's",
        ("profile.train.budget", "profile.search.budget"),
    ),
    Choice(
        "Search",
        "25 evaluations by dlib's LIPO; the split is not given",
        "rates and λ searched on a logarithmic scale; a share of every task's training rows scores "
        "a trial; a trial that diverges gets the finite score 1.5, in standard deviations",
        ("profile.search.evaluations", "profile.search.width_max", "validation"),
    ),
    Choice(
        "Split",
        "the counts of Table 1",
        "of every task's rows at random, or the official split where there is one; Inflation by "
        "rows, because no share of every task gives Table 1's count",
        ("seeds.split",),
    ),
    Choice(
        "Standard deviation of y",
        "does not say of which rows",
        "of all rows; Table 4 divides by it",
    ),
    Choice(
        "Repeats",
        "ten trainings; diverging runs in brackets",
        "the base study's training is the first; every restart counts",
        ("profile.repeats", "seeds.train"),
    ),
    Choice(
        "Less data",
        "“The same fraction of data is removed from each task”",
        "nested selections of every task's rows; tuned anew",
        ("fractions", "seeds.search"),
    ),
    Choice(
        "Task dimension",
        "1, 2, 4, 8, 16; all other hyperparameters fixed",
        "the base study's hyperparameters, own seeds",
        ("profile.dimensions",),
    ),
    Choice(
        "Hold-out objective",
        "D “is found from the distribution of task parameters in the base group”; s² is its test "
        "error variance",
        "D is the covariance of the base group's task parameters; s² is the mean squared test "
        "error of the base group",
    ),
    Choice(
        "Hold-out search",
        "neither box nor number of evaluations is given",
        "the box holds the base group's parameters, zero, and their mean ± 3 standard deviations; "
        "Gauss-Newton from several starts stands beside LIPO",
        (
            "profile.holdout.dimensions",
            "profile.holdout.shares",
            "profile.holdout.lipo.evaluations",
            "profile.holdout.lipo.shares",
            "profile.holdout.gauss_newton",
        ),
    ),
    Choice(
        "Hold-out average",
        "“results are averaged over all iterations”",
        "the RMSE over a group's test rows, averaged over the three groups",
    ),
    Choice(
        "Sarcos",
        "does not mention that the official test rows stand among the training rows",
        "the official split for the tables, and once more without the leaked rows",
        ("dataset.sarcos.split", "leak_share"),
    ),
    Choice(
        "Synthetic data",
        "the distributions",
        "equal numbers of rows for every task",
        ("seeds.data", "dataset.frequency", "dataset.sine_and_line"),
    ),
)


def choices(results: Results) -> Table:
    return Table(
        "choices",
        "Every choice, with the key that changes it and the value that this report was made with. "
        "Keys are in params.yaml; those that begin with profile. are in "
        f"profiles/{results.settings.params.profile}.yaml.",
        ("Topic", "The paper", "Here", "Key and value"),
        [
            [Cell(c.topic), Cell(c.paper), Cell(c.here), Cell(_values(results, c.keys))]
            for c in CHOICES
        ],
    )


def _values(results: Results, keys: tuple[str, ...]) -> str:
    return "; ".join(f"{key} = {_show(value(results, key))}" for key in keys) or "–"


def value(results: Results, key: str) -> Any:
    """What stands at a key in params.yaml, or below `profile.` in the profile."""
    settings = results.settings
    content: Any = settings.params.model_dump(mode="json", exclude_none=True)
    parts = key.split(".")
    if parts[0] == "profile":
        content, parts = settings.profile.model_dump(mode="json", exclude_none=True), parts[1:]
    for part in parts:
        content = content.get(part) if isinstance(content, dict) else None
    return content


def _show(content: Any) -> str:
    if content is None:
        return "not set"
    if isinstance(content, dict):
        return ", ".join(f"{key} {_show(item)}" for key, item in content.items())
    if isinstance(content, list):
        return (
            "["
            + ", ".join(
                f"({_show(item)})" if isinstance(item, dict) else _show(item) for item in content
            )
            + "]"
        )
    return f"{content:g}" if isinstance(content, float) else str(content)
