"""In-place changes on a GPU: CuPy arrays, tensors and device arrays are written where they are.

Run with ``pytest -m gpu``.  A library that is not installed skips its own tests.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import ShapeError, UnsupportedError
from pytocu.testing.compare import compare
from pytocu.testing.inplace_programs import MEMORY, inplace_arguments, random_inplace_program

pytestmark = pytest.mark.gpu


def into(x, y, z, out):
    out[...] = x * y + z
    return out


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


def steps(a, b):
    for _ in range(4):
        b[1:-1] = a[2:] + a[:-2]
        a, b = b, a
    return a


def backwards(out, x):
    out[...] = x[::-1] + out
    return out


def shifted(x, y):
    x += y
    y *= 2
    return y[1:]


def on_device(cupy: Any, block: np.ndarray, arrays: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The same arrays on the device, sharing memory in the same way."""
    moved = cupy.asarray(block)
    out: list[Any] = []
    known: dict[int, Any] = {}
    for array in arrays:
        if not isinstance(array, np.ndarray):
            out.append(array)
        elif id(array) in known:
            out.append(known[id(array)])
        elif array.base is not None and np.shares_memory(array, block):
            offset = array.__array_interface__["data"][0] - block.__array_interface__["data"][0]
            out.append(cupy.ndarray(array.shape, array.dtype, moved.data + offset, array.strides))
        else:
            order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
            out.append(cupy.array(array, order=order))
        known[id(array)] = out[-1]
    return moved, tuple(out)


def on_host(cupy: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(on_host(cupy, v) for v in value)
    return cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000, 1_000_003])
@pytest.mark.parametrize("function", [into, relax, steps, backwards, shifted])
def test_cupy(function: Any, n: int, cupy: Any) -> None:
    count = function.__code__.co_argcount
    host = [np.random.default_rng(k).standard_normal(n).astype("f4") for k in range(count)]
    device = [cupy.asarray(h) for h in host]
    compiled = pytocu.jit(function)
    for _ in range(3):
        expected = function(*host)
        found = compiled(*device)
        compare((cupy.asnumpy(found), *map(cupy.asnumpy, device)), (expected, *host))
        identical = [expected is h for h in host]
        assert [found is d for d in device] == identical


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_over_shared_memory(memory: str, seed: int, cupy: Any) -> None:
    pick = random.Random(f"{memory} {seed}")
    program = random_inplace_program(pick.choice)
    namespace = make(program.source)
    for sizes in ({"n": 4, "m": 4}, {"n": 33, "m": 70}):
        block, arguments = inplace_arguments(sizes, "i4", memory)
        device_block, device_arguments = on_device(cupy, block, arguments)
        expected = namespace(*arguments)
        compiled = pytocu.jit(namespace)
        found = on_host(cupy, compiled(*device_arguments))
        for result, wanted in zip(found, expected, strict=True):
            # A NumPy scalar stays on the device as an array without axes.
            compare(np.asarray(result), np.asarray(wanted))
        compare((cupy.asnumpy(device_block), *on_host(cupy, device_arguments)), (block, *arguments))


def make(source: str) -> Any:
    import linecache

    name = f"<in place on a gpu {hash(source)}>"
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def test_specializations_by_memory(cupy: Any) -> None:
    compiled = pytocu.jit(backwards)
    for slices in ((slice(0, 8), slice(8, 16)), (slice(0, 8), slice(3, 11)), (slice(0, 8), slice(0, 8))) * 2:
        host, device = np.arange(40.0), cupy.arange(40.0)
        expected = backwards(*(host[s] for s in slices))
        compare(cupy.asnumpy(compiled(*(device[s] for s in slices))), expected)
        compare(cupy.asnumpy(device), host)
    facts = [s.facts for s in compiled.specializations]
    assert len(facts) == 3


def test_broadcast_arrays_are_refused(cupy: Any) -> None:
    compiled = pytocu.jit(relax)
    repeated = cupy.lib.stride_tricks.as_strided(cupy.zeros(3), (5, 3), (0, 8))
    for _ in range(2):
        with pytest.raises(ShapeError, match="several of its elements share memory"):
            compiled(repeated)


def test_torch(torch: Any) -> None:
    x, y, z = (torch.arange(5.0, device="cuda") + k for k in range(3))
    out = torch.zeros(5, device="cuda")
    compiled = pytocu.jit(into)
    for _ in range(3):
        assert compiled(x, y, z, out) is out
        assert torch.equal(out, x * y + z)
    u = torch.arange(6.0, device="cuda") ** 2
    expected = relax(u.cpu().numpy().copy())
    assert pytocu.jit(relax)(u) is u
    assert np.array_equal(u.cpu().numpy(), expected)
    tracked = torch.zeros(5, device="cuda", requires_grad=True)
    with pytest.raises(UnsupportedError, match="requires a gradient"):
        compiled(x, y, z, tracked)


def test_jax_is_never_written(jax: Any) -> None:
    x = jax.numpy.arange(5.0)
    with pytest.raises(ShapeError, match="read-only") as caught:
        pytocu.jit(relax)(x)
    assert "JAX arrays never change" in str(caught.value)
    assert bool((x == jax.numpy.arange(5.0)).all())


def test_numpy_arrays_by_way_of_the_device() -> None:
    compiled = pytocu.jit(shifted, device="cuda")
    x, y = np.arange(5.0), np.ones(5)
    expected = [a.copy() for a in (x, y)]
    wanted = shifted(*expected)
    compare(compiled(x, y), wanted)
    compare([x, y], expected)
    same, expected = np.arange(4.0), np.arange(4.0)
    compare(compiled(same, same), shifted(expected, expected))
    compare(same, expected)
    base = np.arange(8.0)
    with pytest.raises(UnsupportedError, match="overlap"):
        compiled(base[:5], base[2:7])
    base.flags.writeable = False
    with pytest.raises(ShapeError, match="read-only"):
        compiled(base, np.ones(8))
