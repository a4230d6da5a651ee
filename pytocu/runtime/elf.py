"""Object files for x86-64: read, laid out in memory, relocated and made executable.

LLVM has a linker for this, but importing it takes longer than everything else a first call does.
What a compiler emits for position-independent functions without variables needs little of one:
six kinds of relocations, and a jump and an address for each function that is called.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pytocu.errors import BackendError
from pytocu.record import Record


class Section(Record):
    """A section header: the fields of Elf64_Shdr in their order, then the name as text."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int
    title: str = ""


class Symbol(Record):
    """A name, the section that defines it (0 for none), and the offset there."""

    name: str
    section: int
    value: int


X86_64 = 62
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_BITS, _SYMBOLS, _ADDENDS = 1, 2, 4
_WRITE, _ALLOCATED, _EXECUTE = 1, 2, 4

_ADDRESS, _DISTANCE, _CALL, _LONG_DISTANCE = 1, 2, 4, 24
_TABLE_DISTANCES = (9, 41, 42)
"""Relocations by number: R_X86_64_64, PC32, PLT32, PC64; GOTPCREL, GOTPCRELX, REX_GOTPCRELX."""

_JUMP = 8
"""Bytes kept for ``jmp *slot(%rip)``, which has six."""


class ObjectFile:
    """The tables of a 64-bit little-endian object file.

    Raises
    ------
    BackendError
        The bytes are no such file.
    """

    def __init__(self, code: bytes):
        if code[:6] != b"\x7fELF\x02\x01":
            raise BackendError("the object code is not 64-bit little-endian ELF: the CPU backend runs on Linux")
        self.code = code
        self.symbols: list[Symbol] = []
        try:
            kind, self.machine = struct.unpack_from("<HH", code, 16)
            (table,) = struct.unpack_from("<Q", code, 40)
            size, number, names = struct.unpack_from("<HHH", code, 58)
            if kind != 1 or size != _SECTION.size:
                raise ValueError("it is no relocatable file")
            read = [Section(*_SECTION.unpack_from(code, table + size * i)) for i in range(number)]
            self.sections = [s._replace(title=self._string(read[names].offset + s.name)) for s in read]
            for section in self.sections:
                if section.kind == _SYMBOLS:
                    strings = self.sections[section.link].offset
                    for name, _, _, place, value, _ in _SYMBOL.iter_unpack(self.content(section)):
                        self.symbols.append(Symbol(self._string(strings + name), place, value))
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            raise BackendError(f"the object code is damaged: {error}") from None

    def _string(self, start: int) -> str:
        return self.code[start : self.code.index(b"\0", start)].decode()

    def content(self, section: Section) -> bytes:
        """The bytes of a section."""
        data = self.code[section.offset : section.offset + section.size]
        if len(data) != section.size:
            raise ValueError("a section lies outside the file")
        return data

    def undefined(self) -> tuple[str, ...]:
        """Names that are referred to and not defined, in order of their names."""
        return tuple(sorted({s.name for s in self.symbols if s.section == 0 and s.name}))


class Code:
    """Memory with code in it, given back when nothing refers to this object any more."""

    __slots__ = ("_base", "_size")

    def __init__(self, base: int, size: int):
        self._base, self._size = base, size

    def __del__(self) -> None:
        # While the interpreter ends, a thread may still run the code.
        if not sys.is_finalizing():
            _system().munmap(self._base, self._size)


def place(file: ObjectFile, externals: Mapping[str, int]) -> tuple[dict[str, int], Code]:
    """Put the code into memory of its own.

    Parameters
    ----------
    file : ObjectFile
        For x86-64.
    externals : mapping of str to int
        The addresses of the names it does not define.

    Returns
    -------
    (dict of str to int, Code)
        The addresses of the names it defines, and what keeps the code where it is.

    Raises
    ------
    BackendError
        The file has variables, or relocations that such code has no use for.
    """
    try:
        image = _Image(file, externals)
        for section in file.sections:
            if section.kind == _ADDENDS and section.info in image.offsets:
                start = image.offsets[section.info]
                for place, info, addend in _RELOCATION.iter_unpack(file.content(section)):
                    image.relocate(info & 0xFFFFFFFF, start + place, file.symbols[info >> 32], addend)
        found = {s.name: image.base + image.target(s) for s in file.symbols if s.name and s.section in image.offsets}
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise BackendError(f"the object code is damaged: {error}") from None
    image.publish()
    return found, image.code


class _Image:
    """What is going to stand in memory, and where.

    Code comes first, followed by a jump to each external function.  What is only read begins on
    the next page: constants, then a table of the addresses of the external functions, which may
    be further away than a relocation reaches.  No page is ever writable and executable at once.
    """

    def __init__(self, file: ObjectFile, externals: Mapping[str, int]):
        self.file = file
        self.offsets: dict[int, int] = {}
        jumps = _rounded(self.lay_out(0, executable=True), _JUMP)
        self.jumps = {name: jumps + _JUMP * number for number, name in enumerate(externals)}
        self.constants = _rounded(jumps + _JUMP * len(externals), mmap.PAGESIZE)
        slots = _rounded(self.lay_out(self.constants, executable=False), 8)
        self.slots = {name: slots + 8 * number for number, name in enumerate(externals)}
        self.bytes = bytearray(_rounded(slots + 8 * len(externals), mmap.PAGESIZE))
        self.base = _map(len(self.bytes))
        self.code = Code(self.base, len(self.bytes))
        for number, offset in self.offsets.items():
            content = file.content(file.sections[number])
            self.bytes[offset : offset + len(content)] = content
        for name, address in externals.items():
            struct.pack_into("<Q", self.bytes, self.slots[name], address)
            # The operand counts from the end of the instruction.
            struct.pack_into("<Hi", self.bytes, self.jumps[name], 0x25FF, self.slots[name] - self.jumps[name] - 6)

    def lay_out(self, start: int, executable: bool) -> int:
        """Give offsets to the sections that are code, or to those that are not; the end of the last."""
        for number, section in enumerate(self.file.sections):
            # Nothing unwinds through a kernel.
            needed = section.flags & _ALLOCATED and section.size and section.title != ".eh_frame"
            if not needed or bool(section.flags & _EXECUTE) is not executable:
                continue
            writable = section.flags & _WRITE and not section.title.startswith(".data.rel.ro")
            if section.kind != _BITS or writable:
                raise BackendError(f"the object code has a section {section.title!r}, which is neither code nor constants")
            if section.alignment > mmap.PAGESIZE:
                raise ValueError("a section asks for more than a page of alignment")
            start = _rounded(start, max(section.alignment, 1))
            self.offsets[number] = start
            start += len(self.file.content(section))
        return start

    def target(self, symbol: Symbol) -> int:
        """The offset of a symbol that the file defines."""
        if symbol.section not in self.offsets:
            raise BackendError(f"the object code refers to {symbol.name!r} in a section that is not loaded")
        if symbol.value > self.file.sections[symbol.section].size:
            raise ValueError("a symbol lies outside its section")
        return self.offsets[symbol.section] + symbol.value

    def relocate(self, kind: int, place: int, symbol: Symbol, addend: int) -> None:
        """Write the address, or the distance to the address, of a symbol to a place."""
        is_external = symbol.name in self.slots and symbol.section == 0
        if kind in _TABLE_DISTANCES and is_external:
            self._write("<i", place, self.slots[symbol.name] + addend - place)
        elif kind == _CALL and is_external:
            self._write("<i", place, self.jumps[symbol.name] + addend - place)
        elif kind in (_DISTANCE, _CALL) and not is_external:
            self._write("<i", place, self.target(symbol) + addend - place)
        elif kind == _LONG_DISTANCE and not is_external:
            self._write("<q", place, self.target(symbol) + addend - place)
        elif kind == _ADDRESS and not is_external:
            self._write("<Q", place, self.base + self.target(symbol) + addend)
        else:
            raise BackendError(f"the object code has a relocation of type {kind} for {symbol.name!r}, which has no use here")

    def _write(self, code: str, place: int, value: int) -> None:
        struct.pack_into(code, self.bytes, place, value)

    def publish(self) -> None:
        """Copy the image into place and take away the right to write."""
        ctypes.memmove(self.base, bytes(self.bytes), len(self.bytes))
        _protect(self.base, self.constants, mmap.PROT_READ | mmap.PROT_EXEC)
        if len(self.bytes) > self.constants:
            _protect(self.base + self.constants, len(self.bytes) - self.constants, mmap.PROT_READ)


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


@lru_cache(maxsize=1)
def _system() -> Any:
    # Memory of an `mmap` object is given back when the interpreter ends, while a thread may run code in it.
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


def _map(size: int) -> int:
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = _system().mmap(None, size, protection, flags, -1, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise BackendError(f"the system gives no memory for code: errno {ctypes.get_errno()}")
    return address


def _protect(address: int, size: int, protection: int) -> None:
    if _system().mprotect(address, size, protection):
        raise BackendError(f"the system does not let code be run: mprotect, errno {ctypes.get_errno()}")
