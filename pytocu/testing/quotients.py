"""Shows that quick quotients and roots of float32 are exact (:mod:`pytocu.passes.quotients`).

``python -m pytocu.testing.quotients`` takes minutes; ``--gpu`` runs the kernels on a device instead of thread by thread with
NumPy, ``--every 64`` takes every 64th divisor and radicand.

A quotient of mantissas can only be wrong where a / b lies next to the middle of two float32.  With integers A and B from
2**23 to 2**24 and a middle M / 2**t, where M is odd, t = 24 where A >= B and else 25,

    a / b - M / 2**t = (A * 2**t - B * M) / (B * 2**t)

so the distance is a multiple k of 1 / (B * 2**t), and never 0.  The last step of a quotient is ``near - rest * y`` before it is
rounded, which differs from a / b by the error of `near` (up to 3 units in the last place) times the relative errors of `y` and
`rest` (up to 2**-22): less than 32 / (B * 2**t) even where `y` is an instruction's and 1 unit off, and than 8 where it is the
nearest float32 to 1 / b.  All A of the k up to that follow from A * 2**t = k (modulo B) and are computed, for all B.  Of roots
all mantissas are computed, with even and odd exponents.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pytocu.backend import cuda_c, nvrtc, nvvm
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import VectorType
from pytocu.passes import one_test, shared_divisors
from pytocu.passes.context import PassContext, parse_target
from pytocu.runtime import cuda

_KERNEL = """
loop func @{name}(%a: ptr f32, %b: ptr f32, %out: ptr f32, %n: index) facts {{index_bits = 32, block = 256}} {{
  %0 = const 0 : index
  %1 = const 1 : index
  %4 = const 4 : index
  for %0, %n, %1 {{over = "grid"}} (%i: index) {{
    %at = multiply %i, %4 : index
    %a_vector = load %a, %at {{align = 16, lanes = 4}} : <4 x f32>
    {load}
    %out_vector = lanes {given} {{lanes = 4}} : <4 x f32> (%k: index, {params}) {{
      %x = {row} : f32
      yield %x
    }}
    store %out, %at, %out_vector {{align = 16}}
    yield
  }}
  return
}}"""

_FORMS: dict[str, dict[str, str]] = {
    "one divisor": {
        "load": "%d = load %b, %i : f32", "given": "%a_vector", "params": "%e: f32", "row": "divide %e, %d",
    },
    "one divisor of any size": {
        "load": "%d = load %b, %i : f32", "given": "%a_vector", "params": "%e: f32", "row": "divide %e, %d",
    },
    "own divisors": {
        "load": "%b_vector = load %b, %at {align = 16, lanes = 4} : <4 x f32>", "given": "%a_vector, %b_vector",
        "params": "%e: f32, %d: f32", "row": "divide %e, %d",
    },
    "roots": {"load": "", "given": "%a_vector", "params": "%e: f32", "row": "sqrt %e"},
}  # fmt: skip

FORMS = tuple(_FORMS)
"""What the lanes of a kernel compute: quotients by one number, with a test or in float64, or by one of each lane, roots."""

TESTED = tuple(form for form in FORMS if form != "one divisor of any size")
"""Those that are computed again where a test of the numbers says so."""

_SHARED = ("one divisor", "one divisor of any size")

Run = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Quotients or roots of the rows of an array of shape (n, 4); by divisors of shape (n,) or (n, 4)."""


def kernel(form: str, quick: bool = False) -> Function:
    """A kernel with four lanes a thread, as the pass leaves it.

    Parameters
    ----------
    form : str
        One of :data:`FORMS`.
    quick : bool
        Leave out the test and what is computed if it fails.

    Examples
    --------
    >>> from pytocu.ir.core import walk
    >>> [sum(inst.op.name == "sqrt" for inst in walk(kernel("roots", quick).body)) for quick in (False, True)]
    [1, 0]
    """
    text = _KERNEL.format(name=form.replace(" ", "_"), **_FORMS[form])
    made = (one_test if form in TESTED else shared_divisors).run(parse_function(text), PassContext(parse_target("cuda")))
    return rewrite(made, _untested) if quick else made


def _untested(builder: Any, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.name != "if" or not isinstance(inst.types[0], VectorType):
        return None
    return inst.regions[0].terminator.args


def on_threads(function: Function) -> Run:
    """The kernel thread by thread."""

    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        out = np.empty_like(a)
        block = min(len(a), 4096)
        arguments = [x.ravel() for x in (a, b)] + [out.ravel(), len(a)]
        run_threads(function, arguments, grid=-(-len(a) // block), block=block)
        return out

    return run


def on_gpu(function: Function, backend: str) -> Run:
    """The kernel on the current device, built by a backend."""
    import cupy

    device = cuda.current_device()
    source = (cuda_c if backend == "cuda_c" else nvvm).emit([function])
    binary = (nvrtc if backend == "cuda_c" else nvvm).build(source, cuda.arch(device), function.name)
    loaded = cuda.function(cuda.load(binary, device), function.name)
    parameters = cuda.Parameters("PPPi", 256)

    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        given = [cupy.asarray(x) for x in (a, b)]
        out = cupy.empty_like(given[0])
        parameters.pack(*(x.data.ptr for x in (*given, out)), len(a))
        cupy.cuda.Device().synchronize()
        cuda.launch(loaded, (-(-len(a) // 256), 1, 1), (256, 1, 1), parameters)
        cupy.cuda.Device().synchronize()
        return out.get()

    return run


# What is tried.

CHUNK = 1 << 17


def hard_numerators(divisors: np.ndarray, zeros: int, near: int) -> Iterator[np.ndarray]:
    """Mantissas whose quotients lie next to a middle of two float32: all with a k up to `near`.

    Parameters
    ----------
    divisors : numpy.ndarray of int64
        From 2**23 to 2**24, each with so many zero bits at its end as `zeros` says.
    near : int
        At least 2**zeros: other k are multiples of that.

    Yields
    ------
    numpy.ndarray
        A numerator for each divisor, or 2**23 where there is none.
    """
    odd = divisors >> zeros
    lowest = 1 << 23
    for t in (24, 25):
        one = np.ones_like(odd)
        for _ in range(t - zeros):
            one = np.where(one & 1, one + odd, one) >> 1
        for k in range(1, (near >> zeros) + 1, 2):
            for sign in (1, -1):
                first = sign * k * one % odd
                first += (lowest - first + odd - 1) // odd * odd
                for number in range((1 << zeros) + 1):
                    found = first + number * odd
                    fits = (found < 2 * lowest) & ((found >= divisors) == (t == 24))
                    yield np.where(fits, found, lowest)


def quotient_cases(form: str, near: int, every: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numerators and divisors as a kernel is given them, of all magnitudes that the test lets pass."""
    mantissas = np.arange(1 << 23, 1 << 24, every, dtype=np.int64)
    random = np.random.default_rng(1)
    signs = np.array([-1, 1], np.float32)
    shared = form in _SHARED
    of_others, of_divisors = ((-92, 56), (-64, 30)) if shared else ((-57, 56), (-38, 124))
    zeros = 0
    while 1 << zeros <= near:
        mine = mantissas[mantissas & ((2 << zeros) - 1) == 1 << zeros]
        for start in range(0, len(mine), CHUNK):
            divisors = mine[start : start + CHUNK]
            columns = list(hard_numerators(divisors, zeros, near))
            for first in range(0, len(columns), 4):
                four = columns[first : first + 4]
                a = np.stack([*four, *four[:1] * (4 - len(four))], axis=1).astype(np.float32)
                exponents = random.integers(*of_others, a.shape, endpoint=True).astype(np.int32)
                b = divisors.astype(np.float32)[:, None] * np.ones(4, np.float32)
                scale = random.integers(*of_divisors, (len(b), 1), endpoint=True).astype(np.int32)
                b = np.ldexp(b, scale - 23)
                # Of divisors of each lane it is the quotients whose magnitudes are tested.
                a = np.ldexp(a, (exponents if shared else np.minimum(exponents + scale, 126)) - 23)
                a *= random.choice(signs, a.shape)
                if not shared:
                    b *= random.choice(signs, b.shape)
                yield a, np.ascontiguousarray(b[:, 0]) if shared else b
        zeros += 1


def root_cases(every: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All mantissas, with exponents of both parities and all magnitudes that the test lets pass."""
    mantissas = np.arange(1 << 23, 1 << 24, every).astype(np.float32)
    mantissas = mantissas[: len(mantissas) // 4 * 4].reshape(-1, 4)
    random = np.random.default_rng(1)
    for start in range(0, len(mantissas), CHUNK):
        mine = mantissas[start : start + CHUNK]
        for parity in (0, 1):
            exponents = 2 * random.integers(-49, 57, mine.shape).astype(np.int32) + parity
            x = np.ldexp(mine, exponents - 23)
            yield x, x


_ORDINARY = np.array([1.0, 3.0, 0.7, -2.5, 1e-3, 1e8], np.float32)

_SPECIAL = np.array(
    [0.0, 1e-45, 3e-45, 1.1754942e-38, 2.0**-126, 2.0**-120, 2.0**-100, 2.0**-92, 2.0**-64, 2.0**-60, 2.0**-59, 1.0, 1.5,
     2.0**32, 2.0**33, 2.0**58, 2.0**60, 2.0**61, 2.0**64, 2.0**120, 2.0**127, 3.4028235e38, np.inf, np.nan],
    np.float32,
)  # fmt: skip


def edge_cases(form: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers where float32 and the test end, of both signs: in all lanes, in one among ordinary ones; and of any magnitude."""
    with np.errstate(over="ignore"):
        below, above = (np.nextafter(_SPECIAL, np.float32(to)) for to in (-np.inf, np.inf))
    values = np.concatenate([_SPECIAL, below, above, _ORDINARY])
    values = np.concatenate([values, -values])
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    for lanes in (slice(0, 4), slice(0, 1), slice(3, 4)):
        rows, divisors = (np.tile(_ORDINARY[:4], (len(a), 1)) for _ in range(2))
        rows[:, lanes], divisors[:, lanes] = a[:, None], b[:, None]
        yield rows, b if form in _SHARED else divisors
    # Quotients in the middle of two subnormal numbers.
    odd = np.arange(1, 2**16, 2, dtype=np.float32).reshape(-1, 4)
    for divisor in (3.0, 5.0, 11.0, 49.0):
        divisors = np.full_like(odd, divisor * 2.0**60)
        yield np.ldexp(divisor * odd, -90), np.ascontiguousarray(divisors[:, 0]) if form in _SHARED else divisors
    random = np.random.default_rng(1)
    for _ in range(4):
        # The lanes of a row are about as large, so that they pass the test together.
        exponents = random.integers(-149, 128, (2, CHUNK, 1)).astype(np.int32)
        rows, divisors = np.ldexp(random.uniform(1, 2, (2, CHUNK, 4)).astype(np.float32), exponents)
        yield rows, np.ascontiguousarray(divisors[:, 0]) if form in _SHARED else divisors


def wrong(form: str, run: Run, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which results differ from NumPy's, in any bit but those of a NaN."""
    with np.errstate(all="ignore"):
        expected = np.sqrt(a) if form == "roots" else a / (b[:, None] if b.ndim == 1 else b)
    found = run(a, b)
    return (found.view(np.int32) != expected.view(np.int32)) & ~(np.isnan(found) & np.isnan(expected))


def cases(form: str, every: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The hard cases of a kernel."""
    return root_cases(every) if form == "roots" else quotient_cases(form, 8 if form in _SHARED else 32, every)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, and say how many results are wrong."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.quotients", description=str(__doc__).splitlines()[0])
    parser.add_argument("--gpu", action="store_true", help="on the current device, with both backends")
    parser.add_argument("--backend", choices=("nvvm", "cuda_c"), help="only this one of both")
    parser.add_argument("--every", type=int, default=1, help="take every so many mantissas (an odd number keeps all kinds)")
    given = parser.parse_args(arguments)
    backends = [given.backend] if given.backend else ["nvvm", "cuda_c"]
    failed = 0
    for form in FORMS:
        for backend in backends if given.gpu else ["threads"]:

            def made(function: Function, backend: str = backend) -> Run:
                return on_gpu(function, backend) if given.gpu else on_threads(function)

            for what, run, all_cases in (
                ("edges", made(kernel(form)), edge_cases(form)),
                ("hard cases", made(kernel(form, quick=True)), cases(form, given.every)),
            ):
                count = bad = 0
                for a, b in all_cases:
                    flags = wrong(form, run, a, b)
                    for row, lane in np.argwhere(flags)[: max(0, 3 - bad)]:
                        divisor = b[row] if b.ndim == 1 else b[row, lane]
                        print(f"  {form}: of {float(a[row, lane]).hex()} and {float(divisor).hex()}")
                    count, bad = count + flags.size, bad + int(flags.sum())
                print(f"{form}, {backend}, {what}: {bad} of {count} wrong", flush=True)
                failed += bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
