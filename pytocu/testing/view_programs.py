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
    return made + [ViewProgram(f"gather: {name}", rows, arguments) for name, arguments in others.items()]
