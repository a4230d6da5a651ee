"""How far the elementary functions are from the correctly rounded value, as a table in the docs.

``python -m pytocu.testing.accuracy`` measures on the CPU, ``--gpu`` on a device with both GPU
backends too; ``--write FILE`` puts the figures into the table, where those of backends that were
not measured stay.  Inputs are random bits, numbers of ordinary size and edge values; the
reference is NumPy's function in long double, rounded once.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytocu.ir import promote
from pytocu.ir.core import Op
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.types import ALL_DTYPES, DType
from pytocu.jitted import jit
from pytocu.testing.cases import ABSOLUTE
from pytocu.testing.compare import complex_distance, edge_values, ulp_distance
from pytocu.testing.complex_reference import bound_of, complex_reference, compose, growth, relative_distance
from pytocu.testing.operands import make_function

BACKENDS = ("cpu", "cuda_c", "nvvm")
"""The columns of the table."""

Figures = dict[tuple[str, str], dict[str, float]]
"""By function and dtype: the largest distance of each backend."""


def inexact_rows() -> tuple[Op, ...]:
    """The rows whose bits are not NumPy's for some dtype."""
    return tuple(op for op in elementwise_rows() if not op.exact or op.complex_ulp)


def bound(op: Op, dtype: DType) -> float:
    """The row's bound for operands of a dtype."""
    return bound_of(op, dtype.kind == "c")


def dtypes_of(op: Op) -> tuple[DType, ...]:
    """The dtypes the row computes in without being exact."""
    found: list[DType] = []
    for dtype in ALL_DTYPES:
        if dtype.kind not in "fc" or not bound(op, dtype):
            continue
        try:
            inputs, _ = promote.ufunc_loop(op.numpy, (dtype,) * (op.arity or 0))
        except TypeError:
            continue
        if inputs[0] is dtype:
            found.append(dtype)
    return tuple(found)


def inputs(op: Op, dtype: DType, count: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Operands: edge values, random bits, and numbers at which the function is neither 0 nor infinite.

    Examples
    --------
    >>> from pytocu.ir.core import OPS
    >>> from pytocu.ir.types import F32
    >>> [x.size for x in inputs(OPS["hypot"], F32, 1000)]
    [1000, 1000]
    """
    arity = op.arity or 0
    random = np.random.default_rng([seed, count, arity])
    if dtype.kind == "c":
        parts = [inputs(op, dtype.word, count, seed + 7 * k) for k in range(2)]
        return tuple(compose(real, random.permutation(imag)) for real, imag in zip(*parts, strict=True))
    if arity == 1 and dtype.bits == 16:
        return (np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy),)
    columns: list[np.ndarray] = []
    third = count // 3
    for number in range(arity):
        bits = edge_values(dtype.numpy, count - 2 * third, seed + number)
        if arity == 2:
            bits = random.permutation(bits)
        near = random.standard_normal(third) * random.choice([0.01, 1.0, 10.0, 100.0], third)
        small = random.uniform(-1, 1, third)
        columns.append(np.concatenate([bits, near.astype(dtype.numpy), small.astype(dtype.numpy)]))
    if op.name in ("power", "float_power"):
        # Exponents with which the result is in range, or just out of it.
        top = np.log2(float(np.finfo(dtype.numpy).max))
        with np.errstate(all="ignore"):
            base = np.exp2(random.uniform(-40, 40, 2 * third)).astype(dtype.numpy)
            exponent = random.uniform(-1.1, 1.1, 2 * third) * top / np.log2(base.astype(np.float64))
            columns = [np.concatenate([c[: count - 2 * third], more.astype(dtype.numpy)])
                       for c, more in zip(columns, (base, exponent), strict=True)]  # fmt: skip
    # What a signalling NaN gives differs between C libraries.
    return tuple(np.where(np.isnan(c), dtype.numpy.type(np.nan), c) for c in columns)


def correctly_rounded(op: Op, operands: Sequence[np.ndarray]) -> np.ndarray:
    """NumPy's function in long double, rounded to the dtype.

    Raises
    ------
    RuntimeError
        Long double is not wider than float64 on this machine.
    """
    if np.finfo(np.longdouble).nmant < 63:
        raise RuntimeError("this machine's long double is no wider than float64: there is no reference to measure against")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if operands[0].dtype.kind == "c":
            dtype = promote.numpy_result(op, [x[:1] for x in operands]).dtype
            return complex_reference(op, operands, dtype)
        wide = promote.numpy_result(op, [x.astype(np.longdouble) for x in operands])
        rounded = wide.astype(operands[0].dtype)
        finite = np.isfinite(sum(x * 0 for x in operands))
        # The C library's powl is wrong at infinities, where float64 is exact.
        plain = promote.numpy_result(op, [x.astype(np.float64) for x in operands]).astype(operands[0].dtype)
    return np.where(finite, rounded, plain)


def distance(op: Op, actual: np.ndarray, rounded: np.ndarray, operands: Sequence[np.ndarray] = ()) -> np.ndarray:
    """Units in the last place; where the row's bound is absolute, those of 1 for results below 1.

    Of complex results they are those of the larger part; of powers, by ``1 + |y log x|``.
    """
    if rounded.dtype.kind == "c":
        return relative_distance(complex_distance(actual, rounded), actual, rounded, growth(op, operands))
    found = ulp_distance(actual, rounded)
    if op.name in ABSOLUTE:
        with np.errstate(all="ignore"):
            apart = np.abs(actual - rounded) / np.finfo(rounded.dtype).eps
        found = np.where((np.abs(rounded) < 1) & np.isfinite(apart), np.minimum(found, apart), found)
    return found


def callers(gpu: bool) -> dict[str, Callable[[Any], Any]]:
    """By backend: what makes a compiled function of a function."""
    found: dict[str, Callable[[Any], Any]] = {"cpu": jit}
    if gpu:
        for backend in ("cuda_c", "nvvm"):
            found[backend] = lambda function, backend=backend: jit(function, device="cuda", backend=backend)
    return found


def measure(
    compile: Mapping[str, Callable[[Any], Any]], count: int, seed: int = 0
) -> Iterator[tuple[Op, DType, str, float, Any]]:
    """Measure every inexact row on every dtype and backend.

    Yields
    ------
    tuple
        Row, dtype, backend, largest distance, and the operands it was found at.
    """
    for op in inexact_rows():
        names = "xy"[: op.arity]
        function = make_function(names, [f"np.{op.numpy}({', '.join(names)})"], {"np": np})
        for dtype in dtypes_of(op):
            operands = inputs(op, dtype, count, seed)
            rounded = correctly_rounded(op, operands)
            for backend, make in compile.items():
                (actual,) = make(function)(*operands)
                found = distance(op, actual, rounded, operands)
                worst = int(np.argmax(found))
                yield op, dtype, backend, float(found[worst]), tuple(x[worst] for x in operands)


# The table.

_HEAD = """# Accuracy of the elementary functions

Largest distance from the correctly rounded value, in units in the last place, over random bits, numbers of ordinary
size and edge values (large arguments of the trigonometric functions are among them). The bound is what the op table
states and what the tests hold on every backend; a column without a figure was not measured. `logaddexp` and
`logaddexp2` are measured in units of the last place of 1 where the result is smaller than 1, because the sum inside
cancels there. Complex results are measured in units of the last place of their larger part, and powers `x ** y` of
complex numbers by `1 + |y log x|`, because an angle loses digits as it grows. float16 is measured over all its numbers.

On the CPU these functions are formulas of additions, multiplications and fused multiply-adds, so the column is the same
on every machine; only angles beyond 2**45 go to the C math library. The GPU columns depend on CUDA's functions, but for float32
`log`, `tanh`, and `sin` and `cos` of angles up to 2**16, which are formulas too; they are those of an NVIDIA H200 with the
CUDA 13 wheels. Of numbers known while compiling (`np.exp(0.5)`) the value is NumPy's own, which may differ from that of an
array's element by the bound. Operations that are not listed have NumPy's bits, of such numbers too: see
[operations.md](operations.md).

`python -m pytocu.testing.accuracy --write docs/accuracy.md` measures again, with `--gpu` on a device too.

| function | dtype | bound | cpu | cuda_c | nvvm |
|---|---|---|---|---|---|
"""


def read_figures(text: str) -> Figures:
    """The figures of a table that :func:`table` wrote."""
    found: Figures = {}
    for name, dtype, *cells in re.findall(r"^\| `(\w+)` \| (\w+) \| [^|]* \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", text, re.M):
        found[name, dtype] = {b: float(c) for b, c in zip(BACKENDS, cells, strict=True) if c.strip()}
    return found


def table(figures: Figures) -> str:
    """The page of the docs for these figures; every inexact row has a line."""
    lines: list[str] = []
    for op in inexact_rows():
        for dtype in dtypes_of(op):
            known = figures.get((op.name, dtype.numpy.name), {})
            cells = (f"{known[b]:.3g}" if b in known else " " for b in BACKENDS)
            lines.append(f"| `{op.name}` | {dtype.numpy} | {bound(op, dtype):g} | {' | '.join(cells)} |\n")
    return _HEAD + "".join(lines)


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.accuracy [--gpu] [--count N] [--seed S] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.accuracy", description=main.__doc__)
    parser.add_argument("--gpu", action="store_true", help="measure both GPU backends too")
    parser.add_argument("--count", type=int, default=1 << 18, help="operands of a function and dtype")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="the page to put the figures into")
    options = parser.parse_args(argv)
    figures = read_figures(options.write.read_text()) if options.write and options.write.exists() else {}
    beyond = 0
    start = time.perf_counter()
    for op, dtype, backend, ulp, where in measure(callers(options.gpu), options.count, options.seed):
        figures.setdefault((op.name, dtype.numpy.name), {})[backend] = ulp
        limit = bound(op, dtype)
        beyond += ulp > limit
        note = "  BEYOND THE BOUND" if ulp > limit else ""
        at = ", ".join(map(repr, where))
        print(f"{op.name:12} {dtype.numpy.name:8} {backend:7} {ulp:8.3g} of {limit:g} at {at}{note}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s, {beyond} beyond their bound")
    if options.write:
        options.write.write_text(table(figures))
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
