"""``heapq``: the programs that its functions are, which are read where a heap is used.

The members come to lie where Python's functions put them.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.frames import Frame
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.queues import noted
from pytocu.frontend.values import Grown, contains_dynamic

_ask = Deferred("pytocu.frontend.counted", "ask")
_ask_grown = Deferred("pytocu.frontend.counted", "ask_grown")

_TO_THE_ROOT = """
while place > top and new < self[(place - 1) // 2]:
    self[place] = self[(place - 1) // 2]
    place = (place - 1) // 2
self[place] = new
"""

_TO_A_LEAF = """
count = len(self)
new = self[place]
top = place
below = 2 * place + 1
while below < count:
    if below + 1 < count and not self[below] < self[below + 1]:
        below += 1
    self[place] = self[below]
    place = below
    below = 2 * place + 1
"""

_PUSH = (
    """
self.append(value)
new = value
place = len(self) - 1
top = 0
"""
    + _TO_THE_ROOT
)

_POP = (
    """
if len(self) == 0:
    raise IndexError("index out of range")
found = self.pop()
if len(self) > 0:
    last = found
    found = self[0]
    self[0] = last
    place = 0
"""
    + "".join(f"    {line}\n" for line in (_TO_A_LEAF + _TO_THE_ROOT).splitlines())
)

_REPLACE = (
    """
if len(self) == 0:
    raise IndexError("index out of range")
found = self[0]
self[0] = value
place = 0
"""
    + _TO_A_LEAF
    + _TO_THE_ROOT
)

_PUSH_POP = (
    """
found = value
if len(self) > 0 and self[0] < value:
    found = self[0]
    self[0] = value
    place = 0
"""
    + "".join(f"    {line}\n" for line in (_TO_A_LEAF + _TO_THE_ROOT).splitlines())
)

_HEAPIFY = "for start in range(len(self) // 2 - 1, -1, -1):\n    place = start\n" + "".join(
    f"    {line}\n" for line in (_TO_A_LEAF + _TO_THE_ROOT).splitlines()
)


def _run(frame: Frame, name: str, source: str, heap: Any, *values: Any) -> Any:
    context = frame.context
    if not isinstance(heap, list | Grown) or noted(context, heap) is not None:
        kind = "collections.deque" if isinstance(heap, list | Grown) else type(heap).__name__
        which = "argument 1" if name not in ("heappop", "heapify") else "argument"
        raise raised(TypeError(f"{name}() {which} must be list, not {kind}"), context.loc)
    if isinstance(heap, list):
        if any(id(heap) in one.known for one in context.growing):
            _ask(context, heap, [*heap, *values])
        elif not contains_dynamic((heap, values)):
            return getattr(heapq, name)(heap, *values)
        if len(heap) + len(values) > 1:
            text = f"heapq.{name} compares members of a list in a run, which are counted while compiling"
            raise UnsupportedError(text, context.loc, "use it in a loop that makes the list longer or shorter, or sorted(...)")
    elif heap.place is None and not hasattr(heap, "held"):
        _ask_grown(context, heap)
    given = dict(zip(("value",), values, strict=False))
    if not isinstance(heap, Grown):
        return run_piece(frame, source, self=heap, **given)
    # These programs ask for no member that a heap does not have.
    heap.sure = True
    try:
        return run_piece(frame, source, self=heap, **given)
    finally:
        heap.sure = False


def heappush(frame: Frame, heap: Any, item: Any, /) -> None:
    """``heapq.heappush``."""
    _run(frame, "heappush", _PUSH, heap, item)


def heappop(frame: Frame, heap: Any, /) -> Any:
    """``heapq.heappop``."""
    if isinstance(heap, list) and not heap and not any(id(heap) in one.known for one in frame.context.growing):
        raise raised(IndexError("index out of range"), frame.context.loc)
    return _run(frame, "heappop", _POP, heap)


def heapify(frame: Frame, x: Any, /) -> None:
    """``heapq.heapify``."""
    _run(frame, "heapify", _HEAPIFY, x)


def heapreplace(frame: Frame, heap: Any, item: Any, /) -> Any:
    """``heapq.heapreplace``."""
    return _run(frame, "heapreplace", _REPLACE, heap, item)


def heappushpop(frame: Frame, heap: Any, item: Any, /) -> Any:
    """``heapq.heappushpop``."""
    return _run(frame, "heappushpop", _PUSH_POP, heap, item)


def nsmallest(frame: Frame, n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nsmallest``, which gives what ``sorted`` begins with."""
    return _first_of(frame, n, iterable, key, False)


def nlargest(frame: Frame, n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nlargest``, likewise of members in the other order."""
    return _first_of(frame, n, iterable, key, True)


def _first_of(frame: Frame, n: Any, iterable: Any, key: Any, reverse: bool) -> Any:
    given = {"n": n, "self": iterable, "key": key, "reverse": reverse, "sorted": sorted, "max": max}
    return run_piece(frame, "found = sorted(self, key=key, reverse=reverse)[:max(n, 0)]", **given)


@functools.cache
def functions() -> dict[Any, Callable[..., Any]]:
    """By the function of `heapq` that they are."""
    return {getattr(heapq, f.__name__): f for f in (heappush, heappop, heapify, heapreplace, heappushpop, nsmallest, nlargest)}


__all__ = ["functions"]
