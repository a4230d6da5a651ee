"""``for`` and ``while`` whose steps are known only at run time, and the ways out of them: ``break``, ``return``, ``else``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.aliases import note_chosen
from pytocu.frontend.control import branch
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.first_steps import had_step
from pytocu.frontend.flags import both, condition, either, negated
from pytocu.frontend.frames import Flag, Flow, Frame, flow_of
from pytocu.frontend.known_loops import loops_of
from pytocu.frontend.list_forms import in_parts
from pytocu.frontend.loops import Again, Body, Limit, assigned_names, has_steps, loop, most_of, unlimited
from pytocu.frontend.numbered import Numbered, numbered
from pytocu.frontend.operators import binary
from pytocu.frontend.raising import reached
from pytocu.frontend.ranges import Facts, bound_count, facts_of, knowing, note, number_as_dim
from pytocu.frontend.rounds import arrays_in_rounds, longer_at
from pytocu.frontend.state import Around, Grows, State, flatten, members_of, rebuild, wanted, wanted_at
from pytocu.frontend.values import Context, Grown, Steps, as_dim, as_strong, as_value, decides, dim_value, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, symbols
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, WeakType

_begin_step = Deferred("pytocu.frontend.grown", "begin_step")
_end_step = Deferred("pytocu.frontend.grown", "end_step")
_count = Deferred("pytocu.frontend.counted", "for_loop")
_ask = Deferred("pytocu.frontend.counted", "ask")
_is_of_lengths = Deferred("pytocu.frontend.counting", "is_of_lengths")
_count_while = Deferred("pytocu.frontend.counted", "while_loop")
_inside = Deferred("pytocu.frontend.counted", "inside")
_returned_parts = Deferred("pytocu.frontend.lengths_of_steps", "returned_parts")
_refuse_by_data = Deferred("pytocu.frontend.trying", "refuse_by_data")
_fill = Deferred("pytocu.frontend.grown", "fill")
_fill_inside = Deferred("pytocu.frontend.grown", "fill_inside")


def for_loop(frame: Frame, node: ast.For, steps: Steps, assign: Callable[[Any], None], read: Callable[[], Any]) -> Flow:
    """A loop over numbers of run time; `assign` binds the target, `read` reads the body and gives a signal."""
    context = frame.context
    state = State(frame)

    def run(known: Numbered | None, lists: Sequence[Grown] = ()) -> Flow:
        with _inside(context, _numbers(context, known, steps)):
            return _for_loop(frame, node, steps, assign, read, known, lists)

    def counted(known: Numbered | None) -> Flow:
        with around(context, State(frame)):
            try:
                return run(known)
            except Grows as found:
                raise _asked(context, found) from None

    lists = wanted(context)
    if here := wanted_at(frame, context.loc):
        return _count(frame, node, steps, here, counted)
    with around(context, state):
        try:
            if context.filling:
                return _fill_inside(frame, run, node, steps)
            return run(numbered(frame, node, steps, wanted=bool(lists)))
        except Grows as found:
            error = found
    state.go_back()
    return _fill(frame, run, node, steps, state, error)


def _numbers(context: Context, known: Numbered | None, steps: Steps) -> tuple[str, DimLike, bool] | None:
    """The numbers of the steps; of a loop of an element's function, whose steps have none, how far it goes."""
    if known is not None or context.elements is None:
        return None if known is None else known.numbers
    start, stop, stride = map(as_dim, (steps.start, steps.stop, steps.step))
    if start is None or stop is None or not isinstance(stride, int):
        return None
    return "", dim_max(stop - start if stride > 0 else start - stop, 0), False


def _asked(context: Context, found: Grows) -> UnsupportedError:
    """The error for lists that steps make longer by numbers that nobody knows, unless they can be lists that a run counts."""
    for growth in found.lists:
        _ask(context, growth.held, [*growth.before, *growth.more])
    return found.plain()


@contextmanager
def around(context: Context, state: State, written_out: bool = False) -> Iterator[None]:
    """Read a loop, before which the program was in a state."""
    context.growing.append(Around(context.loc, state, state.known_containers(), written_out))
    try:
        yield
    finally:
        context.growing.pop()


def _for_loop(
    frame: Frame,
    node: ast.For,
    steps: Steps,
    assign: Callable[[Any], None],
    read: Callable[[], Any],
    known: Numbered | None,
    lists: Sequence[Grown] = (),
) -> Flow:
    """The same with numbers for its steps, or not, which make `lists` longer."""
    context = frame.context
    nodes = [node.target, *node.body]
    head = [as_value(context, v) for v in (steps.start, steps.stop, steps.step)] if known is None else known.head

    def straight(counter: Value | None, lead: list[Value]) -> tuple[list[Any], list[Any]]:
        assert counter is not None
        with knowing(context, () if known is None else known.facts, steps=True):
            begun = _begin_step(frame, lists, known) if lists else None
            assign(steps.item(counter if known is None else dim_value(context, known.value)))
            flow = flow_of(read())
            if begun is not None:
                _end_step(frame, lists, begun)
        if flow.broke is not False or flow.returned is not False:
            raise Again
        return [], []

    def every() -> Flow:
        try:
            if loops_of(context).flags(context.builder.loc) is not None:
                raise Again
            numbers = None if known is None else known.numbers
            loop(frame, "for_loop", head, (), nodes, straight, numbers, most_of(context, steps))
        except Again:
            for grown in lists:
                grown.place, grown.appended = grown.start, 0
            if known is not None:
                return _leaving_numbered(frame, nodes, known, steps, assign, read)
            return _leaving_for(frame, nodes, head, steps, assign, read)
        return Flow()

    def first() -> None:
        assign(steps.item(steps.start))
        read()

    stepped = lambda: None if has_steps("for_loop", head) else had_step(context, "for_loop", head, None)  # noqa: E731
    return _or_raised(frame, every, first, stepped)


def _or_raised(frame: Frame, every: Callable[[], Flow], first: Callable[[], Any], stepped: Callable[[], Value | None]) -> Flow:
    """A loop; one of which the first step raises, whatever the data are, is a branch with that step.

    Parameters
    ----------
    every : callable
        Reads the loop.
    first : callable
        Reads its first step.
    stepped : callable
        Gives whether it has one, or None where that is known.
    """
    flow, found = reached(frame.context, every, steps=True)
    if found is None:
        return flow
    test = stepped()
    if test is None:
        # A run may raise something else before it comes there.
        first()
        raise found if found.stated else found.error

    if frame.context.tries:
        _refuse_by_data(frame.context, found)

    def raises() -> Any:
        first()
        raise found

    return flow_of(branch(frame, test, raises, lambda: None))


def _leaving_for(
    frame: Frame,
    nodes: Sequence[ast.AST],
    head: Sequence[Value],
    steps: Steps,
    assign: Callable[[Any], None],
    read: Callable[[], Any],
) -> Flow:
    """A ``for`` with ``break`` or ``return``: a flag says whether there is another step."""
    context = frame.context
    builder = context.builder
    start, stop, stride = head
    known = stride.inst is not None and stride.inst.op.name == "const"
    # Where the direction is known the number itself goes from step to step, otherwise how many there were.
    count = stop if known else builder.emit("python_steps", head)
    zero = start if known else builder.const(0, WEAK_INT)
    comparison = "greater" if stride.inst is not None and known and stride.inst.attr("value") < 0 else "less"

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        number = lead[0]
        position = number if known else binary(context, "add", start, binary(context, "multiply", number, stride))
        assign(steps.item(position))
        flow = flow_of(read())
        return [binary(context, "add", number, stride if known else 1)], flow

    def more(lead: list[Any]) -> Flag:
        return binary(context, comparison, lead[0], count)

    return _leaving(frame, nodes, as_value(context, more([zero])), [zero], step, more, limit=most_of(context, steps))


def _leaving_numbered(
    frame: Frame,
    nodes: Sequence[ast.AST],
    loop_steps: Numbered,
    steps: Steps,
    assign: Callable[[Any], None],
    read: Callable[[], Any],
) -> Flow:
    """The same where steps have numbers."""
    context = frame.context
    start, stop, stride = loop_steps.head
    name, _, falling = loop_steps.numbers

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        bound_count(context, lead[0], name)
        with knowing(context, loop_steps.facts, steps=True):
            assign(steps.item(dim_value(context, loop_steps.value)))
            flow = flow_of(read())
        return [binary(context, "add", lead[0], stride)], flow

    def more(lead: list[Any]) -> Flag:
        return binary(context, "greater" if falling else "less", lead[0], stop)

    return _leaving(frame, nodes, as_value(context, more([start])), [start], step, more, limit=most_of(context, steps))


def while_loop(frame: Frame, node: ast.While, first: Any, test: Callable[[], Any], read: Callable[[], Any]) -> Flow:
    """A loop while a condition of run time holds; `first` is what it was before the first step."""
    if here := wanted_at(frame, frame.context.loc):
        return _count_while(frame, here, test, lambda asked: _with_rooms(frame, node, asked(), asked, read))
    return _with_rooms(frame, node, first, test, read)


def _with_rooms(frame: Frame, node: ast.While, first: Any, test: Callable[[], Any], read: Callable[[], Any]) -> Flow:
    """The loop, with room for arrays that nothing but data may end."""
    if not (arrays := longer_at(frame, frame.context.loc)):
        return _while_loop(frame, node, first, test, read)
    return arrays_in_rounds(frame, arrays, test, lambda asked, facts: _while_loop(frame, node, asked(), asked, read, facts))


def _while_loop(
    frame: Frame,
    node: ast.While,
    first: Any,
    test: Callable[[], Any],
    read: Callable[[], Any],
    facts: Callable[[], Facts] = tuple,
) -> Flow:
    state = State(frame)
    _name_limits(frame, node)

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        try:
            note(frame.context, (*_holds(frame, node.test), *facts()))
            with _inside(frame.context, None):
                return [], flow_of(read())
        except Grows as found:
            raise _asked(frame.context, found) from None

    tests = [first]

    def more(lead: list[Any]) -> Flag:
        value = test()
        tests.append(value)
        if decides(value):
            return condition(frame.context, value)
        return bool(value)

    start = condition(frame.context, first) if isinstance(first, Value) else as_value(frame.context, bool(first))
    every = lambda: _leaving(frame, [node.test, *node.body], start, [], step, more, guarded=True)  # noqa: E731
    with around(frame.context, state):
        flow = _or_raised(frame, every, read, lambda: had_step(frame.context, "while_loop", (), start))
    endless = not any(isinstance(value, Value) or not value for value in tests)
    if endless and flow.broke is False and flow.returned is not False:
        # There is no other way out of it.
        return Flow(False, True, flow.value, flow.loc)
    return flow


def _comparisons(frame: Frame, node: ast.expr) -> Iterator[ast.Compare]:
    """The comparisons of lengths and ints in a condition that all hold where it does."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _comparisons(frame, value)
    elif isinstance(node, ast.Compare) and all(_is_of_lengths(frame, n) for n in (node.left, *node.comparators)):
        yield node


def _name_limits(frame: Frame, node: ast.While) -> None:
    """Name the ints that lengths which steps may change are compared with: they say how much room arrays need."""
    bound = assigned_names(frame, node.body)
    for comparison in _comparisons(frame, node.test):
        names = {n.id for n in ast.walk(comparison) if isinstance(n, ast.Name)}
        values = {name: _held(frame, name) for name in names}
        if any(is_array(values[name]) for name in names.intersection(bound)):
            for name in sorted(names.difference(bound)):
                number_as_dim(frame.context, values[name])


def _held(frame: Frame | None, name: str) -> Any:
    """What a name of the function, or of one around it, holds."""
    while frame is not None and name not in frame.locals:
        frame = frame.parent
    return None if frame is None else frame.locals[name]


def _holds(frame: Frame, node: ast.expr) -> Facts:
    """What the condition of a loop says of lengths, which holds where a step begins."""
    found: list[DimLike] = []
    for comparison in _comparisons(frame, node):
        with frame.context.builder.nested():
            value = evaluate(frame, comparison)
        found.extend(facts_of(frame.context, value)[0] if isinstance(value, Value) else ())
    # What it says of numbers alone, which have two names each, says nothing of lengths.
    numbers = {name for names in frame.context.bound.values() if len(names) == 2 for name in names}
    return tuple(fact for fact in found if not numbers.issuperset(symbols(fact)))


def _leaving(
    frame: Frame,
    nodes: Sequence[ast.AST],
    start: Value,
    lead: Sequence[Value],
    step: Callable[[Value | None, list[Value]], tuple[list[Any], Flow]],
    more: Callable[[list[Any]], Flag],
    guarded: bool = False,
    limit: Limit = unlimited,
) -> Flow:
    """A loop with a flag that says whether there is another step, and flags for how it was left."""
    context = frame.context
    before = State(frame).known_containers()
    found: dict[str, Any] = {}
    loc, loops = context.builder.loc, loops_of(context)
    kinds: list[type] = [*(loops.flags(loc) or (WeakType, WeakType, WeakType))]

    def body(counter: Value | None, values: list[Value]) -> tuple[list[Any], list[Any]]:
        following, flow = step(counter, values[3:])
        left = either(context, flow.broke, flow.returned)
        goes_on: Flag = False
        if isinstance(left, Value) and guarded:
            # Behind a break Python does not look at the condition, which may raise.
            # A condition of Python's numbers beside one on data is computed where the data are.
            computed = not isinstance(left.type, WeakType)

            def asked() -> Flow:
                flag = more(following)
                return Flow(broke=as_strong(context, as_value(context, flag)) if computed else flag)

            goes_on = flow_of(branch(frame, left, lambda: Flow(), asked)).broke
        elif left is not True:
            goes_on = both(context, negated(context, left), more(following))
        flags = [as_value(context, f) for f in (goes_on, flow.broke, flow.returned)]
        leaves: list[Any] = []
        given = in_parts(context, members_of(context, flow.value, before), context.builder.insts)
        found["form"] = flatten(_returned_parts(context, given), leaves)
        found["flow"], found["own"] = flow, State(frame).is_own(flow.value, "leaves")
        for k, flag in enumerate(flags):
            if not isinstance(flag.type, WeakType):
                kinds[k] = object
        flags = [f if k is WeakType else as_strong(context, f) for f, k in zip(flags, kinds, strict=True)]
        return [*flags, *following], [as_value(context, v) for v in leaves]

    while True:
        kinds_before = list(kinds)
        false = context.builder.const(False, WEAK_BOOL)
        firsts = [start, false, false]
        if not isinstance(start.type, WeakType):
            kinds[0] = object
        firsts = [f if k is WeakType else as_strong(context, f) for f, k in zip(firsts, kinds, strict=True)]
        made = _try(frame, nodes, [*firsts, *lead], body, kinds, limit)
        if made is not None:
            break
        if kinds == kinds_before:
            raise AssertionError("the flags of a loop have no types")
    loops.note_flags(loc, kinds)
    results, extras = made
    flow: Flow = found["flow"]
    broke = False if flow.broke is False else results[1]
    returned = False if flow.returned is False else results[2]
    value = rebuild(found["form"], list(extras)) if returned is not False else None
    if not found["own"]:
        note_chosen(context, [flow.value], value)
    return Flow(broke, returned, value, flow.loc)


def _try(
    frame: Frame, nodes: Sequence[ast.AST], lead: list[Value], body: Body, kinds: list[type], limit: Limit
) -> tuple[list[Value], list[Value]] | None:
    """The loop, or None where a flag turned out to be a NumPy bool."""
    wanted = list(kinds)

    def checked(counter: Value | None, values: list[Value]) -> tuple[list[Any], list[Any]]:
        made = body(counter, values)
        if kinds != wanted:
            raise Again
        return made

    try:
        return loop(frame, "while_loop", (), lead, nodes, checked, None, limit)
    except Again:
        return None
