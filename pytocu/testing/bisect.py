"""Which step makes a function wrong: every pass interpreted, and every backend run, beside NumPy.

The function as the front end reads it, and what each pass makes of it, are interpreted on the arguments
(:mod:`pytocu.ir.interp`); what the last pass makes is built and run.  The first step whose answer differs from
the step before it, or from NumPy, is the wrong one.  Which instruction it gets wrong is found by computing no
more than one value after the other.  Every step may be given so long, see :mod:`pytocu.testing.limits`: one whose loop
does not end is wrong, too.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.config import BACKENDS
from pytocu.driver import Compiled, Lowered, missing
from pytocu.elementwise import NoElement
from pytocu.errors import BackendError, CompileError, Loc, PytocuError, UnsupportedError
from pytocu.explain.memories import part_of, shared_memories
from pytocu.explain.stages import Stage, stages, subject_of
from pytocu.ir import interp
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.interp_launch import ThreadFault, text_of
from pytocu.ir.types import IndexType, WeakType, element
from pytocu.jitted import JitFunction
from pytocu.passes.context import Target
from pytocu.passes.pipeline import pass_names
from pytocu.record import Record
from pytocu.runtime import cuda
from pytocu.runtime.arrays import ArrayInfo, describe
from pytocu.testing.compare import compare, same_bits, ulp_distance
from pytocu.testing.limits import NoAnswer, within
from pytocu.trees import as_written, by_name, is_tree, members_of, put_together

INEXACT_PASSES = frozenset({"narrow", "products", "few", "split", "lower-loops", "lower-dtypes", "expand", "fastmath"})
"""Passes that may change bits where NumPy's bits are not promised: formulas, and the order of sums."""

ROOM = 2048.0
"""Units in the last place of the largest result that functions may be off whose bits are not promised."""

LIMIT = 60.0
"""Seconds after which a step counts as endless whose loops are not counted."""

_SLOWER = 200
"""How many times as long as NumPy such a step may take at least."""

SHARED = ("bufferize", "schedule")
"""The last pass that is the same for every target, and the first one that is not."""


class Difference(Record):
    """The first element that differs.

    Attributes
    ----------
    result : str
        Which of the results, or the argument that was changed.
    at : tuple of int
    got, expected : str
    ulp : float or None
        None where the values are not floats, or there is another kind of difference.
    message : str
    endless : bool
        There was no answer in time.
    """

    result: str
    at: tuple[int, ...]
    got: str
    expected: str
    ulp: float | None
    message: str
    endless: bool = False


class Finding(Record):
    """The step that makes a function wrong.

    Attributes
    ----------
    kind : str
        ``front end``, ``pass`` or ``backend``.
    name : str
        Of the pass or the backend.
    target : str
    difference : Difference
    instruction : str
        The first array instruction that the step gets wrong, as text; empty where it cannot be told.
    loc : Loc or None
        Its place in the source.
    before : Function or None
        What the pass was given.
    arguments : tuple
        Those of the call, as they were before it.
    """

    kind: str
    name: str
    target: str
    difference: Difference
    instruction: str
    loc: Loc | None
    before: Function | None
    arguments: tuple[Any, ...]


class Outcome(Record):
    """What was looked at: the step, and ``same``, ``differs``, ``refused`` or ``not run``, with a reason.

    Of the step ``NumPy`` it is ``raises``, ``not run`` or ``endless``; where it computes something, it is not told.
    """

    step: str
    verdict: str
    reason: str = ""


class Answer(Record):
    """What a call gives: its result and its arguments afterwards, or what it raises; `names` are those of the arguments.

    `seconds` is what NumPy took, and `steps` what the loop took that had the most.
    """

    result: Any
    arguments: tuple[Any, ...]
    error: BaseException | None = None
    names: tuple[str, ...] = ()
    seconds: float = 0.0
    steps: int = 0


Say = Callable[[Outcome], None]


def bisect(
    function: JitFunction[..., Any],
    values: Mapping[str, Any],
    targets: Sequence[str] = ("cpu", "cuda:sm_90"),
    say: Say = lambda outcome: None,
    limit: float | None = None,
    of_numpy: float | None = None,
) -> Finding | None:
    """The first step at which a function's answer is not NumPy's any more; None where all are right.

    Parameters
    ----------
    function : JitFunction
    values : mapping
        Arguments by name: NumPy arrays, scalars, and what is known while compiling.
    targets : sequence of str
        For GPUs every pass is interpreted thread by thread; the binary runs where there is a GPU.
    say : callable
        Told of each step.
    limit, of_numpy : float or None
        Seconds that a step may take, and that NumPy may; None waits forever.

    Examples
    --------
    >>> import pytocu
    >>> f = pytocu.jit(lambda x: x * 2 + 1)
    >>> bisect(f, {"x": np.float32([1, 2])}) is None
    True
    """
    found = _first_wrong(function, values, targets, say, limit, of_numpy)
    if found is None or not _overflows(found):
        return found
    # A sum that overflows does so in one order and not in another, and no order is promised.
    small = _copies(values, _without_largest)
    say(Outcome("these arguments", "again", "without numbers whose sums overflow"))
    return _first_wrong(function, small, targets, say, limit, of_numpy)


def _overflows(found: Finding) -> bool:
    """Whether a step that may add in another order differs where a float is none any more."""
    inexact = found.before is not None and imprecision(found.before)
    return bool(inexact) and any(text in _NO_NUMBERS for text in (found.difference.got, found.difference.expected))


_NO_NUMBERS = ("nan", "inf", "-inf")


def _without_largest(array: np.ndarray) -> np.ndarray:
    """Floats with those that are finite brought to where a product of a few and sums of many are finite, too."""
    if array.dtype.kind not in "fc":
        return array
    most = float(np.finfo(array.dtype).max) ** 0.25
    parts = [np.where(np.isfinite(part), np.clip(part, -most, most), part) for part in (np.real(array), np.imag(array))]
    array[...] = parts[0] if array.dtype.kind == "f" else np.stack(parts, -1).view(array.dtype)[..., 0]
    return array


class _Search(Record):
    """What all steps are looked at with: the function and its arguments, NumPy's answer, and how near others have to be.

    `arguments` are those that the IR takes, `limit` is the time in which what is not counted has to end, and `steps` are those
    that a loop may take.
    """

    function: Any
    lowered: Lowered
    values: Mapping[str, Any]
    arguments: tuple[Any, ...]
    expected: Answer
    inexact: float
    say: Say
    limit: float | None
    steps: int | None = None

    def interpreted(self, function: Function) -> Answer:
        """What the IR gives, whose loops take as many steps as those of the front end's."""
        return interpreted(function, self.arguments, None, self.steps)


def _first_wrong(
    function: JitFunction[..., Any],
    values: Mapping[str, Any],
    targets: Sequence[str],
    say: Say,
    limit: float | None,
    of_numpy: float | None,
) -> Finding | None:
    values = _by_position(function, values)
    expected = numpy_answer(function, values, of_numpy)
    if isinstance(expected.error, NoAnswer):
        say(Outcome("NumPy", "endless", str(expected.error)))
        return None
    if isinstance(expected.error, NoElement):
        say(Outcome("NumPy", "not run", "a function of scalars is run for each element, and there is none"))
        return None
    if expected.error is not None:
        said = str(expected.error).splitlines()
        say(Outcome("NumPy", "raises", ": ".join((type(expected.error).__name__, *said[:1]))))
    try:
        given = as_called(function, values)
        lowered = function.lower(*given.args, **given.kwargs)
    except PytocuError as error:
        said = _refusal(error, expected)
        say(Outcome("the front end", *said))
        return None
    arguments = dynamic(function, lowered, values)
    inexact = imprecision(lowered.function) or bool(lowered.options.fastmath) * float(np.finfo(np.float64).eps)
    if limit is not None:
        # However large the arguments are, and NumPy ends; element by element it takes longer.
        limit = max(limit, _SLOWER * expected.seconds)
    first = interpreted(lowered.function, arguments, limit)
    steps = None if limit is None else most_steps(first)
    search = _Search(function, lowered, values, arguments, expected, inexact, say, limit, steps)
    if expected.error is None and isinstance(first.error, UnsupportedError):
        say(Outcome("a call", "refused", first.error.message))
        return None
    for number, text in enumerate(targets):
        target = Target(*text.split(":"))
        found, host = _passes(search, target, 32, None if number else first)
        bits = 32 if host is None or _fit(search, target, host) else 64
        if bits == 64 and found is None:
            found, _ = _passes(search, target, bits, None)
        found = found or _backends(search, target, bits)
        if found is not None:
            return found
    return None


def _fit(search: _Search, target: Target, host: Function) -> bool:
    """Whether a call with these arguments runs the code with narrow indices that the passes made."""
    executable = Compiled(host, target, BACKENDS[target.kind][0], search.lowered.name).executable
    return executable.suits(search.arguments, _described(search.arguments))


def fitting(lowered: Lowered, arguments: Sequence[Any], target: str | Target, backend: str | None = None) -> Compiled:
    """The code that a call with these arguments runs."""
    return lowered.compile_for(arguments, _described(arguments), target, backend)


def _described(arguments: Sequence[Any]) -> dict[int, ArrayInfo]:
    return {number: info for number, a in enumerate(arguments) if (info := describe(a, "")) is not None}


def _passes(
    search: _Search, target: Target, bits: int, first: Answer | None
) -> tuple[Finding | None, Function | None]:
    """The front end and the passes for one target, and what the last pass made; `first` is what the IR gives, or None to leave
    out what was looked at."""
    lowered, expected, say, again = search.lowered, search.expected, search.say, first is None
    before: Stage | None = None
    known = expected
    shared = again
    compared = False
    try:
        for stage in stages(subject_of(lowered), target, bits):
            shared = shared and stage.name != SHARED[1]
            if not shared and (before is None or stage.changed):
                found = first if first is not None and before is None else search.interpreted(stage.function)
                # The first answer stands beside NumPy's, whatever passes there were before it.
                loose = search.inexact if not compared or stage.name in INEXACT_PASSES else 0.0
                compared = True
                wrong = differing(found, known, loose)
                if wrong is not None:
                    say(Outcome(_step(stage.name, target), "differs", wrong.message))
                    return _found(search, stage.name, target, bits, wrong, before), None
                say(Outcome(_step(stage.name, target), "same"))
                known = found._replace(names=expected.names)
            elif not shared:
                say(Outcome(_step(stage.name, target), "same", "nothing changed"))
            before = stage
    except PytocuError as error:
        if expected.error is not None and isinstance(error, type(expected.error)):
            say(Outcome("the passes", "same", f"{type(error).__name__}, as NumPy"))
            return None, None
        name = _failed_pass(before)
        wrong = Difference("", (), "", "", None, str(error))
        say(Outcome(_step(name, target), "differs", str(error)))
        at = None if before is None else before.function
        return Finding("pass", name, str(target), wrong, "", None, at, search.arguments), None
    return None, None if before is None else before.function


def _failed_pass(before: Stage | None) -> str:
    from_lower = step_names()
    return from_lower[from_lower.index(before.name) + 1] if before is not None else "lower"


def step_names() -> tuple[str, ...]:
    """The steps in order."""
    return ("lower", *pass_names())


def _step(name: str, target: Target) -> str:
    return "the front end" if name == "lower" else f"the pass {name}, {target}"


def _found(
    search: _Search, name: str, target: Target, bits: int, wrong: Difference, before: Stage | None
) -> Finding:
    if before is None:
        text, loc = first_wrong_line(search.function, search.lowered, search.values, search.arguments, search.limit)
        return Finding("front end", "lower", str(target), wrong, text, loc, None, search.arguments)

    def answer(part: Lowered) -> Answer:
        *_, last = stages(subject_of(part), target, bits, stop=name)
        return search.interpreted(last.function)

    text, loc = first_wrong_instruction(search.lowered, search.arguments, answer, search.inexact)
    return Finding("pass", name, str(target), wrong, text, loc, before.function, search.arguments)


def _backends(search: _Search, target: Target, bits: int) -> Finding | None:
    lowered, arguments, say = search.lowered, search.arguments, search.say
    for backend in BACKENDS[target.kind]:
        step = f"the backend {backend}, {target}"
        lacks = missing(backend, target.arch)
        if lacks:
            say(Outcome(step, "not run", lacks))
            continue
        runs, reason = (True, "") if target.kind == "cpu" else cuda.available()

        def answer(part: Lowered, backend: str = backend) -> Answer:
            if target.kind == "cpu":
                return built(fitting(part, arguments, target, backend), arguments, search.limit)
            return on_gpu(search.function, search.values, backend, search.limit)

        if not runs:
            try:
                _ = lowered.compile(target, backend, bits).binary
            except BackendError as error:
                say(Outcome(step, "differs", str(error)))
                wrong = Difference("", (), "", "", None, str(error))
                return Finding("backend", backend, str(target), wrong, "", None, None, arguments)
            say(Outcome(step, "not run", f"it was built; {reason}"))
            continue
        wrong = differing(answer(lowered), search.expected, search.inexact)
        if wrong is not None:
            say(Outcome(step, "differs", wrong.message))
            text, loc = ("", None)
            if target.kind == "cpu":
                text, loc = first_wrong_instruction(lowered, arguments, answer, search.inexact)
            return Finding("backend", backend, str(target), wrong, text, loc, lowered.function, arguments)
        say(Outcome(step, "same"))
    return None


def _refusal(error: PytocuError, expected: Answer) -> tuple[str, str]:
    if expected.error is not None and isinstance(error, type(expected.error)):
        return "same", f"{type(expected.error).__name__}, as NumPy"
    return "refused", str(error).splitlines()[0]


# Answers.


def numpy_answer(function: Any, values: Mapping[str, Any], limit: float | None = None) -> Answer:
    """What the plain function gives on copies of the arguments."""
    given = _copies(values)
    arrays = _arrays(function, given)
    begun = time.monotonic()
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            call = as_called(function, given)
            result = within(limit, lambda: function._plain(*call.args, **call.kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Whatever the user's function raises is its answer, that it ends the program too.
        return Answer(None, (), error, (), time.monotonic() - begun)
    return Answer(result, tuple(arrays.values()), None, tuple(arrays), time.monotonic() - begun)


def interpreted(
    function: Function, arguments: Sequence[Any], limit: float | None = None, most: int | None = None
) -> Answer:
    """What the IR gives on copies of the arguments, in `limit` seconds and `most` steps of a loop."""
    given = tuple(_copies(dict(enumerate(arguments))).values())
    steps: list[int] = []
    bound = {} if most is None else {"limit": most}
    try:
        results = within(limit, lambda: interp.run(function, given, steps=steps, **bound))
        result = interp.arrange(function.body.terminator.attr("tree"), results)
    except (CompileError, PytocuError, TypeError, ValueError) as error:
        return Answer(None, (), error)
    arrays = {p.name: g for p, g in zip(function.params, given, strict=True) if isinstance(g, np.ndarray)}
    return Answer(result, tuple(arrays.values()), None, tuple(arrays), 0.0, max(steps, default=0))


def most_steps(found: Answer) -> int:
    """Steps after which a loop of a pass counts as endless, given the answer before it.

    A pass does not change how many a loop has; what it makes of operations has loops of some hundred.
    """
    return 1000 + 10 * found.steps


def built(compiled: Compiled, arguments: Sequence[Any], limit: float | None = None) -> Answer:
    """What compiled code gives on copies of the arguments."""
    given = tuple(_copies(dict(enumerate(arguments))).values())
    try:
        # The time that the compiler takes is not the code's.
        _ = compiled.binary
        result = within(limit, lambda: compiled(*given))
    except PytocuError as error:
        return Answer(None, (), error)
    return Answer(result, tuple(g for g in given if isinstance(g, np.ndarray)))


def on_gpu(function: Any, values: Mapping[str, Any], backend: str, limit: float | None = None) -> Answer:
    """What a call on the current GPU gives."""
    options = function._options._replace(backend=backend)
    moved = type(function)(function.__wrapped__, "cuda", options, tuple(function._static))
    given = _by_position(function, _copies(values))
    arrays = _arrays(function, given)
    try:
        call = as_called(function, given)
        result = within(limit, lambda: moved(*call.args, **call.kwargs))
    except PytocuError as error:
        return Answer(None, (), error)
    return Answer(result, tuple(arrays.values()), None, tuple(arrays))


def _arrays(function: Any, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays among arguments and in them, in order, as the function writes them: ``d['y']``."""
    trees, _ = by_name(_by_position(function, values), function._static)
    parts = _parts(function, values).items()
    return {as_written(name, trees): value for name, value in parts if isinstance(value, np.ndarray)}


def _parts(function: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name in order of the parameters, and what they hold in place of those that hold arrays."""
    given = _by_position(function, values)
    of_parts, parts = function._of_parts(tuple(given.values()))
    return given if of_parts is None else dict(zip(of_parts._names, parts, strict=True))


def _copies(values: Mapping[Any, Any], change: Callable[[np.ndarray], np.ndarray] = lambda array: array) -> dict[Any, Any]:
    """Copies of arguments, changed; those that share memory share it there too."""
    trees, parts = by_name({str(name): value for name, value in values.items()})
    made = {name: change(_copied(v)) if isinstance(v, np.ndarray) else copy.copy(v) for name, v in parts.items()}
    for shared in shared_memories({name: v for name, v in parts.items() if isinstance(v, np.ndarray)}):
        made |= {name: change(part_of(shared.memory, *view)) for name, view in shared.views.items()}
    return dict(zip(values, put_together(trees, made, lambda made: None).values(), strict=True))


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.copy(value, order="K") if _whole(value) else copy.copy(value)
    return _copies({"": value})[""] if is_tree(value) else copy.copy(value)


def _whole(array: np.ndarray) -> bool:
    """Whether a copy in the order of memory has the layout of the array."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def dynamic(function: Any, lowered: Lowered, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments that the IR takes."""
    given = _parts(function, values)
    return tuple(given[p.name] for p in lowered.function.params)


def _by_position(function: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(as_called(function, values).arguments)


def as_called(function: Any, values: Mapping[str, Any]) -> inspect.BoundArguments:
    """Arguments by name as a call passes them, because some parameters take no keyword."""
    found = function._signature.bind_partial()
    found.arguments.update({name: values[name] for name in function._names if name in values})
    found.apply_defaults()
    return found


def imprecision(function: Function) -> float:
    """Of the operations whose bits are not promised the precision of the least precise; 0 where NumPy's bits are promised.

    These are operations with a bound, sums of floats, and calls of a library.  What a float64 is made of may be float32.
    """
    return max((_precision(inst) for inst in walk(function.body) if _is_free(inst)), default=0.0)


def _is_free(inst: Inst) -> bool:
    if inst.op.name == "library":
        return True
    if inst.op.kind in ("reduce", "scan") and inst.args and element(inst.args[0].type).kind in "fc":
        return True
    if inst.op.kind == "elementwise" and (not inst.op.exact or inst.op.name in _FREE):
        return True
    complexes = (a for a in inst.args if not isinstance(a.type, WeakType | IndexType) and element(a.type).kind == "c")
    return bool(inst.op.complex_ulp) and any(True for _ in complexes)


def _precision(inst: Inst) -> float:
    """The distance from 1 to the next number; that of float32 for float16, whose own would leave nothing to compare."""
    types = (v.type for v in (*inst.args, *inst.results) if not isinstance(v.type, WeakType | IndexType))
    narrow = any(element(type).kind in "fc" and element(type).name in ("f16", "f32", "c64") for type in types)
    return float(np.finfo(np.float32 if narrow else np.float64).eps)


_FREE = frozenset({"maximum", "minimum", "fmax", "fmin", "clip", "nextafter"})
"""Where NumPy's sign of zero depends on the machine."""


# Comparison.


def differing(found: Answer, expected: Answer, loose: float) -> Difference | None:
    """The first difference between two answers; `loose` is the :func:`imprecision` of what is compared."""
    if _is_endless(found.error):
        said = str(found.error).splitlines()[0]
        return Difference("", (), "", "", None, f"{said}, where {_said(expected.error)} is expected", True)
    if expected.error is not None or found.error is not None:
        if expected.error is not None and found.error is not None and isinstance(found.error, _kind_of(expected.error)):
            return None
        got, wanted = _said(found.error), _said(expected.error)
        return Difference("", (), got, wanted, None, f"got {got} where {wanted} is expected")
    pairs = [("the result", found.result, expected.result)]
    names = expected.names or found.names or range(len(expected.arguments))
    pairs += zip((f"argument {name}" for name in names), found.arguments, expected.arguments, strict=True)
    for name, got, wanted in pairs:
        for place, a, e in _leaves(name, got, wanted):
            wrong = _one(place, a, e, loose)
            if wrong is not None:
                return wrong
    return None


def _is_endless(error: BaseException | None) -> bool:
    match error:
        case NoAnswer() | interp.EndlessLoop():
            return True
        case ThreadFault():
            return error.fault.kind == "endless"
    return False


def _kind_of(error: BaseException) -> type[BaseException]:
    kinds = (IndexError, OverflowError, ZeroDivisionError, TypeError, ValueError)
    return next((k for k in kinds if isinstance(error, k)), Exception)


def _said(error: BaseException | None) -> str:
    return "an answer" if error is None else f"{type(error).__name__}: {error}".splitlines()[0]


def _leaves(name: str, got: Any, wanted: Any) -> Iterator[tuple[str, Any, Any]]:
    match wanted:
        case tuple() | list() if type(got) is type(wanted) and len(got) == len(wanted):
            for number, (a, e) in enumerate(zip(got, wanted, strict=True)):
                yield from _leaves(f"result {number}" if name == "the result" else f"{name}.{number}", a, e)
        case dict() if isinstance(got, dict) and got.keys() == wanted.keys():
            for key in wanted:
                yield from _leaves(f"result {key!r}", got[key], wanted[key])
        case _ if is_tree(wanted) and type(got) is type(wanted):
            for key, a, e in zip(members_of(wanted)[0], members_of(got)[1], members_of(wanted)[1], strict=True):
                yield from _leaves(f"{name}.{key}", a, e)
        case _:
            yield name, got, wanted


def _one(place: str, got: Any, wanted: Any, loose: float) -> Difference | None:
    if not isinstance(wanted, np.ndarray | np.generic):
        same = got == wanted and type(got) is type(wanted)
        return None if same else Difference(place, (), repr(got), repr(wanted), None, f"{place} is {got!r}, not {wanted!r}")
    left, right = np.asarray(got), np.asarray(wanted)
    if left.dtype != right.dtype or left.shape != right.shape or isinstance(got, np.ndarray) != isinstance(wanted, np.ndarray):
        try:
            compare(got, wanted)
        except AssertionError as error:
            return Difference(place, (), "", "", None, f"{place}: {error}")
    good = same_bits(left, right)
    if loose and right.dtype.kind in "fc":
        good |= _near(left, right, loose)
    if good.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    a, e = left[index], right[index]
    ulp = float(ulp_distance(a, e)) if right.dtype.kind == "f" else None
    distance = "" if ulp is None else f", {ulp:g} ulp away"
    at = f"[{', '.join(map(str, index))}]" if index else ""
    return Difference(place, index, str(a), str(e), ulp, f"{place}{at} is {a}, not {e}{distance}")


def _near(got: np.ndarray, wanted: np.ndarray, loose: float) -> np.ndarray:
    """Where floats are as near as an order of sums and bounds of functions let them be."""
    if wanted.dtype.kind == "c":
        return _near(np.real(got), np.real(wanted), loose) & _near(np.imag(got), np.imag(wanted), loose)
    with np.errstate(all="ignore"):
        finite = np.abs(wanted[np.isfinite(wanted)])
        largest = finite.max() if finite.size else wanted.dtype.type(0)
        room = ROOM * max(np.spacing(largest), wanted.dtype.type(loose) * largest)
        return (np.abs(got - wanted) <= room) | (got == wanted)


# Which instruction.


def first_wrong_instruction(
    lowered: Lowered, arguments: Sequence[Any], answer: Callable[[Lowered], Answer], inexact: float
) -> tuple[str, Loc | None]:
    """The first value that comes out wrong when nothing behind it is computed."""
    for part, inst in prefixes(lowered):
        loose = inexact if imprecision(part.function) else 0.0
        try:
            found = answer(part)
        except PytocuError:
            # What is left of the function may be no program, as an update whose contents nobody returns.
            continue
        if differing(found, interpreted(part.function, arguments), loose) is not None:
            return text_of(lowered.function.body, inst), inst.loc
    return "", None


def prefixes(lowered: Lowered, views: bool = False) -> Iterator[tuple[Lowered, Inst]]:
    """For each array instruction the function that returns its value and does nothing behind it."""
    function = lowered.function
    for number, inst in enumerate(function.body.insts[:-1]):
        known = inst.op.kind == "const" or (inst.op.kind == "view" and not views)
        if known or not inst.results or (len(inst.results) == 1 and isinstance(inst.types[0], WeakType)):
            continue
        builder = Builder(inst.loc)
        builder.insts.extend(function.body.insts[: number + 1])
        results = tuple(_detached(builder, result) for result in inst.results)
        builder.inst("return", results, {"tree": 0 if len(results) == 1 else (*range(len(results)),)})
        body = Block(function.params, builder.take())
        part = Function(function.name, function.level, body, function.facts)
        yield Lowered(part, lowered.guards, lowered.options, lowered.name, lowered.callees, lowered.sizes), inst


def _detached(builder: Builder, value: Value) -> Value:
    made = value.inst
    return builder.emit("copy", (value,)) if made is not None and made.op.name == "update" else value


def first_wrong_line(
    function: Any, lowered: Lowered, values: Mapping[str, Any], arguments: Sequence[Any], limit: float | None = None
) -> tuple[str, Loc | None]:
    """The first variable that does not hold what it holds when Python runs the function."""
    # Of a vectorized function Python's variables are those of one element.
    seen = {} if function.__pytocu_elements__ is not None else variables(function.__wrapped__, values)
    for part, inst in prefixes(lowered, views=True):
        name = inst.results[0].name
        compared = len(inst.results) == 1 and (inst.loc.line, name) in seen
        if not compared and not inst.regions:
            continue
        found = interpreted(part.function, arguments, limit)
        if isinstance(found.error, NoAnswer):
            return text_of(lowered.function.body, inst), inst.loc
        if not compared:
            continue
        loose = imprecision(part.function) or float(np.finfo(np.float64).eps)
        result = found._replace(arguments=(), names=())
        if found.error is None and differing(result, Answer(seen[inst.loc.line, name], ()), loose):
            return text_of(lowered.function.body, inst), inst.loc
    terminator = lowered.function.body.terminator
    return text_of(lowered.function.body, terminator), terminator.loc


def variables(function: Any, values: Mapping[str, Any]) -> dict[tuple[int, str], Any]:
    """What each line of a function leaves in its variables, where it runs once."""
    found: dict[tuple[int, str], Any] = {}
    often: set[tuple[int, str]] = set()
    state: dict[str, Any] = {}
    last = 0

    def note(frame: Any) -> None:
        for name, value in frame.f_locals.items():
            if state.get(name) is not value:
                state[name] = value
                if (last, name) in found:
                    often.add((last, name))
                found[last, name] = _copied(value)

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal last
        if frame.f_code is not function.__code__:
            return None
        if event in ("line", "return"):
            note(frame)
            last = frame.f_lineno
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        with np.errstate(all="ignore"):
            call = inspect.signature(function).bind_partial()
            call.arguments.update(_copies(values))
            function(*call.args, **call.kwargs)
    finally:
        sys.settrace(outer)
    return {key: value for key, value in found.items() if key not in often}
