"""Bytes that lie apart in memory, made wider numbers by permutations: text, instructions, values, and what is read."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_backend_cpu import call, on_x86_64, same_bits

import pytocu
from pytocu.backend import cpu, strided_bytes
from pytocu.runtime import native

ICELAKE = (
    "icelake-server",
    "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd,+avx512vbmi,+avx512vbmi2",
)
CASCADELAKE = ("cascadelake", "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd")

VECTORS = """define void @doubles(ptr %x, ptr %out) {
entry:
  %0 = load <32 x i8>, ptr %x, align 1
  %third = shufflevector <32 x i8> %0, <32 x i8> poison, <8 x i32> <PLACES>
  %1 = HOW <8 x i8> %third to <8 x TO>
  store <8 x TO> %1, ptr %out, align 8
  ret void
}
"""


def vectors(how: str, to: str) -> str:
    return (
        VECTORS.replace("HOW", how).replace("TO", to).replace("PLACES", ", ".join(f"i32 {place}" for place in range(2, 32, 4)))
    )


def test_the_text_of_numbers_that_are_not_negative() -> None:
    """The place of each byte is the lowest of its number, and the mask leaves zeros above."""
    places = ["i8 0"] * 64
    places[::8] = [f"i8 {place}" for place in range(2, 32, 4)]
    whole = [f"i32 {place}" if place < 32 else "i32 poison" for place in range(64)]
    assert strided_bytes.rewritten(vectors("uitofp", "double")).splitlines() == [
        "define void @doubles(ptr %x, ptr %out) {",
        "entry:",
        f'  %byte-mask0.bits = call i64 asm "", "=r,0"(i64 {0x0101010101010101})',
        "  %byte-mask0 = bitcast i64 %byte-mask0.bits to <64 x i1>",
        "  %0 = load <32 x i8>, ptr %x, align 1",
        f"  %byte-register0 = shufflevector <32 x i8> %0, <32 x i8> poison, <64 x i32> <{', '.join(whole)}>",
        *[line for line in vectors("uitofp", "double").splitlines() if line.startswith("  %third")],
        f"  %byte-0 = call <64 x i8> @{strided_bytes.PERMUTE}(<64 x i8> %byte-register0, <64 x i8> <{', '.join(places)}>)",
        "  %byte-1 = select <64 x i1> %byte-mask0, <64 x i8> %byte-0, <64 x i8> zeroinitializer",
        "  %byte-2 = bitcast <64 x i8> %byte-1 to <8 x i64>",
        "  %byte-3 = sitofp <8 x i64> %byte-2 to <8 x double>",
        "  %1 = bitcast <8 x double> %byte-3 to <8 x double>",
        "  store <8 x double> %1, ptr %out, align 8",
        "  ret void",
        "}",
        "",
        f"declare <64 x i8> @{strided_bytes.PERMUTE}(<64 x i8>, <64 x i8>)",
    ]


def test_the_text_of_signed_numbers() -> None:
    """The place of each byte is the highest of its number, from where a shift repeats its sign."""
    text = strided_bytes.rewritten(vectors("sext", "i64"))
    assert f"(i64 {0x8080808080808080})" in text
    assert "ashr <8 x i64> %byte-2, splat (i64 56)" in text and "sitofp" not in text
    order = re.search(r"%byte-0 = call .* <64 x i8> <(.*)>", text)
    assert order is not None
    taken = {lane: place for lane, place in enumerate(order[1].split(", ")) if place != "i8 0"}
    assert taken == {8 * lane + 7: f"i8 {4 * lane + 2}" for lane in range(8)}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("HOW <8 x i8> %third to <8 x TO>", "add <8 x i8> %third, %third"),
        # Half a register.
        ("uitofp <8 x i8> %third to <8 x double>", "uitofp <8 x i8> %third to <8 x float>"),
        ("ptr %x, align 1", "ptr %x, align 1\n  %2 = load <32 x i8>, ptr %x, align 1"),
        ("i32 30>", "i32 poison>"),
    ],
)
def test_what_is_left_as_it_is(before: str, now: str) -> None:
    text = VECTORS if "HOW" in before else vectors("uitofp", "double")
    assert before in text
    changed = text.replace(before, now).replace("%0, <32", "%2, <32" if "%2 = load" in now else "%0, <32")
    made = strided_bytes.rewritten(changed)
    # A load of another name is as good.
    assert ("%byte-" in made) == ("%2 = load" in now) and (made == changed) == ("%2 = load" not in now)


def gray(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    weighted = red.astype(np.float32) * 0.299 + green.astype(np.float32) * 0.587 + blue.astype(np.float32) * 0.114
    return weighted.astype(np.uint8)


def luminance(image):
    return (image[..., 0].astype(np.uint16) * 77 + image[..., 1].astype(np.uint16) * 150 + image[..., 2] * np.uint16(29)) >> 8


def mean(image):
    return (image[..., 0] + image[..., 1].astype(np.float64)) * 0.5


@on_x86_64
@pytest.mark.parametrize("spec", ["u8[n, m, 3]", "i8[n, m, 3]"])
@pytest.mark.parametrize("function", [gray, luminance, mean])
def test_each_register_is_one_permutation_under_a_mask(function: Any, spec: str) -> None:
    source = pytocu.jit(function).lower(spec).compile("cpu").source
    assembly = cpu.assembly(source, ICELAKE)
    assert re.search(r"\bvpermb\b.*%zmm\d+ \{%k\d\} \{z\}", assembly)
    assert not re.search(r"\bvpermt2b\b.*%zmm|\bvpshufb\b.*%zmm", assembly)
    assert "vpermb" not in cpu.assembly(source, CASCADELAKE)


@on_x86_64
def test_registers_are_loaded_where_groups_of_pixels_begin() -> None:
    """The last one of 64 pixels' ends where they end, and nothing is cut out of several."""
    text = cpu.optimized(pytocu.jit(gray).lower("u8[n, m, 3]").compile("cpu").source, ICELAKE)
    assert re.findall(r"%byte-register\d\.at = getelementptr .* i64 (\d+)$", text, re.M) == ["0", "48", "96", "128"]
    assert len(re.findall(r"%byte-register\d = load <64 x i8>", text)) == 4
    assert not re.search(r"%byte-register\d = shufflevector", text)


def kernel(source: str, name: str) -> Any:
    """The kernel as vectors for a processor with the instruction, run on this one, which may lack it."""
    text = cpu.optimized(source, ICELAKE)
    assert "%byte-mask0" in text
    if strided_bytes.FEATURE not in cpu.host_cpu()[1].split(","):
        vector = "<64 x i8>"
        function = rf"call {vector} @{re.escape(strided_bytes.PERMUTE)}\({vector} (\S+), {vector} <(.*)>\)"
        shuffle = "shufflevector {0} {1}, {0} poison, <64 x i32> <{2}>"
        text = re.sub(function, lambda m: shuffle.format(vector, m[1], m[2].replace("i8", "i32")), text)
        text = re.sub(rf"(?m)^declare .*@{re.escape(strided_bytes.PERMUTE)}\(.*$", "", text)
    address = native.load(cpu.build(text), [name])[name]
    return lambda *args: call(address, args, len(args[-1]))


def made_wider(channels: int, dtype: str, to: str) -> tuple[str, str]:
    """A loop that sums some channels as wider numbers, as LLVM IR, and its name."""
    signed = "s" if dtype == "i8" else "u"
    kind = {"f32": "float", "f64": "double"}.get(to, to)
    is_float = to[0] == "f"
    convert = f"{signed}itofp" if is_float else f"{signed[0]}ext".replace("u", "z")
    step = "fadd" if is_float else "add"
    size = int(to[1:]) // 8
    lines: list[str] = []
    for channel in range(channels):
        lines += [
            f"  %place.{channel} = add nsw i64 %first, {channel}",
            f"  %at.{channel} = getelementptr inbounds i8, ptr %image, i64 %place.{channel}",
            f"  %byte.{channel} = load i8, ptr %at.{channel}, align 1",
            f"  %wide.{channel} = {convert} i8 %byte.{channel} to {kind}",
        ]
        before = f"%sum.{channel - 1}" if channel else ("0.0" if is_float else "0")
        lines.append(f"  %sum.{channel} = {step} {kind} {before}, %wide.{channel}")
    body = "\n".join(lines)
    return (
        f"""define void @sums(ptr %slots, i64 %begin, i64 %end) nounwind {{
entry:
  %image = load ptr, ptr %slots, align 8
  %second = getelementptr inbounds i64, ptr %slots, i64 1
  %out = load ptr, ptr %second, align 8
  call void @share(ptr %image, ptr %out, i64 %end)
  ret void
}}
define internal void @share(ptr noalias readonly %image, ptr noalias %out, i64 %end) noinline nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %first = mul nsw i64 %i, {channels}
{body}
  %to = getelementptr inbounds {kind}, ptr %out, i64 %i
  store {kind} %sum.{channels - 1}, ptr %to, align {size}
  %next = add nsw i64 %i, 1
  br label %loop
done:
  ret void
}}
""",
        "sums",
    )


NUMPY = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}
# Two channels that lie in one number are taken by shifts, and more than two registers' are left to LLVM.
WIDENED = [(2, "f64"), (2, "i64"), *[(3, to) for to in ("i16", "i32", "i64", "f32", "f64")]]
WIDENED += [(4, "i16"), (4, "f64"), (5, "f32"), (6, "i64")]


@on_x86_64
@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize(("channels", "to"), WIDENED)
def test_values_of_all_lengths_at_all_places(channels: int, to: str, dtype: str) -> None:
    text, name = made_wider(channels, dtype, to)
    run = kernel(text, name)
    rng = np.random.default_rng(channels)
    memory = rng.integers(0, 256, 200 * channels + 64).astype(np.uint8).view(NUMPY[dtype])
    for length in [*range(70), 95, 127, 128, 129, 191, 200]:
        offset = length % 17
        image = memory[offset : offset + length * channels].reshape(length, channels)
        out = np.full(length + 1, 77, NUMPY[to])
        run(image, out[:length])
        same_bits(out, np.append(image.astype(NUMPY[to]).sum(1, dtype=NUMPY[to]), NUMPY[to](77)))


@on_x86_64
@pytest.mark.parametrize("function", [gray, luminance, mean, lambda image: np.float32(image[::-1, :, 2]) - image[..., 0]])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("channels", [3, 4])
def test_images(function: Any, dtype: Any, channels: int) -> None:
    compiled = pytocu.jit(function)
    rng = np.random.default_rng(channels)
    for shape in [(1, 1), (1, 7), (3, 5), (2, 16), (5, 31), (4, 64), (3, 67), (7, 130)]:
        image = rng.integers(0, 128 if dtype is np.uint8 else 100, (*shape, channels)).astype(dtype)
        if function is gray and dtype is np.int8:
            image = np.abs(image)
        same_bits(compiled(image), function(image))


def beside_no_memory() -> None:
    """Images that begin and end where nothing may be read."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    bytes_ = np.frombuffer(memory, np.uint8)
    bytes_[:] = np.arange(3 * page) * 7
    for outside in (address, address + 2 * page):
        assert libc.mprotect(ctypes.c_void_p(outside), ctypes.c_size_t(page), 0) == 0
    for channels, to in WIDENED:
        text, name = made_wider(channels, "u8", to)
        run = kernel(text, name)
        for length in (1, 8, 15, 16, 17, 31, 32, 33, 64, 65, 130):
            for first in (page, 2 * page - length * channels):
                image = bytes_[first : first + length * channels].reshape(length, channels)
                out = np.empty(length, NUMPY[to])
                run(image, out)
                same_bits(out, image.astype(NUMPY[to]).sum(1, dtype=NUMPY[to]))
    print("nothing outside was read")


@on_x86_64
@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected with mprotect")
def test_nothing_is_read_outside_of_an_array() -> None:
    here = Path(__file__).resolve().parent
    paths = [str(here.parent), str(here), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-c", "import test_strided_bytes; test_strided_bytes.beside_no_memory()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "nothing outside was read\n"
