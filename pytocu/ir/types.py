"""Types of values: dtypes, weak Python scalars, arrays, and what kernels are made of.

Types are immutable and compared by value; dtypes are singletons.  :func:`parse_type` reads
what ``str(type)`` writes.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np

from pytocu.ir.dims import Dim, DimLike, is_number, only_atom, parse_dim


class DType:
    """An element type.

    Parameters
    ----------
    name : str
        Short name: ``f32``, ``i8``, ``u64``, ``bool``, ``c64``.
    numpy : numpy.dtype
        The NumPy dtype.
    kind : str
        ``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` float, ``c`` complex.
    bits : int
        Size in memory (8 for bool).
    """

    __slots__ = ("bits", "kind", "name", "numpy")

    def __init__(self, name: str, numpy: np.dtype, kind: str, bits: int):
        self.name = name
        self.numpy = numpy
        self.kind = kind
        self.bits = bits

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self):
        return (dtype_named, (self.name,))

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned integer (bool is neither)."""
        return self.kind in "iu"

    @property
    def word(self) -> DType:
        """What memory holds: a complex number is two floats, a float16 sixteen bits."""
        return _WORDS.get(self.name, self)

    @property
    def words(self) -> int:
        """Words an element: 2 for complex numbers."""
        return 2 if self.kind == "c" else 1


BOOL = DType("bool", np.dtype(np.bool_), "b", 8)
I8, I16, I32, I64 = (DType(f"i{b}", np.dtype(f"i{b // 8}"), "i", b) for b in (8, 16, 32, 64))
U8, U16, U32, U64 = (DType(f"u{b}", np.dtype(f"u{b // 8}"), "u", b) for b in (8, 16, 32, 64))
F16, F32, F64 = (DType(f"f{b}", np.dtype(f"f{b // 8}"), "f", b) for b in (16, 32, 64))
C64, C128 = (DType(f"c{b}", np.dtype(f"c{b // 8}"), "c", b) for b in (64, 128))

ALL_DTYPES = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128)
_BY_NAME = {d.name: d for d in ALL_DTYPES}
# np.longlong and np.long are different objects of one layout, so the key is kind and size.
_BY_LAYOUT = {(d.numpy.kind, d.numpy.itemsize): d for d in ALL_DTYPES}

_WORDS = {"f16": U16, "c64": F32, "c128": F64}

COMPILED_DTYPES = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64)
"""The dtypes backends have code for; `lower-dtypes` writes the others with these."""


def dtype_named(name: str) -> DType:
    """The dtype with this short name; KeyError if there is none."""
    return _BY_NAME[name]


def dtype_of(numpy_dtype: np.dtype) -> DType | None:
    """The dtype of a native-endian NumPy dtype, or None when there is none."""
    if not numpy_dtype.isnative:
        return None
    return _BY_LAYOUT.get((numpy_dtype.kind, numpy_dtype.itemsize))


class _Type:
    """Compared by class and fields.  Types are imported on every first call, and a dataclass takes long to make."""

    __slots__ = ("_fields",)
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Type) and self.__class__ is other.__class__ and self._fields == other._fields

    def __hash__(self) -> int:
        return hash((self.__class__, self._fields))

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__name__}({', '.join(shown)})"


class ScalarType(_Type):
    """One element of a dtype: a NumPy scalar, or a value in a register."""

    __slots__ = ("dtype",)
    __match_args__ = ("dtype",)

    def __init__(self, dtype: DType):
        self.dtype = dtype
        self._fields = (dtype,)

    def __str__(self) -> str:
        return self.dtype.name


class WeakType(_Type):
    """A Python scalar: ``bool``, ``int``, ``float`` or ``complex``; it adapts (NEP 50)."""

    __slots__ = ("kind",)
    __match_args__ = ("kind",)

    def __init__(self, kind: str):
        self.kind = kind
        self._fields = (kind,)

    def __str__(self) -> str:
        return f"weak {self.kind}"


class ArrayType(_Type):
    """An array ``f32[n, 3]``.

    ``layout`` is ``C`` (row-major), ``F`` (column-major), the axes of a dense array in another order from the slowest to the
    fastest (``0 2 1``), or ``S`` for strides that only the call knows, whose axes are in row-major order, or in the one that
    follows (``S 1 0``; memory does not move along axes that are left out, and ``-`` is none).  It is a fact about memory,
    and only parameters and allocations carry one other than ``C``.
    """

    __slots__ = ("dtype", "layout", "shape")
    __match_args__ = ("dtype", "shape", "layout")

    def __init__(self, dtype: DType, shape: tuple[DimLike, ...], layout: str = "C"):
        self.dtype = dtype
        self.shape = shape
        self.layout = layout
        self._fields = (dtype, shape, layout)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __str__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        suffix = "" if self.layout == "C" else f"; {self.layout}"
        return f"{self.dtype.name}[{dims}{suffix}]"


class IndexType(_Type):
    """An integer that addresses memory: 32 or 64 bits as the kernel states."""

    __slots__ = ()

    def __init__(self) -> None:
        self._fields = ()

    def __str__(self) -> str:
        return "index"


class PointerType(_Type):
    """The address of elements of a dtype; ``space`` is ``global``, ``shared`` or ``local``."""

    __slots__ = ("dtype", "space")
    __match_args__ = ("dtype", "space")

    def __init__(self, dtype: DType, space: str = "global"):
        self.dtype = dtype
        self.space = space
        self._fields = (dtype, space)

    def __str__(self) -> str:
        space = "" if self.space == "global" else f"{self.space} "
        return f"ptr {space}{self.dtype.name}"


class VectorType(_Type):
    """Several elements in one register: ``<4 x f32>``."""

    __slots__ = ("dtype", "lanes")
    __match_args__ = ("dtype", "lanes")

    def __init__(self, dtype: DType, lanes: int):
        self.dtype = dtype
        self.lanes = lanes
        self._fields = (dtype, lanes)

    def __str__(self) -> str:
        return f"<{self.lanes} x {self.dtype.name}>"


Type: TypeAlias = ScalarType | WeakType | ArrayType | IndexType | PointerType | VectorType

INDEX = IndexType()
WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX = (WeakType(k) for k in ("bool", "int", "float", "complex"))
WEAK_ORDER = ("bool", "int", "float", "complex")
_SCALARS = {d: ScalarType(d) for d in ALL_DTYPES}


def scalar(dtype: DType) -> ScalarType:
    """The scalar type of a dtype."""
    return _SCALARS[dtype]


BOOL_SCALAR = scalar(BOOL)


def element(type: Type) -> DType:
    """The dtype of a strong type.

    Raises
    ------
    TypeError
        For weak scalars and indices, which have no dtype.
    """
    match type:
        case ScalarType(dtype) | ArrayType(dtype) | VectorType(dtype) | PointerType(dtype):
            return dtype
    raise TypeError(f"{type} has no dtype")


def shape_of(type: Type) -> tuple[DimLike, ...]:
    """The shape; ``()`` for scalars."""
    return type.shape if isinstance(type, ArrayType) else ()


def strong_type(dtype: DType, shape: tuple[DimLike, ...]) -> ArrayType | ScalarType:
    """The type of elements of a shape: a scalar's where there are no axes."""
    return ArrayType(dtype, shape) if shape else scalar(dtype)


def weak_type_of(value: object) -> WeakType | None:
    """The weak type of a Python scalar, or None for anything else (NumPy scalars too)."""
    kind = {bool: "bool", int: "int", float: "float", complex: "complex"}.get(type(value))
    return WeakType(kind) if kind else None


def number_of(value: bool | int | float | complex, dtype: np.dtype, wrap: bool = False) -> Any:
    """A Python scalar as a number of a dtype.

    Raises
    ------
    OverflowError
        A Python int that does not fit; with `wrap` only one that fits neither int64 nor uint64,
        and otherwise its low bits are taken.

    Examples
    --------
    >>> int(number_of(300, np.dtype("uint8"), wrap=True))
    44
    """
    if wrap and dtype.kind in "iu":
        if not -(2**63) <= int(value.real) < 2**64:
            raise OverflowError("Python int too large to convert to C long")
        return np.asarray(value).astype(dtype)[()]
    return dtype.type(value)


_TYPE = (
    r"\s*(?:(?P<weak>weak\s+\w+)|<(?P<lanes>\d+) x (?P<vector>\w+)>"
    r"|ptr\s+(?:(?P<space>shared|local)\s+)?(?P<pointer>\w+)"
    r"|(?P<name>\w+)\s*(?P<array>\[(?P<dims>[^\]]*)\])?)\s*$"
)


STRIDED, NO_AXIS = "S", "-"
"""How layouts with strides begin, and what stands for no axis."""


def axes_of(layout: str, ndim: int) -> tuple[int, ...]:
    """The axes of a dense layout from the slowest to the fastest.

    Examples
    --------
    >>> axes_of("C", 2), axes_of("F", 3), axes_of("0 2 1", 3), axes_of("S 1 0", 2)
    ((0, 1), (2, 1, 0), (0, 2, 1), (1, 0))
    """
    if layout in ("C", "S"):
        return tuple(range(ndim))
    if layout == "F":
        return tuple(range(ndim - 1, -1, -1))
    return tuple(int(axis) for axis in layout.removeprefix(STRIDED).split() if axis != NO_AXIS)


def is_strided(layout: str) -> bool:
    """Whether strides are those of the call, and do not follow from lengths.

    Examples
    --------
    >>> is_strided("S"), is_strided("S 1 0"), is_strided("0 2 1")
    (True, True, False)
    """
    return layout.startswith(STRIDED)


def is_layout(text: str, ndim: int) -> bool:
    """Whether a text is a layout of arrays with so many axes.

    Examples
    --------
    >>> is_layout("0 2 1", 3), is_layout("S 2 0", 3), is_layout("0 1", 3)
    (True, True, False)
    """
    if text in ("C", "F", "S", f"{STRIDED} {NO_AXIS}"):
        return True
    axes = text.removeprefix(STRIDED).split()
    known = set(axes) <= set(map(str, range(ndim))) and len(set(axes)) == len(axes)
    return known and (is_strided(text) or len(axes) == ndim)


LARGEST_VECTOR = 4096
"""Elements of a vector at most."""


def parse_type(text: str) -> Type:
    """Read a type: ``f32``, ``f32[n, 3]``, ``f32[n, m; S]``, ``weak int``, ``index``.

    Long dtype names (``float32``) are understood too.

    Raises
    ------
    ValueError
        The text is no type; the message shows what one looks like.

    Examples
    --------
    >>> str(parse_type("float32[n,3]"))
    'f32[n, 3]'
    """
    match = re.match(_TYPE, text)
    if match is None:
        raise ValueError(f"{text!r} is not a type: write f32, f32[n, 3], i64[n, m; S] or weak float")
    if match["weak"]:
        kind = match["weak"].split()[1]
        if kind not in WEAK_ORDER:
            raise ValueError(f"{text!r} is not a type: a weak scalar is one of weak {', weak '.join(WEAK_ORDER)}")
        return WeakType(kind)
    if match["vector"]:
        if not 0 < int(match["lanes"]) <= LARGEST_VECTOR:
            raise ValueError(f"{text!r}: a vector has 1 to {LARGEST_VECTOR} elements")
        return VectorType(_dtype(match["vector"], text), int(match["lanes"]))
    if match["pointer"]:
        return PointerType(_dtype(match["pointer"], text), match["space"] or "global")
    if match["name"] == "index" and not match["array"]:
        return INDEX
    dtype = _dtype(match["name"], text)
    if not match["array"]:
        return scalar(dtype)
    dims, _, layout = match["dims"].partition(";")
    layout = layout.strip() or "C"
    parts = split_top(dims)
    if not is_layout(layout, len(parts)):
        raise ValueError(f"{text!r}: the layout after ';' is C, F, S or all axes from the slowest to the fastest")
    shape = tuple(parse_dim(d) for d in parts)
    for dim in shape:
        if isinstance(dim, int) and dim < 0:
            raise ValueError(f"{text!r}: a length is not negative")
        if isinstance(dim, int) and dim >= 2**63:
            raise ValueError(f"{text!r}: a length is below 2**63")
    return ArrayType(dtype, shape, layout)


def _dtype(name: str, text: str) -> DType:
    if name in _BY_NAME:
        return _BY_NAME[name]
    try:
        found = dtype_of(np.dtype(name))
    except TypeError:
        found = None
    if found is None:
        known = ", ".join(d.name for d in ALL_DTYPES)
        raise ValueError(f"{text!r} has no dtype pytocu knows: {name!r}; the dtypes are {known}")
    return found


def split_top(text: str, separator: str = ",") -> list[str]:
    """Split at separators outside brackets and strings; empty text gives an empty list."""
    parts: list[str] = []
    depth = 0
    start = 0
    quoted = escaped = False
    for position, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [p.strip() for p in parts] if any(p.strip() for p in parts) else []


__all__ = [
    "ALL_DTYPES", "BOOL", "BOOL_SCALAR", "C64", "C128", "COMPILED_DTYPES", "F16", "F32", "F64", "I8", "I16", "I32", "I64",
    "INDEX", "NO_AXIS", "STRIDED", "U8", "U16", "U32", "U64", "WEAK_BOOL", "WEAK_COMPLEX", "WEAK_FLOAT", "WEAK_INT",
    "WEAK_ORDER", "ArrayType", "DType", "Dim", "DimLike", "IndexType", "PointerType", "ScalarType", "Type", "VectorType",
    "WeakType", "axes_of", "dtype_named", "dtype_of", "element", "is_layout", "is_strided", "number_of", "parse_type",
    "scalar", "shape_of", "split_top", "weak_type_of",
]  # fmt: skip


def type_text(type: Type) -> str:
    """A type as a message says it to a user, with ``?`` for lengths of which the formula says nothing."""
    if isinstance(type, WeakType):
        return f"a Python {type.kind}"
    if not isinstance(type, ArrayType) or not type.shape:
        return str(type)
    return str(type).replace(", ".join(map(str, type.shape)), ", ".join(map(_length_text, type.shape)), 1)


_NO_NAME = re.compile(r"(.*_(at|above|below)|length|members|number|side|steps?)\d*_")
"""Names of ints of run time that are not those of a program's own."""


def _length_text(dim: DimLike) -> str:
    """A length of the call or a number of steps, or a sum with such; that none is below 0 is left out."""
    if isinstance(dim, int):
        return str(dim)
    atom = only_atom(dim)
    if atom is not None and atom.name == "max" and 0 in atom.args:
        dim = next(part for part in atom.args if part != 0)
    if isinstance(dim, int):
        return str(dim)
    atoms = {atom for term, _ in dim.terms for atom in term}
    if any(atom.args or _NO_NAME.fullmatch(atom.name) for atom in atoms):
        return "?"
    text = str(dim)
    for atom in filter(lambda atom: is_number(atom.name), atoms):
        text = text.replace(atom.name, atom.name.rstrip("_"))
    return text
