"""In-place changes of arrays whose neighbours are read: on a CPU rows wait in a few rows of a buffer."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.interp_launch import ThreadFault
from pytocu.passes import rolling_rows


def heat(u, k):
    u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])


def relax(u, k):
    u[1:-1] = k * (u[2:] + u[:-2])


def far(u, k):
    u[7:-3] -= u[:-10] * u[10:] + k


def forward(u, k):
    u[1:] = u[:-1] + k


def backward(u, k):
    u[:-1] *= u[1:]


def along_rows(u, k):
    u[:, 2:] = u[:, :-2] + u[:, 1:-1] * k


def along_columns(u, k):
    u[1:] += u[:-1] * k


def diagonal(u, k):
    u[1:-1, 2:-2] = u[:-2, :-4] + u[2:, 4:] - u[:-2, 4:] * k


def space(u, k):
    u[1:-1, 1:-1, 1:-1] += k * (u[2:, 1:-1, 1:-1] - u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] * u[1:-1, 1:-1, :-2])


def colours(u, k):
    u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) // 4


def stepped(u, k):
    u[2:-2:2] += u[4::2] + u[:-4:2]


def joined(u, k):
    u[1:-1] = np.concatenate([u[:2], u[4:]]) * k


def two(u, k, v):
    u[1:-1], v[1:-1] = u[2:] + v[:-2], v[2:] * k + u[:-2]


def chosen(u, k):
    u[1:-1] = np.where(np.arange(u.shape[0] - 2) % 3 == 0, u[2:], u[:-2])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles and chunks of few elements."""
    monkeypatch.setattr(rolling_rows, "TILE_BYTES", 64)
    monkeypatch.setattr(rolling_rows, "SHORTEST", 1)
    monkeypatch.setattr(rolling_rows, "EDGES", 2)


def numbers(shape: tuple[int, ...], dtype: Any = "f8", order: Any = "C") -> np.ndarray:
    made = np.random.default_rng(len(shape)).random(shape) * 90
    return np.array(made, dtype, order=order)


def schedules(host: Any) -> list[str]:
    return [inst.attr("schedule") for inst in walk(host.body) if inst.op.name == "launch"]


def interpreted(function: Any, *arguments: Any) -> list[str]:
    """Compare the threads of all launches with NumPy; the schedules."""
    expected = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    function(*expected)
    given = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    host = pytocu.jit(function).lower(*given).host("cpu")
    interp.run(host, given)
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    return schedules(host)


def compiled(function: Any, *arguments: Any) -> None:
    expected = [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]
    function(*expected)
    given = [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]
    pytocu.jit(function)(*given)
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


SHAPES: list[tuple[Any, tuple[int, ...]]] = [
    *((heat, s) for s in ((2, 5), (3, 3), (4, 9), (9, 17), (10, 19), (40, 36))),
    *((f, (n,)) for f in (relax, forward, backward) for n in (3, 9, 10, 63, 64, 200)),
    *((far, (n,)) for n in (11, 30, 150)),
    *((f, s) for f in (along_rows, along_columns, diagonal) for s in ((5, 5), (2, 40), (20, 30))),
    *((space, s) for s in ((3, 3, 4), (9, 5, 12), (30, 4, 20))),
    *((stepped, (n,)) for n in (5, 40, 121)),
    *((joined, (n,)) for n in (6, 50, 90)),
    (chosen, (75,)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "shape"), SHAPES, ids=lambda given: getattr(given, "__name__", str(given)))
def test_threads(small: None, function: Any, shape: tuple[int, ...]) -> None:
    for order in "CF" if len(shape) > 1 else "C":
        # Rows are those of memory.
        found = interpreted(function, numbers(shape if order == "C" else shape[::-1], order=order), 0.5)
        assert set(found) <= {"rolling", "edges"} and found[0] == "rolling"


def test_colours_and_two_arrays(small: None) -> None:
    assert interpreted(colours, numbers((20, 12, 3), "u1"), 1) == ["rolling", "edges"]
    u, v = numbers((50,)), numbers((50,)) + 1
    assert "rolling" in interpreted(two, u, 0.5, v)


@pytest.mark.parametrize("dtype", ["f4", "i2", "c16", "f2"])
def test_dtypes(small: None, dtype: str) -> None:
    interpreted(along_columns, numbers((20, 21), dtype), 2)


@pytest.mark.parametrize("shape", [(130, 130), (300, 2500), (3000, 20), (2, 3000)], ids=str)
def test_compiled(shape: tuple[int, ...]) -> None:
    compiled(heat, numbers(shape), 0.125)
    compiled(diagonal, numbers(shape), 0.125)


@pytest.mark.parametrize("size", [1024, 1025, 1026, 9 * 1024 + 1, 300_000])
def test_compiled_vectors(size: int) -> None:
    for function in (relax, far, forward, backward):
        compiled(function, numbers((size,)), 0.5)


def test_compiled_space() -> None:
    compiled(space, numbers((40, 30, 50)), 0.5)
    compiled(colours, numbers((90, 80, 3), "u1"), 1)


def test_views_and_shared_memory() -> None:
    block = numbers((300, 90))
    expected = block.copy()
    heat(expected[10:-7, ::3], 0.5)
    pytocu.jit(heat)(block[10:-7, ::3], 0.5)
    np.testing.assert_array_equal(block, expected)

    def into(u, v):
        u[1:-1] = u[2:] + v[:-2]

    for shift in (1, 5, 40):
        block = numbers((4000,))
        expected = block.copy()
        into(expected[shift:], expected[:-shift])
        pytocu.jit(into)(block[shift:], block[:-shift])
        np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("shape", [(7,), (3, 2), (6, 1)])
def test_an_error_is_known_before_the_argument_changes(shape: tuple[int, ...]) -> None:
    def turned(x, w):
        v = x.copy()
        v[v > 2] = w
        x[...] = x[::-1]
        return v

    x = np.arange(np.prod(shape)).reshape(shape)
    found, wanted = x.copy(), x.copy()
    np.testing.assert_array_equal(pytocu.jit(turned)(found, x[x > 2][::-1]), turned(wanted, x[x > 2][::-1]))
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="cannot assign"):
        pytocu.jit(turned)(found, np.ones(2, int))
    np.testing.assert_array_equal(found, wanted)


def test_every_other_element_is_one_kernel() -> None:
    def red(u):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2])

    for target in ("cpu", "cuda"):
        assert len(schedules(pytocu.jit(red).lower(numbers((21,))).host(target))) == 1
    compiled(red, numbers((2001,)))


def test_what_is_read_elsewhere_keeps_its_temporary() -> None:
    def turned(u):
        u[...] = u.T + 1

    def gathered(u, i):
        u[...] = u[i] + 1

    def used(u):
        t = u[2:] + u[:-2]
        u[1:-1] = t
        return t

    for function, arguments in ((turned, [numbers((40, 40))]), (gathered, [numbers((40,)), np.arange(40)[::-1].copy()])):
        assert "rolling" not in schedules(pytocu.jit(function).lower(*arguments).host("cpu"))
        compiled(function, *arguments)
    compiled(used, numbers((40,)))


@pytest.mark.parametrize("broken", ["back", "ahead", "before", "behind"])
def test_rows_that_do_not_wait_are_found(small: None, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    measure = rolling_rows.measure

    def measured(*args: Any) -> Any:
        rolling = measure(*args)
        assert rolling is not None
        return rolling._replace(**{broken: 0})

    monkeypatch.setattr(rolling_rows, "measure", measured)
    with pytest.raises((AssertionError, ThreadFault)):
        interpreted(diagonal, numbers((40, 36)), 0.5)


def random_stencil(pick: random.Random) -> tuple[Any, tuple[int, ...], str]:
    """A change of an array by what is around each element, with a shape for it."""
    ndim = pick.choice((1, 2, 2, 3))
    low = [pick.randint(0, 3) for _ in range(ndim)]
    high = [pick.randint(0, 3) for _ in range(ndim)]
    step = pick.choice((1, 1, 1, 2))

    def part(shifts: list[int]) -> str:
        axes = [f"{l + s}:n{a} - {h - s}:{step}" for a, (l, h, s) in enumerate(zip(low, high, shifts, strict=True))]
        return f"u[{', '.join(axes)}]"

    reads = [part([pick.randint(-a, b) for a, b in zip(low, high, strict=True)]) for _ in range(pick.randint(1, 4))]
    made = reads[0]
    for read in reads[1:]:
        made = f"{pick.choice(('np.maximum', 'np.subtract', 'np.add'))}({made}, {read})"
    lengths = ", ".join(f"n{a}" for a in range(ndim))
    text = f"def stencil(u):\n    {lengths}, = u.shape\n    {part([0] * ndim)} {pick.choice(('=', '+=', '-='))} {made} * 3\n"
    file = f"<stencil {text}>"
    linecache.cache[file] = (0, None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    shape = tuple(pick.randint(7, {1: 90, 2: 24, 3: 12}[ndim]) for _ in range(ndim))
    return namespace["stencil"], shape, text


@pytest.mark.parametrize("seed", range(6))
def test_random(small: None, seed: int) -> None:
    pick = random.Random(seed)
    rolled = 0
    for _ in range(8):
        function, shape, text = random_stencil(pick)
        try:
            rolled += "rolling" in interpreted(function, numbers(shape, "i8", pick.choice("CF")))
        except (AssertionError, ThreadFault) as error:
            raise AssertionError(f"{error}\n{text}with {shape}") from error
    assert rolled >= 2
