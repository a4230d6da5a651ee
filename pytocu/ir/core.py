"""The one instruction class, and the values, blocks and functions around it.

Instructions are immutable and compared by identity; a change is a new function built by
:mod:`pytocu.ir.rewrite`.  What an instruction means stands in its row of the op table
(:mod:`pytocu.ir.ops`), never here.

Levels
------
``array``  whole arrays and scalars, pure.
``host``   the plan: checks, allocations, launches whose region is a kernel, the return.
``loop``   the inside of a launch: scalars, pointers, loops, loads and stores.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pytocu.errors import Loc
from pytocu.ir.dims import Dim, substitute, symbols
from pytocu.ir.types import ArrayType, Type
from pytocu.record import Mutable

Attr: TypeAlias = Any
"""A printable constant: bool, int, float, complex, str, None, Dim, or a tuple of these."""


class Op(Mutable):
    """A row of the op table: everything pytocu knows about one operation; compared by identity.

    Parameters
    ----------
    name : str
        Name in the text form.
    kind : str
        ``elementwise``, ``view``, ``update``, ``scalar`` (host arithmetic), ``const``, ``host``,
        ``memory``, ``control`` or ``index``.
    arity : int or None
        Number of arguments; None for any.
    doc : str
        One sentence.
    infer : callable
        ``infer(op, types, attrs) -> result types``; None where the writer states the types.
    levels : frozenset of str
        Levels the op may stand on.
    numpy : str
        Name of NumPy's function, empty when there is none.
    exact : bool
        NumPy's bits are reproduced on every backend, so constants may be folded.
    ulp : float
        Largest error against the correctly rounded value where not exact.
    effects : str
        Empty for pure, else ``check``, ``read``, ``write``, ``control``, ``alloc``, or ``hint`` where only time
        depends on it.
    attrs : tuple of str
        Attribute names the verifier accepts.
    python : callable
        What Python does with weak arguments.
    symbol : str
        Python's operator, for messages.
    primitive : str
        Dtype kinds (``biuf``) a backend spells the row for; other kinds are expanded first.
    c, llvm, libm : str
        Spelling: a C expression template, an LLVM instruction or intrinsic, a C math function.
    expand : callable
        ``expand(e, inst_types, attrs, *args)`` writes the op with primitive rows.
    gpu_float32 : callable
        As ``expand``, of float32 numbers on GPUs, where CUDA's function is beyond the bound or does too much; None for
        CUDA's function.
    vector : callable
        ``vector(e, result_type, *args)`` writes the op on float32 and float64 numbers without a
        branch: the CPU's form, which becomes vector code where a library call would not.
    half : callable
        ``half(e, *bits)`` writes the op on the bits of float16 numbers; without one it is
        computed in float32 and rounded once.
    gpu_half : callable
        As ``half``, on GPUs, which have instructions of their own for some of it.
    complex : callable
        ``complex(e, *args)`` writes the op on complex numbers, each a pair of values; the
        result is a pair, or one value where it is real.
    complex_ulp : float
        Largest error of a complex result in units of the last place of its larger part; 0 where
        its bits are NumPy's.
    index_map : callable
        For views: output index to input index.
    repeats : bool
        A view that shows an element at several places: nothing is written through it, and a result is a new array.
    regions : int
        How many regions an instruction has.
    isolated : bool
        Its regions see their own parameters only.
    overflow : str
        A Python int that does not fit: ``error`` (OverflowError) or ``answer`` (comparisons).
    aliases : tuple of str
        Other names NumPy has for the function.
    output : int
        Which result of NumPy's function the row computes, where that has several.
    """

    name: str
    kind: str
    arity: int | None
    doc: str
    infer: Callable[..., tuple[Type, ...]] | None = None
    levels: frozenset[str] = frozenset({"array"})
    numpy: str = ""
    exact: bool = True
    ulp: float = 0.0
    effects: str = ""
    attrs: tuple[str, ...] = ()
    python: Callable[..., Any] | None = None
    symbol: str = ""
    primitive: str = ""
    c: str = ""
    llvm: str = ""
    libm: str = ""
    expand: Callable[..., Any] | None = None
    gpu_float32: Callable[..., Any] | None = None
    vector: Callable[..., Any] | None = None
    half: Callable[..., Any] | None = None
    gpu_half: Callable[..., Any] | None = None
    complex: Callable[..., Any] | None = None
    complex_ulp: float = 0.0
    index_map: Callable[..., Any] | None = None
    repeats: bool = False
    regions: int = 0
    isolated: bool = False
    overflow: str = "error"
    aliases: tuple[str, ...] = ()
    output: int = 0

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> str:
        raise TypeError("ops are rows of a table and are not pickled")


OPS: dict[str, Op] = {}
"""The op table by name; :mod:`pytocu.ir.ops` fills it, and who needs the rows imports it from there."""


class Value:
    """A result of an instruction or a parameter of a block; compared by identity.

    ``name`` is a hint for printing (the user's variable) and the only thing that may change.
    """

    __slots__ = ("index", "inst", "name", "type")
    # Operators on it build instructions and run no code of the user: see `pytocu.guards`.
    __pytocu_plain__ = True

    def __init__(self, type: Type, name: str = "", inst: Inst | None = None, index: int = 0):
        self.type = type
        self.name = name
        self.inst = inst
        self.index = index

    def __repr__(self) -> str:
        return f"<{self.name or '%'}: {self.type}>"

    def __reduce__(self) -> str:
        raise TypeError("IR values are not pickled; write text with pytocu.ir.printer")


class _Frozen:
    """Attributes are set once, with :func:`_put`.

    A dataclass does the same, and takes as long to make as a whole module to import.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} does not change: build another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} does not change: build another one")


_put = object.__setattr__


class Inst(_Frozen):
    """One operation with its arguments, constants, result types, regions and source place."""

    __slots__ = ("args", "attrs", "loc", "op", "regions", "results", "types")

    op: Op
    args: tuple[Value, ...]
    attrs: tuple[tuple[str, Attr], ...]
    types: tuple[Type, ...]
    regions: tuple[Block, ...]
    loc: Loc
    results: tuple[Value, ...]

    def __init__(
        self,
        op: Op,
        args: tuple[Value, ...],
        attrs: tuple[tuple[str, Attr], ...],
        types: tuple[Type, ...],
        regions: tuple[Block, ...],
        loc: Loc,
    ):
        _put_op(self, op)
        _put_args(self, args)
        _put_attrs(self, attrs)
        _put_types(self, types)
        _put_regions(self, regions)
        _put_loc(self, loc)
        one = len(types) == 1
        _put_results(self, (Value(types[0], "", self),) if one else tuple([Value(t, "", self, i) for i, t in enumerate(types)]))

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    def attr(self, name: str, default: Attr = None) -> Attr:
        """The attribute's value, or `default`."""
        for key, value in self.attrs:
            if key == name:
                return value
        return default

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.args} : {', '.join(map(str, self.types))}>"


# Instructions are made by the thousand, and this takes two thirds of the time that `_put` does.
_put_op, _put_args, _put_attrs, _put_types, _put_regions, _put_loc, _put_results = (
    vars(Inst)[name].__set__ for name in ("op", "args", "attrs", "types", "regions", "loc", "results")
)


class Block(_Frozen):
    """A straight sequence of instructions with parameters; the last one leaves the block."""

    __slots__ = ("insts", "params")

    params: tuple[Value, ...]
    insts: tuple[Inst, ...]

    def __init__(self, params: tuple[Value, ...], insts: tuple[Inst, ...]):
        _put(self, "params", params)
        _put(self, "insts", insts)

    @property
    def terminator(self) -> Inst:
        """The last instruction: ``return`` or ``yield``."""
        return self.insts[-1]


class Function(_Frozen):
    """A whole function at one level, with the facts its code relies on.

    Parameters
    ----------
    name : str
        The user's function, as a valid identifier.
    level : str
        ``array``, ``host`` or ``loop``.
    body : Block
        Parameters and instructions.
    facts : tuple of (str, Attr)
        What was assumed when lowering, guarded at the call: ``index_bits``.
    """

    __slots__ = ("body", "facts", "level", "name")

    name: str
    level: str
    body: Block
    facts: tuple[tuple[str, Attr], ...]

    def __init__(self, name: str, level: str, body: Block, facts: tuple[tuple[str, Attr], ...] = ()):
        _put(self, "name", name)
        _put(self, "level", level)
        _put(self, "body", body)
        _put(self, "facts", facts)

    @property
    def params(self) -> tuple[Value, ...]:
        """The function's parameters."""
        return self.body.params

    def fact(self, name: str, default: Attr = None) -> Attr:
        """The stated fact, or `default`."""
        return dict(self.facts).get(name, default)


def chain_from(base: Value, value: Value) -> list[Inst]:
    """The instructions from one value to another, each the first argument of the next; none where they are one."""
    chain: list[Inst] = []
    while value is not base:
        assert value.inst is not None
        chain.append(value.inst)
        value = value.inst.args[0]
    return chain[::-1]


def walk(block: Block) -> Iterator[Inst]:
    """Every instruction of the block and of its regions, in order of text."""
    stack = [iter(block.insts)]
    while stack:
        for inst in stack[-1]:
            yield inst
            if inst.regions:
                stack.extend([iter(region.insts) for region in reversed(inst.regions)])
                break
        else:
            stack.pop()


def written_pointers(block: Block) -> set[Value]:
    """The pointers through which a kernel changes memory."""
    return {inst.args[0] for inst in walk(block) if inst.op.name in ("store", "atomic_minimum")}


def attr_key(value: Attr) -> Any:
    """A hashable key that keeps 1, 1.0 and True apart, and 0.0 and -0.0, and each NaN from those of other bits."""
    match value:
        case tuple():
            return tuple(attr_key(v) for v in value)
        case float():
            return ("f", struct.pack("<d", value))
        case complex():
            return ("c", attr_key(value.real), attr_key(value.imag))
        case bool() | int() | str() | None:
            return (type(value).__name__, value)
        case _:
            return value


def substitute_type(type: Type, mapping: Mapping[str, Any]) -> Type:
    """Replace length symbols in an array type."""
    if not mapping or not isinstance(type, ArrayType):
        return type
    shape = tuple(substitute(d, mapping) for d in type.shape)
    return type if shape == type.shape else ArrayType(type.dtype, shape, type.layout)


def substitute_attr(value: Attr, mapping: Mapping[str, Any]) -> Attr:
    """Replace length symbols in an attribute."""
    if isinstance(value, Dim):
        return substitute(value, mapping)
    if isinstance(value, tuple):
        return tuple(substitute_attr(v, mapping) for v in value)
    return value


def named(value: Attr) -> set[str]:
    """The lengths and other numbers in an attribute, by name."""
    if isinstance(value, Dim):
        return set(symbols(value))
    return {name for v in value for name in named(v)} if isinstance(value, tuple) else set()


def make_attrs(attrs: dict[str, Attr]) -> tuple[tuple[str, Attr], ...]:
    """Attributes in the order of their names, so that text does not depend on the writer."""
    return tuple(sorted(attrs.items())) if len(attrs) > 1 else tuple(attrs.items())


def types_of(values: Sequence[Value]) -> tuple[Type, ...]:
    """The types of the values."""
    return tuple([v.type for v in values])
