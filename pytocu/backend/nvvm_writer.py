"""Vectors in a GPU's memory, and what is done with each of their lanes, as LLVM IR text.

A vector here is the names of its elements.  Accesses move it in pieces of up to 16 bytes, the
largest a thread has.  Elements narrower than 32 bits travel in words of 32 bits, out of which
shifts cut them: the code generator has no loads of more than four elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.backend.llvm_dialect import Dialect, element_type
from pytocu.backend.llvm_writer import Writer
from pytocu.errors import InternalError
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.types import BOOL, DType, Type, VectorType

LARGEST = 16
"""Bytes of the largest access."""


class VectorWriter(Writer):
    """A writer that keeps the elements of vectors apart."""

    def __init__(self, function: Function, dialect: Dialect, declarations: set[str], name: str = ""):
        super().__init__(function, dialect, declarations, name)
        self.elements: dict[Value, Sequence[str]] = {}

    def inst(self, inst: Inst) -> None:
        """Write one instruction."""
        match inst.op.name:
            case "load" if inst.attr("lanes"):
                self.elements[inst.result] = self.load_vector(inst)
            case "store" if inst.args[2] in self.elements:
                self.store_vector(inst)
            case "lanes":
                self.lanes(inst)
            case "aligned":
                self.values[inst.result] = self.aligned(inst)
            case _:
                super().inst(inst)

    def aligned(self, inst: Inst) -> str:
        """One bit pattern of all addresses, in which no low bit may be set."""
        total = "0"
        for pointer, bytes in zip(inst.args, inst.attr("bytes"), strict=True):
            address = self.assign(f"ptrtoint {self.typed(pointer)} to i64", "address")
            low = self.assign(f"and i64 {address}, {bytes - 1}", "low")
            total = self.assign(f"or i64 {total}, {low}", "low")
        return self.assign(f"icmp eq i64 {total}, 0", "aligned")

    def lanes(self, inst: Inst) -> None:
        """The region once a lane."""
        (region,) = inst.regions
        count = inst.attr("lanes")
        number, *params = region.params
        vectors = [self.elements[vector] for vector in inst.args]
        made: list[list[str]] = []
        for lane in range(count):
            given = [name for names in vectors for name in _share(names, lane, count)]
            self.bind([number, *params], [str(lane), *given])
            made.append(self.operands(self.block(region)))
        place = 0
        for result in inst.results:
            share = _vector(result.type).lanes // count
            self.elements[result] = [name for lane in made for name in lane[place : place + share]]
            place += share

    # Memory.

    def pieces(self, inst: Inst, type: VectorType) -> list[tuple[str, str, str, int, int]]:
        """The accesses that move a vector.

        Returns
        -------
        list of (type, pointer type, address, align, elements)
        """
        dtype, lanes = type.dtype, type.lanes
        each = min(lanes, LARGEST // dtype.itemsize)
        size = each * dtype.itemsize
        word = element_type(dtype, True) if dtype.bits >= 32 else f"i{8 * min(size, 4)}"
        words = size * 8 // max(dtype.bits, min(32, 8 * size))
        moved = word if words == 1 else f"<{words} x {word}>"
        fields = self.address(inst.args[0], inst.args[1])
        pointer = self.dialect.pointer.format(type=moved, space="")
        first = self.assign(f"bitcast {fields['pointer']} {fields['address']} to {pointer}", "at")
        found = [(moved, pointer, first, min(inst.attr("align"), size), each)]
        for number in range(1, lanes // each):
            text = self.dialect.element.format(type=moved, pointer=pointer, address=first, index_type="i32", index=number)
            found.append((moved, pointer, self.assign(text, "at"), min(inst.attr("align"), size), each))
        return found

    def load_vector(self, inst: Inst) -> list[str]:
        """The names of the elements."""
        type = _vector(inst.result.type)
        names: list[str] = []
        for moved, pointer, address, align, count in self.pieces(inst, type):
            text = self.dialect.load.format(type=moved, pointer=pointer, address=address, align=align)
            piece = self.assign(text, inst.result.name or "vector")
            names.extend(self.cut(piece, moved, type.dtype, count))
        return names

    def cut(self, piece: str, moved: str, dtype: DType, count: int) -> list[str]:
        """The elements of what an access has read."""
        word = moved.strip("<>").rpartition(" ")[2]
        words = int(moved[1:].partition(" ")[0]) if moved.startswith("<") else 1
        whole = [piece]
        if words > 1:
            whole = [self.assign(f"extractelement {moved} {piece}, i32 {k}", "word") for k in range(words)]
        if count == words and dtype is not BOOL:
            return whole
        memory = element_type(dtype, True)
        names: list[str] = []
        for name in whole:
            for k in range(count // words):
                part = self.assign(f"lshr {word} {name}, {k * dtype.bits}", "part") if k else name
                part = part if word == memory else self.assign(f"trunc {word} {part} to {memory}", "part")
                names.append(self.assign(f"icmp ne {memory} {part}, 0", "part") if dtype is BOOL else part)
        return names

    def store_vector(self, inst: Inst) -> None:
        """Put the elements together and write them."""
        type = _vector(inst.args[2].type)
        names = self.elements[inst.args[2]]
        for number, (moved, pointer, address, align, count) in enumerate(self.pieces(inst, type)):
            value = self.join(names[number * count : (number + 1) * count], moved, type.dtype)
            self.line(self.dialect.store.format(type=moved, value=value, pointer=pointer, address=address, align=align))

    def join(self, names: Sequence[str], moved: str, dtype: DType) -> str:
        """What an access writes for the elements."""
        word = moved.strip("<>").rpartition(" ")[2]
        words = int(moved[1:].partition(" ")[0]) if moved.startswith("<") else 1
        share = len(names) // words
        total = "undef"
        for number in range(words):
            whole = self.word(names[number * share : (number + 1) * share], word, dtype)
            if words == 1:
                return whole
            total = self.assign(f"insertelement {moved} {total}, {word} {whole}, i32 {number}", "vector")
        return total

    def word(self, names: Sequence[str], word: str, dtype: DType) -> str:
        """Narrow elements side by side."""
        register = element_type(dtype)
        if len(names) == 1 and word == register:
            return names[0]
        total = ""
        for k, name in enumerate(names):
            part = name if word == register else self.assign(f"zext {register} {name} to {word}", "part")
            part = self.assign(f"shl {word} {part}, {k * dtype.bits}", "part") if k else part
            total = self.assign(f"or {word} {total}, {part}", "word") if k else part
        return total


def _vector(type: Type) -> VectorType:
    if not isinstance(type, VectorType):
        raise InternalError(f"a vector of type {type}")
    return type


def _share(names: Sequence[str], lane: int, count: int) -> Sequence[str]:
    """What a lane is given of a vector: elements that follow each other."""
    share = len(names) // count
    return names[lane * share : (lane + 1) * share]
