"""Bytes that lie apart, such as channels of an image, made numbers of more bits by one instruction a register.

LLVM makes vectors of each channel: it takes them apart within 16 bytes, joins what belongs together, and widens the bytes
behind that, in thirty instructions for 64 pixels of three channels.  `vpermb` (AVX-512 VBMI) takes bytes from any places of
a register and, as a mask says, leaves zeros between them.  So 16 pixels' bytes are 16 integers of 32 bits in one step.

It is done behind LLVM's passes, where loops have vectors, and in front of its instructions: from text to text.  Bytes that stay
bytes are left to LLVM, and so are integers of 16 bits: what its instructions take for them is as fast.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pytocu.record import Record

FEATURE = "+avx512vbmi"
"""What LLVM calls processors that permute the bytes of a whole register."""

REGISTER = 64
"""Bytes of a register."""

PERMUTE = "llvm.x86.avx512.permvar.qi.512"
"""LLVM's function of the instruction."""

_MOST = 2
"""Registers that the bytes of one come from."""

_GRAIN = 16
"""Multiples of this many bytes are where registers are loaded from, so that channels share them."""

_OWN = "%byte-"
"""Begins names of what is made here.  No name of a variable in Python has a hyphen."""

_VALUE = r'%(?:[-\w.$]+|"[^"]*")'
_LOAD = re.compile(rf"  (?P<name>{_VALUE}) = load <(?P<count>\d+) x i8>, ptr (?P<at>{_VALUE}), align \d+")
_STRIDED = re.compile(
    rf"  (?P<name>{_VALUE}) = shufflevector <\d+ x i8> (?P<of>{_VALUE}), <\d+ x i8> poison,"
    r" <\d+ x i32> <(?P<places>i32 [^>]*)>$"
)
_WIDENED = re.compile(
    rf"  (?P<name>{_VALUE}) = (?P<how>zext|sext|uitofp|sitofp)(?: nneg)? <\d+ x i8> (?P<of>{_VALUE})"
    r" to <\d+ x (?P<to>i16|i32|i64|float|double)>$"
)
_WIDTHS = {"i16": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}


class _Load(Record):
    """A load of neighbouring bytes: its line, how many bytes, and the pointer."""

    line: int
    bytes: int
    at: str


class _Strided(Record):
    """Bytes of a load, by their places: the line, the load's name, and the places."""

    line: int
    of: str
    places: tuple[int, ...]


def concerns(text: str, features: Collection[str]) -> bool:
    """Whether LLVM may make vectors of bytes that lie apart, for a processor that permutes them.

    Parameters
    ----------
    text : str
        LLVM IR in front of LLVM's passes.
    features : collection of str
        Of the processor, as LLVM names them.
    """
    return FEATURE in features and "= load i8," in text


def rewritten(text: str) -> str:
    """The module behind LLVM's passes, with such bytes taken from whole registers.

    Parameters
    ----------
    text : str
        LLVM IR as LLVM writes it.
    """
    made = "".join(_Function(part).rewritten() for part in re.split(r"(?m)(?=^define )", text))
    bytes_ = f"<{REGISTER} x i8>"
    return made if made == text else f"{made}\ndeclare {bytes_} @{PERMUTE}({bytes_}, {bytes_})\n"


class _Function:
    """A function's lines, and what stands in the place of some of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.loads: dict[str, _Load] = {}
        self.strided: dict[str, _Strided] = {}
        self.replaced: dict[int, list[str]] = {}
        self.registers: dict[tuple[str, int], str] = {}
        self.masks: dict[int, str] = {}
        self.values = 0

    def rewritten(self) -> str:
        for number, line in enumerate(self.lines):
            if load := _LOAD.match(line):
                self.loads[load["name"]] = _Load(number, int(load["count"]), load["at"])
            elif (strided := _STRIDED.match(line)) and strided["of"] in self.loads and "poison" not in strided["places"]:
                places = tuple(int(place) for place in strided["places"].replace("i32 ", "").split(", "))
                self.strided[strided["name"]] = _Strided(number, strided["of"], places)
            elif (widened := _WIDENED.match(line)) and (found := self.strided.get(widened["of"])):
                self.replaced[number] = self._widened(widened["name"], widened["how"], widened["to"], found) or [line]
        if not self.registers:
            return self.text
        for name, load in self.loads.items():
            # Memory may be changed behind the load, so its registers are read where it is.  LLVM drops what nothing uses now.
            self.replaced[load.line] = [self.lines[load.line], *self._read(name, load)]
        return "\n".join(self._written())

    def _written(self) -> Iterator[str]:
        head = next(number for number, line in enumerate(self.lines) if line.startswith("define "))
        # Behind the name of the first block, where that has one.
        first = head + self.lines[head + 1].endswith(":")
        for number, line in enumerate(self.lines):
            yield from self.replaced.get(number, [line])
            if number == first:
                for bits, mask in self.masks.items():
                    # Where LLVM knows the mask, it has a slower instruction of two registers instead.
                    yield f'  {mask}.bits = call i64 asm "", "=r,0"(i64 {bits})'
                    yield f"  {mask} = bitcast i64 {mask}.bits to <{REGISTER} x i1>"

    def _new(self, made: list[str], expression: str) -> str:
        name = f"{_OWN}{self.values}"
        self.values += 1
        made.append(f"  {name} = {expression}")
        return name

    def _widened(self, name: str, how: str, to: str, strided: _Strided) -> list[str] | None:
        """Lines for wider numbers, or None where LLVM's instructions are as good."""
        width, places = _WIDTHS[to], strided.places
        lanes = REGISTER // width
        # Where a byte lies in each word of this width, a shift takes it.
        in_words = places == tuple(range(places[0], places[0] + len(places) * width, width))
        groups = [places[first : first + lanes] for first in range(0, len(places), lanes)]
        starts = [self._starts(strided.of, group) for group in groups]
        halves = len(places) % lanes == 0 and len(groups).bit_count() == 1
        if in_words or not halves or any(len(s) > _MOST for s in starts):
            return None
        made: list[str] = []
        integers = f"<{lanes} x i{8 * width}>"
        values: list[str] = []
        for group, begins in zip(groups, starts, strict=True):
            signed = how in ("sext", "sitofp")
            value = self._register(made, strided.of, group, begins, width, width - 1 if signed else 0)
            value = self._new(made, f"bitcast <{REGISTER} x i8> {value} to {integers}")
            if signed:
                # The byte is the highest one, whose sign is repeated.
                value = self._new(made, f"ashr {integers} {value}, splat (i{8 * width} {8 * (width - 1)})")
            if how in ("uitofp", "sitofp"):
                # An integer that is not negative, as its highest byte says; only of such is one instruction enough.
                value = self._new(made, f"sitofp {integers} {value} to <{lanes} x {to}>")
            values.append(value)
        return made + self._joined(name, values, to, lanes)

    def _starts(self, of: str, places: Sequence[int]) -> list[int]:
        """Where registers begin that have these bytes of a load."""
        count = self.loads[of].bytes
        starts: list[int] = []
        for place in sorted(places):
            if not starts or place >= starts[-1] + REGISTER:
                starts.append(max(0, min(place // _GRAIN * _GRAIN, count - REGISTER)))
        whole = sorted({place // REGISTER * REGISTER for place in places})
        # Whole ones are read once for all groups.
        return whole if len(whole) <= len(starts) and whole[-1] + REGISTER <= count else starts

    def _register(self, made: list[str], of: str, places: Sequence[int], starts: Sequence[int], width: int, byte: int) -> str:
        """A register with one byte in each number, and zeros."""
        bytes_ = f"<{REGISTER} x i8>"
        current = "zeroinitializer"
        for number, start in enumerate(starts):
            end = starts[number + 1] if number + 1 < len(starts) else start + REGISTER
            taken = {lane * width + byte: place - start for lane, place in enumerate(places) if start <= place < end}
            # LLVM has two instructions for some orders of lanes that it may choose itself.
            order = ", ".join(f"i8 {taken.get(lane, 0)}" for lane in range(REGISTER))
            register = self.registers.setdefault((of, start), f"{_OWN}register{len(self.registers)}")
            moved = self._new(made, f"call {bytes_} @{PERMUTE}({bytes_} {register}, {bytes_} <{order}>)")
            mask = self.masks.setdefault(sum(1 << lane for lane in taken), f"{_OWN}mask{len(self.masks)}")
            current = self._new(made, f"select <{REGISTER} x i1> {mask}, {bytes_} {moved}, {bytes_} {current}")
        return current

    def _read(self, name: str, load: _Load) -> Iterator[str]:
        """The registers of a load."""
        for (of, start), register in self.registers.items():
            if of == name and start + REGISTER <= load.bytes:
                yield f"  {register}.at = getelementptr inbounds nuw i8, ptr {load.at}, i64 {start}"
                yield f"  {register} = load <{REGISTER} x i8>, ptr {register}.at, align 1"
            elif of == name:
                bytes_ = f"<{load.bytes} x i8>"
                places = range(start, start + REGISTER)
                order = ", ".join(f"i32 {place if place < load.bytes else 'poison'}" for place in places)
                yield f"  {register} = shufflevector {bytes_} {name}, {bytes_} poison, <{REGISTER} x i32> <{order}>"

    def _joined(self, name: str, values: list[str], type: str, lanes: int) -> list[str]:
        """Registers as the vector that a name stands for."""
        made: list[str] = []
        while len(values) > 2:
            values = [self._new(made, _both(a, b, type, lanes)) for a, b in zip(values[::2], values[1::2], strict=True)]
            lanes *= 2
        if len(values) == 2:
            made.append(f"  {name} = {_both(values[0], values[1], type, lanes)}")
        else:
            made.append(f"  {name} = bitcast <{lanes} x {type}> {values[0]} to <{lanes} x {type}>")
        return made


def _both(first: str, second: str, type: str, lanes: int) -> str:
    """Two vectors as one."""
    order = ", ".join(f"i32 {lane}" for lane in range(2 * lanes))
    vector = f"<{lanes} x {type}>"
    return f"shufflevector {vector} {first}, {vector} {second}, <{2 * lanes} x i32> <{order}>"
