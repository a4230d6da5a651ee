"""Kernels of every schedule of a GPU, with arguments that reach all of their loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytocu.passes import schedule

Case = Callable[[], tuple[Any, ...]]


class Kernel(NamedTuple):
    """A function whose kernels are of one schedule; all cases are in the classes of sizes of the first.

    `many` is what counts as many threads, where so many as the schedule asks for would take too long.
    """

    name: str
    function: Callable[..., Any]
    cases: tuple[Case, ...]
    many: int = schedule.MANY_THREADS


def _numbers(*shape: int, dtype: str = "f4", shift: int = 0, seed: int = 1) -> np.ndarray:
    """Integers as numbers, so that no order of adding them changes a sum; `shift` elements behind a multiple of 64 bytes."""
    size = int(np.prod(shape))
    room = np.zeros(size + 64 + shift, dtype)
    start = (-room.ctypes.data % 64) // room.itemsize + shift
    made = room[start : start + size].reshape(shape)
    made[...] = np.random.default_rng(seed).integers(-60, 60, shape)
    return made


def _of(*shapes: tuple[int, ...], dtype: str = "f4", shift: int = 0) -> Case:
    return lambda: tuple(_numbers(*shape, dtype=dtype, shift=shift, seed=k) for k, shape in enumerate(shapes))


def _masked(size: int, every: int, shift: int = 0) -> Case:
    """Numbers, and a mask that chooses one of so many of them."""

    def make() -> tuple[Any, ...]:
        mask = _numbers(size, dtype="?", shift=shift)
        mask[...] = _numbers(size, dtype="i4", seed=2) % every == 0
        return _numbers(size), mask

    return make


def vectors(x, y):
    return x * y + 1


def strided(x):
    return x[::2] * 2


def points(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


def rows(x, y):
    return x + y


def stencil(u):
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]


def border(u):
    new = u.copy()
    new[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:]
    return new


def edge(u):
    new = u.copy()
    new[1:-1] = u[2:] + u[:-2]
    return new


def relax(u):
    u[1:-1] = u[2:] + u[:-2]


def transposed(x, y):
    return x.T + y


def row_sums(x):
    return x.sum(1)


def distances(x, y):
    d = x[:, None] - y
    return (d * d).sum(1), d.max(1)


def soft(x):
    e = np.maximum(x - x.max(1, keepdims=True), -50)
    return e * e.sum(1, keepdims=True)


def soft_into(x, out):
    out[...] = soft(x)


def column_sums(x):
    return x.sum(0)


def total(x):
    return x.sum(), x.max()


def position(x):
    return x.argmax(1)


def running(x):
    return np.cumsum(x, 1)


def running_columns(x):
    return np.cumsum(x, 0)


def chosen(x):
    return x[x > 0]


def chosen_by(x, mask):
    return x[mask]


def counted(i):
    return np.bincount(i, minlength=5)


def gathered(x, i):
    return x[i] * 2


def _places(size: int, count: int, shift: int = 0, wrong: int | None = None, at: Sequence[int] = (3,)) -> Case:
    """Positions below a count, in an order of their own; `wrong` are others in some places."""

    def make() -> tuple[Any, ...]:
        made = _numbers(size, dtype="i8", shift=shift)
        made[...] = np.arange(size) * 7 % count
        if wrong is not None:
            made[list(at)] = wrong
        return (made,)

    return make


KERNELS: tuple[Kernel, ...] = (
    Kernel("vectors", vectors, (_of((2100,), (2100,)), _of((2100,), (2100,), shift=1), _of((9000,), (9000,)), _of((3,), (3,)))),
    Kernel("strides", strided, (_of((4199,)), _of((2049,), shift=1), _of((5,)))),
    Kernel("short rows", points, (
        lambda: (_numbers(700, 3), _numbers(700) > 0), lambda: (_numbers(2100, 3, shift=1), _numbers(2100) > 0))),
    Kernel("rows", rows, (_of((9, 40), (40,)), _of((9, 37), (37,)), _of((9, 140), (140,), shift=1), _of((34, 40), (40,)))),
    Kernel("stencil", stencil, (_of((11, 40)), _of((40, 37)), _of((4, 5)))),
    Kernel("insert", border, (_of((11, 40)), _of((11, 40), shift=1), _of((40, 37)), _of((5, 5)))),
    Kernel("insert in a vector", edge, (_of((2100,)), _of((9001,)), _of((2048,)), _of((3,)))),
    Kernel("in place", relax, (_of((2100,)), _of((2100,), shift=1), _of((2050,)), _of((4,)))),
    Kernel("transposes", transposed, (_of((40, 70), (70, 40)), _of((33, 64), (64, 33)))),
    Kernel("rows of a warp", row_sums, (_of((9, 5)), _of((70, 7)))),
    Kernel("rows of vectors", row_sums, (_of((9, 104)), _of((3, 120), shift=1), _of((70, 64)))),
    Kernel("rows of a block", row_sums, (_of((3, 1601)), _of((4, 2001)))),
    Kernel("rows in registers", soft, (_of((3, 304)), _of((30, 384)), _of((5, 500), shift=1))),
    Kernel("rows of pairs", soft, (_of((5, 1602)), _of((2, 1902), shift=1))),
    Kernel("rows in a block's registers", soft, (_of((5, 2404)), _of((4, 4096)), _of((2, 4000), shift=1))),
    Kernel("rows of hundreds of threads", row_sums, (_of((5, 20003)), _of((4, 30001)))),
    Kernel("rows into an array", soft_into, (
        _of((5, 1604), (5, 1604)), lambda: (_numbers(3, 1604), _numbers(3, 1604, shift=1)),
        lambda: (_numbers(3, 1604, shift=1), _numbers(3, 1604)))),
    Kernel("rows at once", distances, (_of((21,), (1604,)), _of((6,), (2000,), shift=1), _of((3,), (1600,))), 1),
    Kernel("short rows at once", distances, (_of((300,), (24,)), _of((131,), (28,), shift=1), _of((64,), (20,))), 1),
    Kernel("long rows", row_sums, (_of((2, 70000)), _of((3, 66560)), _of((1, 66000), shift=1))),
    Kernel("columns", column_sums, (_of((300, 40)), _of((400, 309)))),
    Kernel("short columns", column_sums, (_of((9, 40)), _of((16, 77)))),
    Kernel("full", total, (_of((70001,)), _of((100003,)))),
    Kernel("positions", position, (_of((5, 100)), _of((3, 128), shift=1))),
    Kernel("scans of rows", running, (_of((3, 301)), _of((5, 503)))),
    Kernel("long scans", running, (_of((2, 20001)), _of((2, 17003)))),
    Kernel("scans of columns", running_columns, (_of((50, 40)), _of((33, 140)))),
    Kernel("compaction", chosen, (_of((3001,)), _of((2101,)))),
    Kernel("compaction in blocks", chosen_by, (_masked(16501, 3), _masked(17003, 1, shift=1), _masked(32767, 900))),
    Kernel("histogram", counted, (_places(1030, 63), _places(1100, 63, 1), _places(1540, 18), _places(1030, 20, 0, -1))),
    Kernel("gather", gathered, (
        lambda: (_numbers(50), *_places(2100, 50)()), lambda: (_numbers(50), *_places(2100, 50, 1)()),
        *(lambda wrong=wrong, at=at: (_numbers(50), *_places(2049, 50, 0, wrong, at)())
          for wrong in (50, -51, 99999, -99999, -1, -50) for at in ((4,), (515,), (5,), (514,), (-1,))),
        lambda: (_numbers(9), np.arange(7) - 7))),
)  # fmt: skip
"""The representative list."""
