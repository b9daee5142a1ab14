"""Training speed, as ratios taken in one run: `make bench`.

At three sizes, epochs a second of the pipeline's trainer against (a) skorch with its data loader
and (b) a plain eager loop that slices tensors, uses torch.optim.SGD and statsmodels' test; the
share of the machine's own float32 matrix-product speed; and two one-thread processes against
one. The contestants alternate, and every figure is a median. Everything runs on one thread.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from threading import Barrier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import statsmodels.api as sm
import torch
from torch import nn

from benchmarks.shared import options, seconds
from learned_context.rows import Rows
from learned_context.scaling import Scaler
from learned_context.training.trainer import Hyperparameters, Plan, train
from pipeline.files import write_json

TASK_DIM = 8
RATE = 1e-3
DECAY = 1e-8
SPAWN = multiprocessing.get_context("spawn")
wall = partial(seconds, clock=time.perf_counter)


@dataclass(frozen=True)
class Size:
    name: str
    rows: int
    features: int
    tasks: int
    width: int
    batch: int
    epochs: int

    @property
    def batches(self) -> int:
        return round(self.rows / self.batch)

    def flops(self) -> float:
        """Of an epoch's matrix products: forward, and back to the weights and to the inputs."""
        inner = 4 * self.width**2
        forward = inner + self.width * (self.features + TASK_DIM + 1)
        to_inputs = inner + self.width * (TASK_DIM + 1)
        return 2.0 * self.rows * (2 * forward + to_inputs)


SIZES = (
    Size("4717x16, 42 tasks, width 64", 4717, 16, 42, 64, 590, 40),
    Size("30000x1, 250 tasks, width 100", 30000, 1, 250, 100, 1000, 6),
    Size("126000x3, 200 tasks, width 256", 126000, 3, 200, 256, 6300, 1),
)


def table(size: Size) -> Rows:
    rng = np.random.default_rng(0)
    task = rng.integers(0, size.tasks, size.rows)
    x = rng.normal(size=(size.rows, size.features))
    return Rows(x, task, np.sin(x.sum(1)) + task / size.tasks + rng.normal(size=size.rows))


class Textbook(nn.Module):
    """The learned-context network as one would write it: Equation 15, then the trunk."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.beta = nn.Parameter(torch.zeros(size.tasks, TASK_DIM))
        self.first = nn.Linear(size.features + TASK_DIM, size.width)
        self.hidden = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(4))
        self.last = nn.Linear(size.width, 1)

    def forward(self, x: torch.Tensor, task: torch.Tensor) -> torch.Tensor:
        z = self.first(torch.cat([x, self.beta[task]], dim=1))
        for one, two in ((0, 1), (2, 3)):
            z = z + self.hidden[two](torch.relu(self.hidden[one](torch.relu(z))))
        return self.last(z)[:, 0]


def ours(size: Size, rows: Rows) -> Callable[[], object]:
    hyper = Hyperparameters(RATE, size.width, DECAY, DECAY, TASK_DIM)
    plan = Plan(size.epochs, size.batches, window_min=3)
    return lambda: train(rows, size.tasks, "lc", hyper, plan, seed=1)


def plain(size: Size, rows: Rows) -> Callable[[], object]:
    scaler = Scaler.fit(rows)
    x, y = torch.from_numpy(scaler.x(rows.x)), torch.from_numpy(scaler.y(rows.y))
    task = torch.from_numpy(rows.task)
    module = Textbook(size)
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE, momentum=0.7, weight_decay=2 * DECAY)

    def run() -> None:
        losses: list[float] = []
        for _ in range(size.epochs):
            total = 0.0
            for part in torch.randperm(size.rows).tensor_split(size.batches):
                optimizer.zero_grad()
                loss = ((module(x[part], task[part]) - y[part]) ** 2).mean()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(part)
            losses.append(total / size.rows)
            if len(losses) >= 3:
                window = np.array(losses[-3:])
                full = sm.OLS(window, sm.add_constant(np.arange(3))).fit()
                full.compare_lr_test(sm.OLS(window, np.ones(3)).fit())

    return run


def with_skorch(size: Size, rows: Rows) -> Callable[[], object]:
    from skorch import NeuralNetRegressor

    scaler = Scaler.fit(rows)
    inputs = {"x": scaler.x(rows.x), "task": rows.task}
    target = scaler.y(rows.y)
    net = NeuralNetRegressor(
        Textbook,
        module__size=size,
        optimizer=torch.optim.SGD,
        optimizer__momentum=0.7,
        optimizer__weight_decay=2 * DECAY,
        lr=RATE,
        max_epochs=size.epochs,
        batch_size=size.batch,
        iterator_train__shuffle=True,
        train_split=None,
        callbacks__print_log=None,
        verbose=0,
    ).initialize()
    return lambda: net.partial_fit(inputs, target)


def products(size: Size) -> Callable[[], object]:
    """The matrix products of the hidden layers and nothing else: no trainer can be faster."""
    a, back = torch.randn(size.batch, size.width), torch.empty(size.batch, size.width)
    weight, gradient = torch.randn(size.width, size.width), torch.empty(size.width, size.width)

    def run() -> None:
        for _ in range(4 * size.batches * size.epochs):
            torch.mm(a, weight.T, out=back)
            torch.mm(back.T, a, out=gradient)
            torch.mm(a, weight, out=back)

    return run


def matrix_product() -> float:
    """Floating-point operations a second of one large product."""
    a, b, out = torch.randn(1024, 1024), torch.randn(1024, 1024), torch.empty(1024, 1024)
    return 10 * 2 * 1024**3 / wall(lambda: [torch.mm(a, b, out=out) for _ in range(10)])


def compare(size: Size, repeats: int) -> dict[str, object]:
    rows = table(size)
    contestants = {
        "ours": ours(size, rows),
        "skorch": with_skorch(size, rows),
        "plain": plain(size, rows),
        "products": products(size),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    speed: list[float] = []
    for repeat in range(repeats + 1):
        measured = {name: wall(run) / size.epochs for name, run in contestants.items()}
        product = matrix_product()
        if repeat:  # the first round warms up
            speed.append(product)
            for name, value in measured.items():
                times[name].append(value)
    ratios = {
        name: statistics.median(
            theirs / mine for theirs, mine in zip(times[name], times["ours"], strict=True)
        )
        for name in ("skorch", "plain", "products")
    }
    share = statistics.median(
        size.flops() / mine / product for mine, product in zip(times["ours"], speed, strict=True)
    )
    return {
        **asdict(size),
        "epoch_seconds": {name: statistics.median(values) for name, values in times.items()},
        "times_skorch": ratios["skorch"],
        "times_plain": ratios["plain"],
        "products_share": ratios["products"],
        "share_of_matrix_product": share,
    }


def two_processes(repeats: int) -> float:
    """How much more two one-thread processes do than one, on the middle size."""

    def together(count: int) -> float:
        with SPAWN.Manager() as manager, ProcessPoolExecutor(count, SPAWN) as pool:
            return max(pool.map(warm_seconds, [manager.Barrier(count)] * count))

    return statistics.median(2 * together(1) / together(2) for _ in range(repeats))


def warm_seconds(barrier: Barrier) -> float:
    """All processes are warm before any starts."""
    torch.set_num_threads(1)
    run = ours(SIZES[1], table(SIZES[1]))
    run()
    barrier.wait()
    return wall(run) + wall(run)


def peak_megabytes() -> float:
    """Of a process that trains at the largest size, the libraries' own included."""
    torch.set_num_threads(1)
    ours(SIZES[2], table(SIZES[2]))()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = options(__doc__, "training.json")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sizes = [compare(size, arguments.repeats) for size in SIZES]
    with ProcessPoolExecutor(1, SPAWN) as pool:
        peak = pool.submit(peak_megabytes).result()
    report = {
        "sizes": sizes,
        "two_processes": two_processes(arguments.repeats),
        "peak_megabytes": peak,
    }
    for entry in sizes:
        print(
            f"{entry['name']}, batch {entry['batch']}: {entry['times_skorch']:.2f} times skorch, "
            f"{entry['times_plain']:.2f} times the plain loop, "
            f"{entry['share_of_matrix_product']:.0%} of the matrix product's speed; "
            f"{entry['products_share']:.0%} of the time are products of this size"
        )
    print(f"two processes do {report['two_processes']:.2f} times the work of one")
    print(f"training at the largest size takes {report['peak_megabytes']:.0f} MB at its peak")
    write_json(arguments.output, report)


if __name__ == "__main__":
    main()
