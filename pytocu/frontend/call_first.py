"""What the call that asks for code raises before an error that every call comes to.

The front end finds an error of dtypes while it reads the function. NumPy may not come to it, since an array has another
length or must not be written, which a call knows: the checks that were written down before are made here, in order, and
those of lengths that meet, which nobody has written down yet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytocu.errors import ShapeError
from pytocu.ir import regions
from pytocu.ir.core import Block, Function, Inst, Value, named
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_arguments import State
from pytocu.ir.interp_checks import check


def raise_first(insts: Sequence[Inst], params: Sequence[Value], sizes: Mapping[str, int], read_only: Collection[int]) -> None:
    """Make the checks of lengths and of what is written.

    Parameters
    ----------
    insts : sequence of Inst
        What was read before the error.
    params : sequence of Value
    sizes : mapping
        The lengths of the call's arguments by name.
    read_only : collection of int
        The numbers of those that must not be written.

    Raises
    ------
    ShapeError, IndexingError
        The first that fails.
    """
    state = State(Function("call", "array", Block(tuple(params), tuple(insts))), dict(sizes), 0, [])
    kept = {params[n] for n in read_only}
    for inst in insts:
        if inst.op.name == "writable" and inst.args[0] in kept:
            sentence = f"{inst.attr('what')} is read-only"
            raise ShapeError(sentence, inst.loc, f"pass a copy of {inst.args[0].name}")
        if inst.op.name == "check" and inst.attr("kind") == "warn":
            # The run gives it, and raises what comes behind it.
            return
        if inst.op.name != "check":
            for pair in regions.meetings(inst):
                if not named(pair) <= sizes.keys():
                    continue
                first, second = (evaluate(dim, sizes) for dim in pair)
                if first != second and 1 in (first, second):
                    # NumPy repeats it, and the program is read again with that length.
                    return
                check(state, regions.comparison(inst, pair), [])
            continue
        if {n for _, value in inst.attrs for n in named(value)} <= sizes.keys():
            check(state, inst, [])
        elif "UnsupportedError" in inst.attr("shapes"):
            # What follows is written for calls that come past this check, which a call cannot tell here.
            return
