"""Names that hold a value or None, and only a run knows which: ``found = None``, then ``if x[i] > t: found = i``.

Such a name holds a `Perhaps`: a bool of Python's that says whether there is a value, and the value, which is zeros that
nobody looks at where there is none.  Branches and loops hand on both, like two names.  ``is None`` asks the bool; where a
branch has asked it the name is what it is known to be there.  Anything else that is done with it demands that there is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Failing, Raised
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.state import LEAF, flatten, rebuild, same_form
from pytocu.frontend.values import Context, Perhaps
from pytocu.ir.core import Value
from pytocu.ir.types import Type, WeakType, element

_HELP = "ask before whether there is a value: if {0} is not None"


def fits(form: Any) -> bool:
    """Whether a form of :func:`pytocu.frontend.state.flatten` is one of numbers, arrays and tuples of these."""
    if isinstance(form, tuple):
        return isinstance(form[0], type) and issubclass(form[0], tuple) and all(map(fits, form[1:]))
    return form is LEAF


def joined(one: Any, other: Any, blank: Callable[[int, Any], Any]) -> tuple[Any, Any] | None:
    """What a name holds on two ways of which one may have None, as what both may hand on; None where they have no common form.

    `blank` makes a leaf that nobody looks at, given the number of the way and a leaf of the other.
    """
    ways = (one, other)
    if not any(way is None or isinstance(way, Perhaps) for way in ways) or (one is None and other is None):
        return None
    model = next(way.value if isinstance(way, Perhaps) else way for way in ways if way is not None)
    leaves: list[Any] = []
    form = flatten(model, leaves)
    if not fits(form):
        return None
    made: list[Any] = []
    for number, way in enumerate(ways):
        if way is None:
            made.append(Perhaps(False, rebuild(form, [blank(number, leaf) for leaf in leaves])))
        else:
            made.append(way if isinstance(way, Perhaps) else Perhaps(True, way))
    return made[0], made[1]


def at_the_start(old: Any, new: Any) -> Perhaps | None:
    """What a loop carries of a name from the start that holds None, or a number, where a step leaves one or the other."""
    if old is not None:
        leaves: list[Any] = []
        return Perhaps(True, old) if isinstance(new, Perhaps) and fits(flatten(old, leaves)) and _numbers(leaves) else None
    if not isinstance(new, Perhaps):
        return None
    leaves = []
    form = flatten(new.value, leaves)
    return Perhaps(False, rebuild(form, [zero(leaf) for leaf in leaves])) if fits(form) and _numbers(leaves) else None


def _numbers(leaves: list[Any]) -> bool:
    return not any(isinstance(leaf, Value) and not _is_number(leaf.type) for leaf in leaves)


def _is_number(type: Type) -> bool:
    return isinstance(type, WeakType) or not hasattr(type, "shape")


def zero(leaf: Any) -> Any:
    """A number of the kind of another one, that nobody looks at."""
    if not isinstance(leaf, Value):
        return type(leaf)(0)
    if isinstance(leaf.type, WeakType):
        return {"bool": False, "int": 0, "float": 0.0, "complex": 0j}[leaf.type.kind]
    return element(leaf.type).numpy.type(0)


def as_carried(model: Perhaps, value: Any) -> Any:
    """What a step leaves in a name that carries a value or None; as it is where that is something else."""
    if isinstance(value, Perhaps):
        return value
    if value is None:
        return Perhaps(False, model.value)
    leaves: list[Any] = []
    same = same_form(flatten(value, leaves), flatten(model.value, []))
    return Perhaps(True, value) if same else value


# What is known.


@contextmanager
def telling(context: Context, test: Value, taken: bool) -> Iterator[None]:
    """Read a side of a branch, in which a condition holds or not."""
    before = context.told
    context.told = {**before, **dict(_told(context, test, taken))}
    try:
        yield
    finally:
        context.told = before


def _told(context: Context, test: Value, taken: bool) -> Iterator[tuple[Value, bool]]:
    yield test, taken
    inst = test.inst
    if inst is not None and inst.op.name in ("python_not", "invert"):
        yield from _told(context, inst.args[0], not taken)
    for part, holds in context.parts_of.get(test, ((), ()))[not taken]:
        yield from _told(context, part, holds)


def known(context: Context, value: Any) -> Any:
    """A value, or None, where the program knows which; a `Perhaps` elsewhere."""
    if not isinstance(value, Perhaps):
        return value
    given = value.given if isinstance(value.given, bool) else context.told.get(value.given)
    return value if given is None else value.value if given else None


def definite(context: Context, value: Any, text: str) -> Any:
    """What is used as a value, which `text` names: a run where it is None is refused there.

    Raises
    ------
    UnsupportedError
        In a vectorized function, of which a kernel would have to be left.
    """
    found = known(context, value)
    if not isinstance(found, Perhaps):
        return found
    sentence, help = f"{text} is None where it is used as a value", _HELP.format(text)
    error = UnsupportedError(sentence, context.loc, help)
    if context.elements is not None:
        raise UnsupportedError(f"{text} may be None where it is used as a value", context.loc, help)
    plain = sentence.replace("{", "{{").replace("}", "}}")
    refuse_if(context, found.given, False, Raised(error, Failing("UnsupportedError", plain, context.loc, (), (help,))))
    return found.value


__all__ = ["as_carried", "at_the_start", "definite", "fits", "joined", "known", "telling", "zero"]
