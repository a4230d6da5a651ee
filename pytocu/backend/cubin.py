"""What the kernels of a cubin take, read from the file: needs no GPU and no driver."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pytocu.errors import BackendError
from pytocu.record import Record

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS = 2

# Records of the section .nv.info: the form of the operand, the attribute, 16 bits, and for the last
# form that many bytes.
_SIZED = 4
_FRAME_SIZE, _REGISTER_COUNT = 0x11, 0x2F


class Resources(Record):
    """What one kernel takes.

    Attributes
    ----------
    registers : int
        Of 32 bits, a thread.
    local_bytes : int
        Memory a thread for what its registers do not hold: spills, and arrays that are indexed.
    shared_bytes : int
        Shared memory a block.
    code_bytes : int
        Machine code.
    """

    registers: int
    local_bytes: int
    shared_bytes: int
    code_bytes: int

    def __str__(self) -> str:
        local = f"{self.local_bytes} bytes a thread beside them" if self.local_bytes else "no spills"
        return f"{self.registers} registers, {local}, {self.shared_bytes} bytes shared, {self.code_bytes} bytes of code"


def resources(cubin: bytes, name: str) -> Resources:
    """What a kernel of a cubin takes.

    Parameters
    ----------
    cubin : bytes
        As NVRTC or nvJitLink make it.
    name : str
        The kernel's name in the generated code.

    Raises
    ------
    BackendError
        The bytes are no cubin, or have no such kernel.
    """
    try:
        sections = dict(_sections(cubin))
        number = next(n for n, (text, _) in enumerate(_symbols(cubin, sections)) if text == name)
        found = {attribute: value for attribute, symbol, value in _records(cubin, sections[".nv.info"]) if symbol == number}
        code = sections[f".text.{name}"][5]
        shared = sections.get(f".nv.shared.{name}")
        return Resources(found[_REGISTER_COUNT], found.get(_FRAME_SIZE, 0), shared[5] if shared else 0, code)
    except (struct.error, ValueError, IndexError, KeyError, StopIteration):
        raise BackendError(f"the binary is no cubin with a kernel {name}") from None


def _sections(cubin: bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    if cubin[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF file")
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [_SECTION.unpack_from(cubin, table + size * number) for number in range(count)]
    for header in headers:
        yield _text(cubin, headers[names][4] + header[0]), header


def _text(cubin: bytes, start: int) -> str:
    return cubin[start : cubin.index(b"\0", start)].decode()


def _symbols(cubin: bytes, sections: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, int]]:
    table = next(s for s in sections.values() if s[1] == _SYMBOLS)
    strings = sections[".strtab"][4]
    for fields in _SYMBOL.iter_unpack(cubin[table[4] : table[4] + table[5]]):
        yield _text(cubin, strings + fields[0]), fields[3]


def _records(cubin: bytes, section: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Attribute, symbol and value of the records that have these."""
    at, end = section[4], section[4] + section[5]
    while at < end:
        form, attribute, size = struct.unpack_from("<BBH", cubin, at)
        at += 4
        if form != _SIZED:
            continue
        if size == 8:
            yield attribute, *struct.unpack_from("<II", cubin, at)
        at += size
