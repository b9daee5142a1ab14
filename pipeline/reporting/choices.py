"""Every choice that was made where the paper is silent or can be read in two ways."""

from __future__ import annotations

from typing import NamedTuple


class Choice(NamedTuple):
    topic: str
    paper: str  # what the paper says, if anything
    here: str
    keys: tuple[str, ...] = ()  # in params.yaml, or profile.<key> in the profile


DATA = (
    Choice(
        "Editions",
        "names the sources, not the files",
        "the Data page says where each edition comes from and how it differs",
        tuple(
            f"dataset.{name}.edition" for name in ("inflation", "obesity", "height", "death_rate")
        ),
    ),
    Choice(
        "Synthetic data",
        "the distributions and the counts of rows",
        "equal numbers of rows for every task",
        ("seeds.data", "dataset.frequency", "dataset.sine_and_line"),
    ),
    Choice(
        "Split",
        "the counts of Table 1",
        "of every task's rows at random, or the official split where there is one; Inflation: "
        "eight whole calendar years in each country with at least 28 years of data, a rule that "
        "gives Table 1's count and the paper's linear columns",
        ("seeds.split", "dataset.inflation.split"),
    ),
    Choice(
        "Standard deviation of y",
        "does not say of which rows",
        "that of all rows; Table 4 divides by it",
    ),
    Choice(
        "Scale of the data",
        "“approximately unit scale”",
        "features and target standardised by the mean and the standard deviation of the rows that "
        "a model is fitted to; errors in the original unit",
    ),
    Choice(
        "Discrete features",
        "one-hot for the mixed model; says nothing about the other models",
        "one-hot for both linear models; the setting says how the networks see them",
        ("categories",),
    ),
    Choice(
        "Sarcos",
        "does not mention that the official test rows are among the training rows",
        "the official split for the tables; where the share of leaked test rows is above "
        "leak_share, the networks are also trained without them, with the same hyperparameters",
        ("dataset.sarcos.split", "leak_share"),
    ),
)

MODELS = (
    Choice(
        "Linear models",
        "the mixed model by Statsmodels",
        "by restricted maximum likelihood; one-hot columns that follow from the others are left "
        "out; linear regression has the same features",
    ),
    Choice(
        "Fully shared network",
        "neither its search nor its size",
        "the trunk of the others without task parameters, tuned and trained like them",
    ),
    Choice(
        "Regularisation",
        "“regularized by the L2 norm”",
        "λ times the squared L2 norm, summed over all shared parameters (λα), biases and the "
        "context-sensitive network's task columns among them, and over all tasks (λβ)",
    ),
    Choice(
        "Initial weights",
        "He initializer; task parameters zero",
        "He normal, fan-in, gain of the ReLU, zero biases; zero task parameters for last-layer "
        "networks too",
    ),
    Choice(
        "Blocks and momentum",
        "two residual blocks, 0.7",
        "as in the paper",
        ("network.blocks", "network.momentum"),
    ),
)

TRAINING = (
    Choice(
        "Budget",
        "10 000 epochs of two batches below 100 000 rows, otherwise 1000 epochs of 20",
        "depends on the profile and the number of rows; rows of all tasks are shuffled together "
        "in every epoch",
        ("profile.train.budget", "profile.search.budget"),
    ),
    Choice(
        "Device",
        "a single GPU",
        "set in the profile; float32, and one thread for each training",
        ("profile.train.device", "profile.train.precision"),
    ),
    Choice(
        "Warm-up",
        "“Starting at 1^{-8}”, linear, a tenth of the epochs",
        "1^{-8} is read as a power of ten; the rate rises with every step",
        ("schedule.lowest_rate", "schedule.warmup"),
    ),
    Choice(
        "Convergence",
        "“flagged if the test is above 0.51”; a window of one percent of the epochs",
        "converged_p is the p-value of the likelihood-ratio test, LR = −n log(1 − r²) with one "
        "degree of freedom; constant losses count as converged, a rising loss does not; the "
        "window is no shorter than the profile's",
        ("schedule.converged_p", "schedule.window", "profile.train.window_min"),
    ),
    Choice(
        "Loss of an epoch",
        "not said",
        "the mean squared error of the batches during the epoch, without the penalties",
    ),
    Choice(
        "Near zero",
        "“the loss is sufficiently close to zero”",
        "the mean squared error in units of the target's variance",
        ("schedule.loss_near_zero",),
    ),
    Choice(
        "Divergence",
        "“multiply the peak learning rate by 0.9 and retry”",
        "a loss that is not finite, or 100 times that of predicting the mean; a retry draws new "
        "weights and batches; retries are counted and limited",
        ("schedule.retry_rate", "profile.train.max_restarts", "profile.search.max_restarts"),
    ),
    Choice(
        "Seeds",
        "not given",
        "each search and each training has its own, derived from the setting and its own name",
        ("seeds.search", "seeds.train"),
    ),
)

SEARCH = (
    Choice(
        "Search",
        "25 iterations of dlib's LIPO",
        "rates and λ on a logarithmic scale; the trials of a search share their seed; the best "
        "trials are trained once more at full length, at a rate at which several warm-ups in a row "
        "do not diverge",
        ("profile.search.evaluations", "profile.search.finalists", "profile.search.openings"),
    ),
    Choice(
        "Search space",
        "Table 6; it “varies by dataset”, but not how",
        "Table 6 for all; the profile may lower the upper end of the width",
        ("space", "profile.search.width_max"),
    ),
    Choice(
        "Validation",
        "“one part for training and one part for validation”",
        "a share of every task's training rows scores a trial",
        ("validation",),
    ),
    Choice(
        "Trials that diverge",
        "not said",
        "get the score 1.5, in standard deviations of the target: the worst score there is",
    ),
)

STUDIES = (
    Choice(
        "Repeats",
        "ten trainings; “the number of times training runs diverged and had to be restarted”",
        "the base study's training is the first; every restart counts",
        ("profile.repeats",),
    ),
    Choice(
        "Less data",
        "“The same fraction of data is removed from each task”",
        "nested random selections of every task's rows, at least one; tuned again for each share; "
        "100% is the base study",
        ("fractions",),
    ),
    Choice(
        "Task dimension",
        "1, 2, 4, 8, 16; all other hyperparameters fixed",
        "the others are those of the base study's search; each training has its own seed",
        ("profile.dimensions",),
    ),
    Choice(
        "Hold-out networks",
        "2, 4, 8 task parameters; hyperparameters of the study on 50% of the rows",
        "as in the paper, with the number of task parameters replaced; three random groups",
        ("profile.holdout.dimensions",),
    ),
    Choice(
        "Hold-out objective",
        "D “is found from the distribution of task parameters in the base group”; s² is its test "
        "error variance",
        "D is the covariance of the base group's task parameters about their mean, with a ridge "
        "of a millionth so that it can be inverted; s² is the mean squared test error of the base "
        "group; both are computed for each network",
    ),
    Choice(
        "Hold-out search",
        "LIPO; neither box nor number of evaluations is given",
        "the box holds the base group's parameters, zero, and their mean ± 3 standard deviations; "
        "Gauss-Newton from several starts is run next to LIPO, and alone where LIPO was not run",
        (
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
)

CHOICES = DATA + MODELS + TRAINING + SEARCH + STUDIES
