"""What a mask chooses on a CPU, where the loops walk through the mask itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.dims import symbol
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.passes.compaction_loops import BLOCK, FEW, RUN
from pytocu.passes.known_positions import Known, equal_lengths
from pytocu.passes.split import ROW_PIECE
from pytocu.testing.compare import compare

PIECE = ROW_PIECE["cpu"]
RANDOM = np.random.default_rng(0)
COUNTS = (0, 1, FEW, FEW + 1, RUN // 2, RUN - 1, RUN)
"""True elements of a run: none, few, many and all."""


def chosen(x: np.ndarray, m: np.ndarray) -> Any:
    return x[m], np.nonzero(m)[0]


def elements(x: np.ndarray, y: np.ndarray, m: np.ndarray) -> Any:
    return x[m], (y * 2)[m]


def positions(m: np.ndarray) -> Any:
    return np.nonzero(m)


def mask_of(length: int) -> np.ndarray:
    """Runs with each of `COUNTS` true elements, and what is left of the last one."""
    runs = [RANDOM.permutation(RUN) < COUNTS[k % len(COUNTS)] for k in range(length // RUN + 1)]
    return np.concatenate(runs)[:length]


def same(function: Any, *arguments: Any) -> None:
    expected = function(*arguments)
    for found, wanted in zip(pytocu.jit(function)(*arguments), expected, strict=True):
        compare(found, wanted)


def steps_of(function: Any, *arguments: Any) -> list[str]:
    return [inst.op.name for inst in pytocu.jit(function).lower(*arguments).history("cpu", stop="compactions").records[-1]
            .function.body.insts]  # fmt: skip


def test_every_length_of_a_run_and_a_block() -> None:
    f, g = pytocu.jit(chosen), pytocu.jit(elements)
    lengths = [*range(2, 2 * RUN + 3), BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + RUN + 5, PIECE, PIECE + 1, 3 * PIECE + 70]
    for length in lengths:
        x, y, whole = RANDOM.random(length), RANDOM.random(length, np.float32), mask_of(length)
        for m in (whole, whole[::-1].copy(), ~whole, np.zeros(length, bool), np.ones(length, bool)):
            for found, wanted in zip((*f(x, m), *g(x, y, m)), (*chosen(x, m), *elements(x, y, m)), strict=True):
                compare(found, wanted)


def test_no_position_is_searched_among_counts() -> None:
    x, m = RANDOM.random(500), mask_of(500)
    assert "search" not in steps_of(chosen, x, m) and "search" not in steps_of(elements, x, x + 1, m)


def test_nothing_outside_of_memory_is_touched() -> None:
    long = np.zeros(BLOCK + RUN + 3, bool)
    long[[0, 5, BLOCK - 1, BLOCK + 1, -1]] = long[RUN : 2 * RUN] = True
    for m in (mask_of(3 * RUN), mask_of(len(COUNTS) * RUN + 6), long):
        x = RANDOM.random(len(m))
        for function, arguments in ((chosen, (x, m)), (elements, (x, x[::-1].copy(), m)))[: 1 + (m is not long)]:
            # The interpreter says what is read or written outside, or read before it is written.
            found = interp.run(pytocu.jit(function).lower(*arguments).host("cpu"), list(arguments))
            for one, wanted in zip(found, function(*arguments), strict=True):
                np.testing.assert_array_equal(one, wanted)


def test_pieces_with_nothing_in_them() -> None:
    m = np.zeros(4 * PIECE + 9, bool)
    for places in ((), (0,), (PIECE - 1, PIECE), (3 * PIECE,), (len(m) - 1,), (2 * PIECE + 5, len(m) - 9)):
        m[...] = False
        m[list(places)] = True
        same(positions, m)
        same(elements, np.arange(len(m)), np.arange(len(m)) * 0.5, m)


def test_masks_however_they_lie() -> None:
    flat = mask_of(60 * 50)
    rows, columns = flat.reshape(60, 50), np.asfortranarray(flat.reshape(60, 50))
    # Any byte but 0 is true.
    bytes_ = (RANDOM.integers(0, 3, 3000).astype(np.uint8) * 7).view(bool)
    x = RANDOM.random((60, 50))
    def both(x: np.ndarray, m: np.ndarray) -> Any:
        return x[m], *np.nonzero(m)

    for m in (rows, columns[3:], rows[::-1, ::2], np.broadcast_to(flat[:50], (60, 50))):
        same(both, np.arange(m.size).reshape(m.shape), m)
    for m in (flat[::-1], flat[5::3], flat[1:], bytes_):
        same(both, np.arange(len(m)) * 1j, m)
    same(lambda x, m: (x[:, m], x[m.copy().repeat(2)[:60], 3:]), x, flat[:50])


def test_masks_that_are_computed_are_computed_once() -> None:
    def exceeding(x: np.ndarray) -> Any:
        return x[np.exp(x) > 1.5], x[np.exp(x) > 1.5] * 2

    x = RANDOM.standard_normal(3 * PIECE)
    same(exceeding, x)
    fused = pytocu.jit(exceeding).lower(x).history("cpu", stop="fuse").records[-1].function
    assert sum(inst.op.name == "exp" for inst in walk(fused.body)) == 1


def test_sums_of_what_was_chosen_beside_what_is_chosen() -> None:
    def scaled(x: np.ndarray, w: np.ndarray) -> Any:
        m = x > 0.5
        # A sum of what was sorted goes over as many elements as are chosen.
        y = np.sort(x[m])
        return (w * y.sum())[m], y / y.max(), np.cumsum(w[m]), (w[m] - y)[::-1]

    x = RANDOM.integers(-8, 8, 3000) * 0.25
    same(scaled, x, np.arange(3000.0))
    same(scaled, x.repeat(50), np.arange(150000.0))


def test_masks_that_change_afterwards() -> None:
    def emptied(x: np.ndarray, m: np.ndarray) -> Any:
        y = x[m]
        m[...] = False
        x[...] = 0
        return y, np.nonzero(m)[0]

    def in_steps(x: np.ndarray, n: int) -> Any:
        m = x > 0
        for _ in range(n):
            m[np.nonzero(m)[0][::2]] = False
        return x[m], m

    for length in (100, 2 * PIECE):
        x, m = RANDOM.standard_normal(length), mask_of(length)
        expected = emptied(x.copy(), m.copy())
        for found, wanted in zip(pytocu.jit(emptied)(x.copy(), m.copy()), expected, strict=True):
            compare(found, wanted)
        same(in_steps, x, 3)


def test_a_gpu_searches() -> None:
    low = pytocu.jit(positions).lower(mask_of(500))
    assert any(inst.op.name == "search" for inst in low.history("cuda", stop="compactions").records[-1].function.body.insts)


def test_stretches_of_true_elements() -> None:
    f, g = pytocu.jit(chosen), pytocu.jit(elements)
    for length in (BLOCK, BLOCK + RUN, 3 * BLOCK + 5, 2 * PIECE + RUN + 1):
        x, y = RANDOM.random(length), RANDOM.random(length, np.float32)
        ends = (0, 1, RUN - 1, RUN, BLOCK - 1, BLOCK, PIECE - 1, PIECE, length - RUN, length - 2, length - 1)
        for place in (p for p in ends if p < length):
            for m in (np.arange(length) != place, np.arange(length) < place, np.arange(length) > place):
                for found, wanted in zip((*f(x, m), *g(x, y, m)), (*chosen(x, m), *elements(x, y, m)), strict=True):
                    compare(found, wanted)


def test_stretches_in_what_is_computed_of_the_chosen() -> None:
    def computed(x: np.ndarray, m: np.ndarray, table: np.ndarray) -> Any:
        return 1 / (x[m] + 1), table[np.nonzero(m)[0] % 7], np.argwhere(m), x[m].sum(), x[m][::-1]

    for length in (BLOCK + 77, 2 * PIECE + 77):
        x, m = RANDOM.integers(0, 5, length) * 0.25, np.arange(length) % 5000 < 4000
        same(computed, x, m, np.arange(7.0))
        # An element's bits do not depend on the loop that it is in.
        compare(pytocu.jit(lambda x, m: np.exp(x[m]))(x, m), pytocu.jit(lambda x: np.exp(x))(x)[m])


def test_a_mask_as_long_as_the_array_leaves_every_position_as_it_is() -> None:
    def both(x: np.ndarray, m: np.ndarray, first: bool) -> Any:
        total = 0.0
        if first:
            total = x[m].sum()
        return total, np.compress(m, x)

    x, m = np.arange(100.0), np.arange(100) % 3 == 0
    for first in (False, True):
        same(both, x, m, first)
    same(both, x, m[:40], False)
    assert "minimum" not in chosen_source()
    for wrong in (m[:40], m.repeat(2)):
        with pytest.raises(IndexError, match="boolean index did not match"):
            pytocu.jit(chosen)(x, wrong)


def checked(first: str, second: str, kind: str = "equal") -> str:
    return f'check {{dims = ({first}, {second}, 0), kind = "{kind}", shapes = ("IndexError", "", ({first},), ({second},))}}\n'


def test_lengths_are_equal_behind_their_check_alone() -> None:
    launch = 'launch %x, %x {name = "k", outputs = 1} (%x: f64[n]) {\nyield %x\n}\n'
    inside = f"(%x: f64[n]) {{\n{checked('m', 'n')}{launch}yield\n}} (%x: f64[n]) {{\nyield\n}}\n"
    branch = f"if_else %t, %x {{carried = 0}} {inside}"
    others = checked("n", "m", "index") + checked("seen", "n") + checked("n", "n + 1")
    text = launch + branch + launch + checked("k", "m * n") + others + launch + checked("m", "n") + launch
    plan = parse_function(f"host func @f(%x: f64[n], %y: f64[m], %z: f64[k], %t: bool) {{\n{text}return %x {{tree = 0}}\n}}")
    n, m, k = map(symbol, "nmk")
    facts = [Known(equal=equal) for equal in equal_lengths(plan).values()]
    assert [f.is_same(m, n) for f in facts] == [False, True, False, False, True]
    assert [f.is_same(k, n * m) for f in facts] == [False, False, False, True, True]
    assert [f.is_same(k, n * n) for f in facts] == [False, False, False, False, True]


def chosen_source() -> str:
    x = np.arange(100.0)
    plan = pytocu.jit(lambda x, m: x[m]).lower(x, x > 3).history("cpu", stop="lower-loops").records[-1].function
    return print_function(plan)
