"""Writes instructions into a block, with types inferred and a source place on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UNKNOWN, Loc, located
from pytocu.ir.core import Block, Function, Inst, Op, Value, make_attrs, types_of
from pytocu.ir.ops import OPS
from pytocu.ir.types import INDEX, IndexType, Type, VectorType, WeakType, element, scalar, type_text

_operand_notes = Deferred("pytocu.operands", "operand_notes")


class Builder:
    """Collects the instructions of one block at a time.

    Parameters
    ----------
    loc : Loc
        Where the next instructions come from; set it as the source is walked.

    Examples
    --------
    >>> from pytocu.ir.types import parse_type
    >>> from pytocu.ir.printer import print_function
    >>> b = Builder()
    >>> x = b.param(parse_type("f32[n]"), "x")
    >>> y = b.emit("multiply", (x, x), name="y")
    >>> _ = b.emit("return", (y,))
    >>> print(print_function(b.function("double", "array", (x,))))
    func @double(%x: f32[n]) {
      %y = multiply %x, %x : f32[n]
      return %y
    }
    """

    def __init__(self, loc: Loc = UNKNOWN):
        self.loc = loc
        self.insts: list[Inst] = []
        self._around: list[list[Inst]] = []

    def in_front(self) -> Iterator[Inst]:
        """The instructions in front of the next one, of the regions around it as well, the outermost first."""
        for insts in (*self._around, self.insts):
            yield from insts

    def param(self, type: Type, name: str = "") -> Value:
        """A block parameter."""
        return Value(type, name)

    def inst(
        self,
        op: str | Op,
        args: Sequence[Value] = (),
        attrs: dict[str, Any] | None = None,
        types: Sequence[Type] | None = None,
        regions: Sequence[Block] = (),
    ) -> Inst:
        """Append an instruction; types come from the row's rule unless given.

        Raises
        ------
        CompileError
            The rule refuses the argument types; with this builder's location.
        """
        row = OPS[op] if isinstance(op, str) else op
        attrs = attrs or {}
        if types is None:
            if row.infer is None:
                raise TypeError(f"{row.name} states its result types")
            try:
                types = row.infer(row, types_of(args), attrs)
            except (TypeError, ValueError, OverflowError) as error:
                notes = _operand_notes(self.loc, [type_text(a.type) for a in args])
                raise located(error, self.loc, _instead(row, types_of(args)), notes) from None
        made = Inst(row, tuple(args), make_attrs(attrs), tuple(types), tuple(regions), self.loc)
        self.insts.append(made)
        return made

    def emit(
        self,
        op: str | Op,
        args: Sequence[Value] = (),
        attrs: dict[str, Any] | None = None,
        types: Sequence[Type] | None = None,
        regions: Sequence[Block] = (),
        name: str = "",
    ) -> Value:
        """Append an instruction with one result (or none) and return that value."""
        made = self.inst(op, args, attrs, types, regions)
        if not made.results:
            return Value(INDEX)
        if name:
            made.results[0].name = name
        return made.results[0]

    def const(self, value: Any, type: Type, name: str = "") -> Value:
        """A constant, spelled as the type's own kind of Python number."""
        return self.emit("const", (), {"value": canonical(value, type)}, (type,), name=name)

    @contextmanager
    def at(self, loc: Loc):
        """Use another location for a while."""
        saved, self.loc = self.loc, loc
        try:
            yield
        finally:
            self.loc = saved

    def take(self) -> tuple[Inst, ...]:
        """Hand over the instructions written so far and start anew."""
        taken = tuple(self.insts)
        self.insts = []
        return taken

    @contextmanager
    def behind(self, insts: list[Inst]) -> Iterator[None]:
        """Go on behind the instructions of a region that was read before."""
        self._around.append(self.insts)
        self.insts = insts
        try:
            yield
        finally:
            self.insts = self._around.pop()

    @contextmanager
    def nested(self):
        """Write a region: yields a list that holds its instructions at the end."""
        self._around.append(self.insts)
        self.insts = []
        collected: list[Inst] = []
        try:
            yield collected
        finally:
            collected.extend(self.insts)
            self.insts = self._around.pop()

    def function(self, name: str, level: str, params: Sequence[Value], facts: Sequence[tuple[str, Any]] = ()) -> Function:
        """Close the block as a function."""
        return Function(name, level, Block(tuple(params), self.take()), tuple(facts))


def _instead(op: Op, types: Sequence[Type]) -> str | None:
    """What to write where a function of NumPy has no loop for the dtypes of its operands."""
    kinds = "".join(t.kind[0] if isinstance(t, WeakType) else element(t).kind for t in types if not isinstance(t, IndexType))
    if "f" in kinds and (op.numpy.startswith("bitwise_") or op.numpy in ("invert", "left_shift", "right_shift")):
        return "bits are of bools and integers: compare first, as x > 0, or convert with astype(np.int64)"
    return "take z.real and z.imag apart: NumPy has this for real numbers only" if op.numpy and "c" in kinds else None


def canonical(value: Any, type: Type) -> Any:
    """The Python number that stands for `value` in a constant of `type`."""
    if isinstance(type, IndexType):
        return int(value)
    if isinstance(type, WeakType):
        return {"bool": bool, "int": int, "float": float, "complex": complex}[type.kind](value)
    if isinstance(type, VectorType):
        return canonical(value, scalar(type.dtype))
    dtype = element(type)
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        return int(value)
    # float32(value) first, so that the text shows the value the code uses.
    number = dtype.numpy.type(value)
    return complex(number) if dtype.kind == "c" else float(number)
