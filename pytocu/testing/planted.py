"""Faults that random programs must find: a check that sees nothing is no check.

``python -m pytocu.testing.planted`` plants one after the other into the front end, the passes, the
formulas and the CPU backend, runs random programs, and prints how many it took to see a
difference.  Each fault is a change of a few characters in one function.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import multiprocessing
import os
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from pytocu.testing import figures
from pytocu.testing.fuzz import CHUNK, call_cpu, run_chunk

LIMIT = 10_000
"""Within so many programs a fault must be found."""


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
          "for k, v in inst.attrs)", 'for k, v in inst.attrs if k != "start")'),
    Fault("equal with operands swapped", "pytocu.passes.cleanup:_cse_block",
          "key = (inst.op.name, args,", "key = (inst.op.name, frozenset(args),"),
    Fault("a cast between floats is skipped", "pytocu.passes.lower_dtypes:cast",
          "return tuple(e.cast(word, target.word) for word in words)", "return words[::-1]"),
    Fault("a comparison of signs the wrong way round", "pytocu.passes.infer_types:_compare_signs",
          "_compare_signs(builder, _MIRRORED[name], y, x)", "_compare_signs(builder, name, y, x)"),
    Fault("axes merged by the first access alone", "pytocu.passes.affine:merge_axes",
          "for a in accesses)", "for a in accesses[:1])"),
    Fault("an offset is not multiplied", "pytocu.passes.affine:Affine.__mul__", "self.offset * factor", "self.offset"),
    Fault("column-major memory is walked as row-major", "pytocu.passes.lower_loops:strides_of",
          'if type.layout == "C" else', 'if type.layout != "S" else'),
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
    Fault("the root of a power is a power", "pytocu.frontend.operators:fast_power", '0.5: "sqrt", 1:', "1:"),
    Fault("a slice stops one early", "pytocu.frontend.indexing:_ceil", "distance + (step - 1)", "distance"),
)  # fmt: skip


def _function(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
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


def programs_until_found(fault: Fault, limit: int = LIMIT, seed: int = 0) -> int | None:
    """How many random programs it takes to see a fault; None when they do not.

    Examples
    --------
    >>> [fault.name for fault in FAULTS if "logical_xor" in fault.place]
    ['either instead of exactly one']
    """
    with planted(fault):
        for chunk in range(-(-limit // CHUNK)):
            report = run_chunk(call_cpu, seed, chunk, small=False, stop=True)
            if report.kinds["differs"]:
                return chunk * CHUNK + report.programs
    return None


def _timed(limit: int, seed: int, number: int) -> tuple[int, int | None, float]:
    """The number of a fault, programs until it was found, and seconds."""
    begun = time.perf_counter()
    return number, programs_until_found(FAULTS[number], limit, seed), time.perf_counter() - begun


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m pytocu.testing.planted [--limit N] [--seed S] [--jobs J] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.planted", description=main.__doc__)
    parser.add_argument("--limit", type=int, default=LIMIT, help="programs a fault may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--part", default="0/1", help="the I-th of N parts of the faults")
    parser.add_argument("--write", type=Path, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    part, parts = map(int, options.part.split("/"))
    faults = range(len(FAULTS))[part::parts]
    missed, most = 0, 0
    work = functools.partial(_timed, options.limit, options.seed)
    with multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else nullcontext() as pool:
        for number, found, seconds in pool.imap_unordered(work, faults) if pool else map(work, faults):
            missed += found is None
            most = max(most, found or 0)
            said = "NOT FOUND" if found is None else f"within {found} programs"
            print(f"{FAULTS[number].name} ({FAULTS[number].place}): {said}, {seconds:.0f} s", flush=True)
    covered = f"{len(faults) - missed} of {len(faults)} faults found, each within {most} programs"
    print(covered)
    if options.write:
        figures.write(options.write, figures.Row("planted faults, cpu", covered, missed, "python -m pytocu.testing.planted"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
