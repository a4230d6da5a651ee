"""Divisions and roots in loops that wait for the divider, by multiplications that give the same bits.

A processor divides a vector in the time of twenty multiplications, while its other units wait.  Where the loop has little
else to do, an estimate is made better with fused multiply-adds, whose last one rounds once:

* ``a / b``, where b is the same for all elements and y is 1 / b, rounded: ``q = a * y``, then ``q - (b * q - a) * y``.  Where
  a quotient is near the middle of two floats, q is one of these, and the sum in front of its rounding is wrong by less than
  what lies between any quotient and that middle.
* ``sqrt(a)``, from an estimate of the inverse root with 14 bits: one step for the root and half of its inverse, and
  one more for the root.

Both are right as long as no difference is a subnormal number; where one may be, the instruction does all lanes, behind a
jump.  A loop with a jump is no vector code, so this is done as in :mod:`pytocu.backend.guards`: the code calls functions that
are declared with vector variants, and the definitions are linked after LLVM has vectorised.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence

from pytocu.backend.guards import LANES, vector_type
from pytocu.backend.llvm_dialect import literal
from pytocu.ir.core import Inst, Value, walk
from pytocu.ir.types import F32, F64, DType, ScalarType, element
from pytocu.record import Record

PREFIX = "exact."
"""Stands before the name of a function that gives an instruction's bits."""

REGISTER = 512
"""Bits of the least vectors whose variants multiply: of smaller ones the divider takes two in the time."""

_ATTRIBUTES = "nounwind willreturn memory(none)"


class _Format(Record):
    """What is known of a dtype.

    Parameters
    ----------
    digits, bias : int
    divisor : tuple of int
        Powers of two, the least and the one behind the largest divisor whose quotients are made by multiplication.  Of a larger
        divisor, what a subnormal quotient leaves of the dividend need not be subnormal.
    divides, roots : float
        Cycles of the divider for a register of 16 float32 or as many float64, in two.
    """

    digits: int
    bias: int
    divisor: tuple[int, int]
    divides: float
    roots: float


FORMATS = {F32: _Format(23, 127, (-100, 22), 9, 11), F64: _Format(52, 1023, (-900, 51), 30, 40)}
"""Cycles were measured on an Intel Xeon of the fifth generation."""

_ROOTS = (-96, 128)
"""Powers of two, the least and the one behind the largest float32 whose root is made by multiplication."""

_SUBNORMAL_OR_NOT_FINITE = 0x80 | 0x20 | 0x10 | 0x08 | 0x01
"""Kinds of numbers as an instruction of AVX-512 has them: signalling NaN, subnormal, both infinities, NaN."""

_QUOTIENT, _ROOT, _WAITING = 7, 13, 3
"""Instructions of a quotient and a root that are made, with the test, and of one that the divider makes."""


def spared(loop: Inst, written: Collection[Value]) -> frozenset[Inst]:
    """The divisions and roots of a loop that are faster by multiplication.

    Parameters
    ----------
    loop : Inst
    written : collection of Value
        Pointers through which the kernel changes memory.
    """
    insts = list(walk(loop.regions[0]))
    slow = [i for i in insts if i.op.name in ("divide", "sqrt") and _is_plain(i)]
    if not slow or any(i.op.name in ("for", "while") for i in insts):
        return frozenset()
    inside = {r: i for i in insts for r in i.results} | dict.fromkeys(loop.regions[0].params)
    same: dict[Value, bool] = {}

    def stays(value: Value) -> bool:
        """Whether all iterations have the same value."""
        if value not in inside:
            return True
        if value not in same:
            inst = inside[value]
            same[value] = inst is not None and _is_pure(inst, written) and all(map(stays, inst.args))
        return same[value]

    moving = [i for i in slow if not stays(i.args[0])]
    quotients = [i for i in moving if i.op.name == "divide" and stays(i.args[1]) and not _is_power(i.args[1])]
    roots = [i for i in moving if i.op.name == "sqrt" and element(i.types[0]) is F32]
    waits = sum(_cycles(i) for i in slow)
    work = sum(_registers(i) * (_WAITING if i in slow else 1) for i in insts if _is_work(i))
    found: list[Inst] = []
    # Two instructions start in a cycle.
    for candidates, steps in ((quotients, _QUOTIENT), (roots, _ROOT)):
        more = sum(_registers(i) for i in candidates) * (steps - _WAITING)
        if candidates and work + more < 2 * waits:
            found += candidates
            work += more
            waits -= sum(map(_cycles, candidates))
    return frozenset(found)


def _is_plain(inst: Inst) -> bool:
    return isinstance(inst.types[0], ScalarType) and element(inst.types[0]) in FORMATS and not inst.attr("fastmath", ())


def _is_pure(inst: Inst, written: Collection[Value]) -> bool:
    """Whether an instruction gives the same result for the same operands."""
    return inst.op.kind in ("elementwise", "const") or (inst.op.name == "load" and inst.args[0] not in written)


def _is_work(inst: Inst) -> bool:
    """Whether an instruction of vector units, of which a comparison is most often a part of the one that takes it."""
    return inst.op.kind == "elementwise" and isinstance(inst.types[0], ScalarType) and element(inst.types[0]).kind != "b"


def _registers(inst: Inst) -> int:
    return 2 if element(inst.types[0]).bits == 64 else 1


def _cycles(inst: Inst) -> float:
    format = FORMATS[element(inst.types[0])]
    return format.divides if inst.op.name == "divide" else format.roots


def _is_power(value: Value) -> bool:
    """Whether it is a constant whose inverse is exact, by which LLVM multiplies."""
    if value.inst is None or value.inst.op.name != "const":
        return False
    return abs(math.frexp(value.inst.attr("value"))[0]) == 0.5


def divisor(dtype: DType, value: str) -> tuple[list[str], list[str]]:
    """Lines that compute what a quotient takes of its divisor, and the names of what they compute.

    These are a power of two with the divisor's sign, by which the divisor is at least 1, or NaN; the divisor times it; and the
    inverse of that.  In the lines, names are the fields ``0``, ``1`` ...

    Parameters
    ----------
    dtype : DType
    value : str
        The divisor.
    """
    format, type, word = FORMATS[dtype], vector_type(dtype, 1), f"i{dtype.bits}"
    least, most = format.divisor
    magnitude = (1 << (dtype.bits - 1)) - 1
    exponent = (magnitude >> format.digits) << format.digits
    one, twice = format.bias << format.digits, 2 * format.bias << format.digits
    lines = [
        f"bitcast {type} {value} to {word}",
        f"and {word} {{0}}, {exponent}",
        # The exponent with the other sign, and 0 for numbers that are at least 1.
        f"sub {word} {twice}, {{1}}",
        f"icmp ult {word} {{1}}, {one}",
        f"select i1 {{3}}, {word} {{2}}, {word} {one}",
        f"sub {word} {{1}}, {(least + format.bias) << format.digits}",
        f"icmp ult {word} {{5}}, {(most - least) << format.digits}",
        f"select i1 {{6}}, {word} {{4}}, {word} {exponent | 1 << (format.digits - 1)}",
        f"and {word} {{0}}, {-magnitude - 1}",
        f"or {word} {{7}}, {{8}}",
        f"bitcast {word} {{9}} to {type}",
        f"fmul {type} {value}, {{10}}",
        f"fdiv {type} {literal(1.0, dtype)}, {{11}}",
    ]
    return lines, ["{10}", "{11}", "{12}"]


def declare(function: str, dtype: DType) -> tuple[list[str], str, str]:
    """Declarations of ``divide`` or ``sqrt``, its name, and the attributes of a call.

    A quotient takes the dividend, the divisor, and what :func:`divisor` makes of this.
    """
    name = _named(function, dtype)
    count = len(_PARAMETERS[function])
    lines: list[str] = []
    for lanes in (1, *LANES[dtype]):
        params = ", ".join([vector_type(dtype, lanes)] * count)
        lines.append(f"declare {vector_type(dtype, lanes)} @{_variant(name, lanes)}({params}) {_ATTRIBUTES}")
    table = ",".join(f"_ZGV_LLVM_N{n}{'v' * count}_{name}({_variant(name, n)})" for n in LANES[dtype])
    return lines, name, f'{_ATTRIBUTES} "vector-function-abi-variant"="{table}"'


_PARAMETERS = {"divide": ("a", "b", "scale", "c", "y"), "sqrt": ("a",)}


def _named(function: str, dtype: DType) -> str:
    return f"{PREFIX}{function}{'f' if dtype is F32 else ''}"


def _variant(name: str, lanes: int) -> str:
    return name if lanes == 1 else f"{name}.{lanes}"


def declared(names: Iterable[str]) -> list[str]:
    """The functions of this module that some of these names are, or are a variant of."""
    return sorted({match[0] for name in names if (match := re.match(rf"{re.escape(PREFIX)}\w+", name))})


def shares(names: Iterable[str]) -> bool:
    """Whether the divider makes a part of what these functions give."""
    return _named("sqrt", F32) in names


def shared_out(text: str) -> str:
    """The module after LLVM has vectorised, where every second register of roots is the divider's, which works meanwhile."""
    name = _variant(_named("sqrt", F32), REGISTER // F32.bits)
    parts = re.split(rf"(?<=call )(<\d+ x float>) @{re.escape(name)}(?=\()", text)
    # Between the calls stand their types.
    root = f"@llvm.sqrt.v{REGISTER // F32.bits}f32"
    calls = range(1, len(parts), 2)
    for number in calls:
        parts[number] += f" {root}" if number % 4 == 3 else f" @{name}"
    made = "".join(parts)
    if len(calls) > 1 and f"declare <{REGISTER // F32.bits} x float> {root}(" not in made:
        made += f"\ndeclare <{REGISTER // F32.bits} x float> {root}(<{REGISTER // F32.bits} x float>)\n"
    return made


def definitions(names: Iterable[str], features: Collection[str]) -> str:
    """The module that defines functions which :func:`declare` declared, for linking.

    Parameters
    ----------
    names : iterable of str
        Names of the functions without a variant's number, such as ``exact.dividef``.
    features : collection of str
        Of the processor, as LLVM names them: ``+avx512f``.
    """
    parts: list[str] = []
    # Several functions share these.
    declarations: set[str] = set()
    for name in names:
        function = name.removeprefix(PREFIX)
        dtype = F32 if function.endswith("f") else F64
        function = function.removesuffix("f")
        for lanes in (1, *LANES[dtype]):
            multiplies = lanes * dtype.bits >= REGISTER and "+avx512dq" in features
            write = (_quotient if function == "divide" else _root) if multiplies else _instruction
            # Masks of two registers would have to be joined before they are looked at.
            write = _halves if multiplies and lanes * dtype.bits > REGISTER else write
            parts.append(write(function, dtype, lanes, declarations))
    parts += sorted(declarations)
    parts.append('!0 = !{!"branch_weights", i32 1, i32 1000000}')
    return "\n".join(parts) + "\n"


def _head(function: str, dtype: DType, lanes: int) -> str:
    type = vector_type(dtype, lanes)
    params = ", ".join(f"{type} %{p}" for p in _PARAMETERS[function])
    name = _variant(_named(function, dtype), lanes)
    return f"define available_externally {type} @{name}({params}) alwaysinline {_ATTRIBUTES} {{"


def _instruction(function: str, dtype: DType, lanes: int, declarations: set[str]) -> str:
    """What the processor's own instruction gives."""
    type = vector_type(dtype, lanes)
    if function == "divide":
        line = f"fdiv {type} %a, %b"
    else:
        root = f"@llvm.sqrt.{dtype.name if lanes == 1 else f'v{lanes}{dtype.name}'}"
        line = f"call {type} {root}({type} %a)"
        declarations.add(f"declare {type} {root}({type})")
    return f"{_head(function, dtype, lanes)}\n  %r = {line}\n  ret {type} %r\n}}"


def _splat(type: str, value: object, lanes: int) -> str:
    return f"<{', '.join([f'{type} {value}'] * lanes)}>"


def _quotient(function: str, dtype: DType, lanes: int, declarations: set[str]) -> str:
    """A register of quotients.

    What the first one leaves of the dividend is subnormal, infinite or NaN where it may be wrong.  It is zero for zeros, and is
    subtracted, so that these keep their sign.
    """
    type = vector_type(dtype, lanes)
    fma = f"@llvm.fma.v{lanes}{dtype.name}"
    kind = f"@llvm.x86.avx512.fpclass.p{'s' if dtype is F32 else 'd'}.{REGISTER}"
    declarations |= {f"declare {type} {fma}({type}, {type}, {type})", f"declare <{lanes} x i1> {kind}({type}, i32)"}
    return f"""{_head(function, dtype, lanes)}
  %scaled = fmul {type} %a, %scale
  %near = fmul {type} %scaled, %y
  %minus = fneg {type} %scaled
  %rest = call {type} {fma}({type} %c, {type} %near, {type} %minus)
  %rare = call <{lanes} x i1> {kind}({type} %rest, i32 {_SUBNORMAL_OR_NOT_FINITE})
  %mask = bitcast <{lanes} x i1> %rare to i{lanes}
  %any = icmp ne i{lanes} %mask, 0
  br i1 %any, label %slow, label %fast, !prof !0
slow:
  %whole = fdiv {type} %a, %b
  br label %done
fast:
  %less = fneg {type} %rest
  %better = call {type} {fma}({type} %less, {type} %y, {type} %near)
  br label %done
done:
  %r = phi {type} [ %whole, %slow ], [ %better, %fast ]
  ret {type} %r
}}"""


def _root(function: str, dtype: DType, lanes: int, declarations: set[str]) -> str:
    """A register of roots; zeros, negative numbers and what is not finite are the instruction's."""
    format = FORMATS[dtype]
    type, bits = vector_type(dtype, lanes), f"<{lanes} x i{dtype.bits}>"
    least, most = _ROOTS
    low = _splat(f"i{dtype.bits}", (least + format.bias) << format.digits, lanes)
    high = _splat(f"i{dtype.bits}", ((most - least) << format.digits) - 1, lanes)
    half = _splat("float", literal(0.5, dtype), lanes)
    fma, root = f"@llvm.fma.v{lanes}f32", f"@llvm.sqrt.v{lanes}f32"
    near = f"@llvm.x86.avx512.rsqrt14.ps.{REGISTER}"
    declarations |= {
        f"declare {type} {fma}({type}, {type}, {type})",
        f"declare {type} {root}({type})",
        f"declare {type} {near}({type}, {type}, i{lanes})",
    }
    return f"""{_head(function, dtype, lanes)}
  %bits = bitcast {type} %a to {bits}
  %above = sub {bits} %bits, {low}
  %rare = icmp ugt {bits} %above, {high}
  %mask = bitcast <{lanes} x i1> %rare to i{lanes}
  %any = icmp ne i{lanes} %mask, 0
  br i1 %any, label %slow, label %fast, !prof !0
slow:
  %whole = call {type} {root}({type} %a)
  br label %done
fast:
  %inverse = call {type} {near}({type} %a, {type} zeroinitializer, i{lanes} -1)
  %g = fmul {type} %a, %inverse
  %h = fmul {type} %inverse, {half}
  %minus = fneg {type} %g
  %wrong = call {type} {fma}({type} %minus, {type} %h, {type} {half})
  %g2 = call {type} {fma}({type} %g, {type} %wrong, {type} %g)
  %h2 = call {type} {fma}({type} %h, {type} %wrong, {type} %h)
  %minus2 = fneg {type} %g2
  %rest = call {type} {fma}({type} %minus2, {type} %g2, {type} %a)
  %better = call {type} {fma}({type} %rest, {type} %h2, {type} %g2)
  br label %done
done:
  %r = phi {type} [ %whole, %slow ], [ %better, %fast ]
  ret {type} %r
}}"""


def _halves(function: str, dtype: DType, lanes: int, declarations: set[str]) -> str:
    """Two vectors of half as many."""
    type, half = vector_type(dtype, lanes), vector_type(dtype, lanes // 2)
    name = _variant(_named(function, dtype), lanes // 2)
    first, second, both = (_places(r) for r in (range(lanes // 2), range(lanes // 2, lanes), range(lanes)))
    letters = _PARAMETERS[function]
    steps: list[str] = []
    for number, places in enumerate((first, second)):
        steps += [f"  %{p}{number} = shufflevector {type} %{p}, {type} poison, {places}" for p in letters]
        given = ", ".join(f"{half} %{p}{number}" for p in letters)
        steps.append(f"  %r{number} = call {half} @{name}({given})")
    shares = "\n".join(steps)
    return f"""{_head(function, dtype, lanes)}
{shares}
  %r = shufflevector {half} %r0, {half} %r1, {both}
  ret {type} %r
}}"""


def _places(lanes: Sequence[int]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
