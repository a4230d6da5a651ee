"""Lists whose length a run decides and whose members are arrays: the accepted steps of a solver.

A member is a copy, a row of the list's array.  In NumPy it is the array that was appended, so neither that nor an array that
was read of the list may be changed: `MemberArrays` knows these memories, and `StorageBuilder.update` asks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import islice
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Frame
from pytocu.frontend.loop_memory import StepRead, leaf_count, leaves_of
from pytocu.frontend.reshaping import copied
from pytocu.frontend.state import State
from pytocu.frontend.storage import StorageBuilder
from pytocu.frontend.values import Context, Counted, Grown, dimensions, is_array
from pytocu.ir.core import Value, named
from pytocu.ir.dims import DimLike, dim_max, floordiv, product
from pytocu.ir.types import ArrayType, Type, element, shape_of

_may_be_alike = Deferred("pytocu.frontend.grown", "may_be_alike")


class MemberArrays:
    """The memories of arrays that are members of a list, or were.

    What a loop carries or a branch gives is one of them where it may be (`StorageBuilder.may_be`, :func:`names_of_members`).

    Attributes
    ----------
    name, text : str
        The list as the program and a message call it.
    roots : set of Value
        The memories, in all readings of the loops around: what one reading finds late is known early in the next.
    own : bool
        Each member is an array that nobody else has.
    """

    __slots__ = ("name", "own", "roots", "text")

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text
        self.roots: set[Value] = set()
        self.own = True

    def note(self, builder: StorageBuilder, array: Value) -> None:
        """An array is a member, which has another name as well."""
        root = builder.root(array)
        self.own = self.own and _is_of_step(builder, root) and root is array and root not in self.roots
        self.know(builder, array)

    def know(self, builder: StorageBuilder, array: Value) -> None:
        """What stands in the memory of an array is that of a member."""
        root = builder.root(array)
        self.roots |= {root, *builder.sources(root)}

    def holds(self, builder: StorageBuilder, array: Value) -> bool:
        """Whether an array is in a member's memory, or may be."""
        if not self.roots:
            return False
        root = builder.root(array)
        if any(held is root or not builder.apart(held, root) for held in self.roots):
            return True
        unknown = root.inst is not None and bool(root.inst.regions) and not builder.is_told(root)
        return unknown and any(element(held.type) is element(root.type) for held in self.roots)

    def refuse_change(self, builder: StorageBuilder, root: Value) -> None:
        """Refuse that a memory is changed which may be that of a member.

        Raises
        ------
        UnsupportedError
            It is, or a step before this one may have appended it.
        """
        if self.holds(builder, root):
            text = f"an array that is a member of {self.text}, or may be, is changed"
            help = f"append a copy: {self.name}.append(x.copy()), or read one: {self.name}[-1].copy()"
            raise UnsupportedError(text, builder.loc, help)


def names_of_members(builder: StorageBuilder, read: StepRead, before: State) -> set[tuple[Frame, str]]:
    """The names that are members of a list in a step, or may be, because they are before the loop or behind a step."""
    after = read.state
    assert after is not None
    found: set[tuple[Frame, str]] = set()
    params = iter(read.params)
    for key, form in zip(read.names, read.forms, strict=True):
        # The next reading may carry it in another form.
        own = islice(params, leaf_count(form))
        old = leaves_of(before, *key)
        arrays = (v for v in (*old, *own, *leaves_of(after, *key)) if isinstance(v, Value) and is_array(v))
        if any(held.holds(builder, array) for array in arrays for held in builder.lists.values()):
            found.add(key)
    return found


def from_before(builder: StorageBuilder, made: Set[Value]) -> set[Value]:
    """The memories of members that are none of those which a step has made."""
    return {root for held in builder.lists.values() for root in held.roots} - made


def _is_of_step(builder: StorageBuilder, root: Value) -> bool:
    """Whether the innermost step that is read has made a memory, and no branch or loop in it."""
    begun = builder.begun[-1] if builder.begun else 0
    return root.inst is not None and not root.inst.regions and root in builder.made[begun:]


def begin(frame: Frame, made: Counted, old: Any) -> None:
    """Know the memories of the members that a list has when it becomes such a one."""
    context = frame.context
    builder = context.builder
    if not isinstance(made.type, ArrayType) or made.inner is not None:
        return
    if isinstance(old, Grown) and old.arrays is not None:
        made.arrays = old.arrays
        return
    if isinstance(old, Grown) and old.shared:
        text = f"{made.text} holds arrays that have other names, and grows again"
        raise UnsupportedError(text, context.loc, f"append a copy: {made.name}.append(x.copy())")
    known: Any = builder.lists.setdefault((made.at, made.name), MemberArrays(made.name, made.text))
    known.own, made.arrays = True, known
    state = State(frame)
    for value in old if isinstance(old, list) else ():
        if isinstance(value, Value) and not (_is_fresh(builder, value) and state.uses(value) == 1):
            known.know(builder, value)
            known.own = False


def row_type(context: Context, members: Sequence[Any]) -> ArrayType | None:
    """The type of arrays that may be members of one list: lengths of run time are compared; None of others."""
    with context.builder.nested():
        types = [_type(context, member) for member in members]
    found = [one for one in types if isinstance(one, ArrayType) and one.shape]
    if len(found) < len(types) or not found or not all(_may_be_alike(found[0], one) for one in found[1:]):
        return None
    return next((one for one in found if is_known(context, one)), None)


def _type(context: Context, member: Any) -> Type | None:
    return context.builder.contents(member).type if isinstance(member, Value) and is_array(member) else None


def is_known(context: Context, type: Type) -> bool:
    """Whether lengths are those of arguments: names of numbers may be others where the function is read again."""
    of_arguments = named(tuple(shape_of(param.type) for param in context.builder.arguments.values()))
    return named(shape_of(type)) <= of_arguments


def fits(context: Context, counted: Counted, value: Any) -> bool:
    """Whether a value may be a member beside the others."""
    with context.builder.nested():
        type = _type(context, value)
    return type is not None and bool(_may_be_alike(counted.type, type))


def rows_in(counted: Counted, words: DimLike) -> DimLike:
    """How many members there are in memory for so many numbers."""
    size = product(dimensions(counted.rows)[1:]) if counted.arrays is not None else 1
    return words if size == 1 else floordiv(words, dim_max(size, 1))


def _is_fresh(builder: StorageBuilder, value: Value) -> bool:
    """Whether a value is all of a memory that the program has just made."""
    root = builder.root(value)
    return value is root and root.inst is not None and not root.inst.regions and not builder.sources(root)


def append(frame: Frame, counted: Grown, value: Any) -> None:
    """Note that an array becomes a member, if somebody else may have it."""
    builder = frame.context.builder
    if counted.arrays is None or not isinstance(value, Value):
        return
    if not _is_fresh(builder, value) or State(frame).uses(value):
        counted.arrays.note(builder, value)


def read(context: Context, grown: Grown, row: Value) -> Value:
    """A member, which must not be changed."""
    made = copied(context, row)
    keep(context, grown, (made,))
    return made


def keep(context: Context, grown: Grown, arrays: Iterable[Value]) -> None:
    """Let arrays that are made of members not be changed, where the members would be."""
    for array in arrays:
        if grown.arrays is not None:
            grown.arrays.know(context.builder, array)


def of_both(first: Grown, second: Grown) -> MemberArrays:
    """The memories of the members of two lists, those of one that is made of both."""
    made = MemberArrays(first.name, first.text)
    made.roots = {root for one in (first, second) if one.arrays is not None for root in one.arrays.roots}
    made.own = False
    return made


def may_be_member(context: Context, grown: Grown, array: Value) -> bool:
    """Whether an array may be a member of a list, which the caller would see where both are returned."""
    builder = context.builder
    if grown.arrays is None or not is_array(array) or not dimensions(array):
        return False
    return grown.arrays.holds(builder, array)


__all__ = [
    "MemberArrays", "append", "begin", "fits", "from_before", "is_known", "keep", "may_be_member", "names_of_members",
    "of_both", "read", "row_type", "rows_in",
]  # fmt: skip
