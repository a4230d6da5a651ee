"""Compound statements: branches, loops and ``with``; and ``assert`` and ``raise``, which branch too."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.aliases import unnamed
from pytocu.frontend.builtin_calls import counted, iterate, steps_over
from pytocu.frontend.conditions import evaluate_test
from pytocu.frontend.control import branch
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.first_steps import FirstApart, first_apart, had_step, know_with_step, require_step
from pytocu.frontend.flags import condition
from pytocu.frontend.formatting import exception_of, showing
from pytocu.frontend.frames import BREAK, Flow, Frame, Raised, Returned, Shown, flow_of
from pytocu.frontend.gone_over import by_place, lengths, names_over, refuse_changed
from pytocu.frontend.leaving import around, for_loop, while_loop
from pytocu.frontend.loops import Again, has_steps
from pytocu.frontend.numpy_calls import ErrorState
from pytocu.frontend.operators import binary, truth
from pytocu.frontend.raising import failing, raised_here, warned
from pytocu.frontend.state import Reading, State, wanted_at
from pytocu.frontend.statements import assign_at, run_block
from pytocu.frontend.values import Members, Steps, as_value, decides, is_array
from pytocu.frontend.written_out import LONGEST, WrittenSteps, is_written_out
from pytocu.ir.core import Value

_as_for = Deferred("pytocu.frontend.counting", "as_for")
_begin_counted = Deferred("pytocu.frontend.counted", "begin")
_caught = Deferred("pytocu.frontend.trying", "caught")
_again = Deferred("pytocu.frontend.trying", "again")
_note_beside = Deferred("pytocu.frontend.reading_on", "note_beside")

_MAX_STATIC_STEPS = 10_000
_LONGEST_LEFT = 4
"""Steps that are written out of a loop that a branch of run time leaves: each stands inside of the one before."""


def run(frame: Frame, node: ast.stmt, rest: tuple[ast.stmt, ...]) -> Any:
    """Run a statement; `rest` and the result are those of :func:`pytocu.frontend.statements.run_block`."""
    match node:
        case ast.If():
            return _if(frame, node, rest)
        case ast.For():
            return _for(frame, node, rest)
        case ast.While():
            return _while(frame, node, rest)
        case ast.With(items=items, body=body):
            for item in items:
                _enter(frame, item)
            return run_block(frame, body, rest)
        case ast.Assert() if frame.context.tries and (otherwise := _of_caught(frame, node)) is not None:
            return _if(frame, otherwise, rest)
        case ast.Assert() if frame.context.elements is not None:
            return _assert_element(frame, node, rest)
        case ast.Assert():
            return _assert(frame, node)
        case ast.Raise():
            return _raise(frame, node)
    raise AssertionError(f"{type(node).__name__} is no compound statement")


def _too_many(frame: Frame, node: ast.For | ast.While) -> UnsupportedError:
    return UnsupportedError(
        f"a loop of more than {_MAX_STATIC_STEPS} steps is not written out", frame.loc(node), "compute on whole arrays"
    )


def _if(frame: Frame, node: ast.If, rest: tuple[ast.stmt, ...]) -> Any:
    with unnamed(frame.context):
        value = evaluate_test(frame, node.test)
    with frame.context.builder.at(frame.loc(node.test)):
        if not decides(value):
            chosen = node.body if truth(frame.context, value, "the branch") else node.orelse
        elif _is_read_too_often(node, rest, bool(frame.context.tries)):
            # A flag says whether the function was left, so what follows is read once.
            signal = _sides(frame, node, value, lambda body: run_block(frame, body), rest)
            flow = flow_of(signal)
            return signal if flow.static else _behind(frame, flow, lambda: run_block(frame, rest), (), True)
        elif _leaves(node.body) or _leaves(node.orelse):
            # Nothing is left to do behind it.
            return flow_of(_sides(frame, node, value, lambda body: _to_the_end(frame, body, rest), rest)).signal() or Flow()
        else:
            signal = _sides(frame, node, value, lambda body: run_block(frame, body), ())
            # A side of a vectorized function may raise.
            return signal if flow_of(signal).static else _behind(frame, signal, lambda: run_block(frame, rest), (), True)
    return run_block(frame, chosen, rest)


def _sides(
    frame: Frame, node: ast.If, test: Value, run: Callable[[list[ast.stmt]], Any], rest: tuple[ast.stmt, ...]
) -> Any:
    """Both sides of a branch of run time, each read by `run`; `rest` follows where a side does not leave."""
    begun: list[list[ast.stmt]] = []

    def side(body: list[ast.stmt]) -> Any:
        begun.append(body)
        return run(body)

    try:
        return branch(frame, test, lambda: side(node.body), lambda: side(node.orelse))
    except CompileError as error:
        other = [statement for body in (node.body, node.orelse) if body not in begun for statement in body]
        _note_beside(error, frame, [statement for body in begun for statement in body], (*other, *rest))
        raise


def _to_the_end(frame: Frame, body: Sequence[ast.stmt], rest: tuple[ast.stmt, ...]) -> Any:
    """A side of a branch and what follows it, unless it leaves."""
    signal = run_block(frame, body, rest)
    return run_block(frame, rest) if signal is None else signal


_MOST_WAYS = 8
"""How often what follows branches may be read, once for each way on which it is reached."""


def _ways(body: Sequence[ast.stmt]) -> int:
    """On how many ways statements come to their end where what follows a branch that may leave is read for each side."""
    ways = 1
    for node in body:
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return 0
            case ast.If(body=inner, orelse=other) if _leaves(inner) or _leaves(other):
                ways *= _ways(inner) + _ways(other)
            case ast.With(body=inner) | ast.Try(body=inner):
                ways *= _ways(inner)
    return ways


def _is_read_too_often(node: ast.If, rest: Sequence[ast.stmt], tries: bool) -> bool:
    """Whether what follows a branch that may leave the function, and no loop, would be read on too many ways."""
    if tries:
        # What a clause catches is read on the side that raises it, with what follows.
        return False
    several = _ways([node]) > 1 and _ways([n for n in (node, *rest) if isinstance(n, ast.If)]) > _MOST_WAYS
    return several and not _leaves_loop([node])


def _leaves_loop(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may leave the loop around them, or this step of it."""
    for node in body:
        match node:
            case ast.Break() | ast.Continue():
                return True
            case ast.If(body=inner, orelse=other) if _leaves_loop(inner) or _leaves_loop(other):
                return True
            case ast.For(orelse=other) | ast.While(orelse=other) if _leaves_loop(other):
                return True
            case ast.With(body=inner) if _leaves_loop(inner):
                return True
            case ast.Try() if any(map(_leaves_loop, _clauses(node))):
                return True
    return False


def _leaves(body: Sequence[ast.stmt], loop: bool = False) -> bool:
    """Whether statements may leave the function, or the loop around them."""
    for node in body:
        match node:
            case ast.Return() | ast.Raise() | ast.Assert():
                return True
            case ast.Break() | ast.Continue():
                if not loop:
                    return True
            case ast.For(body=inner, orelse=other) | ast.While(body=inner, orelse=other):
                if _leaves(inner, True) or _leaves(other, loop):
                    return True
            case ast.If(body=inner, orelse=other):
                if _leaves(inner, loop) or _leaves(other, loop):
                    return True
            case ast.With(body=inner):
                if _leaves(inner, loop):
                    return True
            case ast.Try():
                if any(_leaves(inner, loop) for inner in _clauses(node)):
                    return True
    return False


def _clauses(node: ast.Try) -> list[list[ast.stmt]]:
    return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]


def _for(frame: Frame, node: ast.For, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context
    if (written := by_place(frame, node)) is not None:
        first, loop = written
        run_block(frame, [first])
        return _while(frame, loop, rest) if isinstance(loop, ast.While) else None
    values = evaluate(frame, node.iter)
    with context.builder.at(frame.loc(node.iter)):
        values = steps_over(frame, values)
        items = [] if isinstance(values, Steps) else iterate(frame, values, "the loop")
    if isinstance(values, Steps):
        return _run_time_for(frame, node, values, rest)
    if isinstance(values, range) and values[: 2**62] != values:
        text = "a loop over more numbers than int64 holds"
        raise UnsupportedError(text, frame.loc(node.iter), "count with while True: and an int")
    lists = [*wanted_at(frame, frame.loc(node)), *wanted_at(frame, frame.loc(node), branch=True)]
    counts = bool(lists)
    if counts and is_array(values):
        return _run_time_for(frame, node, counted(frame, values), rest)
    long = isinstance(values, range) and len(values) > _MAX_STATIC_STEPS
    if isinstance(values, range) and (counts or long or not is_written_out(frame, node, values)):
        return _run_time_for(frame, node, Steps(values.start, values.stop, values.step), rest)
    if len(items) > _MAX_STATIC_STEPS:
        raise _too_many(frame, node)
    if counts:
        # Steps that are written out make them longer, one member after the other.
        _begin_counted(frame, lists)
    if not isinstance(values, range) or len(values) <= _LONGEST_LEFT:
        return _unrolled(frame, node, items, rest)
    state = State(frame)
    steps = Steps(values.start, values.stop, values.step)
    try:
        return _written_out(frame, node, items, rest)
    except Again as again:
        state.go_back()
        return _run_time_for(frame, node, steps, rest, once=again.large)


_MAX_GROWN = 1000
"""So many steps may a loop make longer that it goes over a list."""


def _written_out(frame: Frame, node: ast.For, items: Sequence[Any], rest: tuple[ast.stmt, ...]) -> Any:
    """All steps, as one that none of them leaves by a branch of run time; errors as :func:`_unrolled`."""
    builder = frame.context.builder
    insts: list[Any] = []
    try:
        with builder.nested() as insts:
            signal = _unrolled(frame, node, items, rest, may_leave=False, written=WrittenSteps(frame, node, len(items)))
    except (CompileError, Raised):
        builder.insts.extend(insts)
        raise
    builder.insts.extend(insts)
    return signal


def _unrolled(
    frame: Frame,
    node: ast.For,
    items: Sequence[Any],
    rest: tuple[ast.stmt, ...],
    may_leave: bool = True,
    first: int = 0,
    written: WrittenSteps | None = None,
) -> Any:
    """The steps one after the other from the first on; behind a branch of run time that leaves come the other steps.

    A step may change what the loop goes over, and the next one finds it so.

    Raises
    ------
    Again
        There is such a branch, and `may_leave` is false; or the steps `written` would rather be a loop of run time.
    UnsupportedError
        Each step makes the list longer that it goes over, and none ends the loop.
    """
    begun = len(items)
    for number in itertools.count(first):
        items = items.now(frame.context) if isinstance(items, Members) else items
        if number >= len(items):
            break
        if number >= begun + _MAX_GROWN:
            text = f"a loop over a list that its steps make longer has more than {_MAX_GROWN:,} steps"
            raise UnsupportedError(text, frame.loc(node), "go over a copy of the list: for x in list(q)")
        assign_at(frame, node.target, items[number])
        onward = lambda number=number: _unrolled(frame, node, items, rest, first=number + 1)  # noqa: E731
        over, signal = _step(frame, node, onward, rest, may_leave, len(items))
        if over:
            return signal
        if written is not None and written.are_a_loop(frame.context.builder.insts):
            raise Again(large=True)
    return run_block(frame, node.orelse, rest)


def _step(
    frame: Frame, node: ast.For | ast.While, onward: Callable[[], Any], rest: tuple[ast.stmt, ...], may_leave: bool = True,
    times: int = 1, steady: Sequence[Value] = (),
) -> tuple[bool, Any]:  # fmt: skip
    """One step; whether the loop is over with it, and what it came to. `onward` is what else is to be done where it may be.

    So many steps of the loop are written out.

    Raises
    ------
    Again
        There is a branch of run time that leaves the loop, and `may_leave` is false.
    """
    signal = _body(frame, node, times, steady)
    if signal is BREAK:
        return True, None
    if isinstance(signal, Returned):
        return True, signal
    if not isinstance(signal, Flow) or signal.static:
        return False, None
    if not may_leave:
        raise Again
    return True, _behind(frame, signal, onward, rest, _leaves(node.body, True) or _leaves(node.orelse))


def _body(frame: Frame, node: ast.For | ast.While, times: int, steady: Sequence[Value] = ()) -> Any:
    """The body of a loop that has, or could have, so many steps one after the other, and leaves arrays `steady`."""
    context = frame.context
    before, context.written_out = context.written_out, context.written_out * max(times, 1)
    try:
        if not isinstance(node, ast.For):
            return run_block(frame, node.body)
        context.builder.loc = frame.loc(node)
        over = lengths(frame, names_over(node))
        held = [context.builder.contents(array) for array in steady]
        with around(context, State(frame), written_out=True):
            signal = run_block(frame, node.body)
        if any(context.builder.contents(array) is not now for array, now in zip(steady, held, strict=True)):
            text = "the steps of a loop over itertools.pairwise(...) of an array change that array"
            help = "hold the first of a pair: a = x[0]; for i in range(1, len(x)): b = x[i]; ...; a = b"
            raise UnsupportedError(text, frame.loc(node), help)
        if over:
            refuse_changed(frame, node, over)
        return signal
    finally:
        context.written_out = before


def _run_time_for(
    frame: Frame, node: ast.For, steps: Steps, rest: tuple[ast.stmt, ...], before: int = 0, once: bool = False
) -> Any:
    """A loop whose number of steps is known at run time; so many of the program's are written before it.

    Loops inside may be written out as if it had one step if its body is to be written `once`.
    """
    context = frame.context
    assign = lambda item: assign_at(frame, node.target, item)  # noqa: E731
    bounds = (steps.start, steps.stop, steps.step)
    context.builder.loc = frame.loc(node)
    apart = first_apart(context, context.loc)
    if apart is not None and before < apart.steps:
        head = [as_value(context, bound) for bound in bounds]
        stepped = None if has_steps("for_loop", head) else had_step(context, "for_loop", head, None)
        start = lambda: assign(steps.item(steps.start))  # noqa: E731

        def onward() -> Any:
            begin = binary(context, "add", steps.start, steps.step)
            following = Steps(begin, steps.stop, steps.step, steps.item, steady=steps.steady)
            return _run_time_for(frame, node, following, rest, before + 1, once)

        return _first_step(frame, node, apart, stepped, start, onward, rest, steps.steady)
    if frame.context.elements is not None and all(type(b) is int for b in bounds) and range(*bounds):
        # There is a step, so the number of the last one is known behind the loop.
        assign(steps.start)
    known = len(range(*bounds)) if all(type(b) is int for b in bounds) else 1
    # A short loop that its inner loops made too long: they are none of which each step is written out.
    times = known if known <= LONGEST and not once else 1
    flow = for_loop(frame, node, steps, assign, lambda: _body(frame, node, times, steps.steady))
    return _behind(frame, flow, lambda: run_block(frame, node.orelse, rest), rest, _leaves(node.orelse))


def _first_step(
    frame: Frame,
    node: ast.For | ast.While,
    apart: FirstApart,
    stepped: Value | None,
    start: Callable[[], None],
    onward: Callable[[], Any],
    rest: tuple[ast.stmt, ...],
    steady: Sequence[Value] = (),
) -> Any:
    """The first step of a loop, which `start` begins, and what is behind it, which `onward` reads.

    `stepped` is whether there is one, or None where that is known.
    """

    def first() -> Any:
        start()
        over, signal = _step(frame, node, onward, rest, steady=steady)
        return signal if over else onward()

    if stepped is None or apart.needed:
        require_step(frame.context, apart, stepped)
        return first()
    if not (_leaves(node.body, True) or _leaves(node.orelse)):
        before = State(frame)
        signal = branch(frame, stepped, first, lambda: run_block(frame, node.orelse))
        know_with_step(before, apart._replace(needed=True))
        return signal

    def to_the_end() -> Any:
        signal = first()
        return run_block(frame, rest) if signal is None else signal

    return flow_of(branch(frame, stepped, to_the_end, lambda: _to_the_end(frame, node.orelse, rest))).signal() or Flow()


def _behind(frame: Frame, flow: Flow, onward: Callable[[], Any], rest: tuple[ast.stmt, ...], leaves: bool) -> Any:
    """What follows a loop, by how it ended: `onward` where it came to its end, which may itself leave."""
    if flow.returned is True:
        return Returned(flow.value, flow.loc)
    if flow.broke is True:
        return None

    def to_the_end(run: Callable[[], Any]) -> Any:
        signal = run()
        return run_block(frame, rest) if signal is None else signal

    def came_to_end() -> Any:
        if isinstance(flow.broke, bool):
            return onward()
        if not leaves:
            return branch(frame, flow.broke, lambda: None, onward)
        sides = (lambda: to_the_end(lambda: None), lambda: to_the_end(onward))
        return flow_of(branch(frame, flow.broke, *sides)).signal() or Flow()

    if isinstance(flow.returned, bool):
        return came_to_end()
    sides = (lambda: Returned(flow.value, flow.loc), lambda: to_the_end(came_to_end))
    return flow_of(branch(frame, flow.returned, *sides)).signal() or Flow()


_ONE_LOOP = "write (condition).any() or .all(), and np.where(condition, a, b) for what each element does in a step"


_MAX_ENDLESS = 32
"""Above so many steps that compute something, ``while True`` is a loop of run time."""


def _while(frame: Frame, node: ast.While, rest: tuple[ast.stmt, ...], before: int = 0) -> Any:
    """A loop while something holds; so many steps of run time are written before it."""
    context = frame.context
    if not before and (written := _as_for(frame, node)) is not None:
        first, loop = written
        run_block(frame, [first])
        return _for(frame, loop, rest)
    apart = first_apart(context, frame.loc(node))

    def test() -> Any:
        with context.builder.at(frame.loc(node.test)), unnamed(context):
            value = evaluate_test(frame, node.test)
            return value if decides(value) else truth(context, value, "the loop", elementwise=lambda: _ONE_LOOP)

    counts = bool(wanted_at(frame, frame.loc(node)))
    start = Reading(State(frame))
    for number in range(_MAX_STATIC_STEPS):
        wrote = len(context.builder.insts) - start.count
        if number == _MAX_ENDLESS and isinstance(node.test, ast.Constant) and wrote >= number:
            # Nothing but a run ends it, as an exception under a condition of run time.
            start.drop()
            counts = True
        state = State(frame)
        value = test()
        if not decides(value) and not (counts and value):
            if not value:
                return run_block(frame, node.orelse, rest)
            step = Reading(state)
            context.builder.loc = frame.loc(node)
            with around(context, state, written_out=True), context.passing(number):
                signal = run_block(frame, node.body)
            if signal is BREAK:
                return None
            if isinstance(signal, Returned):
                return signal
            if not isinstance(signal, Flow) or signal.static:
                continue
            # The loop makes this step itself: what was read of it is dropped, and what was compared there was not.
            step.drop()
        context.builder.loc = frame.loc(node)
        if apart is not None and before < apart.steps:
            onward = lambda: _while(frame, node, rest, before + 1)  # noqa: E731
            stepped = condition(context, value) if decides(value) else None
            return _first_step(frame, node, apart, stepped, lambda: None, onward, rest)
        flow = while_loop(frame, node, value, test, lambda: run_block(frame, node.body))
        return _behind(frame, flow, lambda: run_block(frame, node.orelse, rest), rest, _leaves(node.orelse))
    raise _too_many(frame, node)


def _enter(frame: Frame, item: ast.withitem) -> None:
    """Only ``np.errstate`` has a meaning: compiled code gives no floating-point warnings."""
    context = frame.context
    if item.optional_vars is not None or not isinstance(evaluate(frame, item.context_expr), ErrorState):
        raise UnsupportedError(
            "a with statement is not supported, but for 'with np.errstate(...):'", context.loc, "use it around the call"
        )


def _message(frame: Frame, node: ast.expr) -> tuple[Any, list[Shown]]:
    """An exception, with the values of run time that its text shows."""
    with showing(frame.context) as shown:
        return evaluate(frame, node), shown


def _raise(frame: Frame, node: ast.Raise) -> Any:
    context = frame.context
    if node.exc is None:
        found = _again(context) if context.handling else None
        if found is None:
            raise raised(RuntimeError("No active exception to reraise"), context.loc)
    else:
        value, shown = _message(frame, node.exc)
        if isinstance(value, type) and issubclass(value, Exception):
            value = value()
        if not isinstance(value, Exception):
            raise raised(TypeError("exceptions must derive from BaseException"), context.loc)
        found = raised_here(context, value, shown)
    handle = _caught(frame, node, found) if context.tries else None
    return failing(context, found) if handle is None else handle()


def _of_caught(frame: Frame, node: ast.Assert) -> ast.If | None:
    """The branch that an assertion is, where a clause catches what it raises on one side."""
    if _caught(frame, node, raised_here(frame.context, AssertionError())) is None:
        return None
    known: Any = AssertionError
    made = ast.Call(ast.Constant(known), [] if node.msg is None else [node.msg], [])
    branch = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Raise(made)], [])
    return ast.fix_missing_locations(ast.copy_location(branch, node))


def warn(frame: Frame, node: ast.Call) -> None:
    """``warnings.warn(message, category, stacklevel)``."""
    context = frame.context
    with showing(context) as shown:
        args = [evaluate(frame, arg) for arg in node.args]
        named = {keyword.arg or "": evaluate(frame, keyword.value) for keyword in node.keywords}
        try:
            bound = _WARN.bind(*args, **named)
        except TypeError:
            raise UnsupportedError("arguments of warnings.warn", context.loc, "warnings.warn(text, UserWarning)") from None
        bound.apply_defaults()
        message, kind, level, _ = bound.args
        if isinstance(message, Warning):
            kind = type(message)
        elif kind is None:
            kind = UserWarning
        if not (isinstance(kind, type) and issubclass(kind, Warning)):
            raise raised(TypeError(f"category must be a Warning subclass, not '{type(kind).__name__}'"), context.loc)
        if not isinstance(level, int) or not isinstance(message, str | Warning):
            text = "warnings.warn takes a text and a level that are known while compiling"
            raise UnsupportedError(text, context.loc, "warnings.warn(f'... {n}', stacklevel=2)")
    warned(context, kind, str(message), shown, max(level, 1))


_WARN = inspect.signature(lambda message, category=None, stacklevel=1, source=None: None)


def _assertion(frame: Frame, node: ast.Assert) -> tuple[Exception, list[Shown]]:
    """What an assertion raises."""
    if node.msg is None:
        return AssertionError(), []
    with showing(frame.context) as shown:
        return exception_of(frame.context, AssertionError, (evaluate(frame, node.msg),)), shown


def _assert(frame: Frame, node: ast.Assert) -> None:
    context = frame.context
    value = evaluate_test(frame, node.test)

    refused = lambda: failing(context, raised_here(context, *_assertion(frame, node)))  # noqa: E731

    if decides(value):
        branch(frame, value, lambda: None, refused)
        return
    with context.builder.at(frame.loc(node.test)):
        holds = truth(context, value, "the assertion", "check it outside the function, or leave it out")
    if not holds:
        refused()


def _assert_element(frame: Frame, node: ast.Assert, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context
    value = evaluate_test(frame, node.test)
    onward = lambda: _to_the_end(frame, (), rest)  # noqa: E731
    refused = lambda: failing(context, raised_here(context, *_assertion(frame, node)))  # noqa: E731
    if decides(value):
        return flow_of(branch(frame, value, onward, refused)).signal() or Flow()
    return None if truth(context, value, "the assertion") else refused()
