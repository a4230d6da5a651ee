"""Views, gathers, joins and generated values on a GPU, and errors that depend on the data.

Run with ``pytest -m gpu``.  NumPy arrays are copied to the device and back, so a wrong position is
found by comparison; a device array tells when an error of a kernel is raised.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import cuda, device_array
from pytocu.testing.compare import compare
from pytocu.testing.view_programs import ViewProgram, programs

pytestmark = pytest.mark.gpu


# Views of one memory come back as copies, so programs that return several views of an argument are compared by value.
@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("program", programs(), ids=lambda p: p.name)
def test_on_the_gpu(program: ViewProgram, backend: str) -> None:
    arguments = program.arguments()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = program.function(*arguments)
    given = program.arguments()
    compare(pytocu.jit(program.function, device="cuda", backend=backend)(*given), expected)
    compare(given, arguments)


def looked_up(x: Any, i: Any) -> Any:
    return x[i] * 2


def on_device(array: np.ndarray) -> Any:
    return device_array.to_device(array, 0)


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_an_index_out_of_bounds_with_arrays_that_are_copied(backend: str) -> None:
    f = pytocu.jit(looked_up, device="cuda", backend=backend)
    x = np.arange(1000.0)
    with pytest.raises(IndexError, match="index 1000 is out of bounds for axis 0 with size 1000"):
        f(x, np.array([1, 1000, 3]))
    compare(f(x, np.array([1, -1000, 3])), looked_up(x, np.array([1, -1000, 3])))


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_an_index_out_of_bounds_is_said_at_the_next_synchronisation(backend: str) -> None:
    f = pytocu.jit(looked_up, backend=backend)
    x = on_device(np.arange(100_000, dtype=np.float32))
    positions = np.arange(100_000)
    good = on_device(positions)
    positions[[5, 70_000]] = 200_000, -100_001
    bad = on_device(positions)
    f(x, good)
    pytocu.synchronize()
    f(x, bad)
    with pytest.raises(IndexError, match="index -100001 is out of bounds for axis 0 with size 100000") as raised:
        pytocu.synchronize()
    assert raised.value.loc.function == "looked_up" and "earlier call" in raised.value.help
    # Said once, and the code goes on working.
    pytocu.synchronize()
    compare(f(x, good).copy_to_host(), np.arange(100_000, dtype=np.float32) * 2)


def test_an_index_out_of_bounds_is_said_by_the_next_call() -> None:
    f = pytocu.jit(looked_up)
    x, bad, good = on_device(np.arange(10.0)), on_device(np.array([10])), on_device(np.array([9]))
    f(x, bad)
    cuda.synchronize(0, 0)
    with pytest.raises(IndexError, match="index 10 is out of bounds"):
        f(x, good)
    compare(f(x, good).copy_to_host(), np.array([18.0]))


def test_an_index_out_of_bounds_is_said_when_a_result_is_copied() -> None:
    f = pytocu.jit(looked_up)
    made = f(on_device(np.arange(10.0)), on_device(np.array([3, -11])))
    with pytest.raises(IndexError, match="index -11 is out of bounds"):
        made.copy_to_host()


def test_with_arrays_of_cupy(cupy: Any) -> None:
    f = pytocu.jit(looked_up)
    x = cupy.arange(10.0)
    for _ in range(3):
        compare(cupy.asnumpy(f(x, cupy.array([3, -1]))), np.array([6.0, 18.0]))
    f(x, cupy.array([12]))
    with pytest.raises(IndexError, match="index 12 is out of bounds"):
        pytocu.synchronize()


def test_in_a_graph(cupy: Any) -> None:
    f = pytocu.jit(lambda x, i, out: np.copyto(out, x[i]))
    x, i, out = cupy.arange(10.0), cupy.array([1, 2]), cupy.zeros(2)
    f(x, i, out)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        f(x, i, out)
        graph = stream.end_capture()
        i[1] = 30
        stream.synchronize()
        graph.launch(stream)
        stream.synchronize()
    with pytest.raises(IndexError, match="index 30 is out of bounds"):
        pytocu.check()
