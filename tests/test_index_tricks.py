"""``np.mgrid``, ``np.ogrid``, ``np.r_`` and ``np.c_``."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

GIVEN = ["np.arange(12.).reshape(3, 4)", "np.arange(4, dtype='f4')", "np.array([1, 2], 'i2')", "3", "2.5", "np.float32(0.5)"]

TABLE = np.arange(12.0).reshape(3, 4)
EVERYWHERE = (
    "np.mgrid[0:len(a), 0:a.shape[1]] * a", "np.r_[0, a[:, 0], 0:4]", "np.c_[a, np.ones(len(a)), a[:, 0]]",
    "np.hypot(*np.ogrid[-1:1:5j, 0:a.shape[1]]) + a[0]",
)  # fmt: skip


def test_grids() -> None:
    check(
        GIVEN,
        [
            "np.mgrid[0:3, 0:4]", "np.mgrid[0:3]", "np.mgrid[0:len(a), 0:a.shape[1]]", "np.mgrid[-1:1:5j]", "np.mgrid[()]",
            "np.mgrid[-1:1:5j, 0:2]", "np.mgrid[0:1:3j, 0:2:4j, 1:3]", "np.mgrid[0:d, 0:2 * d:2]", "np.mgrid[0:e]",
            "np.mgrid[0:e:0.5, 1:2]", "np.mgrid[:3, :4]", "np.mgrid[3:0:-1, :4]", "np.mgrid[3:0:-1]", "np.mgrid[0:1:1j, 0:3]",
            "np.mgrid[0:1:0j]", "np.mgrid[0:3,]", "np.mgrid[np.float32(0):np.float32(2), 0:3]", "np.mgrid[0.5:3, 0:4]",
            "np.mgrid[0:10:3, 0:-7:-2]", "np.mgrid[0:0.3:0.1, 0:2]", "np.mgrid[0:e:4j, 0:2]", "np.mgrid[0:True, 0:2]",
            "np.mgrid[0:d:5j]", "np.mgrid[d:0:-1, 0:2]", "np.mgrid[0:0, 0:3]", "np.mgrid[1:10:2.5j]",
            "np.mgrid[0:3, 0:4][0] * d",
        ],
    )  # fmt: skip


def test_open_grids() -> None:
    check(
        GIVEN,
        [
            "np.ogrid[0:3, 0:4]", "np.ogrid[-1:1:5j, 0:2]", "np.ogrid[-1:1:5j, 0:2.5]", "np.ogrid[0:3]", "np.ogrid[5:0, 0:2]",
            "np.ogrid[0:e:4j, 0:d]", "np.ogrid[0:3, 0:4][0] * a", "y, x = np.ogrid[-d:d, -d:d]\nreturn x * x + y * y < d",
        ],
    )  # fmt: skip


def test_grids_that_go_the_other_way() -> None:
    check(
        GIVEN,
        ["np.mgrid[5:0, 0:2]", "np.mgrid[0:2, 0:-3]", "np.mgrid[d:0, 0:1]", "np.mgrid[e:0:0.5, 0:1]", "np.mgrid[0:2:0, 0:1]"],
    )


def test_joins() -> None:
    check(
        GIVEN,
        [
            "np.r_[1, 2, 3]", "np.r_[1, 2.5]", "np.r_[True, False]", "np.r_[True, 2]", "np.r_[b, 1]", "np.r_[b, 1.5, b]",
            "np.r_[c, 1]", "np.r_[c, 1.5]", "np.r_[0:5]", "np.r_[0:5, 7]", "np.r_[0:1:5j]", "np.r_[0:1:5j, b]",
            "np.r_[-1:1:6j, [0] * 3, 5, 6]", "np.r_['-1', a, a]", "np.r_['0,2', b, b]", "np.r_['0,2,0', b, b]",
            "np.r_['1,2,0', b, b]", "np.r_['1,3', b, b]", "np.r_['1,3,1', b, b]", "np.r_[a, a[:1]]", "np.r_[b[0], b, b[-1]]",
            "np.r_[d, e, f]", "np.r_[d, c]", "np.r_[f, c]", "np.r_[0:len(b)]", "np.r_[0, b[1:-1], 0]", "np.r_[b]", "np.r_[2]",
            "np.r_[[1, 2], b]", "np.r_[(1, 2),]", "np.r_[1j, b]", "np.r_[np.int8(1), 2]", "np.r_[0:d, b]", "np.r_[True, b]",
            "np.c_[b, b]", "np.c_[b, 0:4]", "np.c_[a, a[:, 0]]", "np.c_[a, b[:3]]", "np.c_[np.ones(3), a]", "np.c_[b]",
            "np.c_[1, 2, 3]", "np.c_[b[None], 0, 0, b[None]]", "np.c_[0:3, 3:6]", "np.c_[0:1:4j, b]", "np.c_[c, c]",
            "np.c_[a[None], a[None]]", "np.c_[[1, 2], [3, 4]]", "np.c_['0,2', b, b]", "np.c_[d, e]", "np.c_['1', b, b]",
        ],
    )  # fmt: skip


def test_joins_that_are_refused() -> None:
    check(
        GIVEN,
        ["np.r_[c, 1000000]", "np.r_['x', b]", "np.r_['x,2', b]", "np.r_[b, '0']", "np.r_[()]", "np.r_[a, b]",
         "np.r_['7', a, a]", "np.r_['0,2,5', b, b]", "np.r_[0:5:0]", "np.c_[a, 1]", "np.c_[b, b[:2]]",
         "np.r_[np.uint8(1), 300]"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [("np.mgrid[:, 0:2]", "slices with an end"), ("np.mgrid[3]", "slices"), ("np.r_['r', x]", "matrix"),
     ("np.mgrid[0:x[0]]", "must be a Python number"), ("np.mgrid * 2", r"np\.mgrid is used as a value")],
)  # fmt: skip
def test_what_is_not_compiled(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        call_jit(make_function("x", [text], {"np": np}), np.ones(3))


def test_everywhere() -> None:
    agree(EVERYWHERE, TABLE)
