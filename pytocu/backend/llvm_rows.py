"""Rows of the op table as LLVM IR text: types, constants, and one instruction or a few for each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pytocu.backend.llvm_dialect import (
    HALF_COMPARISONS,
    HALF_FLOATS,
    HALF_INTEGERS,
    HALF_OF_ITSELF,
    Dialect,
    element_type,
    kind_of,
    literal,
    symbol,
)
from pytocu.backend.names import outlined
from pytocu.deferred import Deferred
from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr, Function, Inst, Op, Value, walk, written_pointers
from pytocu.ir.ops import spelled
from pytocu.ir.types import F32, I32, DType, IndexType, PointerType, ScalarType, Type, VectorType, dtype_named, element
from pytocu.lazy import lazy

_guarded = Deferred("pytocu.backend.guards", "declare")
_exact = Deferred("pytocu.backend.divider", "declare")
_divisor = Deferred("pytocu.backend.divider", "divisor")

_FLOAT_PREDICATE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


_SIGNLESS = (
    "add", "subtract", "multiply", "divide", "fma", "sqrt", "near_reciprocal", "near_double_reciprocal", "near_inverse_root",
    "near_logarithm", "exp", "exp2", "expm1", "log", "tanh",
)  # fmt: skip
"""Operations whose results do not tell the sign of a NaN among their operands."""


class RowWriter:
    """Writes the lines of one function: names, types and elementwise rows; `label` is the block that is open."""

    def __init__(self, function: Function, dialect: Dialect, declarations: set[str], name: str = ""):
        self.function = function
        self.name = name or function.name
        self.dialect = dialect
        self.declarations = declarations
        self.index_bits = dialect.index_bits or int(function.fact("index_bits", 64))
        self.lines: list[str] = []
        # Lines of the first block, and what is written behind the last one.
        self.first_block: list[str] = []
        self.last_blocks: list[Callable[[], None]] = []
        # Where branches that leave the function go.
        self.exit = ""
        # What all of them may use, and the innermost loop around the open one.
        self.everywhere = {*function.params, *(r for inst in function.body.insts for r in inst.results)}
        self.around: Inst | None = None
        # Divisions and roots of that loop which are made by multiplication.
        self.spared: frozenset[Inst] = frozenset()
        # Loads of what is stored again where it was, unless something else takes its place.
        self.kept: set[Inst] = set()
        # The instruction that each line is of, where somebody asks for it.
        self.origins: dict[int, Inst] | None = None
        # Indices that are not negative.
        self.natural: set[Value] = set()
        # Addresses of elements by those of others and an index, in the blocks around the open one.
        self.addresses: list[dict[tuple[str, str], str]] = [{}]
        self.label = "entry"
        self.values: dict[Value, str] = {}
        # Values and blocks have names of one kind.
        self.taken: dict[str, int] = {"entry": 1}

    @lazy
    def written(self) -> set[Value]:
        """Pointers through which the function changes memory."""
        return written_pointers(self.function.body)

    @lazy
    def signs_seen(self) -> set[Value]:
        """Values that something else reads than arithmetic, which makes the same NaN of each."""
        return {a for inst in walk(self.function.body) if inst.op.name not in _SIGNLESS for a in inst.args}

    # Names and types.

    def fresh(self, hint: str, mark: str = "%") -> str:
        """A local name nothing else has; dots keep ours apart from the user's."""
        if mark == "%":
            hint = re.sub(r"\W", "_", hint, flags=re.ASCII)
            hint = f"_{hint}" if hint[:1].isdigit() else hint
        count = self.taken.get(hint, 0)
        self.taken[hint] = count + 1
        return f"{mark}{hint}.{count}" if count else f"{mark}{hint}"

    def type(self, type: Type, memory: bool = False) -> str:
        """The type as text, in a register or in memory."""
        match type:
            case ScalarType(dtype):
                return element_type(dtype, memory)
            case VectorType(dtype, lanes):
                return f"<{lanes} x {element_type(dtype, memory)}>"
            case IndexType():
                return f"i{self.index_bits}"
            case PointerType(dtype, space) if space in self.dialect.spaces:
                return self.dialect.pointer.format(type=element_type(dtype, True), space=self.dialect.spaces[space])
            case PointerType():
                raise BackendError(f"{type}: a {self.dialect.device} has no {type.space} memory of a block")
        raise InternalError(f"a value of type {type} at loop level")

    def typed(self, value: Value) -> str:
        """The value with its type, as most instructions write an operand."""
        return f"{self.type(value.type)} {self.values[value]}"

    def constant(self, value: Attr, type: Type) -> str:
        """The constant as an operand."""
        match type:
            case ScalarType(dtype):
                return literal(value, dtype)
            case VectorType(dtype, lanes):
                item = f"{element_type(dtype)} {literal(value, dtype)}"
                return f"<{', '.join([item] * lanes)}>"
            case IndexType():
                return str(int(value))
        raise InternalError(f"a constant of type {type} at loop level")

    # Lines.

    def marked(self, marks: Callable[[Inst], str] | None) -> list[str]:
        """The lines, with what `marks` says of each one's instruction as a comment."""
        if marks is None or self.origins is None:
            return self.lines
        found = self.origins
        return [f"{line}  ; {marks(found[n])}" if n in found else line for n, line in enumerate(self.lines)]

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, text: str, hint: str = "v") -> str:
        """Write ``%name = text`` and return the name."""
        name = self.fresh(hint)
        self.line(f"{name} = {text}")
        return name

    def operands(self, values: Sequence[Value]) -> list[str]:
        return [self.values[value] for value in values]

    # Elementwise rows.

    def elementwise(self, inst: Inst) -> str:
        """Write a row of the op table; its result."""
        op, args, result = inst.op, inst.args, inst.result
        operand = args[1] if op.name == "where" else args[0] if args else None
        if operand is None or not (op.llvm or op.libm):
            raise BackendError(f"{op.name} has no LLVM spelling")
        kind = kind_of(operand.type)
        pointers_chosen = op.name == "where" and kind == "p"
        if not spelled(op, kind) and not pointers_chosen:
            raise BackendError(f"{op.name} of {operand.type} has no LLVM spelling: expand it first")
        flags = "".join(f"{flag} " for flag in inst.attr("fastmath", ()))
        # A result the user gave a name keeps it.
        hint = result.name or "v"
        values = self.operands(args)
        type = self.type(operand.type)
        # Index arithmetic does not overflow, which lets LLVM widen it and count trips.
        wrap = "nsw " if isinstance(operand.type, IndexType) else ""
        pair = f"{type} {', '.join(values)}"
        signed = "s" if kind == "i" else "u"
        match op.llvm.split():
            case [("add" | "sub" | "mul") as verb] if kind == "f":
                text = f"f{verb} {flags}{pair}"
            case ["fdiv"] if inst in self.spared:
                text = self.quotient(inst)
            case ["intrinsic"] if inst in self.spared:
                text = self.exact("sqrt", args[0], values)
            case ["fdiv"]:
                text = f"fdiv {flags}{pair}"
            case [("add" | "sub" | "mul") as verb]:
                text = f"{verb} {wrap}{pair}"
            case [("div" | "rem") as verb] if divisor := self.known_divisor(*args):
                return self.divided(verb, args[0], divisor, hint)
            case [("div" | "rem") as verb]:
                text = f"{signed}{verb} {pair}"
            case [("and" | "or" | "xor" | "shl") as verb]:
                text = f"{verb} {pair}"
            case ["shr"]:
                text = f"{'ashr' if kind == 'i' else 'lshr'} {pair}"
            case ["neg"] if kind == "f":
                plain = "plain_neg" in self.dialect.steps and result not in self.signs_seen
                return self.steps("plain_neg" if plain else "neg", args, flags, hint)
            case ["neg"]:
                text = f"sub {wrap}{type} {self.constant(0, operand.type)}, {values[0]}"
            case ["not"]:
                text = f"xor {pair}, {self.constant(kind == 'b' or -1, operand.type)}"
            case ["cmp", "ne" | "eq" | "le" | "ge" as predicate] if kind == "f" and args[0] is args[1]:
                # libNVVM takes a constant that is NaN and that it did not compute, as of 0.0 / 0.0, to be equal to itself.
                row = "uno" if predicate == "ne" else "ord"
                text = f"fcmp {flags}{row} {type} {values[0]}, {self.constant(0.0, operand.type)}"
            case ["cmp", predicate] if kind == "f":
                text = f"fcmp {flags}{_FLOAT_PREDICATE[predicate]} {pair}"
            case ["cmp", predicate]:
                text = f"icmp {'' if predicate in ('eq', 'ne') else signed}{predicate} {pair}"
            case ["select"]:
                again = chosen_again(inst) if kind == "f" and self.dialect.fence else None
                hidden = "" if again is None else f"{type} {self.fenced(again)}"
                operands = ", ".join(hidden if hidden and a is again else self.typed(a) for a in args)
                text = self.dialect.select.format(flags=flags if kind == "f" else "", operands=operands)
            case ["bitcast"]:
                # Signed and unsigned integers are one type.
                if self.type(result.type) == type:
                    return values[0]
                text = f"bitcast {type} {values[0]} to {self.type(result.type)}"
            case ["hidden_single" | "hidden_double"] if self.dialect.fence:
                return self.fenced(args[0])
            case [name] if name in self.dialect.half:
                return self.half(name, args, hint)
            case ["convert"]:
                return self.convert(args[0], result.type, hint)
            case ["intrinsic"] if op.libm in self.dialect.steps:
                return self.steps(op.libm, args, flags, hint)
            case ["intrinsic"] if op.libm not in self.dialect.own:
                text = self.intrinsic(inst, flags)
            case ["guarded"] if self.dialect.guarded and isinstance(result.type, ScalarType):
                lines, name, attributes = _guarded(op.libm, result.type.dtype)
                self.declarations.update(lines)
                text = f"call {type} @{name}({', '.join(f'{type} {v}' for v in values)}) {attributes}"
            case [] | ["intrinsic"] | ["guarded"] | ["outlined"]:
                return self.library(inst, flags, hint)
            case _:
                raise InternalError(f"{op.name}: the LLVM spelling {op.llvm!r} is unknown")
        return self.assign(text, hint)

    def known_divisor(self, x: Value, divisor: Value) -> int:
        """A constant from 2 on, where what divides another number by it is written without a division; else 0."""
        made = divisor.inst
        if not self.dialect.as_written or made is None or made.op.name != "const":
            return 0
        if isinstance(divisor.type, VectorType) or self.bits(divisor.type) < 32:
            return 0
        number = made.attr("value")
        known = x.inst is not None and x.inst.op.name == "const"
        return number if isinstance(number, int) and number > 1 and not known else 0

    def divided(self, verb: str, x: Value, divisor: int, hint: str) -> str:
        """What dividing by a constant gives or leaves, towards zero.

        By a power of two with shifts, where to negative numbers the divisor less one is added first; by others with the upper
        half of a product, see :func:`reciprocal`.
        """
        type, name, bits = self.type(x.type), self.values[x], self.bits(x.type)
        unsigned = kind_of(x.type) == "u"
        natural = unsigned or self.is_natural(x)
        if not divisor & (divisor - 1):
            shift = divisor.bit_length() - 1
            if natural:
                text = f"lshr {type} {name}, {shift}" if verb == "div" else f"and {type} {name}, {divisor - 1}"
                return self.assign(text, hint)
            sign = self.assign(f"ashr {type} {name}, {bits - 1}", "sign")
            added = self.assign(f"lshr {type} {sign}, {bits - shift}", "added")
            total = self.assign(f"add {type} {name}, {added}", "total")
            if verb == "div":
                return self.assign(f"ashr {type} {total}, {shift}", hint)
            whole = self.assign(f"and {type} {total}, {-divisor}", "whole")
            return self.assign(f"sub {type} {name}, {whole}", hint)
        factor, shift = reciprocal(divisor, bits if unsigned else bits - 1)
        quotient = self.upper_half(type, name, factor, natural)
        if unsigned and factor >> bits:
            # The highest bit of the factor is a multiplication by one, whose sum may have a bit too many.
            rest = self.assign(f"sub {type} {name}, {quotient}", "rest")
            half = self.assign(f"lshr {type} {rest}, 1", "half")
            quotient, shift = self.assign(f"add {type} {half}, {quotient}", "total"), shift - 1
        elif not natural and factor >> (bits - 1):
            # The factor was taken for a negative number.
            quotient = self.assign(f"add {type} {quotient}, {name}", "total")
        if shift:
            quotient = self.assign(f"{'l' if natural else 'a'}shr {type} {quotient}, {shift}", "quotient")
        if not natural:
            sign = self.assign(f"lshr {type} {name}, {bits - 1}", "sign")
            quotient = self.assign(f"add {type} {quotient}, {sign}", "quotient")
        if verb == "div":
            return quotient
        product = self.assign(f"mul {type} {quotient}, {divisor}", "product")
        return self.assign(f"sub {type} {name}, {product}", hint)

    def is_natural(self, value: Value) -> bool:
        """Whether an index is known not to be negative: of a loop over the grid, of a lane, a constant, and what these make."""
        if value in self.natural:
            return True
        inst = value.inst
        if inst is None or not isinstance(value.type, IndexType):
            return False
        if inst.op.name == "const":
            return int(inst.attr("value")) >= 0
        return inst.op.name in ("add", "divide_truncated", "remainder_truncated") and all(map(self.is_natural, inst.args))

    def upper_half(self, type: str, name: str, factor: int, unsigned: bool) -> str:
        """The upper half of the product with a constant, of which the bits count."""
        long = {"i32": "", "i64": "l"}[type]
        function = f"llvm.nvvm.mulhi.{'u' if unsigned else ''}{'ll' if long else 'i'}"
        self.declarations.add(f"declare {type} @{function}({type}, {type})")
        bits = int(type[1:])
        factor = (factor + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
        return self.assign(f"call {type} @{function}({type} {name}, {type} {factor})", "upper")

    def quotient(self, inst: Inst) -> str:
        """A call that divides by multiplication: with the inverse of the divisor, which LLVM computes in front of the loop."""
        divisor = inst.args[1]
        lines, names = _divisor(element(divisor.type), self.values[divisor])
        made: list[str] = []
        for line in lines:
            made.append(self.assign(line.format(*made), "divisor"))
        return self.exact("divide", divisor, [*self.operands(inst.args), *(name.format(*made) for name in names)])

    def exact(self, function: str, operand: Value, values: Sequence[str]) -> str:
        """A call of a function that has the bits of an instruction."""
        type, dtype = self.type(operand.type), element(operand.type)
        lines, name, attributes = _exact(function, dtype)
        self.declarations.update(lines)
        return f"call {type} @{name}({', '.join(f'{type} {v}' for v in values)}) {attributes}"

    def steps(self, name: str, args: Sequence[Value], flags: str, hint: str) -> str:
        """An operation on floats that this dialect writes as several instructions."""
        match args[0].type:
            case ScalarType(dtype):
                same_size: Type = ScalarType(dtype_named(f"i{dtype.bits}"))
            case VectorType(dtype, lanes):
                same_size = VectorType(dtype_named(f"i{dtype.bits}"), lanes)
            case _:
                raise InternalError(f"{name} of a value of type {args[0].type}")
        smallest = -(1 << (dtype.bits - 1))
        fields = {
            "type": self.type(args[0].type),
            "flags": flags,
            "bits": self.type(same_size),
            "sign": self.constant(smallest, same_size),
            "rest": self.constant(-1 - smallest, same_size),
            "zero": self.constant(-0.0, args[0].type),
            **dict(zip("xy", self.operands(args), strict=False)),
        }
        made: list[str] = []
        for step in self.dialect.steps[name]:
            made.append(self.assign(step.format(*made, **fields), hint))
        return made[-1]

    def half(self, name: str, args: Sequence[Value], hint: str) -> str:
        """What has to do with the bits of float16 numbers, as this dialect writes it."""
        x = args[0]

        def lanes(scalar: str) -> str:
            return f"<{x.type.lanes} x {scalar}>" if isinstance(x.type, VectorType) else scalar

        wide: Type = VectorType(I32, x.type.lanes) if isinstance(x.type, VectorType) else ScalarType(I32)
        single: Type = VectorType(F32, x.type.lanes) if isinstance(x.type, VectorType) else ScalarType(F32)
        floats = {name: name for name in ("half", "float", "double")}
        words = {"truth": "i1", "bits": "i16", "wide": "i32", "long": "i64", **floats}
        fields = {key: lanes(word) for key, word in words.items()}
        fields |= {key: self.constant(value, wide) for key, value in HALF_INTEGERS.items()}
        fields |= {key: self.constant(value, single) for key, value in HALF_FLOATS.items()}
        fields |= dict(zip("xy", self.operands(args), strict=False))
        made: list[str] = []
        of_itself = HALF_OF_ITSELF if args[0] is args[-1] and name in HALF_COMPARISONS else {}
        for step in of_itself.get(name, self.dialect.half[name]):
            made.append(self.assign(step.format(*made, **fields), hint))
        return made[-1]

    def convert(self, x: Value, target: Type, hint: str) -> str:
        """A C conversion of a value in range."""
        source_kind, target_kind = kind_of(x.type), kind_of(target)
        source_bits, target_bits = self.bits(x.type), self.bits(target)
        signed = source_kind == "i"
        match source_kind == "f", target_kind == "f":
            case _ if target_kind == "b" and source_kind != "b":
                raise InternalError("a conversion to bool is a comparison with zero")
            case True, True:
                verb = "fpext" if target_bits > source_bits else "fptrunc"
            case True, False:
                verb = "fptosi" if target_kind == "i" else "fptoui"
                made = x.inst
                if self.dialect.masks and made is not None and _is_or_zero(made):
                    # What is not chosen may be out of range, of which LLVM says nothing.
                    condition, inside, _ = made.args
                    number = self.assign(f"{verb} {self.typed(inside)} to {self.type(target)}", hint)
                    operands = f"{self.typed(condition)}, {self.type(target)} {number}"
                    return self.assign(f"select {operands}, {self.type(target)} {self.constant(0, target)}", hint)
            case False, True:
                verb = "sitofp" if signed else "uitofp"
            case _ if target_bits < source_bits:
                verb = "trunc"
            case _:
                verb = "sext" if signed else "zext"
        if source_bits == target_bits and (source_kind == "f") == (target_kind == "f"):
            return self.values[x]
        return self.assign(f"{verb} {self.typed(x)} to {self.type(target)}", hint)

    def bits(self, type: Type) -> int:
        """The size in a register."""
        match type:
            case ScalarType(dtype) | VectorType(dtype):
                return 1 if dtype.kind == "b" else dtype.bits
        return self.index_bits

    def intrinsic(self, inst: Inst, flags: str) -> str:
        """A call of a function LLVM knows itself."""
        suffix = ""
        match inst.result.type:
            case ScalarType(dtype):
                suffix = dtype.name
            case VectorType(dtype, lanes):
                suffix = f"v{lanes}{dtype.name}"
        name = symbol(self.dialect.intrinsic.format(name=inst.op.libm, suffix=suffix))
        type = self.type(inst.result.type)
        self.declarations.add(f"declare {type} {name}({', '.join(self.type(a.type) for a in inst.args)})")
        return f"call {flags}{type} {name}({', '.join(map(self.typed, inst.args))})"

    def fenced(self, value: Value) -> str:
        """The value, of which nothing is known any more."""
        type, dtype = self.type(value.type), element(value.type)
        suffix = f"v{value.type.lanes}{dtype.name}" if isinstance(value.type, VectorType) else dtype.name
        name = f"@{self.dialect.fence}.{suffix}"
        self.declarations.add(f"declare {type} {name}({type})")
        return self.assign(f"call {type} {name}({self.typed(value)})", "fenced")

    def library(self, inst: Inst, flags: str, hint: str) -> str:
        """A function of the C math library, called once a lane."""
        match inst.result.type:
            case ScalarType(dtype):
                return self.library_call(inst.op, dtype, flags, self.operands(inst.args), hint)
            case VectorType(dtype, lanes):
                total = "undef"
                vector = self.type(inst.result.type)
                for lane in range(lanes):
                    items = [self.assign(f"extractelement {self.typed(a)}, i32 {lane}", "lane") for a in inst.args]
                    item = self.library_call(inst.op, dtype, flags, items, "lane")
                    item = f"{element_type(dtype)} {item}"
                    total = self.assign(f"insertelement {vector} {total}, {item}, i32 {lane}", hint)
                return total
        raise InternalError(f"{inst.op.name} of type {inst.result.type}")

    def library_call(self, op: Op, dtype: DType, flags: str, values: Sequence[str], hint: str) -> str:
        single = dtype.bits == 32
        own = self.dialect.own.get(op.libm)
        if own:
            name = symbol(own.format(letter="f" if single else "d"))
        else:
            name = symbol(self.dialect.library.format(name=op.libm + ("f" if single else "")))
        type = element_type(dtype)
        self.declarations.add(f"declare {type} {name}({', '.join([type] * len(values))})")
        if op.llvm == "outlined" and self.dialect.outlined:
            once = symbol(outlined(op, dtype))
            body = f"  %made = call {type} {name}({type} %x)\n  ret {type} %made"
            self.declarations.add(f"define internal {type} {once}({type} %x) {self.dialect.outlined} {{\n{body}\n}}")
            name = once
        attributes = f" {self.dialect.call}" if self.dialect.call else ""
        return self.assign(f"call {flags}{type} {name}({', '.join(f'{type} {v}' for v in values)}){attributes}", hint)


def chosen_again(inst: Inst) -> Value | None:
    """The operand of a minimum or maximum, written as a selection, that is one itself and shares the other operand.

    LLVM takes the inner one for both, also where a NaN makes them differ.
    """
    if not _is_extreme(inst):
        return None
    _, *both = inst.args
    for inner, other in (both, both[::-1]):
        if inner.inst is not None and _is_extreme(inner.inst) and any(_same(a, other) for a in inner.inst.args[1:]):
            return inner
    return None


def _is_or_zero(inst: Inst) -> bool:
    """Whether an instruction selects a number or 0."""
    if inst.op.name != "where" or inst.args[2].inst is None or inst.args[2].inst.op.name != "const":
        return False
    return inst.args[2].inst.attr("value") == 0


def _is_extreme(inst: Inst) -> bool:
    """Whether an instruction selects one of two operands by a comparison of them."""
    test = inst.args[0].inst if inst.op.name == "where" else None
    if test is None or not test.op.llvm.startswith("cmp "):
        return False
    return all(any(_same(a, b) for b in test.args) for a in inst.args[1:])


def _same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    if a.inst is None or b.inst is None or not a.inst.op.name == b.inst.op.name == "const":
        return False
    return a.inst.attr("value") == b.inst.attr("value")


def reciprocal(divisor: int, bits: int) -> tuple[int, int]:
    """A factor and a shift with which ``n * factor >> (width + shift)`` is ``n // divisor`` for natural numbers of some bits.

    Parameters
    ----------
    divisor : int
        From 3 on, no power of two.
    bits : int
        Of the largest number: 31 of int32, 32 of uint32.

    Returns
    -------
    tuple of int
        The smallest shift whose factor serves, where the width is 32 or, of more than 32 bits, 64; the factor may have a bit
        more than the numbers.  From Granlund and Montgomery, "Division by invariant integers using multiplication" (1994),
        theorem 4.2.

    Examples
    --------
    >>> factor, shift = reciprocal(7, 31)
    >>> all(n * factor >> (32 + shift) == n // 7 for n in (0, 6, 7, 2**31 - 1))
    True
    """
    width = 64 if bits > 32 else 32
    for shift in range(divisor.bit_length() + 1):
        factor = (1 << (width + shift)) // divisor + 1
        # It is too large by less than one part in 2**bits.
        if (factor * divisor - (1 << (width + shift))) << bits <= 1 << (width + shift):
            return factor, shift
    raise AssertionError(f"no factor for {divisor}")
