"""Changes through views of another dtype: real and imaginary parts, and the bits of numbers."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.testing.compare import compare

Z = np.random.default_rng(0).standard_normal((6, 4)) + 1j * np.random.default_rng(1).standard_normal((6, 4))
X = np.random.default_rng(2).standard_normal(6)


def attributes(z):
    z.real += 1
    z.imag = 0
    z[0].real = [1, 2, 3, 4]
    z[:, 1].imag = z[:, 2].real
    return z


def names(z):
    r, i = z.real, np.imag(z)
    r *= 2
    i[...] = r
    return z, r, i


def slices(z):
    z.real[1:3] = z.imag[1:3]
    z.T.imag[1:, ::2] += 2
    z.real[::-1, 0] = z.real[:, 0]
    return z


def of_new_arrays(z):
    y = np.real(z * 1j)
    y += 1
    w = np.zeros(3, complex)
    w.real = y.min()
    w.imag[1] = y.max()
    return y, w


def masks_and_positions(z):
    z.imag[z.real > 0] = 3
    z.imag[[0, 2]] = 5
    z.real[z.real > 0.5] *= 3
    np.multiply(z.real, 2, out=z.imag)
    return z, z.real.fill(2)


def steps(z, n):
    for _ in range(n):
        z.real += z.imag * 0.5
        z.imag[1:] = z.real[:-1]
    if n > 1:
        z.real = n
    return z


def of_library_calls(z, n):
    v = np.real(np.fft.ifft(z[:, 0]))
    for _ in range(n):
        v += 1
        v = np.real(np.fft.ifft(np.fft.fft(v)))
    return v


@pytest.mark.parametrize("function", [attributes, names, slices, of_new_arrays, masks_and_positions])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_parts_of_complex_numbers(function, dtype) -> None:
    everywhere(function, Z.astype(dtype))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_parts_in_loops_and_branches(n: int) -> None:
    everywhere(steps, Z.copy(), n)
    everywhere(of_library_calls, Z.copy(), n, ulp=16)


def values_that_do_not_fit(x, z, n):
    made = []
    for value in (300, -1, [300], 2**40, 2.7, [1, 2j, 300], [[1, 2, 3]], 2j, 1 + 2j, n, n * 1.5, n * 1j, [n, 2.5, 1]):
        x.real = value
        z.real = value
        z.imag = value
        made.append((x.copy(), z.copy()))
    return made


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_values_are_converted_as_arrays() -> None:
    everywhere(values_that_do_not_fit, np.zeros(3, np.uint8), np.zeros(3, np.complex64), 300)


def test_bits() -> None:
    def magnitudes(x):
        v = x.view(np.int64)
        v &= 0x7FFFFFFFFFFFFFFF
        v[::2] += 1
        return x, v

    everywhere(magnitudes, X.copy())
    everywhere(lambda x: x.view(np.uint32).fill(0x7FC00000), X.astype(np.float32))


def test_arguments_that_overlap() -> None:
    def moved(x, y):
        x.real = y.imag
        return x

    given, expected = Z.ravel().copy(), Z.ravel().copy()
    moved(expected[1:], expected[:-1])
    pytocu.jit(moved)(given[1:], given[:-1])
    compare(given, expected)


@pytest.mark.parametrize(
    "text",
    ["x.imag = 1", "x.imag += 1", "x.real = np.ones(4)", "s.real = 2", "z.real += 1j", "x.real += 1", "x.real = z.imag[:, 0]",
     "z.real = 'a'", "z[0].imag = [1, 2]", "x.view('i8').real = 2**64", "x.view('i8').real = None"],
)  # fmt: skip
def test_numpys_errors(text: str) -> None:
    source = f"def changed(x, z, s):\n    {text}\n    return x, z, s\n"
    linecache.cache[source] = (len(source), None, source.splitlines(True), source)
    made: dict[str, Any] = {"np": np}
    exec(compile(source, source, "exec"), made)
    given, wanted = (X.copy(), Z.copy(), np.float64(3)), (X.copy(), Z.copy(), np.float64(3))
    try:
        made["changed"](*wanted)
    except Exception as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else type(error)) as caught:
            pytocu.jit(made["changed"])(*given)
        assert str(caught.value).splitlines()[0] == str(error)
    else:
        pytocu.jit(made["changed"])(*given)
    compare(given[0], wanted[0])
    compare(given[1], wanted[1])
