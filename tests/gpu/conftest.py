"""What the tests of this folder have in common: a GPU, and the libraries whose arrays are passed.

Tests that name no backend run the default one; ``PYTOCU_TEST_BACKEND=cuda_c pytest -m gpu`` makes it the other one.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from pytocu import config
from pytocu.runtime import cuda

# JAX would take most of the GPU's memory at its first use.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

if _first := os.environ.get("PYTOCU_TEST_BACKEND"):
    config.BACKENDS["cuda"] = tuple(sorted(config.BACKENDS["cuda"], key=lambda name: name != _first))
    assert config.BACKENDS["cuda"][0] == _first, f"PYTOCU_TEST_BACKEND={_first}: write one of {config.BACKENDS['cuda']}"


@pytest.fixture(autouse=True, scope="session")
def a_gpu() -> None:
    """Skip what needs a GPU where the driver has none; the reason is its answer."""
    fine, reason = cuda.available()
    if not fine:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def cupy() -> Any:
    """CuPy, where it is installed."""
    return pytest.importorskip("cupy")


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, where it is installed."""
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def jax() -> Any:
    """JAX, where it is installed."""
    return pytest.importorskip("jax")


@pytest.fixture(scope="session")
def numba_cuda() -> Any:
    """``numba.cuda``, where it is installed."""
    return pytest.importorskip("numba.cuda")
