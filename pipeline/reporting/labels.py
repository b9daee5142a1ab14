"""How datasets, models and hyperparameters are called and drawn, everywhere alike."""

from __future__ import annotations

from dataclasses import dataclass

DATASETS = {
    "frequency": "Frequency",
    "sine_and_line": "Sine and line",
    "schools": "Schools",
    "parkinson": "Parkinson",
    "bike_sharing": "Bike sharing",
    "inflation": "Inflation",
    "obesity": "Obesity",
    "height": "Height",
    "death_rate": "Death rate",
    "sarcos": "Sarcos",
}
"""The paper's ten, in its order."""


def dataset_label(name: str) -> str:
    """A dataset of one's own has no name in the paper."""
    return DATASETS.get(name, name.replace("_", " ").capitalize())


@dataclass(frozen=True)
class ModelStyle:
    label: str
    title: str
    colour: str
    marker: str


# The palette of Okabe and Ito, told apart by colour-blind readers too. LC in blue circles and LL
# in green diamonds are the paper's.
BLUE, GREEN, ORANGE, GREY = "#0072b2", "#009e73", "#d55e00", "#7f7f7f"
PURPLE, YELLOW, SKY, BLACK = "#cc79a7", "#e69f00", "#56b4e9", "#222222"

MODELS = {
    "lc": ModelStyle("LC", "learned context", BLUE, "o"),
    "cs": ModelStyle("CS", "context sensitive", ORANGE, "s"),
    "ll": ModelStyle("LL", "last layer", GREEN, "D"),
    "lme": ModelStyle("LME", "linear mixed effects", PURPLE, "^"),
    "lr": ModelStyle("LR", "linear regression", YELLOW, "v"),
    "fs": ModelStyle("FS", "fully shared network", GREY, "X"),
}
"""The columns of Table 2, in its order."""

DIMENSION_COLOURS = {2: SKY, 4: BLUE, 8: BLACK, 1: YELLOW, 16: PURPLE}

HYPERPARAMETERS = {
    "peak_rate": "Peak learning rate",
    "width": "Hidden layer size",
    "lambda_shared": "Shared parameter regularization",
    "lambda_task": "Task parameter regularization",
    "task_dim": "Number of task parameters",
}
"""The rows of Table 6."""

ESTIMATORS = {"lipo": "LIPO", "gauss_newton": "Gauss-Newton"}

PAGES = {
    "index": "Summary",
    "base": "Base performance",
    "repeats": "Repeated training",
    "sizes": "Data size",
    "dimension": "Task dimension",
    "holdout": "Hold-out tasks",
    "task_parameters": "Task parameters",
    "explore": "Task explorer",
    "search": "Search and training",
    "theory": "Theory",
    "data": "Data",
    "methods": "Methods",
    "check": "Paper check",
    "reproduce": "Reproduce",
}
"""page: its title, in the order of the navigation."""

LEADS = {
    "index": "What came out, ours beside the paper's.",
    "base": "Table 2, and what stands behind its numbers.",
    "repeats": "Table 3: how much of an error is the luck of a seed.",
    "sizes": "Table 4: networks tuned and trained on fewer rows.",
    "dimension": "How many task parameters are needed, and what two of them mean.",
    "holdout": "Table 5: new tasks on a frozen network, by the paper's optimiser and by another.",
    "task_parameters": "What one task parameter means, on data that can be drawn.",
    "explore": "The tasks of every dataset on a map, and the response as a task parameter moves.",
    "search": "Table 6, what the searches chose, and how the trainings went.",
    "theory": "The paper's constructions, computed; its diagrams, drawn.",
    "data": "Table 1, editions, hashes, and rows that stand on both sides of a split.",
    "methods": "Every choice where the paper is silent, with the key that changes it.",
    "check": "Each number beside the paper's, each sentence with its evidence.",
    "reproduce": "The commands, and what made the results that stand here.",
}
"""page: one sentence below its title."""
