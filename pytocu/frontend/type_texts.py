"""How messages say what a name holds on a way through the program, and what to write where two ways differ."""

from __future__ import annotations

from typing import Any

from pytocu.frontend.values import Grown, Masked, Perhaps, is_weak
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, element
from pytocu.ir.types import type_text as type_text


def kind_text(value: Any) -> str:
    """A value as a message says it."""
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if isinstance(value, Value):
        return type_text(value.type)
    if isinstance(value, Masked):
        return f"the elements of {type_text(value.array.type)} that a mask chooses"
    if isinstance(value, Grown):
        return "a list that a loop of run time made longer"
    if isinstance(value, Perhaps):
        return f"{kind_text(value.value)} or None"
    known = value is None or isinstance(value, str) or is_weak(value)
    return repr(value) if known else f"a {type(value).__name__}"


FLAGS = "use flags: seen = [False] * n; seen[k] = True; if seen[k]"
"""What to write instead of a set of numbers that only a run knows."""


def by_number(container: Any) -> str | None:
    """What to write instead of a set or dict that is asked by what only a run knows."""
    if isinstance(container, set | frozenset):
        return f"{FLAGS}; for pairs np.zeros((n, m), bool)"
    return "use a list, with numbers for keys: counts = [0] * n; counts[k] += 1" if isinstance(container, dict) else None


def unlike(name: str, old: Any, new: Any) -> tuple[str, str, str]:
    """Two values of a name that have different forms as a message says them, and what to write instead."""
    first, second, kind = kind_text(old), kind_text(new), type(new).__name__
    if first != second:
        chosen = isinstance(old, Masked) or isinstance(new, Masked)
        mask = "only a run knows how many a mask chooses: keep the mask itself (keep &= ...), and choose with it behind"
        lists = {type(old), type(new)} == {Grown, list}
        arrays = "make an array of it on each side, np.array(...); or let the loop ask: while condition and ..."
        (members,) = [one for one in (old, new) if isinstance(one, list)] or [None]
        array = any(isinstance(one, Value) and isinstance(one.type, ArrayType) for one in (old, new))
        numbers = members is not None and not any(isinstance(one, Value) and isinstance(one.type, ArrayType) for one in members)
        anew = f"begin with an array: {name} = np.zeros(0), or np.array([...])" if array and numbers else ""
        if isinstance(old, tuple) and isinstance(new, tuple):
            anew = f"collect in a list: {name or 'x'} = [], {name or 'x'}.append(...)"
        return first, second, mask if chosen else arrays if lists else anew or "give it values of one kind"
    if isinstance(new, Grown):
        return first, "another one", "make an array of it on each side: np.array(...)"
    if isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        help = "let both hold as many members, or make an array of each: np.array(...)"
        return f"a list of {len(old)}", f"a list of {len(new)}", help
    if isinstance(old, dict) and isinstance(new, dict) and [*old] != [*new]:
        help = "give both the same keys in one order, with values of one kind"
        return f"a dict of {_keys_text(old)}", f"a dict of {_keys_text(new)}", help
    place = "[0]" if isinstance(new, list) else "[key]"
    changed = f"change what it holds, as {name}{place} = ..." if isinstance(new, list | dict) else "give it values of one kind"
    return first, f"another {kind}", f"make it a tuple, or {changed}" if isinstance(new, list) else changed


def _keys_text(values: dict[Any, Any]) -> str:
    """The keys of a dict as a message says them."""
    keys = [*map(repr, values)]
    return ", ".join(keys) if 0 < len(keys) <= 4 else str(len(keys))


def type_texts(first: Type, second: Type) -> tuple[str, str]:
    """Two types that differ, as a message says them beside each other."""
    texts = type_text(first), type_text(second)
    return texts if texts[0] != texts[1] else (str(first), str(second))


def way_out(first: Type, second: Type, name: str = "", sides: bool = False) -> str:
    """What to write where two types differ, which are those of a `name` before and behind a step, or on two `sides`."""
    kinds = [t.kind if isinstance(t, WeakType) else "" for t in (first, second)]
    if all(kinds):
        return f"write it as a {max(kinds, key=('', 'bool', 'int', 'float', 'complex').index)} in both places"
    if any(kinds):
        strong = second if kinds[0] else first
        if isinstance(strong, ArrayType):
            dtype = f"np.{strong.dtype.numpy.name}"
            if sides:
                return f"make an array of that shape and dtype of the number as well: np.full(shape, v, {dtype})"
            return f"begin with an array of that shape and dtype: np.zeros(shape, {dtype})"
        weak = first if kinds[0] else second
        if isinstance(weak, WeakType) and not promote.adapts(weak, element(strong)):
            return f"make the np.{element(strong).numpy.name} a {weak.kind} as well: {weak.kind}(...)"
        return f"{'make both' if sides else 'begin with'} np.{element(strong).numpy.name}(...)"
    if isinstance(first, ScalarType) and isinstance(second, ScalarType):
        dtype = promote.result_dtype((first.dtype, second.dtype))
        return f"convert it before, as np.{dtype.numpy.name}(...)"
    if isinstance(first, ArrayType) != isinstance(second, ArrayType) and _shape(first) == _shape(second):
        return "take the number out of the array without axes: z[()]"
    if _shape(first) != _shape(second):
        help = "keep the shape, for example by writing into a part of an array: y[1:-1] = ..."
        if not name or not isinstance(first, ArrayType) or not isinstance(second, ArrayType):
            return help
        alike = first.dtype is second.dtype and len(first.shape) == len(second.shape)
        return f"{help}; or let a length end the loop: while len({name}) < n" if alike else help
    return "convert it with astype, so that the dtype stays the same"


def _shape(type: Type) -> Any:
    """The shape of a type."""
    return type.shape if isinstance(type, ArrayType) else ()
