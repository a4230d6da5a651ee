"""The list of passes, and the runner that verifies, times and records around them.

``lower`` (the front end) comes before this list.  A pass is a function
``run(function, context) -> function`` that returns its argument when nothing changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain

from pytocu.deferred import Deferred
from pytocu.errors import InternalError, PytocuError, failed
from pytocu.ir import collector
from pytocu.ir.core import Function, Inst, walk
from pytocu.ir.regions import is_region
from pytocu.ir.types import BOOL_SCALAR, I32, I64, IndexType, WeakType, element, scalar
from pytocu.passes import (
    bufferize,
    cleanup,
    expand,
    fold,
    fuse,
    infer_shapes,
    infer_types,
    lower_loops,
    narrow,
    schedule,
    simplify,
    split,
    store_or_repeat,
)
from pytocu.passes.context import PassContext
from pytocu.record import Record

_place_of = Deferred("pytocu.ir.places", "place_of")
_verify = Deferred("pytocu.ir.verifier", "verify")

Run = Callable[[Function, PassContext], Function]


class Pass(Record):
    """One step of the pipeline.

    Parameters
    ----------
    name : str
        As ``pytocu passes`` and ``--after`` call it.
    run : callable
        The pass.
    doc : str
        One sentence.
    establishes : tuple of str
        Stage rules of the verifier that hold from here on.
    after : tuple of (str, str)
        Passes that must have run, each with the reason.
    """

    name: str
    run: Run
    doc: str
    establishes: tuple[str, ...] = ()
    after: tuple[tuple[str, str], ...] = ()


def _where(applies: Callable[[Function, PassContext], bool], module: str) -> Run:
    """The pass of a module that is imported for the first function to which it applies; it leaves others as they are."""
    deferred = Deferred(f"pytocu.passes.{module}", "run")

    def run(function: Function, context: PassContext) -> Function:
        if not applies(function, context):
            return function
        return deferred(function, context)

    return run


def _some(test: Callable[[Inst], bool]) -> Callable[[Function, PassContext], bool]:
    """Whether some instruction of the function, outside of regions, passes a test."""
    return lambda function, context: any(map(test, function.body.insts))


_regions = _some(is_region)
_updates = _some(lambda inst: inst.op.name == "update")
_products = _some(lambda inst: inst.attr("function") == "matmul")
_reductions = _some(lambda inst: inst.op.kind == "reduce")


def _combines(function: Function, context: PassContext) -> bool:
    return any(inst.op.name in ("combine_at", "place") or inst.attr("function") == "counts" for inst in walk(function.body))


def _maps(function: Function, context: PassContext) -> bool:
    return any(inst.op.name == "map" for inst in walk(function.body))


def _words(function: Function, context: PassContext) -> bool:
    """Whether some value is a float16 or a complex number."""
    types = chain((p.type for p in function.params), *(inst.types for inst in walk(function.body)))
    return any(not isinstance(t, WeakType | IndexType) and element(t).word is not element(t) for t in types)


def _flags(function: Function, context: PassContext) -> bool:
    return bool(context.fastmath)


def _selected(function: Function, context: PassContext) -> bool:
    """Whether something is selected that is a zero or converted before, or there are branches or quotients."""
    for inst in walk(function.body):
        if inst.op.name in ("if", "divide"):
            return True
        for arm in (a.inst for a in inst.args[1:] if inst.op.name == "where"):
            if arm is not None and arm.op.name in ("convert_raw", "half_to_float"):
                return True
            if arm is not None and arm.op.name == "const" and repr(arm.attr("value")) in ("0.0", "-0.0"):
                return True
    return False


def _negated(function: Function, context: PassContext) -> bool:
    """Whether arithmetic of int32 or int64 is done on a GPU, or a position negated."""
    if context.target.kind != "cuda":
        return False
    for inst in walk(function.body):
        if inst.op.name in ("negative", "subtract") and isinstance(inst.types[0], IndexType):
            first = inst.args[0].inst
            if inst.op.name == "negative" or (first is not None and first.attr("value") == 0):
                return True
        elif inst.op.kind == "elementwise" and inst.types[0] in (scalar(I32), scalar(I64)):
            return True
    return False


def _both(function: Function, context: PassContext) -> bool:
    """Whether two truth values or more are joined on a GPU."""
    if context.target.kind != "cuda":
        return False
    joined = (inst for inst in walk(function.body) if inst.op.kind == "elementwise" and inst.types[0] == BOOL_SCALAR)
    return sum(len(inst.args) > 1 and inst.args[1].type == BOOL_SCALAR for inst in joined) > 1


def _rolled(function: Function, context: PassContext) -> bool:
    """Whether something is joined in code for a CPU."""
    return context.target.kind == "cpu" and any(inst.op.name == "concatenate" for inst in walk(function.body))


def _chosen(function: Function, context: PassContext) -> bool:
    """Whether something is searched."""
    return any(inst.op.name == "search" for inst in function.body.insts)


def _waits(function: Function, context: PassContext) -> bool:
    """Whether threads would wait for one lane's branch, division or root after the other."""
    if context.fastmath:
        return False
    insts = list(walk(function.body))
    if any(i.attr("several") is not None for i in insts):
        return True
    lanes = (i.regions[0] for i in insts if i.op.name == "lanes")
    return any(i.op.name == "if" and i.attr("usual") is not None for region in lanes for i in region.insts)


def _by_one(function: Function, context: PassContext) -> bool:
    """Whether something is divided, on a GPU that has as many units for float64 as the products need."""
    if context.fastmath or not context.target.has_float64_units:
        return False
    return any(inst.op.name == "divide" for inst in walk(function.body))


def _grows(function: Function, context: PassContext) -> bool:
    """Whether steps have lists of which nobody knows how long they become."""
    return any(inst.op.name == "bind" and inst.attr("on_cpu", None) is not None for inst in walk(function.body))


def _launches(function: Function, context: PassContext) -> bool:
    return sum(inst.op.name == "launch" for inst in function.body.insts) > 1


PIPELINE: tuple[Pass, ...] = (
    Pass("rooms", _where(_grows, "rooms"), "Lists get room for as many members as the target allows."),
    Pass("fold", fold.run, "Operations on constants are computed now, where every backend would get the same bits."),
    Pass("infer-types", infer_types.run, "Python scalars adapt to NumPy's loops and every conversion becomes visible.",
         establishes=("settled types",)),
    Pass("infer-shapes", infer_shapes.run, "Lengths are unified, broadcasting becomes visible, the call's checks are stated.",
         establishes=("one shape",), after=(("infer-types", "inserted casts have shapes too"),)),
    Pass("fold", fold.run, "Conversions of constants are computed now."),
    Pass("simplify", simplify.run, "Algebra that keeps every bit.",
         after=(("infer-types", "identities are stated for one dtype"),)),
    Pass("combining", _where(_combines, "combining"), "Values are combined by place: in a loop, or sorted by place first.",
         after=(("infer-shapes", "lengths are unified"),)),
    Pass("one-thread", _where(_regions, "one_thread"), "Loops that one thread can go through get the words of a kernel.",
         after=(("infer-shapes", "lengths that a step compares are stated"),)),
    Pass("loop-scalars", _where(_regions, "loop_scalars"), "Python scalars beside arrays in loops become NumPy scalars.",
         after=(("infer-types", "where they meet arrays stands as a conversion"),
                ("one-thread", "what a step reads has no name of its own before"),
                ("combining", "a loop around one of its loops may be a kernel's"))),
    Pass("maps", _where(_maps, "maps"), "Functions of elements that have no loops become array operations.",
         after=(("infer-shapes", "broadcasting is visible"), ("loop-scalars", "they hold no Python scalars"))),
    Pass("picks", _where(_updates, "picks"), "Changes at positions of data become choices by position outside of loops.",
         after=(("infer-shapes", "the parts have the shapes of what is changed"),)),
    Pass("insert", _where(_updates, "insert"), "Changes of memory that the function makes become concatenations.",
         after=(("infer-shapes", "broadcasting is visible"),)),
    Pass("cse", cleanup.cse, "Equal computations are done once."),
    Pass("dce", cleanup.dce, "What nobody reads is dropped."),
    Pass("stages", _where(_regions, "stages"), "Loops and branches on whole arrays become the host's, with kernels inside.",
         after=(("loop-scalars", "Python scalars of kernels are settled"), ("dce", "bodies hold what is needed"))),
    Pass("narrow", narrow.run, "Lengths divide float32 in float32, and counts and positions are int32, where that is the same.",
         after=(("infer-types", "casts are visible"),)),
    Pass("products", _where(_products, "products"), "Products of small matrices become sums of products.",
         after=(("infer-shapes", "lengths are unified"),)),
    Pass("components", _where(_reductions, "components"),
         "Reductions of vectors with few components become one of each component.",
         after=(("products", "products are reductions"),)),
    Pass("few", _where(_reductions, "few"), "Reductions of very few elements become element operations.",
         after=(("infer-shapes", "lengths are unified"),)),
    Pass("split", split.run, "Long reductions are cut into pieces, by their length alone.",
         after=(("infer-shapes", "lengths are unified"),)),
    Pass("compactions", _where(_chosen, "compactions"), "What a mask chooses is found by walking through the mask.",
         after=(("split", "the counts of pieces say where each piece begins"),)),
    Pass("store", store_or_repeat.run, "What is read at several positions is kept in memory where that costs less.",
         after=(("infer-shapes", "broadcasting is visible"), ("dce", "dead readers would count"))),
    Pass("fuse", fuse.run, "Array operations are grouped into kernels.",
         after=(("infer-shapes", "results of one shape share a kernel"), ("dce", "dead operations would be computed"))),
    Pass("rolls", _where(_rolled, "rolls"), "Rolls along outer axes become views in code for a CPU.",
         after=(("fuse", "what is joined is read by position until then"),)),
    Pass("bufferize", bufferize.run, "Results become memory; the function becomes the host's plan.", establishes=("buffers",),
         after=(("fuse", "only kernel results need memory"),)),
    Pass("schedule", schedule.run, "Each launch gets its way of running on the target.", establishes=("scheduled",),
         after=(("bufferize", "launches exist from there on"),)),
    Pass("lower-loops", lower_loops.run, "Kernels become loops over elements; views become index arithmetic.",
         establishes=("loops",), after=(("schedule", "the loops are the schedule's"),)),
    Pass("lower-dtypes", _where(_words, "lower_dtypes"), "float16 becomes its 16 bits, complex numbers become pairs.",
         establishes=("plain dtypes",), after=(("lower-loops", "the words of an element are loaded and stored apart"),)),
    Pass("expand", expand.run, "Composite operations become primitives.", establishes=("primitive",),
         after=(("lower-loops", "formulas are written for elements"), ("lower-dtypes", "its formulas use composite rows"))),
    Pass("fastmath", _where(_flags, "fastmath"), "Applies the flags of fastmath=; nothing by default.",
         after=(("expand", "flags belong on the arithmetic that runs"),)),
    Pass("zeros", _where(_selected, "zeros"), "Selections of a zero keep its sign in the vendors' compilers.",
         after=(("expand", "formulas select too"),)),
    Pass("one-test", _where(_waits, "one_test"), "Lanes that branch, divide or take roots have one test of the operands.",
         after=(("expand", "formulas divide and branch too"), ("zeros", "divisors are hidden from compilers"))),
    Pass("shared-divisors", _where(_by_one, "shared_divisors"), "What divides by one number multiplies by its reciprocal.",
         after=(("expand", "formulas divide too"), ("one-test", "what has a test there is faster"))),
    Pass("fold", fold.run, "Constants that formulas brought in."),
    Pass("negations", _where(_negated, "negations"), "Negated integers and magnitudes reach the vendors' assemblers unseen.",
         after=(("expand", "formulas are minima and maxima"),)),
    Pass("cse", cleanup.cse, "Index arithmetic and formulas share their parts."),
    Pass("both-or-either", _where(_both, "both_or_either"), "Vendors' assemblers see no `p & q` beside `p | q`.",
         after=(("expand", "formulas are of truth values"), ("cse", "equal operands are one value"))),
    Pass("dce", cleanup.dce, "Unused lengths, constants and loads are dropped."),
    Pass("alike", _where(_launches, "alike"), "Launches of the same code get one name.",
         after=(("lower-loops", "kernels differ until they are loops"),)),
)  # fmt: skip
"""Every pass, in order."""


def pass_names() -> tuple[str, ...]:
    """Names to select a pass by; a pass that runs again is ``fold-2``, ``fold-3``."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for step in PIPELINE:
        seen[step.name] = seen.get(step.name, 0) + 1
        names.append(step.name if seen[step.name] == 1 else f"{step.name}-{seen[step.name]}")
    return tuple(names)


def check_order(pipeline: Sequence[Pass] = PIPELINE) -> None:
    """Verify every "A before B, because" of the list.

    Raises
    ------
    InternalError
        Naming the pass, what it needs before it, and why.
    """
    done: set[str] = set()
    for step in pipeline:
        for needed, reason in step.after:
            if needed not in done:
                raise InternalError(f"the pass {step.name} must come after {needed}: {reason}")
        done.add(step.name)


check_order()

LAST_OF_ANY_OFFSETS, FIRST_OF_OFFSETS = "fold-3", "negations"
"""The passes in front of the second one know nothing of how many bits offsets have, but that the fact is stated."""


def with_offsets_of(function: Function, bits: int) -> Function:
    """A scheduled function whose offsets have so many bits."""
    facts = ((name, bits if name == "index_bits" else value) for name, value in function.facts)
    return Function(function.name, function.level, function.body, tuple(facts))


class Outcome(Record):
    """What the runner saw of one pass."""

    name: str
    function: Function
    milliseconds: float
    changed: bool


class History:
    """The function after every pass."""

    __slots__ = ("records",)

    def __init__(self) -> None:
        self.records: list[Outcome] = []


@collector.paused()
def run_pipeline(
    function: Function,
    context: PassContext,
    history: History | None = None,
    check: bool = False,
    start: str = "",
    stop: str = "",
) -> Function:
    """Run the passes.

    Parameters
    ----------
    function : Function
        At array level, as the front end made it, or as it stood before the pass `start`.
    context : PassContext
        Target and options.
    history : History, optional
        Filled with the function after every pass.
    check : bool
        Verify before the first and after every pass.
    start : str
        The first pass to run; earlier ones are skipped (their rules hold already).
    stop : str
        The last pass to run; all by default.

    Raises
    ------
    InternalError
        A pass broke a rule; the text names the pass.
    """
    established: list[str] = []
    names = pass_names()
    skipping = bool(start)
    verified: Function | None = None
    if check and not start:
        _verify(function)
        verified = function
    for name, step in zip(names, PIPELINE, strict=True):
        established.extend(step.establishes)
        if skipping and name != start:
            continue
        skipping = False
        began = time.perf_counter()
        before = function
        try:
            function = step.run(function, context)
        except PytocuError:
            raise
        except Exception as error:
            # A pass raises errors of pytocu's alone: anything else is a defect, which names the pass.
            raise failed(f"the pass {name}", function.name, error, _place_of(error)) from error
        elapsed = (time.perf_counter() - began) * 1e3
        if check and (function is not verified or step.establishes):
            try:
                _verify(function, established)
                verified = function
            except InternalError as error:
                raise InternalError(f"after the pass {name}: {error}") from error
        if history is not None:
            history.records.append(Outcome(name, function, elapsed, function is not before))
        if name == stop:
            break
    return function
