"""The whole programs of ``examples/``: kernels, library calls, and times beside NumPy and what the peers make of the same text.

A peer gets the program as it is: the module in the place of ``np`` is the peer's own (CuPy, JAX), or the functions are compiled
from the same source (Numba).  What it refuses, or gets wrong, is in the table with the reason.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pytocu
from benchmarks.report import BenchmarkError, Table, median, progress, required
from pytocu.elementwise import VectorizedFunction
from pytocu.runtime import host_steps

EXAMPLES = Path(__file__).parent.parent / "examples"
SIZES = {
    "edges": (1500, 6000), "equalise": (1500, 6000), "escape_time": (150, 600), "filter": (200, 2000),
    "implicit_heat": (300, 2000), "jacobi": (100, 300), "kmeans": (50_000, 500_000), "life": (1000, 4000),
    "mandelbrot": (500, 2000), "monte_carlo": (50_000, 500_000), "nbody": (300, 1000), "network": (5000, 100_000),
    "shallow_water": (500, 2000), "time_warping": (1000, 10_000),
}  # fmt: skip
"""What ``arguments`` of an example is given on a CPU and on a GPU: what NumPy and Python do in seconds."""

ROUNDS = 5
SLOW = 10.0
"""Seconds of a first call after which a peer is not called again."""

NEAR = 1e-3
"""How near a peer's result has to be, which may join operations and add in another order."""

Run = Callable[[], Any]
Maker = Callable[[Any, Sequence[Any]], Run]
"""Gives a program's calls by a peer on some arguments."""


def names() -> list[str]:
    """The examples that are whole programs.

    Examples
    --------
    >>> "jacobi" in names()
    True
    """
    return sorted(path.stem for path in EXAMPLES.glob("*.py") if "\nPROGRAM = " in path.read_text())


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    """Decorated functions run as Python."""
    before = os.environ.get("PYTOCU_DISABLE")
    os.environ["PYTOCU_DISABLE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTOCU_DISABLE"]
        else:
            os.environ["PYTOCU_DISABLE"] = before


def _plain(function: Any) -> types.FunctionType:
    return getattr(function, "__wrapped__", function)


def _translated(program: Any, module: Any, decorate: Callable[[str, types.FunctionType], Any]) -> Any:
    """A program whose ``np`` is another module, and whose functions are decorated."""
    plain = _plain(program)
    space = {**plain.__globals__, "np": module}
    for name, value in plain.__globals__.items():
        own = _plain(value)
        if isinstance(own, types.FunctionType) and own.__module__ == plain.__module__ and own is not plain:
            kind = "scalar" if isinstance(value, VectorizedFunction) else "function"
            space[name] = decorate(kind, types.FunctionType(own.__code__, space, own.__name__, own.__defaults__))
    return decorate("entry", types.FunctionType(plain.__code__, space, plain.__name__, plain.__defaults__))


def _copies(given: Sequence[Any]) -> list[Any]:
    """Arguments that a call may change."""
    return [a.copy() if hasattr(a, "copy") and getattr(a, "ndim", 0) else a for a in given]


def _numba(program: Any, given: Sequence[Any]) -> Run:
    import numba

    def decorate(kind: str, function: types.FunctionType) -> Any:
        if kind == "scalar":
            return numba.vectorize(function)
        return numba.njit(parallel=kind == "entry", error_model="numpy")(function)

    compiled = _translated(program, np, decorate)
    return lambda: compiled(*_copies(given))


def _cupy(program: Any, given: Sequence[Any]) -> Run:
    import cupy

    eager = _translated(program, cupy, lambda kind, function: function)
    return lambda: eager(*_copies(given))


def _jax(program: Any, given: Sequence[Any]) -> Run:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    traced = _translated(program, jax.numpy, lambda kind, function: function)
    there = [jax.device_put(np.asarray(a.get() if hasattr(a, "get") else a)) if getattr(a, "ndim", 0) else a for a in given]
    arrays = [k for k, a in enumerate(there) if getattr(a, "ndim", 0)]
    static = tuple(k for k in range(len(there)) if k not in arrays)
    compiled = jax.jit(traced, static_argnums=static)
    return lambda: jax.block_until_ready(compiled(*there))


def _leaves(result: Any) -> list[np.ndarray]:
    """The arrays of a result, in NumPy's kind."""
    if isinstance(result, (tuple, list)):
        return [leaf for member in result for leaf in _leaves(member)]
    return [np.asarray(result.get() if hasattr(result, "get") else result)]


def _agree(made: Any, expected: Any, within: float) -> bool:
    """Whether results are those that NumPy gives; `within` is relative, and 0 asks for the same bits."""
    ours, theirs = _leaves(made), _leaves(expected)
    if [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    if not within:
        return all(map(_same, ours, theirs))
    return all(np.allclose(a, b, rtol=within, atol=within) for a, b in zip(ours, theirs, strict=True))


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def _timed(run: Run, finish: Run, rounds: int) -> float:
    """The median of the seconds of a call."""
    times: list[float] = []
    while len(times) < rounds and (not times or sum(times) < SLOW):
        finish()
        start = time.perf_counter()
        run()
        finish()
        times.append(time.perf_counter() - start)
    return median(times)


def _share(program: Any, given: Sequence[Any], finish: Run) -> tuple[float, list[str]]:
    """How much of a call is spent in calls of the caller's library, and which these are; each is waited for."""
    spent: list[float] = []
    called: dict[str, None] = {}
    original = host_steps.call_library

    def call_library(library: str, name: str, *rest: Any) -> Any:
        finish()
        start = time.perf_counter()
        made = original(library, name, *rest)
        finish()
        spent.append(time.perf_counter() - start)
        called[name] = None
        return made

    host_steps.call_library = call_library
    try:
        compiled = pytocu.jit(_plain(program))
        compiled(*_copies(given))
        spent.clear()
        finish()
        start = time.perf_counter()
        compiled(*_copies(given))
        finish()
        whole = time.perf_counter() - start
    finally:
        host_steps.call_library = original
    return sum(spent) / whole, list(called)


def _candidate(make: Maker, program: Any, given: Sequence[Any], finish: Run, expected: Any, rounds: int) -> Any:
    """Milliseconds of a peer, or why there are none."""
    try:
        run = make(program, given)
        start = time.perf_counter()
        made = run()
        finish()
        first = time.perf_counter() - start
        if not _agree(made, expected, NEAR):
            return "wrong"
        if first > 2 * SLOW:
            return f"{first:.0f} s a call"
        return _timed(run, finish, rounds) * 1e3
    except Exception as error:
        return f"refuses: {type(error).__name__}"


def _row(name: str, size: int, gpu: bool, peers: Mapping[str, Maker], rounds: int) -> dict[str, Any]:
    """One program.

    Raises
    ------
    BenchmarkError
        Its result is not NumPy's.
    """
    space = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    program, within = space["PROGRAM"], space.get("WITHIN", 0)
    host = space["arguments"](size, np.random.default_rng(0))
    given, finish = host, lambda: None
    if gpu:
        import cupy

        given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in host]
        finish = cupy.cuda.Device().synchronize
    with _uncompiled():
        start = time.perf_counter()
        expected = _plain(program)(*_copies(host))
        first = time.perf_counter() - start
        of_numpy = _timed(lambda: _plain(program)(*_copies(host)), lambda: None, rounds) if first < 1 else first
    finish()
    start = time.perf_counter()
    made = program(*_copies(given))
    finish()
    compiled = time.perf_counter() - start
    if not _agree(made, expected, within):
        raise BenchmarkError(f"{name}: the result is not NumPy's")
    ours = _timed(lambda: program(*_copies(given)), finish, rounds)
    share, called = _share(program, given, finish)
    row: dict[str, Any] = {
        "program": name,
        "size": size,
        "kernels": len(program.lower(*host).kernels),
        "pytocu": ours * 1e3,
        "numpy": of_numpy * 1e3,
        "first call": compiled * 1e3,
        "in library calls": f"{share:.0%} {', '.join(called)}" if called else "none",
    }
    for peer, make in peers.items():
        row[peer] = _candidate(make, program, given, finish, expected, rounds)
    figures = [row[k] for k in ("numpy", *peers) if isinstance(row[k], float)]
    row["time / best peer"] = row["pytocu"] / min(figures)
    return row


def run(gpu: bool, without: Sequence[str] = (), rounds: int = ROUNDS, only: Sequence[str] = (), small: int = 0) -> list[Table]:
    """The table.

    Parameters
    ----------
    gpu : bool
        CuPy's arrays on a GPU, else NumPy's.
    without : sequence of str
        Peers to leave out.
    rounds : int
        Calls of every candidate at most.
    only : sequence of str
        Programs; all of them by default.
    small : int
        A size for all programs in the place of their own.

    Raises
    ------
    BenchmarkError
        A peer is missing, there is no such program, or a result is wrong.
    """
    makers = {"cupy": _cupy, "jax": _jax} if gpu else {"numba": _numba, "jax": _jax}
    peers = {name: makers[name] for name in required(tuple(makers), without)}
    unknown = sorted({*only} - {*names()})
    if unknown:
        raise BenchmarkError(f"there is no program {', '.join(unknown)}; choose from {', '.join(names())}")
    rows: list[dict[str, Any]] = []
    for name in only or names():
        progress(name)
        rows.append(_row(name, small or SIZES[name][gpu], gpu, peers, rounds))
    notes = (
        f"milliseconds of a call, which is waited for; medians of up to {rounds} calls behind a first one, whose result was "
        "compared with NumPy's: pytocu's to the bit (where sums are in another order, within what the example states), the "
        "peers' within 1e-3",
        "copies of the arguments are timed too; NumPy's time is that of the host, on its own arrays",
        "first call: compiled anew, with no entry on the disk",
        "library calls: the share of a call in which each of them is waited for",
    )
    columns = ("program", "size", "kernels", "pytocu", "numpy", *peers, "time / best peer", "first call", "in library calls")
    return [Table("Whole programs", columns, notes, rows)]
