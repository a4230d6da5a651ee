"""The pass `lower`: a Python function's syntax tree to array IR.

In: a function and, for each of its parameters, an IR type or a value known now.  Out: a
function at array level, the guards on everything it captured, and nothing executed of the
user's code but what depends on known values alone (constants, loop bounds, dtypes).
"""

from __future__ import annotations

import functools
import itertools
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.config import Elementwise
from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UnsupportedError
from pytocu.frontend.frames import Raised
from pytocu.frontend.objects import given_back, is_object, note_argument, note_built, note_path, path_of
from pytocu.frontend.source import function_loc, function_node
from pytocu.frontend.statements import run_function
from pytocu.frontend.storage import NUMBERED, PLAIN, HandOn, Sharing, StorageBuilder
from pytocu.frontend.values import (
    Context,
    Counted,
    Grown,
    Hooks,
    Masked,
    Members,
    Perhaps,
    SeenTwice,
    as_value,
    describe,
    dimensions,
    is_array,
)
from pytocu.guards import Guard, Path, Static
from pytocu.ir import collector
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.dims import Dim, DimLike, Fact, symbols
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, is_strided, weak_type_of
from pytocu.record import Record

_ask_for_marks = Deferred("pytocu.frontend.list_kinds", "ask_for_marks")
_raise_first = Deferred("pytocu.frontend.call_first", "raise_first")
_orders_of = Deferred("pytocu.frontend.layouts", "orders_of")
_also_wrong = Deferred("pytocu.frontend.reading_on", "also_wrong")
_call = Deferred("pytocu.frontend.calls", "call")
_compact = Deferred("pytocu.frontend.compaction", "compact")
_forget = Deferred("pytocu.frontend.settling", "forget")
_settle = Deferred("pytocu.frontend.settling", "settle")
_settled = Deferred("pytocu.frontend.counted", "settled")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")
_may_be_member = Deferred("pytocu.frontend.member_arrays", "may_be_member")
_form_of_columns = Deferred("pytocu.frontend.columns", "form_of")
_again = Deferred("pytocu.frontend.records", "again")
_is_known_behind = Deferred("pytocu.frontend.ways", "is_known_behind")
_is_seen = Deferred("pytocu.frontend.ways", "is_seen")
_place = Deferred("pytocu.frontend.ways", "place")
_refused_way = Deferred("pytocu.frontend.ways", "refused_way")
_after = Deferred("pytocu.frontend.records", "after")
_placed = Deferred("pytocu.frontend.records", "placed")
_under = Deferred("pytocu.frontend.records", "under")
_given = Deferred("pytocu.frontend.records", "given")
_tree_of = Deferred("pytocu.frontend.records", "tree_of")
_path_of_class = Deferred("pytocu.frontend.records", "path_of_class")
_with_changes = Deferred("pytocu.frontend.records", "with_changes")
_put_together = Deferred("pytocu.trees", "put_together")
_listed = Deferred("pytocu.frontend.literals", "listed_operand")
_vectorized = Deferred("pytocu.frontend.vectorized", "vectorized")


KINDS = "kinds"
"""What the front end asks for with `HandOn` where numbers may be Python's: that NumPy functions note what they are given."""


Others = Mapping[tuple[Loc | None, str], tuple[CompileError, ...]]

Call = tuple[Mapping[str, int], frozenset[int]]
"""The lengths of a call's arguments by name, and the numbers of those that it must not write."""


class _AlsoWrong(Exception):
    """More is wrong where the function raises at run time, which what it raises is to say: it is read again with that."""

    def __init__(self, others: Others):
        super().__init__()
        self.others = others


class FrontendResult(Record):
    """The lowered function and what it was built from.

    `callees` are the functions that were read besides the first, and how another process finds
    each: None where it cannot.
    """

    function: Function
    guards: tuple[Guard, ...]
    callees: tuple[tuple[types.FunctionType, Path | None], ...]


def kernel_name(name: str) -> str:
    """A valid identifier for a Python function: ``<lambda>`` becomes ``lambda_``."""
    cleaned = re.sub(r"\W", "_", "lambda_" if name == "<lambda>" else name, flags=re.ASCII)
    return cleaned if cleaned and not cleaned[0].isdigit() else f"f_{cleaned}"


@collector.paused()
def lower(
    function: types.FunctionType,
    parameters: Sequence[tuple[str, Type | Static]],
    unit_lengths: frozenset[Dim] = frozenset(),
    sharing: Sharing = (),
    elements: Elementwise | None = None,
    apart: frozenset[tuple[DimLike, DimLike]] = frozenset(),
    trees: tuple[Any, ...] = (),
    zeros: frozenset[Dim] = frozenset(),
    call: Call | None = None,
    misses: tuple[frozenset[Fact], Mapping[str, int]] = (frozenset(), {}),
) -> FrontendResult:
    """Read a function into array IR.

    Parameters
    ----------
    function : function
        A plain Python function (or lambda) with source.
    parameters : sequence of (str, Type or Static)
        One for each parameter in the order of the signature: a type where the value is
        known at run time, `Static` where it is known now.
    unit_lengths : frozenset of Dim
        Lengths of views that are to be taken as 1; the function states each with ``assume``.
    sharing : Sharing
        Which of the arguments known at run time share memory with one that is written.
    elements : Elementwise, optional
        The function is one of scalars; behind its own parameters come those of every vectorized function.
    apart : frozenset of pairs of lengths
        What sides of branches hand on has one length or the other; the function states that they differ.
    trees : Trees, optional
        How the function's own parameters hold these; by default they are these.
    zeros : frozenset of Dim
        Lengths that are 0, which the function states; see `Context.zeros`.
    call : Call, optional
        The call that asks, on which nothing but errors depends; see `pytocu.frontend.call_first`.
    misses : (frozenset of Fact, mapping)
        What does not hold of the lengths of the call, in the statements of a ``try``; the function states that it does not.
        And these lengths.

    Returns
    -------
    FrontendResult
        The function's parameters are the dynamic ones, in order.

    Raises
    ------
    CompileError
        With the user's line, for everything that cannot be compiled.
    """
    handed: set[Any] = set()
    plain: set[Any] | None = None
    others: Others | None = None
    while True:
        try:
            hints = frozenset(handed), others, call, misses
            return _lower(function, parameters, unit_lengths, sharing, elements, apart, trees, zeros, *hints)
        except _AlsoWrong as found:
            others = found.others
        except HandOn as asked:
            # A loop hands on the names that are read behind it, which only reading on can tell.
            if asked.key in handed:
                raise AssertionError("a loop hands on a name that it was told to hand on") from None
            if asked.key is NUMBERED:
                plain = {*handed, PLAIN}
                handed = {key for key in handed if not _is_of_memory(key)}
            handed.update(asked.keys)
        except UnsupportedError:
            if plain is None or NUMBERED not in handed:
                raise
            # What is refused is said of the function as it is read without that.
            handed, others = plain, None


def _is_of_memory(key: Any) -> bool:
    """Whether a first step is to be written apart for the memory that names have: see `pytocu.frontend.first_steps`."""
    return getattr(key, "memory", False) is True


def _lower(
    function: types.FunctionType,
    parameters: Sequence[tuple[str, Type | Static]],
    unit_lengths: frozenset[Dim],
    sharing: Sharing,
    elements: Elementwise | None,
    apart: frozenset[tuple[DimLike, DimLike]],
    trees: tuple[Any, ...],
    zeros: frozenset[Dim],
    handed: frozenset[Any],
    others: Others | None,
    call: Call | None,
    misses: tuple[frozenset[Fact], Mapping[str, int]],
) -> FrontendResult:
    node = function_node(function)
    builder = StorageBuilder(function_loc(function), unit_lengths)
    context = Context(builder, Hooks(run_function, _call, _compact, _listed), unit_lengths)
    context.handed, context.apart, context.zeros = handed, apart, zeros
    context.asking = KINDS in handed
    builder.numbered = True if NUMBERED in handed else False if PLAIN in handed else None
    missed, context.sizes = misses
    context.misses = missed | {Fact(dim, "!=", 0) for dim in zeros}
    context.others = others or {}
    note_path(context, function, ("function",))
    params: list[Value] = []
    values: dict[str, Any] = {}
    for position, (name, parameter) in enumerate(parameters):
        match parameter:
            case Static(value):
                values[name] = value
                note_argument(context, position, name, value)
            case type:
                params.append(builder.param(type, name))
                values[name] = params[-1]
                context.given.add(params[-1])
                if isinstance(type, ArrayType):
                    builder.arguments[params[-1]] = params[-1]
                    context.numbers.update(name for dim in type.shape for name in symbols(dim))
    for kind, numbers in sharing:
        shared = [params[n] for n in numbers]
        for param in shared:
            del builder.arguments[param]
        values.update(zip((p.name for p in shared), builder.share(kind, shared), strict=True))
    for param in builder.arguments:
        if isinstance(param.type, ArrayType) and is_strided(param.type.layout) and param.type.ndim > 1:
            builder.name_strides(param)
    if trees:
        values = _put_together(trees, values, lambda made: note_built(context, made))
    for dim in sorted(unit_lengths, key=str):
        builder.emit("assume", (), {"dim": dim, "relation": "==", "number": 1})
    for dim in sorted(zeros, key=str):
        builder.emit("assume", (), {"dim": dim, "relation": "==", "number": 0})
    for first, second in sorted(apart, key=str):
        builder.emit("assume", (), {"dim": first - second, "relation": "!=", "number": 0})
    for fact in sorted((fact.opposite for fact in missed), key=str):
        builder.emit("assume", (), {"dim": fact.dim, "relation": fact.relation, "number": fact.number})
    try:
        if elements is None:
            result = run_function(context, function, node, values, None)
        else:
            result = _vectorized(context, function, node, elements, values)
    except CompileError as error:
        for one in (error, *error.others):
            one.ints = tuple((v.name or "number", v in context.given, *names) for v, names in context.bound.items())
        if call is not None and not isinstance(error, UnsupportedError):
            _raise_first(builder.insts, params, *call)
        raise
    except Raised as found:
        if not found.written:
            if call is not None:
                _raise_first(builder.insts, params, *call)
            raise found.error from None
        # Every way raises.
        result = None
    except RecursionError:
        raise CompileError(
            "expressions or calls are nested too deeply to be read", context.loc, "name intermediate results"
        ) from None
    settles = context.open and any(i.op.name == "from_python" for inst in builder.insts for i in _inside(inst))
    if settles and not context.asking:
        raise HandOn(KINDS)
    leaves, tree = _returned(context, result, _settle(context, result) if settles else {})
    for grown in context.given_back:
        _refuse_members(context, grown, leaves)
    _leave(context, [builder.reference(leaf) for leaf in leaves], tree)
    builder.forget_strides()
    facts = (("sharing", tuple((kind, *numbers) for kind, numbers in sharing)),) if sharing else ()
    lowered = builder.function(kernel_name(function.__name__), "array", params, facts)
    if settles or context.asking or context.marks or context.members:
        lowered = _forget(lowered, context.fits)
    if context.refused and others is None and (more := _also_wrong(context.refused)):
        raise _AlsoWrong(more)
    callees = tuple((f, path_of(context, f)) for f in context.inlined)
    return FrontendResult(lowered, tuple(context.guards), callees)


def _inside(inst: Inst) -> Iterator[Inst]:
    """An instruction and those in its regions."""
    yield inst
    for region in inst.regions:
        yield from walk(region)


def _leave(context: Context, results: list[Value], tree: Any) -> None:
    """The ``return``: results as references, and the final contents of what was changed."""
    builder = context.builder
    attrs: dict[str, Any] = {"tree": tree}
    if _may_turn(builder) and (orders := _orders_of(context, results)):
        attrs["orders"] = orders
    pairs: list[tuple[int, int]] = []
    for memory, contents in builder.updates():
        for value in (memory, contents):
            if value not in results:
                results.append(value)
        pairs.append((results.index(memory), results.index(contents)))
    if pairs:
        attrs["updates"] = tuple(pairs)
    builder.leave(results, attrs)


def _may_turn(builder: StorageBuilder) -> bool:
    """Whether elements of a result may lie in another than row-major order."""
    if any(isinstance(a.type, ArrayType) and a.type.layout != "C" for a in builder.arguments):
        return True
    stated = [ranks for ranks, _ in builder.orders.values() if ranks is not None]
    if any(not _falls([r for r in ranks if r is not None]) for ranks in stated):
        return True
    return any(_turns(inst) for whole in builder.insts for inst in _inside(whole))


def _falls(ranks: Sequence[int]) -> bool:
    return all(a >= b for a, b in itertools.pairwise(ranks))


def _turns(inst: Inst) -> bool:
    match inst.op.name:
        case "transpose" | "strided":
            return True
        case "gather":
            return inst.attr("at") != 0
        case "copy":
            return inst.attr("order", None) == "F"
    return False


def _returned(context: Context, result: Any, choices: Mapping[Value, Any]) -> tuple[list[Value], Any]:
    """The leaves and the tree of what is returned, and of what arguments hold where that changes."""
    first: list[Any] = []
    while True:
        leaves: list[Value] = []
        for known in (context.placed, context.repeated, context.fresh, context.given_back):
            known.clear()

        def form(value: Any, leaves: list[Value] = leaves) -> Any:
            return _tree(context, value, leaves, choices)

        try:
            before = [*map(form, first)]
            tree = _after(before, form(result)) if before else form(result)
            tree = _with_changes(context, tree, form) if context.held else tree
            return leaves, _placed(tree, context.repeated) if context.placed else tree
        except SeenTwice as found:
            first.append(found.value)


def _chosen(context: Context, value: Any, leaves: list[Value]) -> Any:
    """The tree of a number of which a run says what it is; Python's may be one of two kinds."""
    if isinstance(value, tuple):
        return ("if", *(_chosen(context, one, leaves) for one in value))
    return _leaf(as_value(context, value), leaves)


def _tree(context: Context, result: Any, leaves: list[Value], choices: Mapping[Value, Any]) -> Any:
    """The shape of what is returned: numbers of results, nested as the function nests them.

    `choices` are the values that a run makes NumPy's or Python's.
    """
    match result:
        case Value() if result in choices:
            return _chosen(context, choices[result], leaves)
        case Value() if (choice := context.builder.choice_with_argument(result)) is not None:
            tests, arrays = choice
            *trees, made = (_leaf(a, leaves) if a is result else _tree(context, a, leaves, choices) for a in arrays)
            for test, tree in zip(reversed(tests), reversed(trees), strict=True):
                made = ("if", _leaf(test, leaves), tree, made)
            return made
        case Value() if context.builder.read_only(result) and not context.builder.is_offered(result):
            return ("read-only", _leaf(result, leaves))
        case Value():
            return _leaf(result, leaves)
        case Masked():
            return _leaf(as_value(context, result), leaves)
        case _ if id(result) in context.held:
            return _given(given_back(context, result))
        case _ if (known := context.ways.get(id(result))) is not None and any(_is_seen(context, way) for way in known.ways):
            tree = lambda value: _tree(context, value, leaves, choices)  # noqa: E731
            return _way(context, result, leaves, tree, functools.cache(lambda: _made_anew(context, result, tree)))
        case tuple() if type(result) is tuple:
            return ("tuple", *(_tree(context, r, leaves, choices) for r in result))
        case tuple() if hasattr(type(result), "_fields"):
            return ("named", _path_of_class(context, type(result)), *(_tree(context, r, leaves, choices) for r in result))
        case _ if (tree := _made_anew(context, result, lambda value: _tree(context, value, leaves, choices))) is not None:
            return tree
        case None:
            return ("none",)
        case Perhaps(given=bool() as given):
            return _tree(context, result.value if given else None, leaves, choices)
        case Perhaps():
            return ("if", _leaf(result.given, leaves), _tree(context, result.value, leaves, choices), ("none",))
        case str():
            if type(result) is not str:
                text = f"the function returns a {type(result).__name__}, a string of a class of its own"
                raise UnsupportedError(text, context.loc, "return Python's own: str(text)")
            return ("str", result)
        case np.generic():
            return _leaf(as_value(context, result), leaves)
    if weak_type_of(result) is not None or isinstance(result, np.ndarray):
        return _leaf(as_value(context, result), leaves)
    if isinstance(result, Grown):
        _ask_for_marks(context, result)
    given = result
    if isinstance(result, Counted):
        result = _settled(context, result)
    if isinstance(result, Grown) and (kind := _kind_of_members(context, result, leaves)):
        number = _place(context, given)
        rows = _rows_of(context, result)
        if kind == "tuples":
            return _under(number, ("zip", _form_of_columns(context, rows, result, lambda column: _leaf(column, leaves))))
        if kind == "either":
            return _under(number, (kind, _leaf(rows, leaves), _leaf(result.marks, leaves)))
        return _under(number, ("members", _leaf(rows, leaves), kind))
    if isinstance(result, Grown) and result.mixed:
        text = f"the function returns {describe(result)}, and only a run knows which members are Python's numbers"
        help = "make all of them NumPy's: append(np.float64(x)), or return an array of it: np.array(...)"
        raise UnsupportedError(text, context.loc, help)
    if isinstance(result, Grown):
        help = "return an array of it: np.array(...)"
        raise UnsupportedError(f"the function returns {describe(result)}", context.loc, help)
    what = "an iterator" if isinstance(result, Members) else describe(result)
    raise UnsupportedError(
        f"the function returns {what}",
        context.loc,
        "return arrays, scalars, None, strings, or tuples, lists and dicts of these",
    )


def _way(context: Context, result: Any, leaves: list[Value], tree: Callable[[Any], Any], whole: Callable[[], Any]) -> Any:
    """The tree of a list, dict or object that a branch left, where a caller can see which one it is.

    What a caller cannot see is the `whole`, what stands behind all branches.

    Raises
    ------
    UnsupportedError
        What decides is not known where the function ends.
    """
    known = context.ways[id(result)]
    if not _is_known_behind(context, known.test):
        raise _refused_way(context, result)
    trees: list[Any] = []
    for way in known.ways:
        if id(way) in context.held or id(way) in context.placed:
            trees.append(tree(way))
        else:
            trees.append(_way(context, way, leaves, tree, whole) if _is_seen(context, way) else whole())
    return ("if", _leaf(known.test, leaves), *trees)


def _made_anew(context: Context, result: Any, tree: Callable[[Any], Any]) -> Any:
    """The tree of a list, dict or object that is made for the caller, or stands in the result before; None for others."""
    if (number := context.placed.get(id(result))) is not None:
        context.repeated.add(number)
        return _again(number)
    if type(result) is list and id(result) not in context.queues:
        return _under(_place(context, result), ("list", *map(tree, result)))
    if type(result) is dict and all(type(key) in (str, int) for key in result):
        return _under(_place(context, result), ("dict", *((key, tree(member)) for key, member in result.items())))
    if is_object(context, result):
        return _under(_place(context, result), _tree_of(context, result, tree))
    return None


def _kind_of_members(context: Context, grown: Grown, leaves: Sequence[Value]) -> str:
    """How a list is made of its rows: of Python's numbers, in lists perhaps, of an array's elements, or of tuples of these.

    Empty for others.
    """
    root = context.builder.root
    if any(is_array(leaf) and root(leaf) is root(grown.rows) for leaf in leaves):
        # It is returned twice, or a list in it is: the caller could see that these are one.
        return ""
    held, type = grown.inner, grown.type
    while held is not None and held.kind is list:
        held, type = held.inner, held.type
    if grown.inner is None and isinstance(grown.type, ArrayType) and not grown.frozen:
        context.given_back.append(grown)
        return "elements" if grown.own or not grown.shared else ""
    if grown.frozen or grown.queue is not None or grown.shared or (grown.mixed and grown.marks is None):
        return ""
    if held is not None and held is grown.inner and (held.columns or isinstance(held.type, WeakType | ScalarType)):
        return "tuples"
    if grown.marks is not None and (held is None or held.kind is list):
        return "either"
    if held is not None or not isinstance(type, WeakType | ScalarType):
        return ""
    if isinstance(type, WeakType):
        return "numbers"
    return "" if grown.inner is not None else "elements"


def _refuse_members(context: Context, grown: Grown, leaves: Sequence[Value]) -> None:
    """Refuse that an array is returned which is a member of a list that is returned, or may be: a loop leaves it."""
    rank = len(dimensions(grown.rows)) - 1
    for leaf in leaves:
        root = context.builder.root(leaf)
        member = _may_be_member(context, grown, leaf) and leaf is not grown.rows
        of_loop = grown.shared and root.inst is not None and bool(root.inst.regions) and is_array(leaf)
        if member or (root is grown.rows and leaf is not grown.rows) or (of_loop and len(dimensions(leaf)) == rank):
            text = f"the function returns {describe(grown)}, and beside it an array that may be one of its members"
            raise UnsupportedError(text, context.loc, "return a copy beside it: x.copy()")


def _leaf(value: Value, leaves: list[Value]) -> int:
    for number, leaf in enumerate(leaves):
        if leaf is value:
            return number
    leaves.append(value)
    return len(leaves) - 1
