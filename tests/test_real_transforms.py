"""Fourier transforms of real numbers along several axes, of halves, and of float16."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree

X = np.cos(np.arange(24.0)).reshape(2, 3, 4)


@pytest.mark.parametrize("name", ["rfft2", "irfft2", "rfftn", "irfftn"])
def test_real_numbers_along_several_axes(name: str) -> None:
    texts = [f"np.fft.{name}(a)", f"np.fft.{name}(a, s=(4, 6), axes=(0, -1))", f"np.fft.{name}(a, axes=(1, 2), norm='ortho')",
             f"np.fft.{name}(a[0], s=(2, 5), axes=(1, 0), norm='forward')"]  # fmt: skip
    agree(texts, X, ulp=64)


@pytest.mark.parametrize("name", ["hfft", "ihfft"])
def test_halves_of_conjugate_numbers(name: str) -> None:
    texts = [f"np.fft.{name}(a)", f"np.fft.{name}(a, 5)", f"np.fft.{name}(a, axis=1, norm='ortho')",
             f"np.fft.{name}(a, 3, 0, 'forward')"]  # fmt: skip
    agree(texts, X, ulp=64)
    agree("np.fft.hfft(a + 1j * a[::-1], 6)", X, ulp=64)


@pytest.mark.parametrize("text", [
    "np.fft.ifft(a)", "np.fft.irfft(a)", "np.fft.fft(a, norm='ortho')", "np.fft.rfft(a, norm='forward')", "np.fft.rfft(a)",
    "np.fft.irfft(a, norm='forward')", "np.fft.irfft(a, 5, norm='ortho')", "np.fft.irfft2(a)", "np.fft.ihfft(a, 3)",
])  # fmt: skip
def test_the_scale_of_halves_is_a_half(text: str) -> None:
    agree(text, X.astype(np.float16), ulp=64)


@pytest.mark.parametrize("text", [
    "np.fft.fft(a[0, 0, 0])", "np.fft.rfft2(a[0, 0])", "np.fft.rfftn(a, (2, 2), (0,))", "np.fft.irfftn(a, axes=(0, 5))",
    "np.fft.hfft(a, norm='x')", "np.fft.rfft2(a[:, :, :0])", "np.fft.ihfft(a, 0)",
])  # fmt: skip
def test_as_numpy_refuses(text: str) -> None:
    agree(text, X)
