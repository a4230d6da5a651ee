"""Exact float32 quotients and roots of several lanes at once, on GPUs: what :mod:`pytocu.passes.one_test` makes of them.

An assembler writes each division and root as arithmetic for ordinary numbers, a test, and a jump to other code for very large
and small ones; what a thread computes of one lane then waits until the test of the lane before is done.  Here all lanes are
computed as of ordinary numbers, without a jump, and what is added up from lane to lane says whether they were.  Launches
whose threads have several rows at once are written so: elsewhere memory is what a kernel waits for, or the test takes as long
as what it saves.  The steps for ordinary numbers, each rounded once, are

    near = a * y,   rest = b * near - a,      quotient = near - rest * y       with y next to 1 / b
    near = x * y,   rest = near * near - x,   root = near - rest * (y / 2)     with y next to 1 / sqrt(x)

Where all lanes divide by one number, `y` is the float32 that is nearest to 1 / b, computed once; otherwise it is an
instruction's and, for quotients, a step of Newton's method.  :mod:`pytocu.testing.quotients` shows why the results are the
nearest float32, and computes all that could be wrong.

What is tested are magnitudes: far from where float32 end, the rest is exact and no result is subnormal.  Infinities,
NaN and negative radicands do not pass.  A zero over one divisor of all lanes, which is positive, keeps its sign; other
zeros do not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pytocu.ir.builder import Builder
from pytocu.ir.core import Inst, Value
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.types import F32, U32, ScalarType, scalar

LARGE = 2.0**60
"""Numerators over a divisor that all lanes have, and quotients by divisors of each lane, are not larger, as the sum of the
squares says."""

INVERSES = 2.0**40
"""Nor are reciprocals of divisors of each lane."""

SMALL = 2.0**-60
"""Such quotients are not smaller, so that the rest is a multiple of the smallest float32; the reciprocal of what is larger
than 2**126 is 0, and so is the quotient."""

SHARED = (2.0**-64, 2.0**32)
"""Between these is a divisor that all lanes have."""

SMALL_OF_SHARED = 2.0**-92
"""Numerators over such a divisor are 0 or not smaller: the rest is a multiple of the smallest float32."""

RADICANDS = (2.0**-100, 2.0**120)


class Sum(NamedTuple):
    """What goes from lane to lane: where it starts, what an ordinary number makes of it, and what it is at the end."""

    start: float
    type: ScalarType
    passes: Callable[[Real], Real]


_F32, _U32 = scalar(F32), scalar(U32)


def _doubled(value: float) -> int:
    """Twice the bits of a positive float32, which leave out its sign."""
    return 2 * int(np.float32(value).view(np.uint32))


SUMS = {
    "squares": Sum(0.0, _F32, lambda sum: sum <= LARGE**2),
    "radicands": Sum(0.0, _F32, lambda sum: sum <= RADICANDS[1]),
    "inverse roots": Sum(0.0, _F32, lambda sum: sum <= 1 / RADICANDS[0]),
    "inverses": Sum(0.0, _F32, lambda sum: sum <= INVERSES**2),
    "least quotient": Sum(0xFFFFFFFF, _U32, lambda least: least >= _doubled(SMALL)),
    "numerators of one divisor": Sum(0xFFFFFFFF, _U32, lambda least: least >= _doubled(SMALL_OF_SHARED) - 1),
}
"""What divisions and roots add up."""


def sums_of(inst: Inst, shared: bool) -> tuple[str, ...]:
    """Names of what a root, or a division by a number that all lanes have or by one of each, adds up."""
    if inst.op.name == "sqrt":
        return "radicands", "inverse roots"
    return ("squares", "numerators of one divisor") if shared else ("squares", "inverses", "least quotient")


def inverse_of(b: Real) -> tuple[Real, Real]:
    """The reciprocal of a divisor that all lanes have, and whether the divisor is ordinary."""
    return b.of(1.0) / b, (b >= SHARED[0]) & (b <= SHARED[1])


class Quick:
    """Writes divisions and roots as of ordinary numbers, and adds up what tells whether they are."""

    def __init__(self, builder: Builder, inverses: dict[Value, Value], sums: dict[str, Value]):
        self.e, self.inverses = Expander(builder), inverses
        self.sums = {name: Real(self.e, value) for name, value in sums.items()}

    def write(self, inst: Inst, args: Sequence[Value]) -> Value:
        """The quotient or the root of ordinary numbers."""
        x, *rest = (Real(self.e, a) for a in args)
        if inst.op.name == "sqrt":
            return self.root(x).value
        inverse = self.inverses.get(args[1])
        return self.quotient(x, rest[0], None if inverse is None else Real(self.e, inverse)).value

    def square(self, name: str, x: Real) -> None:
        self.sums[name] = x.fma(x, self.sums[name])

    def quotient(self, a: Real, b: Real, inverse: Real | None) -> Real:
        if inverse is not None:
            self.square("squares", a)
            bits = a.bitcast(U32)
            # A zero becomes the largest.
            self.least("numerators of one divisor", bits + bits - 1)
            near = a * inverse
            return _corrected(near, b.fma(near, -a), inverse)
        inverse = b.row("near_reciprocal")
        self.square("inverses", inverse)
        inverse = b.fma(-inverse, 1.0).fma(inverse, inverse)
        near = a * inverse
        made = _corrected(near, b.fma(near, -a), inverse)
        self.square("squares", made)
        bits = made.bitcast(U32)
        self.least("least quotient", bits + bits)
        return made

    def least(self, name: str, bits: Real) -> None:
        self.sums[name] = (bits < self.sums[name]).choose(bits, self.sums[name])

    def root(self, x: Real) -> Real:
        # Of what is negative, the inverse is NaN.
        inverse = x.row("near_inverse_root")
        self.sums["radicands"] = x + self.sums["radicands"]
        self.square("inverse roots", inverse)
        near = x * inverse
        return _corrected(near, near.fma(near, -x), inverse * 0.5)


def _corrected(near: Real, rest: Real, inverse: Real) -> Real:
    # Written so, a zero keeps its sign where the inverse is positive.
    return (-rest).fma(inverse, near)
