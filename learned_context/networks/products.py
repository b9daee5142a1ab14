"""Matrix products into buffers, for one network or for K members at once."""

from __future__ import annotations

import torch
from torch import Tensor


class Products:
    """One network: matrices."""

    @staticmethod
    def affine(bias: Tensor, x: Tensor, weight: Tensor, out: Tensor) -> None:
        """out = x weight + bias"""
        torch.addmm(bias, x, weight, out=out)

    @staticmethod
    def add_product(out: Tensor, a: Tensor, b: Tensor) -> None:
        """out += a b"""
        out.addmm_(a, b)

    @staticmethod
    def product(a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = a b"""
        torch.mm(a, b, out=out)

    @staticmethod
    def narrow_product(a: Tensor, b: Tensor) -> Tensor:
        """a b by columns: the product that fills it is faster."""
        out = a.new_empty(b.shape[1], a.shape[0]).T
        return torch.mm(a, b, out=out)

    @staticmethod
    def add_row_sums(out: Tensor, a: Tensor, ones: Tensor) -> None:
        """out += the sums of a's rows"""
        out.addmv_(a, ones)

    @staticmethod
    def squared(error: Tensor) -> Tensor:
        return torch.dot(error, error)

    @staticmethod
    def bias(bias: Tensor) -> Tensor:
        """Of the shape that is added to every row."""
        return bias


class MemberProducts(Products):
    """K members: batches of matrices."""

    @staticmethod
    def affine(bias: Tensor, x: Tensor, weight: Tensor, out: Tensor) -> None:
        torch.baddbmm(bias, x, weight, out=out)

    @staticmethod
    def add_product(out: Tensor, a: Tensor, b: Tensor) -> None:
        out.baddbmm_(a, b)

    @staticmethod
    def product(a: Tensor, b: Tensor, out: Tensor) -> None:
        torch.bmm(a, b, out=out)

    @staticmethod
    def narrow_product(a: Tensor, b: Tensor) -> Tensor:
        return torch.bmm(a, b)

    @staticmethod
    def add_row_sums(out: Tensor, a: Tensor, ones: Tensor) -> None:
        out.add_(a.sum(2))

    @staticmethod
    def squared(error: Tensor) -> Tensor:
        return (error * error).sum(1)

    @staticmethod
    def bias(bias: Tensor) -> Tensor:
        return bias[:, None]


def products_of(flat: Tensor) -> type[Products]:
    """For parameters [P] or [K, P]."""
    return MemberProducts if flat.dim() == 2 else Products
