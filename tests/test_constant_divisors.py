"""What divides integers by constants where libNVVM does not optimise: the lines, run by the CPU's LLVM."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytocu.backend.llvm_dialect import NVVM, NVVM_AS_WRITTEN, Dialect
from pytocu.backend.llvm_rows import reciprocal
from pytocu.backend.nvvm_writer import VectorWriter
from pytocu.ir.builder import Builder
from pytocu.ir.types import I32, I64, INDEX, U32, U64, DType, scalar

UPPER = """
define {type} @llvm_nvvm_mulhi_{name}({type} %x, {type} %y) {{
  %a = {extend} {type} %x to {wide}
  %b = {extend} {type} %y to {wide}
  %p = mul {wide} %a, %b
  %h = lshr {wide} %p, {bits}
  %r = trunc {wide} %h to {type}
  ret {type} %r
}}
"""
HALVES = "".join(
    UPPER.format(type=f"i{bits}", wide=f"i{2 * bits}", bits=bits, name=mark + name, extend="zext" if mark else "sext")
    for bits, name in ((32, "i"), (64, "ll"))
    for mark in ("", "u")
)
"""NVIDIA's intrinsics for the upper half of a product, which a CPU has none of."""


@given(st.data())
def test_reciprocals_divide(data: st.DataObject) -> None:
    bits = data.draw(st.sampled_from([31, 32, 63, 64]))
    width = 32 if bits <= 32 else 64
    divisor = data.draw(st.integers(3, 2**bits - 1).filter(lambda d: d & (d - 1)))
    factor, shift = reciprocal(divisor, bits)
    assert factor < 2 ** (bits + 1)
    multiple = data.draw(st.integers(0, (2**bits - 1) // divisor)) * divisor
    for number in (data.draw(st.integers(0, 2**bits - 1)), multiple, max(multiple - 1, 0), 2**bits - 1):
        assert number * factor >> (width + shift) == number // divisor


def lines_of(
    row: str, dtype: DType | None, divisor: int, natural: bool = False, dialect: Dialect = NVVM_AS_WRITTEN
) -> tuple[str, str, str]:
    """The lines of one division, the name of the result, and the type."""
    type = INDEX if dtype is None else scalar(dtype)
    b = Builder()
    x = b.param(type, "x")
    result = b.emit(row, (x, b.const(divisor, type)))
    b.inst("return")
    function = b.function("k", "loop", (x,), (("index_bits", 32),))
    writer = VectorWriter(function, dialect, set())
    writer.values[x] = "%x"
    if natural:
        writer.natural.add(x)
    for inst in function.body.insts[:-1]:
        writer.inst(inst)
    return "\n".join(writer.lines), writer.values[result], writer.type(type)


def compiled(text: str, result: str, type: str) -> tuple[llvm.ExecutionEngine, Callable[[int], int]]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    body = text.replace("@llvm.nvvm.mulhi.", "@llvm_nvvm_mulhi_")
    module = llvm.parse_assembly(f"{HALVES}\ndefine {type} @k({type} %x) {{\n{body}\n  ret {type} {result}\n}}")
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    number = {"i32": ctypes.c_uint32, "i64": ctypes.c_uint64}[type]
    return engine, ctypes.CFUNCTYPE(number, number)(engine.get_function_address("k"))


@pytest.mark.parametrize("row", ["divide_truncated", "remainder_truncated"])
@pytest.mark.parametrize("kind", [I32, U32, I64, U64, None, "natural"], ids=str)
def test_lines_divide_towards_zero(kind: DType | str | None, row: str) -> None:
    natural = kind == "natural"
    dtype = None if natural else kind
    limits = np.iinfo(np.int32 if dtype is None else dtype.numpy)
    lowest, highest = 0 if natural else int(limits.min), int(limits.max)
    draw = random.Random(row)
    divisors = [2, 3, 5, 7, 8, 11, 100, 641, 1023, 1024, highest // 2 + 1, highest - 1, highest]
    for divisor in [*divisors, *(draw.randrange(3, highest) for _ in range(8))]:
        text, result, type = lines_of(row, dtype, divisor, natural)
        assert "div " not in text and "rem " not in text
        engine, function = compiled(text, result, type)
        near = [multiple + e for multiple in (0, divisor, -divisor, highest // divisor * divisor) for e in (-1, 0, 1)]
        numbers = [*near, lowest, lowest + 1, highest, highest - 1, *(draw.randint(lowest, highest) for _ in range(50))]
        for number in filter(lambda n: lowest <= n <= highest, numbers):
            quotient = abs(number) // divisor * (1 if number >= 0 else -1)
            want = quotient if row == "divide_truncated" else number - quotient * divisor
            assert function(number % 2**limits.bits) == want % 2**limits.bits, (number, divisor)
        del engine


def test_natural_numbers_take_fewer_lines() -> None:
    lines = {natural: lines_of("divide_truncated", None, 3, natural)[0].count("\n") + 1 for natural in (False, True)}
    assert lines == {False: 3, True: 1}


def test_an_optimiser_is_given_divisions() -> None:
    assert "sdiv i32 %x, 3" in lines_of("divide_truncated", None, 3, dialect=NVVM)[0]
    assert "sdiv i32 %x, 1" in lines_of("divide_truncated", None, 1)[0]
