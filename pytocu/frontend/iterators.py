"""`itertools`: what its functions give of members that are known, and of ranges and arrays of run time where that is a loop."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.builtin_calls import arranged, counted, item_at, iterate, span, steps_over
from pytocu.frontend.frames import Frame
from pytocu.frontend.indexing import subscript
from pytocu.frontend.operators import attempt, binary, known_option
from pytocu.frontend.values import Masked, Steps, as_value, dimensions, is_array

_WITH = "combinations_with_replacement"

_ENDLESS = 2**62
"""Where a loop over `itertools.count` ends, which none reaches."""

_MOST_CHOSEN = 6
"""How many of what a run gives are chosen at a time, at most: the place of each is found with as many comparisons."""

_MOST = 1024
"""How many members that are known are written out, at most."""


def product(frame: Frame, *iterables: Any, repeat: Any = 1) -> Any:
    """Every member of the first with every one of the others; where a run decides how many there are, by a number."""
    repeat = known_option(frame.context, repeat, "repeat=")
    over = [steps_over(frame, v) for v in iterables]
    if not any(isinstance(v, Steps) for v in over) or repeat == 0:
        return _of_known(frame, partial(itertools.product, repeat=repeat), iterables)
    # Members that are numbers are taken when it is called, and rows are what the array holds in each step.
    over = [counted(frame, steps_over(frame, _as_now(frame, v))) for v in iterables] * repeat
    if not all(isinstance(v, Steps) for v in over):
        text = "itertools.product of a list and of what is known only at run time is not compiled"
        raise UnsupportedError(text, frame.context.loc, "write one for statement in the other")
    counts = [_count(frame, v) for v in over]
    multiply = partial(binary, frame.context, "multiply")

    def at(number: Any) -> Any:
        members: list[Any] = []
        rest = number
        for steps, count in reversed([*zip(over, counts, strict=True)][1:]):
            members.insert(0, item_at(frame, steps, binary(frame.context, "remainder", rest, count)))
            rest = binary(frame.context, "floor_divide", rest, count)
        return (item_at(frame, over[0], rest), *members)

    return Steps(0, functools.reduce(multiply, counts), 1, at)


def _as_now(frame: Frame, value: Any) -> Any:
    """An array of one axis as what it holds now."""
    vector = is_array(value) and len(dimensions(value)) == 1
    return frame.context.builder.emit("copy", (value,), name=value.name) if vector else value


def _count(frame: Frame, steps: Steps) -> Any:
    """How many numbers a range has."""
    bounds = [as_value(frame.context, v) for v in (steps.start, steps.stop, steps.step)]
    return frame.context.builder.emit("python_steps", bounds)


def _of_known(frame: Frame, make: Callable[..., Any], values: Sequence[Any], name: str = "product") -> Any:
    members = [iterate(frame, v, f"itertools.{name}") for v in values]
    if len(list(itertools.islice(make(*map(range, map(len, members))), _MOST + 1))) > _MOST:
        text = f"more than {_MOST} members of itertools would be written out"
        raise UnsupportedError(text, frame.context.loc, "write for statements over range(...)")
    return arranged(frame, lambda: make(*members), *members)


def combinations(frame: Frame, iterable: Any, r: Any) -> Any:
    """``itertools.combinations``; where a run decides how many there are, two to six of them by a number."""
    context = frame.context
    r = known_option(context, r, "r")
    iterable = as_value(context, iterable) if isinstance(iterable, Masked) else iterable
    if not isinstance(over := steps_over(frame, iterable), Steps):
        return _of_known(frame, lambda members: itertools.combinations(members, r), [iterable], "combinations")
    if r not in range(2, _MOST_CHOSEN + 1) or not _is_plain(frame, iterable):
        text = f"itertools.combinations of {r} goes over a number of steps that is known only at run time"
        help = "write loops: for i in range(n): for j in range(i + 1, n): x[i], x[j]"
        raise UnsupportedError(text, context.loc, help)
    # Python takes the members when it is called.
    over = steps_over(frame, _as_now(frame, iterable))
    count = _count(frame, over)
    subtract = partial(binary, context, "subtract")
    many = _of_fewer(frame, count, r)

    def at(number: Any) -> Any:
        # Backwards, the first place is the greatest of which those behind it choose no more than are left, and so on.
        back = subtract(subtract(many, 1), number)
        places: list[Any] = []
        for k in range(r, 1, -1):
            place = _row_of_pairs(frame, back) if k == 2 else _row_of_more(frame, back, k)
            back = subtract(back, _of_fewer(frame, place, k))
            places.append(place)
        return tuple(item_at(frame, over, subtract(subtract(count, 1), place)) for place in (*places, back))

    return Steps(0, many, 1, at)


def _of_fewer(frame: Frame, count: Any, r: int) -> Any:
    """How many ways there are to choose two or more of so many."""
    multiply, subtract, floor = (partial(binary, frame.context, n) for n in ("multiply", "subtract", "floor_divide"))
    ways = count
    for k in range(1, r):
        # The ways to choose k + 1 are those to choose k, with each of the others, and each is counted k + 1 times.
        ways = floor(multiply(ways, subtract(count, k)), k + 1)
    return ways


def _row_of_pairs(frame: Frame, back: Any) -> Any:
    """The greatest number of which pairs are no more than these."""
    multiply, add, floor = (partial(binary, frame.context, n) for n in ("multiply", "add", "floor_divide"))
    root = frame.context.hooks.call(frame, math.isqrt, (add(multiply(back, 8), 1),), {})
    return floor(add(root, 1), 2)


def _row_of_more(frame: Frame, back: Any, r: int) -> Any:
    """The greatest number of which the choices of three or more are no more than these."""
    multiply, add, power = (partial(binary, frame.context, n) for n in ("multiply", "add", "power"))
    # The choices of c are c * (c - 1) * ... / r!, which is between (c - r + 1)**r / r! and c**r / r!: it is the root, or up to
    # r - 1 more; rounding may leave that too small by one.
    root = frame.context.hooks.call(frame, int, (power(multiply(back, math.factorial(r)), 1 / r),), {})
    found = root
    for more in range(1, r):
        found = add(found, binary(frame.context, "less_equal", _of_fewer(frame, add(root, more), r), back))
    return found


def _is_plain(frame: Frame, value: Any) -> bool:
    """Whether the members of something are numbers of a range, or those of one array."""
    return is_array(value) or (isinstance(value, Steps) and value.plain)


def combinations_with_replacement(frame: Frame, iterable: Any, r: Any) -> Any:
    """``itertools.combinations_with_replacement`` of known members."""
    r = known_option(frame.context, r, "r")
    return _of_known(frame, lambda members: itertools.combinations_with_replacement(members, r), [iterable], _WITH)


def permutations(frame: Frame, iterable: Any, r: Any = None) -> Any:
    """``itertools.permutations`` of known members."""
    r = known_option(frame.context, r, "r")
    return _of_known(frame, lambda members: itertools.permutations(members, r), [iterable], "permutations")


def pairwise(frame: Frame, iterable: Any, /) -> Any:
    """``itertools.pairwise``; where a run decides how many there are, the member at a place and the one behind it."""
    iterable = as_value(frame.context, iterable) if isinstance(iterable, Masked) else iterable
    if not isinstance(over := steps_over(frame, iterable), Steps):
        return _of_known(frame, itertools.pairwise, [iterable], "pairwise")
    if not _is_plain(frame, iterable):
        text = "itertools.pairwise goes over a number of steps that is known only at run time"
        raise UnsupportedError(text, frame.context.loc, "write a loop: for i in range(len(x) - 1): x[i], x[i + 1]")
    # The first of a pair is what the step before has read; rows are what the array holds in each step.
    vector = is_array(iterable) and len(dimensions(iterable)) == 1
    last = binary(frame.context, "subtract", _count(frame, over), 1)
    behind = lambda place: binary(frame.context, "add", place, 1)  # noqa: E731
    pair = lambda place: (item_at(frame, over, place), item_at(frame, over, behind(place)))  # noqa: E731
    return Steps(0, last, 1, pair, steady=[iterable] if vector else [])


def chain(frame: Frame, *iterables: Any) -> Any:
    """``itertools.chain`` of known members."""
    return _of_known(frame, itertools.chain, iterables, "chain")


def count(frame: Frame, start: Any = 0, step: Any = 1) -> Any:
    """``itertools.count`` of ints: a range that is longer than any loop goes."""
    step = known_option(frame.context, step, "step=")
    if type(step) is not int or step == 0 or isinstance(start, float):
        text = "itertools.count of other steps than ints that are not 0"
        raise UnsupportedError(text, frame.context.loc, "count in ints, and compute the number: k * 0.5")
    made = span(frame, start, _ENDLESS if step > 0 else -_ENDLESS, step)
    return made if isinstance(made, Steps) else Steps(made.start, made.stop, made.step)


def repeat(frame: Frame, object: Any, times: Any = None) -> Any:
    """``itertools.repeat``: a member as often as a number says, or in every step."""
    if type(times) is int and times <= _MOST:
        return (object,) * times
    return Steps(0, _ENDLESS if times is None else times, 1, lambda number: object)


def islice(frame: Frame, iterable: Any, *bounds: Any) -> Any:
    """``itertools.islice`` of known members, or of the rows of an array."""
    known = [known_option(frame.context, bound, "a bound of itertools.islice") for bound in bounds]
    if is_array(iterable):
        attempt(frame.context, itertools.islice, (), *known)
        return subscript(frame.context, iterable, slice(*known))
    return _of_known(frame, lambda members: itertools.islice(members, *known), [iterable], "islice")


def zip_longest(frame: Frame, *iterables: Any, fillvalue: Any = None) -> Any:
    """``itertools.zip_longest`` of known members."""
    return _of_known(frame, partial(itertools.zip_longest, fillvalue=fillvalue), iterables, "zip_longest")


def handlers() -> dict[Any, Callable[..., Any]]:
    """The functions that are compiled, and what reads them."""
    return _HANDLERS


_HANDLERS: dict[Any, Callable[..., Any]] = {
    itertools.product: product,
    itertools.combinations: combinations,
    itertools.combinations_with_replacement: combinations_with_replacement,
    itertools.permutations: permutations,
    itertools.pairwise: pairwise,
    itertools.chain: chain,
    itertools.count: count,
    itertools.islice: islice,
    itertools.repeat: repeat,
    itertools.zip_longest: zip_longest,
}
