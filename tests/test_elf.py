"""Object files for x86-64: placed and relocated as LLVM's own linker would, and never half."""

from __future__ import annotations

import ctypes
import gc
import platform
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from pytocu.backend import cpu
from pytocu.errors import BackendError
from pytocu.runtime import elf, native

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="places code for x86-64")

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4})")

# A jump table, vector constants of 64 bytes, a string of constants, external functions, a call between two functions.
PROGRAM = """
@table = private unnamed_addr constant [6 x double] [double 1.5, double 2.5, double 3.5, double 4.5, double 5.5, double 6.5]
declare double @math.cbrt(double)
declare float @math.sinf(float)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define double @chosen(i64 %which) noinline {
  switch i64 %which, label %other [
    i64 0, label %zero
    i64 1, label %one
    i64 2, label %two
    i64 3, label %three
    i64 4, label %four
  ]
zero:
  %a = call double @math.cbrt(double 27.0) nobuiltin
  ret double %a
one:
  %s = call float @math.sinf(float 1.0) nobuiltin
  %b = fpext float %s to double
  ret double %b
two:
  %place = getelementptr double, ptr @table, i64 %which
  %c = load double, ptr %place
  ret double %c
three:
  %again = call double @chosen(i64 2)
  %d = fmul double %again, 2.0
  ret double %d
four:
  ret double 0.25
other:
  %inner = urem i64 %which, 6
  %p = getelementptr double, ptr @table, i64 %inner
  %e = load double, ptr %p
  ret double %e
}

define void @fill(ptr %slots, i64 %begin, i64 %end) {
  %out = load ptr, ptr %slots
  %size.at = getelementptr i64, ptr %slots, i64 1
  %size = load i64, ptr %size.at
  br label %loop
loop:
  %i = phi i64 [ %begin, %0 ], [ %next, %loop ]
  %v = call double @chosen(i64 %i)
  %at = getelementptr double, ptr %out, i64 %i
  store double %v, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr @table, i64 %size, i1 false)
  ret void
}
"""


def filled(code: bytes) -> list[float]:
    out = np.zeros(12)
    slots = np.array([out.ctypes.data, 8], np.int64)
    address = native.load(code, ["fill"])["fill"]
    KERNEL(address)(slots.ctypes.data, 0, len(out))
    return out.tolist()


def protection(address: int) -> str:
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end, mode = LINE.match(line).groups()  # pyright: ignore
        if int(start, 16) <= address < int(end, 16):
            return mode
    return ""


def test_code_with_every_kind_of_reference() -> None:
    expected = [1.5, float(np.sin(np.float32(1))), 3.5, 7.0, 0.25, 6.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    result = filled(cpu.build(PROGRAM))
    np.testing.assert_allclose(result, expected, rtol=1e-7)
    file = elf.ObjectFile(cpu.build(PROGRAM))
    tables = [file.content(s) for s in file.sections if s.kind == 4]
    kinds = {info & 0xFFFFFFFF for table in tables for _, info, _ in struct.iter_unpack("<QQq", table)}
    assert kinds >= {2, 4}, "calls and constants are relocated"
    assert set(file.undefined()) == {"math.cbrt", "math.sinf", "memcpy"}


def test_no_page_is_writable_and_executable() -> None:
    found = native.load(cpu.build(PROGRAM), ["fill"])
    assert protection(found["fill"]) == "r-xp"
    page = found["fill"] - found["fill"] % 4096 + 4096
    assert protection(page) in ("r--p", "r-xp")
    addresses = dict(found)
    place = int(addresses["fill"])
    del found, addresses
    gc.collect()
    assert protection(place) != "r-xp", "the memory is given back"


READ = "define i64 @f() {\n  %v = load i64, ptr @x\n  ret i64 %v\n}"
WRITTEN = READ.replace("  ret", "  store i64 4, ptr @x\n  ret")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"@x = global i64 3\n{WRITTEN}", "section '.data'"),
        (f"@x = global i64 0\n{WRITTEN}", "section '.bss'"),
        (f"@x = thread_local global i64 7\n{WRITTEN}", "__tls_get_addr"),
        (f"@x = external global i64\n{READ}", "the code calls 'x'"),
    ],
)
def test_what_kernels_have_no_use_for_is_refused(text: str, said: str) -> None:
    with pytest.raises(BackendError, match=re.escape(said)):
        native.load(cpu.build(text), ["f"])


def test_damage_is_an_error_and_nothing_else() -> None:
    code = cpu.build(PROGRAM)
    whole = elf.ObjectFile(code)
    externals = {name: native.external(name) for name in whole.undefined()}
    first = min(s.offset for s in whole.sections if s.title == ".rela.text")
    refused = 0
    for position in range(len(code)):
        for bit in (1, 0x80):
            damaged = code[:position] + bytes([code[position] ^ bit]) + code[position + 1 :]
            try:
                file = elf.ObjectFile(damaged)
                if set(file.undefined()) <= set(externals):
                    # Nothing is run: bytes of the code itself may differ, which the cache's digest sees.
                    elf.place(file, externals)
            except BackendError:
                refused += 1
    assert refused > 200
    for length in (0, 6, 63, 64, first, len(code) - 1):
        with pytest.raises(BackendError):
            elf.place(elf.ObjectFile(code[:length]), externals)


def test_the_list_of_functions_has_what_the_op_table_names() -> None:
    missing = cpu.MATH_FUNCTIONS - native.MATH_FUNCTIONS
    assert not missing, f"add {sorted(missing)} to the list in pytocu/runtime/native.py, if C's math.h has them"
    assert cpu.CODE_GENERATOR_FUNCTIONS <= native.CODE_GENERATOR_FUNCTIONS
    assert all(native.external(f"{native.PREFIX}{name}") for name in cpu.MATH_FUNCTIONS)
