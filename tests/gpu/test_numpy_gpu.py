"""The generated cases, the golden programs and random programs on a real GPU, against the CPU backend.

Run with ``pytest -m gpu``.  Exact operations have the same bits on both; the others stay within the
bound of their row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from golden_plugin import golden_files, read

import pytocu
from pytocu.errors import CompileError
from pytocu.ir.core import OPS
from pytocu.testing.arguments import make_arguments
from pytocu.testing.cases import call_jit, check_group, close, device_failures, rows_of
from pytocu.testing.compare import compare
from pytocu.testing.device_arrays import on_device, to_host
from pytocu.testing.fuzz import RUNS, run_chunk
from pytocu.testing.operands import Group, Operand, make_function, sampled_groups

pytestmark = pytest.mark.gpu

GROUPS = [g for g in sampled_groups(300, seed=1) if any(o.form in ("array", "zero_d") for o in g.operands)]


class Interface:
    """Nothing but a CUDA array interface, and that without ``strides``."""

    def __init__(self, owner: Any):
        self.owner = owner
        self.__cuda_array_interface__ = {k: v for k, v in owner.__cuda_array_interface__.items() if k != "strides"}


def fetched(cupy: Any, value: Any) -> Any:
    """What has a CUDA array interface as NumPy arrays, inside tuples too."""
    if isinstance(value, tuple):
        return tuple(fetched(cupy, v) for v in value)
    return cupy.asarray(value).get() if hasattr(value, "__cuda_array_interface__") else value


def arrays_only(value: Any) -> Any:
    """NumPy scalars as arrays without axes: what CuPy has in their place."""
    match value:
        case tuple() | list():
            return type(value)(map(arrays_only, value))
        case dict():
            return tuple(map(arrays_only, value.values()))
        case np.generic():
            return np.asarray(value)
        case _:
            return value


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_cupy_arrays(cupy: Any, group: Group) -> None:
    def call(function: Any, *arguments: Any) -> Any:
        result = pytocu.jit(function)(*(on_device(a) for a in arguments))
        assert all(not isinstance(r, (np.ndarray, np.generic)) for r in result)
        return to_host(result)

    failures = device_failures(group, call)
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("group", [g for g in sampled_groups(30, seed=2) if g.parameters], ids=str)
def test_numpy_arrays(group: Group) -> None:
    """With ``device="cuda"`` everything is as on the CPU: errors, kinds of results, bits."""
    failures = check_group(group, lambda function, *arguments: pytocu.jit(function, device="cuda")(*arguments))
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "?"])
def test_interface_without_strides(cupy: Any, dtype: str) -> None:
    group = Group((Operand("array", np.dtype(dtype).name.replace("float", "f").replace("int", "i")),) * 2)

    def call(function: Any, *arguments: Any) -> Any:
        owners = [on_device(a) for a in arguments]
        result = pytocu.jit(function)(*map(Interface, owners))
        return fetched(cupy, result)

    failures = device_failures(group, call)
    assert not failures, "\n".join(map(str, failures))


def test_faults_are_seen(cupy: Any) -> None:
    group = Group((Operand("array", "f32"), Operand("array", "f32")))

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        return np.nextafter(value, value.dtype.type(0)) if value.dtype.kind == "f" else value

    def call(function: Any, *arguments: Any) -> Any:
        return changed(to_host(pytocu.jit(function)(*(on_device(a) for a in arguments))))

    assert len(device_failures(group, call)) >= 20


def golden_programs() -> list[Any]:
    """Every program of every golden file."""
    return [
        pytest.param(golden, command, id=f"{path.stem}-{command.function}-{command.options.args}")
        for path in golden_files()
        for golden in [read(path)]
        for command in golden.programs()
    ]


@pytest.mark.parametrize(("golden", "command"), golden_programs())
def test_goldens(cupy: Any, golden: Any, command: Any) -> None:
    function = golden.function(command.function)
    for seed, sizes in enumerate(command.size_cases()):
        arguments = make_arguments(command.types, sizes, seed, command.options.values)
        given = [on_device(a) for a in arguments]
        try:
            expected = function(*arguments, **command.static)
        except CompileError as error:
            with pytest.raises(type(error)):
                function(*given, **command.static)
            continue
        actual = arrays_only(to_host(function(*given, **command.static)))
        rows = rows_of(function.lower(*arguments, **command.static).function)
        if all(OPS[row].exact for row in rows) and not command.options.within:
            compare(actual, arrays_only(expected))
        else:
            close(actual, arrays_only(expected), command.options.within)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("chunk", range(4))
def test_random_programs(chunk: int, backend: str) -> None:
    report = run_chunk(RUNS[backend], 7, chunk)
    assert not report.kinds["differs"], "\n".join(report.tests)
    # Where NumPy raises an exception, so does pytocu. A chunk is fifty programs, of which some are alike.
    assert len(report.refusals) <= 0.1 * report.programs


@pytest.mark.parametrize("n", [2**25, 2**25 + 3])
def test_large_and_strided(cupy: Any, n: int) -> None:
    """Sizes at which every block works, with inputs of any strides."""

    def expressions(x, y):
        return x * 3 - y / 2, np.where(x > y, x, -y), (x * y)[::-1]

    random_bits = np.random.default_rng(3).integers(0, 2**32, 2 * n, dtype=np.uint32).view(np.float32)
    x, y = random_bits[:n], random_bits[::-2]
    with np.errstate(all="ignore"):
        expected = call_jit(expressions, x, y)
    actual = call_jit(expressions, *(on_device(a) for a in (x, y)))
    for a, e in zip(actual, expected, strict=True):
        compare(to_host(a), np.asarray(e))


def test_streams_side_by_side(cupy: Any) -> None:
    function = pytocu.jit(make_function("xy", ["x * y + 1", "x - y"], {"np": np}))
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
    results = []
    for number, stream in enumerate(streams):
        with stream:
            x = cupy.full(2**20 + number, number, np.float32)
            for _ in range(10):
                x = function(x, x)[1] + number
            results.append(function(x, x))
    for number, stream in enumerate(streams):
        stream.synchronize()
        compare(to_host(results[number][0]), np.full(2**20 + number, number * number + 1, np.float32))
