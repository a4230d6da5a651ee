"""float16 and complex numbers become what every backend has code for.

In: loops whose values may be float16 or complex.  Out: the same loops, where a float16 is its
sixteen bits (arithmetic goes through float32 and back, rounded once an operation, where a GPU has
no instruction) and a complex number is a pair of floats, which lie next to each other in memory.
What an operation means on these is in its row: ``half``, ``gpu_half`` and ``complex`` of the op table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.errors import InternalError
from pytocu.ir import expand_complex, expand_half
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.expander import Expander
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F16, F32, INDEX, U32, U64, DType, PointerType, ScalarType, Type, VectorType, element, scalar
from pytocu.passes.context import PassContext

UNSIGNED = frozenset({
    "add", "subtract", "multiply", "divide", "sqrt", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
})  # fmt: skip
"""Rows whose result on a GPU does not depend on the sign of a NaN among the operands."""

Words = tuple[Value, ...]
"""What stands for a value: itself, the bits of a float16, or real and imaginary part."""


def run(function: Function, context: PassContext) -> Function:
    """Lower every launch that holds a float16 or a complex number."""

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch" or not _concerned(inst.regions[0]):
            return None
        _launch(builder, inst, args, context.target.kind == "cuda")
        return ()

    return rewrite(function, rule)


def dtype_of_value(type: Type) -> DType | None:
    """The dtype of a scalar; None for indices and pointers."""
    return type.dtype if isinstance(type, ScalarType) else None


def needs_lowering(type: Type) -> bool:
    """Whether backends have no code for values of the type."""
    return isinstance(type, ScalarType | PointerType | VectorType) and element(type).word is not element(type)


def _concerned(block: Block) -> bool:
    params = [p.type for p in block.params]
    return any(map(needs_lowering, [*params, *(t for inst in walk(block) for t in inst.types)]))


def _launch(host: Builder, inst: Inst, args: Sequence[Value], gpu: bool) -> None:
    """The launch with a lowered region; scalars are taken apart on the host."""
    (region,) = inst.regions
    work = _Lowering(gpu)
    params: list[Value] = []
    given: list[Value] = []
    for param, argument in zip(region.params, args, strict=True):
        match param.type:
            case PointerType(dtype, space) if dtype.word is not dtype:
                words: Words = (Value(PointerType(dtype.word, space), param.name),)
                given.append(argument)
            case ScalarType(dtype) if dtype.word is not dtype:
                words = tuple(Value(scalar(dtype.word), _word_name(param.name, dtype, k)) for k in range(dtype.words))
                which = ("real", "imag") if dtype.kind == "c" else ("bits",)
                given.extend(host.emit("part", (argument,), {"which": w}, (scalar(dtype.word),)) for w in which)
            case _:
                words = (param,)
                given.append(argument)
        params.extend(words)
        work.values[param] = words
    work.block(region)
    block = Block(tuple(params), work.builder.take())
    host.inst("launch", given, dict(inst.attrs), (), (block,))


def _word_name(name: str, dtype: DType, number: int) -> str:
    if not name:
        return ""
    return f"{name}_bits" if dtype is F16 else f"{name}_{('real', 'imag')[number]}"


class _Lowering:
    """Writes one kernel again; `values` holds the words of every value met so far.

    `unsigned` has the number of a widened float16 without the sign that it has as a NaN, which
    arithmetic on a GPU does not look at.
    """

    def __init__(self, gpu: bool) -> None:
        self.gpu = gpu
        self.builder = Builder()
        self.values: dict[Value, Words] = {}
        self.unsigned: dict[Value, Value] = {}

    def block(self, block: Block) -> None:
        for inst in block.insts:
            self.builder.loc = inst.loc
            made = self.inst(inst)
            for result, words in zip(inst.results, made, strict=True):
                self.values[result] = words
                self.name(result, words)

    def name(self, result: Value, words: Words) -> None:
        """The user's name goes on to what stands for the value, unless that has one of its own."""
        dtype = dtype_of_value(result.type)
        for number, word in enumerate(words):
            if result.name and not word.name and word.inst is not None and word.inst.op.name != "load":
                lowered = dtype is not None and dtype.word is not dtype
                word.name = _word_name(result.name, dtype, number) if lowered and dtype else result.name

    def words(self, args: Sequence[Value]) -> list[Value]:
        """The words of several values in a row."""
        return [word for arg in args for word in self.values.get(arg, (arg,))]

    def inst(self, inst: Inst) -> Sequence[Words]:
        """Write an instruction; the words of its results."""
        types = [*inst.types, *(a.type for a in inst.args)]
        if inst.regions:
            return self.control(inst)
        match inst.op.name:
            case "yield" | "return":
                self.builder.inst(inst.op, self.words(inst.args), dict(inst.attrs), inst.types)
                return ()
        if not any(map(needs_lowering, types)):
            return [(r,) for r in self.same(inst).results]
        match inst.op.name:
            case "const":
                return [self.const(inst)]
            case "load":
                return [self.load(inst)]
            case "store":
                self.store(inst)
                return ()
            case "prefetch":
                pointer, place = inst.args
                at = self.offsets(element(pointer.type), place)[0]
                self.builder.emit("prefetch", (*self.values[pointer], at), dict(inst.attrs))
                return ()
            case "shuffle_xor":
                words = self.values[inst.args[0]]
                return [tuple(self.builder.emit("shuffle_xor", (w,), dict(inst.attrs)) for w in words)]
            case "transposed":
                return [(r,) for r in self.builder.inst("transposed", self.words(inst.args)).results]
            case "aligned":
                return [(r,) for r in self.same(inst).results]
            case "shared" | "local" as space:
                dtype = element(inst.types[0])
                attrs = {"size": inst.attr("size") * dtype.words}
                return [(self.builder.emit(space, (), attrs, (PointerType(dtype.word, space),)),)]
        if inst.op.kind != "elementwise" and inst.op.name != "part":
            raise InternalError(f"{inst.op.name} of {types[-1]} is not lowered")
        return [self.elementwise(inst)]

    def same(self, inst: Inst) -> Inst:
        """The instruction, on the new arguments where those changed."""
        args = tuple(self.words(inst.args))
        if inst.op.name in UNSIGNED:
            args = tuple(self.unsigned.get(a, a) for a in args)
        if args == inst.args:
            self.builder.insts.append(inst)
            return inst
        return self.builder.inst(inst.op, args, dict(inst.attrs), inst.types)

    # Structure.

    def control(self, inst: Inst) -> Sequence[Words]:
        """A loop or a branch that carries words."""
        regions: list[Block] = []
        for region in inst.regions:
            params = [self.parameters(p) for p in region.params]
            with self.builder.nested() as insts:
                self.block(region)
            regions.append(Block(tuple(word for words in params for word in words), tuple(insts)))
        self.builder.loc = inst.loc
        types = [t for result in inst.types for t in _word_types(result)]
        attrs = dict(inst.attrs)
        if "reach" in attrs:
            vectors = [a.type for a in inst.args if isinstance(a.type, VectorType)]
            words = [element(type).words if needs_lowering(type) else 1 for type in vectors]
            attrs["reach"] = tuple(tuple(n * count for n in r) for r, count in zip(attrs["reach"], words, strict=True))
        made = self.builder.inst(inst.op, self.words(inst.args), attrs, types, regions)
        out: list[Words] = []
        place = 0
        for result in inst.types:
            count = len(_word_types(result))
            out.append(made.results[place : place + count])
            place += count
        return out

    def parameters(self, param: Value) -> Words:
        dtype = dtype_of_value(param.type)
        if dtype is None or dtype.word is dtype:
            self.values[param] = (param,)
        else:
            types = _word_types(param.type)
            self.values[param] = tuple(Value(t, _word_name(param.name, dtype, k)) for k, t in enumerate(types))
        return self.values[param]

    # Memory.

    def const(self, inst: Inst) -> Words:
        dtype, value = element(inst.types[0]), inst.attr("value")
        if dtype is F16:
            return (self.builder.const(expand_half.bits_of(value), scalar(dtype.word)),)
        return tuple(self.builder.const(part, scalar(dtype.word)) for part in (value.real, value.imag))

    def offsets(self, dtype: DType, index: Value) -> Words:
        """Where the words of an element lie."""
        (at,) = self.values.get(index, (index,))
        if dtype.words == 1:
            return (at,)
        first = self.builder.emit("multiply", (at, self.builder.const(2, INDEX)))
        return first, self.builder.emit("add", (first, self.builder.const(1, INDEX)))

    def load(self, inst: Inst) -> Words:
        ((pointer,), index) = self.values[inst.args[0]], inst.args[1]
        if isinstance(inst.types[0], VectorType):
            dtype = element(inst.types[0])
            at = self.offsets(dtype, index)[0]
            attrs = {"lanes": inst.attr("lanes"), "width": inst.attr("width"), "step": inst.attr("step")}
            attrs = {name: number * dtype.words for name, number in attrs.items() if number is not None}
            attrs["align"] = inst.attr("align")
            groups = self.groups(dtype, inst.args[2:])
            return (self.builder.emit("load", (pointer, at, *groups), attrs, name=inst.result.name),)
        return tuple(self.builder.emit("load", (pointer, at)) for at in self.offsets(element(inst.types[0]), index))

    def store(self, inst: Inst) -> None:
        ((pointer,), index, value) = self.values[inst.args[0]], inst.args[1], inst.args[2]
        if isinstance(value.type, VectorType):
            dtype = element(value.type)
            at = self.offsets(dtype, index)[0]
            attrs = dict(inst.attrs)
            attrs |= {name: attrs[name] * dtype.words for name in ("width", "step") if name in attrs}
            groups = self.groups(dtype, inst.args[3:])
            self.builder.emit("store", (pointer, at, *self.values[value], *groups), attrs)
            return
        for at, word in zip(self.offsets(element(value.type), index), self.values[value], strict=True):
            self.builder.emit("store", (pointer, at, word))

    def groups(self, dtype: DType, args: Sequence[Value]) -> Words:
        """The operands that say which groups of elements there are, in words."""
        if not args:
            return ()
        room, *fit = self.words(args)
        return self.offsets(dtype, room)[0], *fit

    # Element operations.

    def elementwise(self, inst: Inst) -> Words:
        e = Expander(self.builder)
        given = [self.values.get(a, (a,)) for a in inst.args]
        dtypes = [dtype_of_value(a.type) for a in inst.args]
        match inst.op.name:
            case "where":
                (condition,), yes, no = given
                return tuple(e.where(condition, a, b) for a, b in zip(yes, no, strict=True))
            case "copy" | "as_array" | "positive":
                return given[0]
            case "compose":
                return given[0][0], given[1][0]
            case "part":
                return (given[0][inst.attr("which") == "imag"],)
            case "bitcast":
                return bitcast(e, given[0], element(inst.types[0]))
            case "cast":
                return self.cast(e, dtypes[0], given[0], element(inst.types[0]))
        if any(d is not None and d.kind == "c" for d in dtypes):
            if inst.op.complex is None:
                raise InternalError(f"{inst.op.name} has no formula for complex numbers")
            made = inst.op.complex(e, *(words if len(words) == 2 else words[0] for words in given))
            return made if isinstance(made, tuple) else (made,)
        formula = inst.op.half
        if self.gpu and inst.op.gpu_half is not None and all(d is F16 for d in dtypes):
            formula = inst.op.gpu_half
        if formula is not None:
            return (formula(e, *(words[0] for words in given)),)
        wide = [expand_half.widen(e, w[0]) if d is F16 else w[0] for w, d in zip(given, dtypes, strict=True)]
        made = self.builder.emit(inst.op, wide, dict(inst.attrs))
        return (expand_half.narrow(e, made) if dtype_of_value(inst.types[0]) is F16 else made,)


    def cast(self, e: Expander, source: DType | None, words: Words, target: DType) -> Words:
        """``astype``; the sign of a NaN, which a GPU's instruction forgets, is written beside it."""
        if not self.gpu or source is not F16 or target.kind not in "fc":
            return cast(e, source, tuple(self.unsigned.get(w, w) for w in words), target)
        number = expand_half.widen(e, words[0])
        signed = expand_half.with_sign(e, number, words[0])
        self.unsigned[signed] = number
        return cast(e, F32, (signed,), target)


def _word_types(type: Type) -> tuple[Type, ...]:
    if not needs_lowering(type):
        return (type,)
    dtype = element(type)
    if isinstance(type, VectorType):
        return (VectorType(dtype.word, type.lanes * dtype.words),)
    return (scalar(dtype.word),) * dtype.words


def bitcast(e: Expander, words: Words, target: DType) -> Words:
    """The same bits: a complex64 is two halves of what has 64 bits."""
    if len(words) == 2:
        low, high = (e.cast(e.bitcast(word, U32), U64) for word in words)
        whole = e("bitwise_or", low, e("shift_left_raw", high, e.const(32, high)))
        return (e.bitcast(whole, target),)
    if target.kind == "c":
        whole = e.bitcast(words[0], U64)
        high = e("shift_right_raw", whole, e.const(32, whole))
        low = e("bitwise_and", whole, e.const(0xFFFFFFFF, whole))
        return tuple(e.bitcast(e.cast(half, U32), target.word) for half in (low, high))
    return (e.bitcast(words[0], target.word),)


def cast(e: Expander, source: DType | None, words: Words, target: DType) -> Words:
    """``astype`` to or from a float16 or a complex number."""
    if source is None:
        raise InternalError("an index is not cast to float16 or to a complex number")
    if source is target:
        return words
    first: Any = words[0]
    if source.kind == "c":
        if target.kind == "c":
            return tuple(e.cast(word, target.word) for word in words)
        # NumPy drops the imaginary part, but for the truth of a number.
        if target.kind == "b":
            return (expand_complex.nonzero(e, words),)
        return cast(e, source.word, (first,), target)
    if target.kind == "c":
        (real,) = cast(e, source, words, target.word)
        return real, e.const(0.0, real)
    if source is F16:
        return (expand_half.to_dtype(e, first, target),)
    if target is F16:
        return (expand_half.from_dtype(e, first),)
    return (e.builder.emit("cast", (first,), {}, (scalar(target),)),)
