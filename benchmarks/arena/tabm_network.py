"""TabM: its package has a model but no training loop.

The model's own defaults (32 members, three blocks of 512 units) and the optimiser of its
documentation: AdamW at 2e-3 with weight decay 3e-4, batches of 256 rows, the epoch with the
least error on a tenth of the rows, patience 16. On one core this takes very long, so it also
ends after a given processor time, with the best epoch so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pandas as pd
import torch
from torch import Tensor

RATE, DECAY, BATCH_ROWS, PATIENCE, VALIDATION = 2e-3, 3e-4, 256, 16, 0.1


class Inputs:
    """Standardised numbers and the codes of categories; of training rows alone."""

    def __init__(self, train: pd.DataFrame, categories: list[str]) -> None:
        self.categories = categories
        self.numbers = [name for name in train if name not in categories]
        self.mean, self.std = train[self.numbers].mean(), train[self.numbers].std().replace(0, 1)
        self.sizes = [len(train[name].cat.categories) for name in categories]

    def __call__(self, frame: pd.DataFrame) -> tuple[Tensor, Tensor]:
        numbers = ((frame[self.numbers] - self.mean) / self.std).to_numpy(dtype=np.float32)
        codes = np.stack([frame[name].cat.codes for name in self.categories], axis=1)
        return torch.tensor(numbers), torch.tensor(codes.astype(np.int64))


def fit_network(
    train: pd.DataFrame, y: np.ndarray, categories: list[str], seed: int, seconds: float
) -> Callable[[pd.DataFrame], np.ndarray]:
    """The fitted network as a function of rows; training ends after `seconds` at the latest."""
    from tabm import TabM

    ends = time.process_time() + seconds
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    inputs = Inputs(train, categories)
    (numbers, codes), mean, std = inputs(train), y.mean(), y.std()
    target = torch.tensor(((y - mean) / std).astype(np.float32))
    order = torch.tensor(random.permutation(len(y)))
    scored = max(1, int(VALIDATION * len(y)))
    held_out, rows = order[:scored], order[scored:]
    model = TabM.make(n_num_features=numbers.shape[1], cat_cardinalities=inputs.sizes, d_out=1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    best, best_error, waited = deepcopy(model.state_dict()), float("inf"), 0
    while waited < PATIENCE and time.process_time() < ends:
        model.train()
        for part in rows[torch.randperm(len(rows))].split(BATCH_ROWS):
            # Every member has its own loss: their mean is what is trained.
            error = model(numbers[part], codes[part])[..., 0] - target[part, None]
            optimiser.zero_grad()
            (error**2).mean().backward()
            optimiser.step()
            if time.process_time() > ends:
                break
        found = _predict(model, numbers[held_out], codes[held_out])
        error_now = float(((found - target[held_out]) ** 2).mean())
        waited += 1
        if error_now < best_error:
            best, best_error, waited = deepcopy(model.state_dict()), error_now, 0
    model.load_state_dict(best)
    return lambda rows: _predict(model, *inputs(rows)).double().numpy() * std + mean


def _predict(model: torch.nn.Module, numbers: Tensor, codes: Tensor) -> Tensor:
    model.eval()
    with torch.no_grad():
        parts = [
            model(some, other)[..., 0].mean(1)
            for some, other in zip(numbers.split(BATCH_ROWS), codes.split(BATCH_ROWS), strict=True)
        ]
    return torch.cat(parts)
