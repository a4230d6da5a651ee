"""Faults that random programs must find: a check that sees nothing is no check.

``python -m pytocu.testing.planted`` plants one after the other into the front end, the passes, the
formulas and the CPU backend, runs random programs, and prints how many it took to see a
difference.  Each fault is a change of a few characters in one function.  ``--jobs`` processes search
for all of them at once.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import multiprocessing
import os
import random
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from typing import Any, NamedTuple

from pytocu.testing import figures
from pytocu.testing.fuzz import call_cpu
from pytocu.testing.fuzz_check import check
from pytocu.testing.fuzz_programs import Coverage
from pytocu.testing.fuzz_writer import random_program
from pytocu.testing.options import count, file, part
from pytocu.testing.progress import meter

LIMIT = 10_000
"""Within so many programs a fault must be found."""

PIECE = 10
"""Programs that one random generator writes, and one process runs."""


class Fault(NamedTuple):
    """A change of one function: `old` stands once in its source and becomes `new`."""

    name: str
    place: str
    old: str
    new: str


FAULTS: tuple[Fault, ...] = (
    Fault("x + 0.0 is x, also for -0.0", "pytocu.passes.simplify:_is",
          "attr_key(float(known)) == attr_key(float(number))", "float(known) == float(number)"),
    Fault("views that begin elsewhere are the same", "pytocu.passes.cleanup:_cse_block",
          "for k, v in inst.attrs]", 'for k, v in inst.attrs if k != "start"]'),
    Fault("equal with operands swapped", "pytocu.passes.cleanup:_cse_block",
          "key = (inst.op.name, args,", "key = (inst.op.name, frozenset(args),"),
    Fault("a cast between floats is skipped", "pytocu.passes.lower_dtypes:cast",
          "return tuple(e.cast(word, target.word) for word in words)", "return words[::-1]"),
    Fault("a comparison of signs the wrong way round", "pytocu.passes.infer_types:_compare_signs",
          "if name in (*holds,", "if name not in (*holds,"),
    Fault("axes merged by the first access alone", "pytocu.passes.affine:merge_axes",
          "for a in accesses)", "for a in accesses[:1])"),
    Fault("an offset is not multiplied", "pytocu.passes.affine:Affine.__mul__", "self.offset * factor", "self.offset"),
    Fault("column-major memory is walked as row-major", "pytocu.passes.lower_loops:strides_of",
          "order = axes_of(type.layout, type.ndim)", "order = range(type.ndim)"),
    Fault("accesses that meet are taken as apart", "pytocu.passes.accesses:aligned", "return False", "continue"),
    Fault("the other NaN wins a maximum", "pytocu.ir.expand:maximum",
          '_choose(e, "greater_equal", x, y, x)', '_choose(e, "greater_equal", x, y, y)'),
    Fault("division rounds up for operands of one sign", "pytocu.ir.expand:_int_divmod",
          'opposite = e("not_equal"', 'opposite = e("equal"'),
    Fault("the largest shift is beyond the width", "pytocu.ir.expand:_shift",
          "e.const(element(y.type).bits, y)", "e.const(element(y.type).bits - 1, y)"),
    Fault("the bounds of clip change places", "pytocu.ir.expand:clip",
          'bound("less", bound("greater", x, low), high)', 'bound("greater", bound("less", x, high), low)'),
    Fault("either instead of exactly one", "pytocu.ir.expand:logical_xor", '"bitwise_xor"', '"bitwise_or"'),
    Fault("small integers of floats from 64 bits", "pytocu.ir.expand:cast",
          'I64 if target.bits == 64 or target.name == "u32" else I32', "I64"),
    Fault("the sign of NaN is 0", "pytocu.ir.expand:sign", 'e.where(e("equal", x, zero), zero, x)', "zero"),
    Fault("float64 to float16 is rounded twice", "pytocu.ir.expand_half:from_dtype",
          "narrow(e, round_to_odd(e, x))", "narrow(e, e.cast(x, F32))"),
    Fault("a complex number without imaginary part is 0", "pytocu.ir.expand_complex:nonzero", '"bitwise_or"', '"bitwise_and"'),
    Fault("the spacing below", "pytocu.ir.expand_bits:spacing", 'e("add", bits,', 'e("subtract", bits,'),
    Fault("unsigned integers become floats as signed ones", "pytocu.backend.llvm_rows:RowWriter.convert",
          '"sitofp" if signed else "uitofp"', '"sitofp"'),
    Fault("shifts to the right drop the sign", "pytocu.backend.llvm_rows:RowWriter.elementwise",
          "'ashr' if kind == 'i' else 'lshr'", "'lshr'"),
    Fault("unsigned integers compare as signed ones", "pytocu.backend.llvm_rows:RowWriter.elementwise",
          'signed = "s" if kind == "i" else "u"', 'signed = "s"'),
    Fault("NaN and the sign of zero count for nothing", "pytocu.backend.llvm_rows:RowWriter.elementwise",
          'for flag in inst.attr("fastmath", ())', 'for flag in ("nnan", "nsz")'),
    Fault("the root of a power is a square", "pytocu.frontend.operators:fast_power", '0.5: "sqrt", 1:', '0.5: "square", 1:'),
    Fault("a slice stops one early", "pytocu.frontend.indexing:_count", "distance + (stride - 1)", "distance"),
    Fault("a queue begins where it began", "pytocu.frontend.counted:_shorter", "key == 0", "key == 1"),
    Fault("a sum of a generator leaves no member out", "pytocu.frontend.generated:sum_of",
          "reversed(over.ifs)", "over.ifs[:0]"),
    Fault("None is a value", "pytocu.frontend.perhaps:joined", "Perhaps(False, rebuild", "Perhaps(True, rebuild"),
)  # fmt: skip


def _function(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(module)
    for attribute in name.split("."):
        found = getattr(found, attribute)
    return found


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Run with a fault.

    Raises
    ------
    LookupError
        The function's source does not hold the text once: the fault has to be written anew.
    """
    function = _function(fault.place)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(fault.old) != 1:
        raise LookupError(f"{fault.place} holds {source.count(fault.old)} times, not once: {fault.old}")
    made: dict[str, Any] = {}
    changed = "from __future__ import annotations\n" + source.replace(fault.old, fault.new)
    exec(compile(changed, f"<{fault.name}>", "exec"), function.__globals__, made)
    # The code alone is exchanged, so that tables and other modules that hold the function have the fault too.
    before, function.__code__ = function.__code__, made[function.__name__].__code__
    # Code that was compiled without the fault must not be found.
    kept = os.environ.get("PYTOCU_CACHE")
    os.environ["PYTOCU_CACHE"] = "0"
    try:
        yield
    finally:
        function.__code__ = before
        os.environ.pop("PYTOCU_CACHE") if kept is None else os.environ.update(PYTOCU_CACHE=kept)


def found_in(fault: Fault, seed: int, piece: int, count: int = PIECE) -> int | None:
    """The number of the first program of a piece that shows a fault; None where none does.

    A program counts where it differs with the fault and does not differ without it.

    Examples
    --------
    >>> [fault.name for fault in FAULTS if "logical_xor" in fault.place]
    ['either instead of exactly one']
    """
    pick, coverage = random.Random(f"{seed} {piece}"), Coverage()
    for number in range(count):
        program, arguments = random_program(pick, coverage)
        with planted(fault):
            differs = check(program, arguments, call_cpu).kind == "differs"
        if differs and check(program, arguments, call_cpu).kind != "differs":
            return number + 1
    return None


def _piece(seed: int, limit: int, job: tuple[int, int]) -> tuple[int, int, int | None]:
    number, piece = job
    return number, piece, found_in(FAULTS[number], seed, piece, min(PIECE, limit - piece * PIECE))


class _Search:
    """How far the search for one fault is: pieces begin in order, and the first find counts when all before it are done."""

    def __init__(self, limit: int):
        self.pieces = -(-limit // PIECE)
        self.begun = 0
        self.done: dict[int, int | None] = {}

    @property
    def first(self) -> int | None:
        """The first piece so far that shows the fault."""
        return min((piece for piece, found in self.done.items() if found), default=None)

    @property
    def settled(self) -> bool:
        """Whether it is known when the fault is found, or that it is not."""
        last = self.first
        return all(piece in self.done for piece in range(self.pieces if last is None else last))

    @property
    def programs(self) -> int | None:
        """How many programs it takes; None where the fault is not found."""
        return None if self.first is None else self.first * PIECE + (self.done[self.first] or 0)

    @property
    def open(self) -> bool:
        """Whether there is a piece to run."""
        return self.first is None and self.begun < self.pieces

    def next(self) -> int:
        """The next piece to run."""
        self.begun += 1
        return self.begun - 1


def search(
    numbers: Sequence[int], limit: int = LIMIT, seed: int = 0, jobs: int = 1, report: Callable[[str], None] = print
) -> dict[int, int | None]:
    """How many random programs it takes to see each fault, with some processes.

    Pieces of programs are shared out among the faults that are not found yet, so that the last one has all processes.

    Parameters
    ----------
    numbers : sequence of int
        The faults, by their numbers in :data:`FAULTS`.
    limit : int
        Programs that a fault may take.
    report : callable
        Is given a line for each fault.

    Returns
    -------
    dict of int to int or None
        None for a fault that the programs do not show.  The numbers do not depend on `jobs`.
    """
    searches = {number: _Search(limit) for number in numbers}
    found: dict[int, int | None] = {}
    tell, begun = meter(len(numbers)), time.perf_counter()
    work = functools.partial(_piece, seed, limit)
    pool = futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) if jobs > 1 else _Here()
    with pool:
        running: set[Any] = set()
        while len(found) < len(searches):
            # The fault with the fewest pieces comes next.
            while len(running) < jobs and (waiting := [n for n, s in searches.items() if s.open]):
                number = min(waiting, key=lambda n: searches[n].begun)
                running.add(pool.submit(work, (number, searches[number].next())))
            ready, running = futures.wait(running, return_when=futures.FIRST_COMPLETED)
            for future in ready:
                number, piece, programs = future.result()
                searches[number].done[piece] = programs
                if searches[number].settled and number not in found:
                    found[number] = searches[number].programs
                    fault = FAULTS[number]
                    said = "NOT FOUND" if found[number] is None else f"within {found[number]} programs"
                    report(f"{fault.name} ({fault.place}): {said}, {time.perf_counter() - begun:.0f} s")
            tell(len(found), f"{sum(s.begun for s in searches.values()) * PIECE} programs")
        for future in running:
            future.cancel()
    return found


class _Here:
    """Runs what it is given at once, in this process."""

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def submit(self, function: Callable[..., Any], *arguments: Any) -> futures.Future[Any]:
        """A future that is done."""
        made: futures.Future[Any] = futures.Future()
        made.set_result(function(*arguments))
        return made


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m pytocu.testing.planted [--limit N] [--seed S] [--jobs J] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.planted", description=main.__doc__)
    parser.add_argument("--limit", type=count, default=LIMIT, help="programs a fault may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=count, default=1, help="processes")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="the I-th of N parts of the faults")
    parser.add_argument("--write", type=file, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    number, parts = options.part
    faults = range(len(FAULTS))[number::parts]
    found = search(faults, options.limit, options.seed, options.jobs, functools.partial(print, flush=True))
    missed = sum(programs is None for programs in found.values())
    most = max((programs or 0 for programs in found.values()), default=0)
    covered = f"{len(faults) - missed} of {len(faults)} faults found, each within {most} programs"
    print(covered)
    row = figures.Row("planted faults, cpu", covered, missed, f"python -m pytocu.testing.planted --seed {options.seed}")
    print(figures.line(figures.dated(row)))
    if options.write:
        figures.write(options.write, row)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
