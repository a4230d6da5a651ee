"""Vectors in a GPU's memory, and what is done with each of their lanes, as LLVM IR text.

A vector here is the names of its elements.  Accesses move it in pieces of up to 16 bytes, the
largest a thread has.  Elements narrower than 32 bits travel in words of 32 bits, out of which
shifts cut them: the code generator has no loads of more than four elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.backend.llvm_dialect import Dialect, element_type
from pytocu.backend.llvm_writer import Writer
from pytocu.backend.ptx import load_before_end, store_before_end
from pytocu.errors import InternalError
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.lanes import lane_reach, share_of_lane
from pytocu.ir.types import BOOL, DType, Type, VectorType, element, scalar

LARGEST = 16
"""Bytes of the largest access."""


class VectorWriter(Writer):
    """A writer that keeps the elements of vectors apart."""

    def __init__(self, function: Function, dialect: Dialect, declarations: set[str], name: str = ""):
        super().__init__(function, dialect, declarations, name)
        self.elements: dict[Value, Sequence[str]] = {}

    def write(self, inst: Inst) -> None:
        """The lines of one instruction."""
        match inst.op.name:
            case "load" if inst.attr("width"):
                self.elements[inst.result] = self.load_groups(inst)
            case "store" if inst.attr("width"):
                self.store_groups(inst)
            case "load" if inst.attr("lanes"):
                self.elements[inst.result] = self.load_vector(inst, _vector(inst.result.type))
            case "store" if inst.args[2] in self.elements:
                self.store_vector(inst, self.elements[inst.args[2]], _vector(inst.args[2].type))
            case "lanes":
                self.lanes(inst)
            case "aligned":
                self.values[inst.result] = self.aligned(inst)
            case _:
                super().write(inst)

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
        self.natural.add(number)
        vectors = [self.elements[v] for v in inst.args if v in self.elements]
        carried = self.operands([v for v in inst.args if v not in self.elements])
        reach = lane_reach(inst)
        made: list[list[str]] = []
        for lane in range(count):
            given = [names[m] for names, share in zip(vectors, reach, strict=True) for m in share_of_lane(share, lane)]
            self.bind([number, *params], [str(lane), *given, *carried])
            yielded = self.operands(self.block(region))
            made.append(yielded)
            carried = yielded[len(yielded) - len(carried) :]
        place = 0
        results = inst.results[: len(inst.results) - len(carried)]
        for result in results:
            share = _vector(result.type).lanes // count
            self.elements[result] = [name for lane in made for name in lane[place : place + share]]
            place += share
        self.bind(inst.results[len(results) :], carried)

    def parts(self, value: Value) -> Sequence[str]:
        """The elements of a vector."""
        return self.elements[value] if value in self.elements else super().parts(value)

    def part_types(self, type: Type) -> Sequence[Type]:
        """One for each element of a vector."""
        return [scalar(type.dtype)] * type.lanes if isinstance(type, VectorType) else super().part_types(type)

    def define(self, value: Value, parts: Sequence[str]) -> None:
        """A vector is kept as its elements."""
        if isinstance(value.type, VectorType):
            self.elements[value] = parts
        else:
            super().define(value, parts)

    # Memory.

    def pieces(self, inst: Inst, type: VectorType) -> list[tuple[str, str, str, int, int]]:
        """The accesses that move a vector.

        Returns
        -------
        list of (type, pointer type, address, align, elements)
        """
        moved, size, each = self.one_access(inst, type)
        pointer = self.dialect.pointer.format(type=moved, space=self.space(inst.args[0]))
        fields = self.address(inst.args[0], inst.args[1])
        first = self.assign(f"bitcast {fields['pointer']} {fields['address']} to {pointer}", "at")
        found = [(moved, pointer, first, min(inst.attr("align"), size), each)]
        for number in range(1, type.lanes // each):
            text = self.dialect.element.format(type=moved, pointer=pointer, address=first, index_type="i32", index=number)
            found.append((moved, pointer, self.assign(text, "at"), min(inst.attr("align"), size), each))
        return found

    def one_access(self, inst: Inst, type: VectorType) -> tuple[str, int, int]:
        """What one access of a vector moves: its type, its bytes, its elements."""
        dtype = type.dtype
        each = min(type.lanes, LARGEST // dtype.itemsize)
        if inst.attr("width") is None:
            each = max(inst.attr("align") // dtype.itemsize, 1)
        size = each * dtype.itemsize
        word = element_type(dtype, True) if dtype.bits >= 32 else f"i{8 * min(size, 4)}"
        words = size * 8 // max(dtype.bits, min(32, 8 * size))
        return (word if words == 1 else f"<{words} x {word}>"), size, each

    def begins(self, inst: Inst) -> None:
        """Compute the address of an access in front of the blocks that have it each."""
        if self.dialect.as_written:
            self.address(inst.args[0], inst.args[1])

    def load_vector(self, inst: Inst, type: VectorType) -> list[str]:
        """The names of the elements."""
        _, word, each = self.words(inst, type)
        names = [name for piece in self.pieces(inst, type) for name in self.load_words(inst, piece)]
        return self.cut(names, word, type.dtype, each)

    def load_words(self, inst: Inst, piece: tuple[str, str, str, int, int]) -> list[str]:
        """The words that an access reads."""
        moved, pointer, address, align, _ = piece
        text = self.dialect.load.format(type=moved, pointer=pointer, address=address, align=align)
        read = self.assign(text + self.unchanged(inst.args[0]), inst.result.name or "vector")
        if _words(moved) == 1:
            return [read]
        return [self.assign(f"extractelement {moved} {read}, i32 {k}", "word") for k in range(_words(moved))]

    def load_groups(self, inst: Inst) -> list[str]:
        """The names of the elements: each group's, or zeros where there is none.

        Words are cut behind all accesses: what is done with one would wait for it before the next begins.
        """
        group, whole = self.group(inst)
        _, word, each = self.words(inst, group)
        places = range(0, inst.attr("lanes") // group.lanes * inst.attr("step"), inst.attr("step"))
        self.begins(inst)

        def single(at: int) -> Sequence[str]:
            memory = element_type(group.dtype, True)
            names = self.loaded(inst, memory, 1, group.dtype.itemsize, at, group.lanes)
            names = [self.from_memory(name, scalar(group.dtype)) for name in names]
            return [self.word(names[k : k + each], word, group.dtype) for k in range(0, group.lanes, each)]

        def together(at: int) -> Sequence[str]:
            moved, size, of_each = self.one_access(inst, group)
            return self.loaded(inst, word, _words(moved), size, at, group.lanes // of_each)

        def every(load: Callable[[int], Sequence[str]]) -> list[str]:
            return [name for at in places for name in load(at)]

        names = self.either(whole, lambda: every(together), lambda: every(single), word) if whole else every(single)
        return self.cut(names, word, group.dtype, each)

    def loaded(self, inst: Inst, word: str, words: int, bytes: int, at: int, count: int) -> list[str]:
        """What some accesses of so many words and bytes each read, the first of them `at` elements behind the offset."""
        pointer, index, end = inst.args[:3]
        fields = self.address(pointer, index)
        offsets = [at * element(pointer.type).itemsize + number * bytes for number in range(count)]
        text, type = load_before_end(word, words, offsets, at, self.bits(end.type), self.is_unchanged(pointer))
        hint = inst.result.name or "v"
        made = self.assign(text.format(f"{fields['pointer']} {fields['address']}", self.typed(end)), hint)
        names = [made]
        if words * count > 1:
            names = [self.assign(f"extractvalue {type} {made}, {k}", hint) for k in range(words * count)]
        return names if word != "i8" else [self.assign(f"trunc i32 {name} to i8", hint) for name in names]

    def words(self, inst: Inst, type: VectorType) -> tuple[int, str, int]:
        """How many words a vector travels in, what a word is, and how many elements it has."""
        moved, _, count = self.one_access(inst, type)
        word, words = moved.strip("<>").rpartition(" ")[2], _words(moved)
        return type.lanes // count * words, word, count // words

    def group(self, inst: Inst) -> tuple[VectorType, str]:
        """A group, and the name of what says whether it is one access."""
        fit = inst.args[-1] if len(inst.args) > (3 if inst.op.name == "load" else 4) else None
        return VectorType(element(inst.args[0].type), inst.attr("width")), self.values[fit] if fit else ""

    def either(
        self, condition: str, yes: Callable[[], Sequence[str]], no: Callable[[], Sequence[str]], type: str = ""
    ) -> list[str]:
        """What is written in one of two blocks; the names of what they give, of one type."""
        labels = [self.fresh(hint, "") for hint in ("then", "else")]
        join = self.fresh("join", "")
        self.line(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        ends: list[tuple[Sequence[str], str]] = []
        for label, write in zip(labels, (yes, no), strict=True):
            self.open(label)
            with self.scope():
                ends.append((write(), self.label))
            self.line(f"br label %{join}")
        self.open(join)
        names: list[str] = []
        for k in range(len(ends[0][0])):
            sources = ", ".join(f"[ {values[k]}, %{label} ]" for values, label in ends)
            names.append(self.assign(f"phi {type} {sources}", "v"))
        return names

    def cut(self, words: Sequence[str], word: str, dtype: DType, each: int) -> list[str]:
        """The elements of words."""
        if each == 1 and dtype is not BOOL:
            return list(words)
        memory = element_type(dtype, True)
        names: list[str] = []
        for name in words:
            for k in range(each):
                part = self.assign(f"lshr {word} {name}, {k * dtype.bits}", "part") if k else name
                part = part if word == memory else self.assign(f"trunc {word} {part} to {memory}", "part")
                names.append(self.assign(f"icmp ne {memory} {part}, 0", "part") if dtype is BOOL else part)
        return names

    def store_vector(self, inst: Inst, names: Sequence[str], type: VectorType) -> None:
        """Put elements together and write them."""
        for number, (moved, pointer, address, align, count) in enumerate(self.pieces(inst, type)):
            value = self.join(names[number * count : (number + 1) * count], moved, type.dtype)
            self.line(self.dialect.store.format(type=moved, value=value, pointer=pointer, address=address, align=align))

    def store_groups(self, inst: Inst) -> None:
        """Write each group that there is."""
        group, whole = self.group(inst)
        names = self.elements[inst.args[2]]
        groups = [names[first : first + group.lanes] for first in range(0, len(names), group.lanes)]
        self.begins(inst)

        def single(mine: Sequence[str], at: int) -> None:
            dtype, memory = group.dtype, element_type(group.dtype, True)
            if dtype is BOOL:
                mine = [self.assign(f"zext {self.type(scalar(dtype))} {name} to {memory}", "v") for name in mine]
            self.stored(inst, mine, memory, 1, dtype.itemsize, at)

        def together(mine: Sequence[str], at: int) -> None:
            moved, size, each = self.one_access(inst, group)
            parts = [mine[first : first + each] for first in range(0, len(mine), each)]
            word, words = moved.strip("<>").rpartition(" ")[2], _words(moved)
            share = each // words
            filled = [self.word(part[k : k + share], word, group.dtype) for part in parts for k in range(0, each, share)]
            self.stored(inst, filled, word, words, size, at)

        def every(store: Callable[[Sequence[str], int], None]) -> Sequence[str]:
            for number, mine in enumerate(groups):
                store(mine, number * inst.attr("step"))
            return ()

        if whole:
            self.either(whole, lambda: every(together), lambda: every(single))
        else:
            every(single)

    def stored(self, inst: Inst, names: Sequence[str], word: str, words: int, bytes: int, at: int) -> None:
        """Write registers with accesses of so many words and bytes each, the first of them `at` elements behind the offset."""
        pointer, index, _, end = inst.args[:4]
        fields = self.address(pointer, index)
        offsets = [at * element(pointer.type).itemsize + number * bytes for number in range(len(names) // words)]
        text = store_before_end(word, len(names), words, offsets, at, self.bits(end.type))
        if word == "i8":
            word, names = "i32", [self.assign(f"zext i8 {name} to i32", "v") for name in names]
        operands = [f"{word} {name}" for name in names]
        self.line(text.format(*operands, f"{fields['pointer']} {fields['address']}", self.typed(end)))

    def join(self, names: Sequence[str], moved: str, dtype: DType) -> str:
        """What an access writes for the elements."""
        word = moved.strip("<>").rpartition(" ")[2]
        words = _words(moved)
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


def _words(moved: str) -> int:
    """How many words an access of this type moves."""
    return int(moved[1:].partition(" ")[0]) if moved.startswith("<") else 1
