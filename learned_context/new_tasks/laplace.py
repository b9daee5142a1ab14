"""What the rows of a new task leave uncertain: a Gaussian at every minimum of Equation 21.

The objective is twice the negative log posterior, so its Gauss-Newton curvature at a minimum,
J^T J / s^2 + D^-1, is the precision of the Gaussian there (the Laplace approximation). With few
rows several minima are real: the posterior is then a mixture, each minimum weighted by the mass
below its peak, exp(-objective / 2) det(Sigma)^(1/2). All is in standardised units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import logsumexp
from scipy.stats import norm

from learned_context.networks.network import Network
from learned_context.new_tasks.gauss_newton import Fit
from learned_context.new_tasks.objective import Floats, Ints, block_rows, inverse
from learned_context.training.trainer import one_thread

SAME_MODE = 1.0
"""Squared distance, in posterior standard deviations, below which two minima are one mode."""


@dataclass(frozen=True)
class Posterior:
    """For each of T tasks a mixture of M Gaussians; a mode may have the weight zero."""

    weights: Floats
    """[T, M]"""
    means: Floats
    """[T, M, d]"""
    covariances: Floats
    """[T, M, d, d]"""


def single(fit: Fit) -> Posterior:
    """One Gaussian at the MAP estimate."""
    return Posterior(np.ones((len(fit.ends), 1)), fit.ends[:, :1], inverse(fit.precisions[:, :1]))


def mixture(fit: Fit) -> Posterior:
    """A Gaussian at every distinct minimum that was found."""
    log_weights = -fit.objectives / 2 - np.linalg.slogdet(fit.precisions)[1] / 2
    for later in range(
        1, fit.ends.shape[1]
    ):  # best first: a minimum repeats an earlier, kept one or none
        apart = fit.ends[:, later, None] - fit.ends[:, :later]
        distance = np.einsum("tmi,tmij,tmj->tm", apart, fit.precisions[:, :later], apart)
        repeats = (distance < SAME_MODE) & np.isfinite(log_weights[:, :later])
        log_weights[repeats.any(axis=1), later] = -np.inf
    weights = np.exp(log_weights - logsumexp(log_weights, axis=1, keepdims=True))
    return Posterior(weights, fit.ends, inverse(fit.precisions))


def without_small_modes(posterior: Posterior, least: float) -> Posterior:
    """The modes by weight, the small ones dropped; the MAP estimate stays the first."""
    weights = np.where(posterior.weights < least, 0, posterior.weights)
    # The first end has the highest density, if not always the most mass: it is kept in any case.
    weights[:, 0] = np.maximum(weights[:, 0], least)
    weights /= weights.sum(axis=1, keepdims=True)
    order = np.argsort(weights[:, 1:] == 0, axis=1, kind="stable") + 1
    order = np.concatenate([np.zeros((len(order), 1), dtype=order.dtype), order], axis=1)
    kept = order[:, : int((weights > 0).sum(axis=1).max())]
    rows = np.arange(len(kept))[:, None]
    return Posterior(
        weights[rows, kept], posterior.means[rows, kept], posterior.covariances[rows, kept]
    )


@dataclass(frozen=True)
class Prediction:
    """The distribution of new targets: for each of n rows a mixture of M normal ones [n, M]."""

    weights: Floats
    means: Floats
    stds: Floats

    @property
    def mean(self) -> Floats:
        return (self.weights * self.means).sum(axis=1)

    @property
    def std(self) -> Floats:
        """Of the mixture: within the modes and between them."""
        between = self.means - self.mean[:, None]
        return np.sqrt((self.weights * (self.stds**2 + between**2)).sum(axis=1))

    def quantile(self, level: float) -> Floats:
        """By bisection, to 1e-12 of the bracket: the mixture lies between its modes' quantiles."""
        each = np.where(self.weights > 0, self.means + norm.ppf(level) * self.stds, np.nan)
        low, high = np.nanmin(each, axis=1), np.nanmax(each, axis=1)
        for _ in range(40):
            middle = (low + high) / 2
            below = (self.weights * norm.cdf((middle[:, None] - self.means) / self.stds)).sum(1)
            low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
        return (low + high) / 2

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Equal tails."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def predict(
    network: Network, posterior: Posterior, x: torch.Tensor, task: Ints, noise: float
) -> Prediction:
    """New rows x [n, dx] of tasks [n]; to first order, var y = s^2 + g^T Sigma g, g = df/dbeta."""
    modes = posterior.weights.shape[1]
    means, variances = np.zeros((len(task), modes)), np.full((len(task), modes), noise)
    size = block_rows(x.device)
    with one_thread(x.device), torch.no_grad():
        for start in range(0, len(task), size):
            rows = slice(start, start + size)
            without_task = network.without_task(x[rows])[:, None]
            for mode in np.flatnonzero((posterior.weights[task[rows]] > 0).any(axis=0)):
                beta = torch.from_numpy(posterior.means[task[rows], mode]).to(x.device, x.dtype)
                brought = network.brought(beta)
                value, slope = network.value_and_slope(without_task, beta, brought)
                g = slope[:, 0].double().cpu().numpy()
                covariance = posterior.covariances[task[rows], mode]
                means[rows, mode] = value[:, 0].cpu().numpy()
                variances[rows, mode] += np.einsum("ni,nij,nj->n", g, covariance, g)
    return Prediction(posterior.weights[task], means, np.sqrt(variances))
