"""What is made of products, norms and transposes in ``np.linalg``, and keyword arguments of ranges and searches."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree
from mask_tools import builds

import pytocu

X = np.arange(12.0).reshape(3, 4)
I = np.array([3, 1, 2, 2, 7, 1])
S = np.arange(9).reshape(3, 3)


def test_powers_of_matrices() -> None:
    agree([f"np.linalg.matrix_power(a, {n})" for n in (0, 1, 2, 3, 5)], S)
    agree("np.linalg.matrix_power(a + np.eye(3) * 9, -2)", S, ulp=64)
    agree("np.linalg.matrix_power(a, 1.5)", S)


def test_norms_products_and_transposes() -> None:
    agree(["np.linalg.matrix_norm(a)", "np.linalg.matrix_norm(a, ord=1, keepdims=True)"], X, ulp=4)
    agree(["np.linalg.cross(a[:, :3], b)", "np.linalg.cross(b, b[::-1], axis=0)", "np.linalg.matrix_transpose(a)"], X, S)


@pytest.mark.parametrize("text", ["np.linalg.cross(a, a)", "np.linalg.matrix_transpose(a[0])", "np.matrix_transpose(a[0])"])
def test_as_numpy_refuses(text: str) -> None:
    agree(text, X)


def test_ranges_along_axes() -> None:
    agree(["np.linspace(a[0], a[1], 5, axis=1)", "np.linspace(a[0], a[1], 5, axis=-1)", "np.linspace([0, 1], 3, 4)",
           "np.linspace(0, 1, 1, retstep=True)"], X)  # fmt: skip
    agree(["np.logspace(0, 1, 3, base=[2, 3, 4])", "np.logspace(0, [1, 2], 3, base=2)",
           "np.logspace(0, 1, 4, base=a[0], axis=1)",
           "np.logspace(0, 1, 4, base=a[0])"], X, ulp=4)  # fmt: skip
    agree("np.linspace(0, 1, a.shape[1], retstep=True)", X)


def test_searches() -> None:
    agree(["np.searchsorted(a, [2, 3], sorter=np.argsort(a, kind='stable'))", "np.searchsorted(np.sort(a), [[2], [9]])",
           "np.searchsorted(a, 2, 'right', np.argsort(a, kind='stable'))"], I)  # fmt: skip
    agree("np.searchsorted(a, 2, sorter=a[:2])", I)
    agree("np.searchsorted(a, 2, sorter=a * 0.5)", I)
    agree(["np.histogram_bin_edges(a, 4, (0, 8))", "np.histogram_bin_edges(a, [1, 2, 5])", "np.setxor1d(a, [1, 2, 9])"], I)


def test_elements_side_by_side() -> None:
    agree(["np.ascontiguousarray(a)", "np.ascontiguousarray(a.T)", "np.ascontiguousarray(3)",
           "np.ascontiguousarray(a[:, 1:], dtype='f4')"], X)  # fmt: skip


def test_cubins() -> None:
    builds(lambda x, i: (np.linspace(x[0], x[1], 5, axis=1), np.searchsorted(i, x[0], sorter=i - 1), np.setxor1d(i, i[:2])),
    X, I)


OF_PRODUCTS = {
    "inverse": lambda x, y: np.linalg.inv(x.T @ x),
    "inverse in arithmetic": lambda x, y: np.linalg.inv(x.T @ x) * 2,
    "normal equations": lambda x, y: np.linalg.solve(x.T @ x, x.T @ y),
    "eigenvalues": lambda x, y: np.linalg.eigvalsh(x.T @ x + 0) + np.linalg.eigvalsh(x.T @ x),
    "determinant": lambda x, y: np.linalg.det(x.T @ x),
    "sorted": lambda x, y: np.sort(x.T @ x, axis=0),
    "product of a product": lambda x, y: (x @ (x.T @ x)) @ (x.T @ y),
    "large product of a small one": lambda x, y: np.ones((50, 40)) @ (np.ones((40, 3)) @ (x.T @ x)) @ np.ones((3, 30)),
    "changed": lambda x, y: changed(np.linalg.inv(x.T @ x)),
}


def changed(a):
    a[0, 1:] = 1
    return a


@pytest.mark.parametrize("name", OF_PRODUCTS)
def test_libraries_read_products_that_kernels_compute(name: str) -> None:
    random = np.random.default_rng(5)
    for rows in (3, 5, 40):
        x, y = random.random((rows, 3)), random.random(rows)
        made = pytocu.jit(OF_PRODUCTS[name])(x, y)
        np.testing.assert_allclose(made, OF_PRODUCTS[name](x, y), rtol=1e-6)
