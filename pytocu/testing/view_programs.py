"""Programs that read arrays in other orders and places: views, gathers, joins and generated values.

Each has a name, a function and the arguments for which it is tried; the same programs run on the
CPU, in the interpreters and on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class ViewProgram(NamedTuple):
    """A function, and what makes its arguments anew."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]


def _box(dtype: Any = np.float64) -> np.ndarray:
    return np.arange(60).reshape(3, 4, 5).astype(dtype)


def _pair() -> tuple[np.ndarray, np.ndarray]:
    """A float64 and an integer array of one shape."""
    return np.arange(20.0).reshape(4, 5) ** 2, np.arange(30, 50).reshape(4, 5)


_I = np.array([0, 2, -1])
_J = np.array([[1], [-3]])


def _change_through_ravel(x: Any) -> Any:
    y = x.reshape(-1)
    y += 1
    y[2] = 7
    return y


def _change_local_through_reshape(x: Any) -> Any:
    y = x * 2
    z = y.reshape(5, -1)
    z[0] += 5
    return y


def _change_what_is_gathered(x: Any, i: Any) -> Any:
    x[:, 0] = x[i, 1]
    y = x[i]
    x += 1
    return y


RESHAPES: dict[str, Callable[..., Any]] = {
    "ravel of a computed": lambda x: (x * 2).reshape(-1),
    "reshape": lambda x: x.reshape(2, -1, 3) + 1,
    "views and copies": lambda x: (x.reshape(5, 12), x.T.reshape(-1), x.ravel(), x.flatten(), x[::2].reshape(-1)),
    "column-major": lambda x: np.reshape(x, (12, 5), order="F"),
    "split one axis": lambda x: x[:, ::-1].reshape(3, 2, 2, 5) * 1,
    "ravel of a transpose": lambda x: x.T.ravel() + x.ravel(),
    "flips": lambda x: (np.flip(x), np.flip(x, 0), np.fliplr(x), np.flipud(x), np.flip(x, (0, -1))),
    "turns": lambda x: (np.rot90(x), np.rot90(x, 2), np.rot90(x, 3), np.rot90(x, -1, (1, 2)), np.rot90(x, 0)),
    "diagonals": lambda x: (np.diagonal(x), x.diagonal(1, 2, 0)),
    "diagonal in an expression": lambda x: np.diagonal(x, 1, 1, 2) + x.diagonal(-1, 1, 2)[0, 0],
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 3, 4, 5)) + 1,
    "broadcast_arrays": lambda x: [a * 2 for a in np.broadcast_arrays(x, x[0, :, :1], 3)],
    "atleast": lambda x: (np.atleast_2d(x[0, 0]), np.atleast_3d(x[0]), np.atleast_3d(x[0, 0]), np.atleast_1d(3)),
    "rollaxis": lambda x: (np.rollaxis(x, 2), np.rollaxis(x, 0, 3)),
    "change through ravel": _change_through_ravel,
    "change a local through reshape": _change_local_through_reshape,
}

GATHERS: dict[str, Callable[..., Any]] = {
    "rows": lambda x, i, j: x[i],
    "two": lambda x, i, j: x[i, j],
    "apart": lambda x, i, j: x[i, :, j],
    "last two": lambda x, i, j: x[:, i, j],
    "beside a slice": lambda x, i, j: x[:, i, ::2],
    "beside a number": lambda x, i, j: (x[:, 0, i], x[0, :, i], x[0, i]),
    "with new axes": lambda x, i, j: (x[:, i, None, i], x[:, i, None], x[None, i], x[None, i, None, j]),
    "with an ellipsis": lambda x, i, j: (x[..., i], x[i, ..., i], x[1:, i, ..., i]),
    "in an expression": lambda x, i, j: x[i] * 2 + x[i, 1:2],
    "of an expression": lambda x, i, j: (x * 2 + 1)[i].reshape(-1)[::2],
    "lists": lambda x, i, j: (x[[2, 0]], x[[[0, 1], [1, 0]]], x[[]], x[:, [1], 0]),
    "of a transpose": lambda x, i, j: (x.T[i], x[::-1][i].T, x[:, :, None][i, 0]),
    "twice": lambda x, i, j: x[i][i],
    "index of an index": lambda x, i, j: x[i[i]],
    "take": lambda x, i, j: (np.take(x, i), np.take(x, i, 1), np.take(x, 7), np.take(x, [[1, 2]], 0), x.take(1, 0)),
    "take clip": lambda x, i, j: x.take(i * 7 - 3, 1, mode="clip"),
    "take wrap": lambda x, i, j: x.take(i * 7 - 3, axis=1, mode="wrap") + x.take(i * 7, axis=1, mode="wrap"),
    "take_along_axis": lambda x, i, j: np.take_along_axis(x, i[:, None, None], 1),
    "take_along_axis of all": lambda x, i, j: np.take_along_axis(x, i, None),
    "take_along_axis broadcast": lambda x, i, j: np.take_along_axis(x, (x[:, :, :2] % 5).astype(np.int64), -1),
    "choose": lambda x, i, j: (np.choose(abs(i), [1, 2.5, 3]), np.choose(i, [i, i * 2, i * 3], mode="wrap")),
    "choose clip": lambda x, i, j: np.choose(j, [i, i * 2], mode="clip"),
    "change what is gathered": lambda x, i, j: _change_what_is_gathered(x, i),
}


def _fill_parts(x: Any) -> Any:
    out = np.zeros((x.shape[0], 2))
    out[:, 0] = x[:, 0]
    out[:, 1] = 1
    e = np.empty_like(x)
    e[...] = x * 2
    return out, e


GENERATED: dict[str, Callable[..., Any]] = {
    "filled": lambda x: (np.zeros(3), np.ones((2, 3), np.float32), np.full(4, 7), np.full((2, 2), 2.5, np.float16)),
    "filled like": lambda x: (np.zeros_like(x), np.ones_like(x, dtype=int), np.full_like(x, 3), np.zeros(x.shape[0])),
    "filled without axes": lambda x: (np.zeros(()), np.full((), 1j), np.full((2, 5), x[0])),
    "filled and changed": _fill_parts,
    "arange of a length": lambda x: np.arange(x.shape[0]) * x[:, 0],
    "arange": lambda x: (np.arange(5), np.arange(2, 9, 3), np.arange(9, 2, -3), np.arange(5, 2), np.arange(0)),
    "arange of lengths": lambda x: (np.arange(x.shape[1], 0, -1), np.arange(1, x.shape[1]), np.arange(0, x.shape[1], 2)),
    "arange of floats": lambda x: (np.arange(0.5, 3, 0.3), np.arange(3.0), np.arange(0.1, 2, 0.7)),
    "arange of large floats": lambda x: np.arange(-1e16, -1e16 + 10, 3),
    "arange of dtypes": lambda x: (np.arange(5, dtype=np.float32), np.arange(5, dtype="f2") * 2, np.arange(7, dtype=np.int8)),
    "arange of float32": lambda x: (np.arange(1, 3, 0.1, dtype=np.float32), np.arange(0.0, x.shape[1])),
    "linspace": lambda x: (np.linspace(0, 1, 11), np.linspace(0, 1, x.shape[1]), np.linspace(-3, 5, 7, endpoint=False)),
    "linspace, few": lambda x: (np.linspace(2, 2, 3), np.linspace(0, 1, 1), np.linspace(0, 1, 0), np.linspace(5e-324, 0, 3)),
    "linspace of dtypes": lambda x: (np.linspace(0, 10, 5, dtype=int), np.linspace(np.float32(1), np.float32(3), 7)),
    "linspace of arrays": lambda x: (np.linspace(x[0], x[1], 5), np.linspace(x[0, 0], 3, 4)),
    "linspace and its step": lambda x: np.linspace(0, 1, 3, retstep=True),
    "eye": lambda x: (np.eye(3), np.eye(2, 4, 1, int), np.eye(x.shape[0], k=-1), np.identity(2, np.float32)),
    "triangles": lambda x: (np.tri(3), np.tri(3, 5, 1, bool), np.tril(x), np.triu(x, 1), np.tril(x[0]), np.triu(x[None], -1)),
    "diag": lambda x: (np.diag(x[0]), np.diag(x[0], 2), np.diag(x[0], -1), np.diag(x), np.diag(x, 1) * 2),
    "indices": lambda x: (np.indices((2, 3)), np.indices((x.shape[0], 2), dtype=float), np.indices((2, 3), sparse=True)),
    "meshgrid": lambda x: (np.meshgrid(x[0], x[:, 1]), np.meshgrid(x[0], [1][0], x[1], indexing="ij")),
    "meshgrid, sparse": lambda x: np.meshgrid(x[0], x[:, 1], sparse=True),
    "vander": lambda x: (np.vander(x[0], 3), np.vander(x[0], 2, increasing=True)),
    "by parity": lambda x: np.where((np.arange(x.shape[0])[:, None] + np.arange(x.shape[1])) % 2 == 0, x, -x),
}

def _bordered(mode: Any, width: Any) -> Callable[..., Any]:
    return lambda x, y: np.pad(x, width, mode=mode)


_BORDERS = (1, (2, 0), ((0, 3), (1, 2)), ((7, 9), (11, 5)))

JOINED: dict[str, Callable[..., Any]] = {
    "rows": lambda x, y: np.concatenate([x, y]),
    "of expressions": lambda x, y: np.concatenate((x * 2, y[:1], x[::-1]), 0) + 1,
    "columns": lambda x, y: np.concatenate((x, y.T[: x.shape[0]]), -1),
    "flat": lambda x, y: np.concatenate((x, y), None),
    "to a dtype": lambda x, y: np.concatenate((x, y), dtype=np.float32),
    "nested": lambda x, y: np.concatenate([np.concatenate([x, y], 1), np.concatenate([y, x], 1)]) * 2,
    "stacks": lambda x, y: (np.stack([x, y]), np.stack([x, y], 1), np.stack([x, y], -1)),
    "named stacks": lambda x, y: (np.vstack([x, y]), np.hstack([x, y]), np.dstack([x, y]), np.column_stack([x[:, 0], y])),
    "stacks of rows": lambda x, y: (np.vstack([x[0], y[0]]), np.hstack([x[0], y[0, :1], 4]), np.dstack([x[0], y[0]])),
    "append": lambda x, y: (np.append(x, 7), np.append(x, y), np.append(x, y, 0)),
    "constant border": lambda x, y: np.pad(x, 2, constant_values=((1, 2), (3, 4))),
    "constant border in an expression": lambda x, y: np.pad(x, (1, 2), constant_values=9) + y[0, 0],
    **{
        f"{mode} {number}": _bordered(mode, width)
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
        for number, width in enumerate(_BORDERS)
    },
    "stencil with a border": lambda x, y: np.pad(x, 1, mode="edge")[2:, 1:-1] + np.pad(x, 1, mode="edge")[:-2, 1:-1] - 2 * x,
    "roll": lambda x, y: (np.roll(x, 1), np.roll(x, -3), np.roll(x, 1, 0), np.roll(x, (1, -5), (0, 1)), np.roll(x, 99, 1)),
    "rolled neighbours": lambda x, y: np.roll(x, 1, 1) + np.roll(x, -1, 1) - 2 * x,
    "tile": lambda x, y: (np.tile(x, 2), np.tile(x, (2, 3)), np.tile(x, (2, 1, 3)), np.tile(3, 2), np.tile(x, 0)),
    "tile once": lambda x, y: np.tile(x, 1),
    "repeat": lambda x, y: (np.repeat(x, 2), np.repeat(x, 3, 0), x.repeat(2, -1), np.repeat(x, 0, 1), np.repeat(4, 3)),
    "diff": lambda x, y: (np.diff(x), np.diff(x, axis=0), np.diff(x, 2), np.diff(x > 3), np.ediff1d(x)),
    "diff with ends": lambda x, y: (np.diff(x, prepend=0), np.diff(x, append=y[:, :1])),
    "gradient": lambda x, y: (np.gradient(x), np.gradient(x, 2.0, axis=1), np.gradient(x, 1, 0.5), np.gradient(y, axis=0)),
    "gradient of order 2": lambda x, y: (np.gradient(x, axis=1, edge_order=2), np.gradient(x, 0.1, axis=0, edge_order=2)),
    "outer": lambda x, y: (np.outer(x[0], y), np.kron(x, y), np.kron(x[0], y)),
    "cross": lambda x, y: (np.cross(x[:, :3], y[:, :3]), np.cross(x[:, :3], y[0, :3]), np.cross(x[:3].T, y[:3].T)),
    "chosen": lambda x, y: np.where(np.concatenate([x, y]) > 3, 1, np.pad(x, ((0, x.shape[0]), (0, 0)), mode="wrap")),
    "change of a join": lambda x, y: _change_through_ravel(np.concatenate([x, y])),
}

REDUCED: dict[str, Callable[..., Any]] = {
    "sum of a join": lambda x, y: np.concatenate([x, y], 1).sum(1),
    "join of sums": lambda x, y: np.concatenate([x.sum(0), y.sum(0)]),
    "join of centred": lambda x, y: np.concatenate([x - x.sum(1, keepdims=True), y]),
    "sum of gathered": lambda x, y: x[[2, 0, 1]].sum(1),
    "gather of sums": lambda x, y: x.sum(1)[[2, 0]],
    "sum of a reshape": lambda x, y: x.reshape(2, -1).sum(1),
    "reshape of a sum": lambda x, y: x.sum(1)[:, None].reshape(-1),
    "mean of a border": lambda x, y: np.pad(x, 1, mode="reflect").sum(),
    "positions": lambda x, y: (x * np.arange(x.shape[1])).sum(1),
}


def programs() -> list[ViewProgram]:
    """All of them."""
    made = [ViewProgram(f"reshape: {n}", f, lambda: (_box(),)) for n, f in RESHAPES.items()]
    made += [ViewProgram(f"gather: {n}", f, lambda: (_box(), _I.copy(), _J.copy())) for n, f in GATHERS.items()]
    rows = GATHERS["rows"]
    others: dict[str, Callable[[], tuple[Any, ...]]] = {
        "float16": lambda: (_box(np.float16), _I.astype(np.int32), _J),
        "complex64": lambda: (_box(np.complex64), _I.astype(np.int8), _J),
        "bool and uint8": lambda: (_box(np.bool_), abs(_I).astype(np.uint8), _J),
        "columns first": lambda: (np.asfortranarray(_box()), _I, _J),
        "strides": lambda: (_box()[:, ::-2, 1:], _I[::-1], _J),
        "no positions": lambda: (_box(), _I[:0], _J),
        "neither": lambda: (_box()[:0], _I[:0], _J),
        "short rows": lambda: (_box()[:, :0], _I, _J),
        "length 1": lambda: (_box()[:1, :1], _I[:1], _J),
    }
    made += [ViewProgram(f"generated: {n}", f, lambda: (_pair()[0],)) for n, f in GENERATED.items()]
    made += [ViewProgram(f"joined: {n}", f, _pair) for n, f in (JOINED | REDUCED).items()]
    small: dict[str, tuple[str, Callable[[], tuple[Any, ...]]]] = {
        "join of nothing": ("rows", lambda: (_pair()[0][:0], _pair()[1])),
        "join of nothing to nothing": ("of expressions", lambda: (_pair()[0][:0], _pair()[1][:0])),
        "columns of float16": ("columns", lambda: tuple(a.astype(np.float16) for a in _pair())),
        "columns of complex128": ("columns", lambda: tuple(a.astype(np.complex128) for a in _pair())),
        "border of one": ("reflect 3", lambda: tuple(a[:1, :1] for a in _pair())),
        "wrapped one": ("wrap 3", lambda: tuple(a[:1, :1] for a in _pair())),
        "border of nothing": ("constant 1", lambda: tuple(a[:0] for a in _pair())),
        "roll of nothing": ("roll", lambda: tuple(a[:0] for a in _pair())),
        "roll of strides": ("roll", lambda: tuple(a[::-1, ::2] for a in _pair())),
        "gradient of float32": ("gradient", lambda: tuple(a.astype(np.float32) for a in _pair())),
    }
    made += [ViewProgram(f"joined: {name}", JOINED[which], arguments) for name, (which, arguments) in small.items()]
    return made + [ViewProgram(f"gather: {name}", rows, arguments) for name, arguments in others.items()]
