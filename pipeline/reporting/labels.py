"""How datasets, models, features and hyperparameters are called and drawn, everywhere alike."""

from __future__ import annotations

from dataclasses import dataclass

from learned_context.networks.registry import ARCHITECTURES
from pipeline.reporting.svg import BLUE, INK
from pipeline.tables.description import TableDescription

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

FEATURES = {
    "schools": {
        "free_meals": "pupils with free school meals",
        "vr1_share": "pupils in the top reasoning band",
        "vr_band": "verbal reasoning band",
        "ethnic_group": "ethnic group",
        "school_gender": "school for boys, girls or both",
        "denomination": "denomination of the school",
    },
    "bike_sharing": {
        "hr": "hour of the day",
        "workingday": "working day",
        "weathersit": "weather (1 clear to 4 storm)",
        "temp": "temperature",
        "hum": "humidity",
        "windspeed": "wind speed",
        "atemp": "felt temperature",
    },
    "inflation": {"time": "year"},
    "parkinson": {"Jitter(%)": "jitter of the voice (%)"},
}
"""What a column of a file is called where people read it."""


def dataset_label(name: str) -> str:
    """A user's own dataset has no name in the paper."""
    return DATASETS.get(name, name.replace("_", " ").capitalize())


def feature_label(info: TableDescription, name: str) -> str:
    """A column's name in words, with its unit; a year needs none."""
    label = FEATURES.get(info.dataset, {}).get(name, name.replace("_", " "))
    unit = next((feature.unit for feature in info.features if feature.name == name), "")
    return label if unit == "years" and label != "age" else with_unit(label, unit)


def with_unit(text: str, unit: str | None) -> str:
    return f"{text} ({unit})" if unit else text


@dataclass(frozen=True)
class ModelStyle:
    label: str
    title: str
    colour: str
    marker: str
    in_paper: bool = True

    @property
    def legend(self) -> str:
        """For the key of a figure, which must say so where a model is not the paper's."""
        return f"{self.label}, {self.title}" + ("" if self.in_paper else f" ({NOT_IN_PAPER})")


# The palette of Okabe and Ito, which colour-blind readers can tell apart. LC in blue circles and
# LL in green diamonds are the paper's.
GREEN, ORANGE, GREY = "#009e73", "#d55e00", "#808890"
PURPLE, YELLOW, SKY, BLACK = "#cc79a7", "#e69f00", "#56b4e9", INK

NOT_IN_PAPER = "added by us, not in the paper"
PAPERS_MODELS = ("lc", "cs", "ll", "lme", "lr", "fs")
"""The columns of its Table 2. No other model is compared with a number of the paper."""
LINEAR = {"lme": "linear mixed effects", "lr": "linear regression"}
_DRAWN = {
    "lc": (BLUE, "o"),
    "cs": (ORANGE, "s"),
    "ll": (GREEN, "D"),
    "lme": (PURPLE, "^"),
    "lr": (YELLOW, "v"),
    "fs": (GREY, "X"),
    "film": (SKY, "P"),
}
_SPELT = {"film": "FiLM"}
_SPARE = (("#8c564b", "*"), ("#4b0082", "h"), ("#117733", "<"))


def model_style(name: str) -> ModelStyle:
    """Of an architecture of the library, or of a linear model."""
    title = LINEAR.get(name) or ARCHITECTURES[name].title
    others = [model for model in ARCHITECTURES if model not in _DRAWN]
    colour, marker = _DRAWN.get(name) or _SPARE[others.index(name) % len(_SPARE)]
    label = _SPELT.get(name) or (name.upper() if len(name) < 4 else name.capitalize())
    return ModelStyle(label, title, colour, marker, name in PAPERS_MODELS)


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
