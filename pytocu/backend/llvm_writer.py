"""Instructions of loop-level functions as LLVM IR text: structured regions become blocks and phis.

In: rows that are all primitives.  Out: the lines of one function's body, in any dialect; the
functions around them are written by :mod:`pytocu.backend.llvm` and :mod:`pytocu.backend.nvvm`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytocu.backend import guards
from pytocu.backend.llvm_dialect import HALF_FLOATS, HALF_INTEGERS, Dialect, element_type, kind_of, literal, symbol
from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr, Block, Function, Inst, Value
from pytocu.ir.ops import GRID_AXES, spelled
from pytocu.ir.types import F32, I32, DType, IndexType, PointerType, ScalarType, Type, VectorType, dtype_named
from pytocu.record import Record

_FLOAT_PREDICATE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_ELSEWHERE = {
    "shared": "shared memory",
    "local": "memory of one thread",
    "barrier": "barriers",
    "thread_index": "thread numbers",
    "block_index": "block numbers",
    "block_count": "blocks",
    "shuffle_xor": "warps",
}
_PLACES = {"thread_index": "tid.x", "block_index": "ctaid.x", "block_count": "nctaid.x"}


class _Phis(Record):
    """Lines kept free at the head of a loop, from `place` on, for these types and names."""

    place: int
    rows: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.rows]


class Writer:
    """Writes the basic blocks of one function; `label` is the block that is open."""

    def __init__(self, function: Function, dialect: Dialect, declarations: set[str], name: str = ""):
        self.function = function
        self.name = name or function.name
        self.dialect = dialect
        self.declarations = declarations
        self.index_bits = int(function.fact("index_bits", 64))
        self.lines: list[str] = []
        self.label = "entry"
        self.values: dict[Value, str] = {}
        # Values and blocks have names of one kind.
        self.taken: dict[str, int] = {"entry": 1}

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
            case PointerType(dtype, "global"):
                return self.dialect.pointer.format(type=element_type(dtype, True), space="")
            case PointerType(dtype, "local") if not self.dialect.shared:
                return self.dialect.pointer.format(type=element_type(dtype, True), space="")
            case PointerType(dtype, "shared") if self.dialect.shared:
                return self.dialect.pointer.format(type=element_type(dtype, True), space=self.dialect.shared)
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

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, text: str, hint: str = "v") -> str:
        """Write ``%name = text`` and return the name."""
        name = self.fresh(hint)
        self.line(f"{name} = {text}")
        return name

    def open(self, label: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def reserve(self, rows: Sequence[tuple[str, str]]) -> _Phis:
        """Name carried values (type and hint) and keep lines free: what comes back is not known yet."""
        place = len(self.lines)
        self.lines.extend([""] * len(rows))
        return _Phis(place, tuple((type, self.fresh(hint)) for type, hint in rows))

    def fill(self, phis: _Phis, first: Sequence[str], before: str, following: Sequence[str]) -> None:
        """Write the phis of the loop whose last block is open."""
        for offset, ((type, name), start, back) in enumerate(zip(phis.rows, first, following, strict=True)):
            sources = f"[ {start}, %{before} ], [ {back}, %{self.label} ]"
            self.lines[phis.place + offset] = f"  {name} = phi {type} {sources}"

    def carried(self, values: Sequence[Value]) -> list[tuple[str, str]]:
        return [(self.type(value.type), value.name or "v") for value in values]

    # Structure.

    def block(self, block: Block) -> tuple[Value, ...]:
        """Write the instructions of a block; the values its terminator hands on."""
        for inst in block.insts[:-1]:
            self.inst(inst)
        if block.terminator.op.name != "yield":
            raise BackendError(f"{block.terminator.op.name} inside a loop or branch: carry a flag instead")
        return block.terminator.args

    def operands(self, values: Sequence[Value]) -> list[str]:
        return [self.values[value] for value in values]

    def bind(self, values: Sequence[Value], names: Sequence[str]) -> None:
        self.values.update(zip(values, names, strict=True))

    def inst(self, inst: Inst) -> None:
        """Write one instruction."""
        match inst.op.name:
            case "const":
                self.values[inst.result] = self.constant(inst.attr("value"), inst.result.type)
            case "load":
                self.load(inst)
            case "store":
                self.store(inst)
            case "atomic_minimum":
                pointer, index, value = inst.args
                fields = self.address(pointer, index)
                self.line(f"atomicrmw min {fields['pointer']} {fields['address']}, {self.typed(value)} monotonic")
            case "for":
                self.loop(inst)
            case "if":
                self.branch(inst)
            case "while":
                self.repeat(inst)
            case "shared" if self.dialect.shared:
                self.values[inst.result] = self.tile(inst)
            case "local" if not self.dialect.shared:
                self.values[inst.result] = self.local(inst)
            case "barrier" if self.dialect.barrier:
                self.declarations.add(f"declare void @{self.dialect.barrier}()")
                self.line(f"call void @{self.dialect.barrier}()")
            case "shuffle_xor" if self.dialect.shuffle:
                self.values[inst.result] = self.shuffle(inst)
            case "thread_index" | "block_index" | "block_count" as name if self.dialect.register:
                self.values[inst.result] = self.place(_PLACES[name], inst.result.name)
            case name if name in _ELSEWHERE:
                raise BackendError(f"{name}: a CPU has no {_ELSEWHERE[name]}; use the form of the kernel for the CPU")
            case _:
                self.values[inst.result] = self.elementwise(inst)

    def loop(self, inst: Inst) -> None:
        lower, upper, step, *carried = inst.args
        (region,) = inst.regions
        index, *params = region.params
        width = f"i{self.index_bits}"
        over = inst.attr("over", "serial")
        if over not in (*self.dialect.spread, "serial"):
            device, spread = self.dialect.device, ", ".join(f'"{s}"' for s in self.dialect.spread)
            raise BackendError(f'a loop over "{over}" has no {device} form: use {spread} or "serial"')
        if over == "parallel":
            if carried:
                raise InternalError("a parallel loop carries values from one iteration to the next")
            first, last, one = self.bound("begin"), self.bound("end"), "1"
            self.assume_natural(first)
        elif over in GRID_AXES:
            first, one = self.grid(self.values[lower], self.values[step], GRID_AXES[over])
            last = self.values[upper]
        else:
            first, last, one = self.values[lower], self.values[upper], self.values[step]
        before, head = self.label, self.fresh("loop", "")
        body, done = self.fresh("body", ""), self.fresh("done", "")
        self.line(f"br label %{head}")
        self.open(head)
        hint = "iteration" if over == "parallel" else index.name or "i"
        phis = self.reserve([(width, hint), *self.carried(params)])
        counter, *names = phis.names
        self.bind(params, names)
        more = self.assign(f"icmp slt {width} {counter}, {last}", "more")
        self.line(f"br i1 {more}, label %{body}, label %{done}")
        self.open(body)
        if over == "parallel":
            scaled = self.assign(f"mul nsw {width} {counter}, {self.values[step]}", "scaled")
            here = self.assign(f"add nsw {width} {self.values[lower]}, {scaled}", index.name or "i")
            self.bind([index], [here])
        else:
            self.bind([index], [counter])
            if over in GRID_AXES and self.values[lower] == "0" and self.values[step].isdigit():
                self.assume_natural(counter)
        following = self.operands(self.block(region))
        # Most threads run a loop over the grid once; a loop that LLVM can count it would unroll,
        # with a division before it.
        wrap = "" if over in GRID_AXES else "nsw "
        onward = self.assign(f"add {wrap}{width} {counter}, {one}", "next")
        self.fill(phis, [first, *self.operands(carried)], before, [onward, *following])
        self.line(f"br label %{head}")
        self.open(done)
        self.bind(inst.results, names)

    def assume_natural(self, index: str) -> None:
        """State that an index is not negative: it divides by a shift or an unsigned multiplication."""
        known = self.assign(f"icmp sge i{self.index_bits} {index}, 0", "known")
        self.declarations.add("declare void @llvm.assume(i1)")
        self.line(f"call void @llvm.assume(i1 {known})")

    def place(self, register: str, hint: str = "") -> str:
        """A number of this thread's place in the grid, as an index."""
        name = self.dialect.register.format(name=register)
        self.declarations.add(f"declare i32 @{name}()")
        number = self.assign(f"call i32 @{name}()", hint or register.partition(".")[0])
        return number if self.index_bits == 32 else self.assign(f"zext i32 {number} to i{self.index_bits}", "wide")

    def grid(self, lower: str, step: str, axis: str) -> tuple[str, str]:
        """This thread's first index in a loop over the grid, and the step to its next."""
        width = f"i{self.index_bits}"
        thread, block, threads, blocks = (self.place(f"{name}.{axis}") for name in ("tid", "ctaid", "ntid", "nctaid"))
        # An index one grid further than the last still fits, and none of these is negative.
        before = self.assign(f"mul nuw nsw {width} {block}, {threads}", "before")
        first = self.assign(f"add nuw nsw {width} {before}, {thread}", "thread")
        total = self.assign(f"mul nuw nsw {width} {blocks}, {threads}", "threads")
        if step != "1":
            first = self.assign(f"mul nsw {width} {first}, {step}", "offset")
            total = self.assign(f"mul nsw {width} {total}, {step}", "stride")
        if lower != "0":
            first = self.assign(f"add nsw {width} {lower}, {first}", "first")
        return first, total

    def bound(self, name: str) -> str:
        """A bound of this call's share of the iterations, as an index."""
        if self.index_bits == 64:
            return f"%range.{name}"
        return self.assign(f"trunc i64 %range.{name} to i{self.index_bits}", name)

    def branch(self, inst: Inst) -> None:
        yes, no, join = self.fresh("then", ""), self.fresh("else", ""), self.fresh("join", "")
        self.line(f"br i1 {self.values[inst.args[0]]}, label %{yes}, label %{no}")
        ends: list[tuple[list[str], str]] = []
        for label, region in zip((yes, no), inst.regions, strict=True):
            self.open(label)
            results = [name for value in self.block(region) for name in self.parts(value)]
            ends.append((results, self.label))
            self.line(f"br label %{join}")
        self.open(join)
        number = 0
        for result in inst.results:
            names: list[str] = []
            for type in self.part_types(result.type):
                sources = ", ".join(f"[ {values[number]}, %{label} ]" for values, label in ends)
                names.append(self.assign(f"phi {self.type(type)} {sources}", result.name or "v"))
                number += 1
            self.define(result, names)

    def parts(self, value: Value) -> Sequence[str]:
        """What a value consists of."""
        return [self.values[value]]

    def part_types(self, type: Type) -> Sequence[Type]:
        """The types of the parts of a value."""
        return [type]

    def define(self, value: Value, parts: Sequence[str]) -> None:
        """State what a value consists of."""
        (self.values[value],) = parts

    def repeat(self, inst: Inst) -> None:
        test, body = inst.regions
        before, head = self.label, self.fresh("while", "")
        inside, done = self.fresh("body", ""), self.fresh("done", "")
        self.line(f"br label %{head}")
        self.open(head)
        phis = self.reserve(self.carried(test.params))
        self.bind(test.params, phis.names)
        condition, *values = self.operands(self.block(test))
        self.line(f"br i1 {condition}, label %{inside}, label %{done}")
        self.open(inside)
        self.bind(body.params, values)
        following = self.operands(self.block(body))
        self.fill(phis, self.operands(inst.args), before, following)
        self.line(f"br label %{head}")
        self.open(done)
        self.bind(inst.results, values)

    # Memory.

    def tile(self, inst: Inst) -> str:
        """Memory of a block's threads, as the address of its first element."""
        pointer = inst.result.type
        if not isinstance(pointer, PointerType):
            raise InternalError(f"shared memory of type {pointer}")
        whole = f"[{inst.attr('size')} x {element_type(pointer.dtype, True)}]"
        # A name of the user's has no dollar sign, and a module's names have no dots.
        name = f"@{self.name}${self.fresh(inst.result.name or 'tile')[1:]}".replace(".", "$")
        space = self.dialect.shared
        self.declarations.add(f"{name} = internal{space} global {whole} undef, align {max(16, pointer.dtype.itemsize)}")
        whole_pointer = self.dialect.pointer.format(type=whole, space=space)
        return f"getelementptr inbounds ({whole}, {whole_pointer} {name}, i32 0, i32 0)"

    def local(self, inst: Inst) -> str:
        """Memory of this thread on its stack, as the address of its first element."""
        pointer = inst.result.type
        assert isinstance(pointer, PointerType)
        kind = element_type(pointer.dtype, True)
        return self.assign(f"alloca {kind}, i32 {inst.attr('size')}, align 64", inst.result.name or "local")

    def address(self, pointer: Value, index: Value) -> dict[str, str | int]:
        """Template fields of an access: a pointer parameter and an offset in elements."""
        dtype = pointer.type.dtype if isinstance(pointer.type, PointerType) else None
        if dtype is None:
            raise InternalError(f"an access through a value of type {pointer.type}")
        fields: dict[str, str | int] = {"type": element_type(dtype, True), "pointer": self.type(pointer.type)}
        text = self.dialect.element.format(
            address=self.values[pointer], index_type=self.type(index.type), index=self.values[index], **fields
        )
        return fields | {"address": self.assign(text, "at"), "align": dtype.itemsize}

    def access(self, pointer: Value, index: Value, type: Type) -> dict[str, str | int]:
        """Template fields of a load or store of the type, which may be several elements."""
        fields = self.address(pointer, index)
        memory = self.type(type, memory=True)
        space = self.dialect.shared if isinstance(pointer.type, PointerType) and pointer.type.space == "shared" else ""
        wanted = self.dialect.pointer.format(type=memory, space=space)
        if wanted != fields["pointer"]:
            fields["address"] = self.assign(f"bitcast {fields['pointer']} {fields['address']} to {wanted}", "at")
        return fields | {"type": memory, "pointer": wanted}

    def load(self, inst: Inst) -> None:
        result = inst.result
        pointer, index = inst.args
        fields = self.access(pointer, index, result.type)
        name = self.assign(self.dialect.load.format(**fields), result.name or "v")
        self.values[result] = self.from_memory(name, result.type)

    def from_memory(self, name: str, type: Type) -> str:
        """Any non-zero byte is true."""
        if kind_of(type) != "b":
            return name
        zero = "0" if isinstance(type, ScalarType) else "zeroinitializer"
        return self.assign(f"icmp ne {self.type(type, memory=True)} {name}, {zero}", "v")

    def store(self, inst: Inst) -> None:
        pointer, index, value = inst.args
        fields = self.access(pointer, index, value.type)
        name = self.values[value]
        if kind_of(value.type) == "b":
            name = self.assign(f"zext {self.typed(value)} to {fields['type']}", "v")
        self.line(self.dialect.store.format(value=name, **fields))

    def shuffle(self, inst: Inst) -> str:
        """The value of another thread of the warp, exchanged in words of 32 bits."""
        (x,) = inst.args
        width = self.bits(x.type)
        type, value = self.type(x.type), self.values[x]
        if kind_of(x.type) == "f":
            value = self.assign(f"bitcast {type} {value} to i{width}", "word")
        self.declarations.add(self.dialect.shuffle_declaration)

        def exchange(word: str) -> str:
            return self.assign(self.dialect.shuffle.format(word=word, mask=inst.attr("mask")), "word")

        if width == 64:
            low = exchange(self.assign(f"trunc i64 {value} to i32", "low"))
            high = self.assign(f"lshr i64 {value}, 32", "high")
            high = exchange(self.assign(f"trunc i64 {high} to i32", "high"))
            low, high = (self.assign(f"zext i32 {word} to i64", "wide") for word in (low, high))
            value = self.assign(f"or i64 {low}, {self.assign(f'shl i64 {high}, 32', 'high')}", "word")
        elif width == 32:
            value = exchange(value)
        else:
            value = exchange(self.assign(f"zext i{width} {value} to i32", "word"))
            value = self.assign(f"trunc i32 {value} to i{width}", "word")
        return self.assign(f"bitcast i{width} {value} to {type}", "v") if kind_of(x.type) == "f" else value

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
            case ["fdiv"]:
                text = f"fdiv {flags}{pair}"
            case [("add" | "sub" | "mul") as verb]:
                text = f"{verb} {wrap}{pair}"
            case [("div" | "rem") as verb]:
                text = f"{signed}{verb} {pair}"
            case [("and" | "or" | "xor" | "shl") as verb]:
                text = f"{verb} {pair}"
            case ["shr"]:
                text = f"{'ashr' if kind == 'i' else 'lshr'} {pair}"
            case ["neg"] if kind == "f":
                return self.steps("neg", args, flags, hint)
            case ["neg"]:
                text = f"sub {wrap}{type} {self.constant(0, operand.type)}, {values[0]}"
            case ["not"]:
                text = f"xor {pair}, {self.constant(kind == 'b' or -1, operand.type)}"
            case ["cmp", predicate] if kind == "f":
                text = f"fcmp {flags}{_FLOAT_PREDICATE[predicate]} {pair}"
            case ["cmp", predicate]:
                text = f"icmp {'' if predicate in ('eq', 'ne') else signed}{predicate} {pair}"
            case ["select"]:
                operands = ", ".join(map(self.typed, args))
                text = self.dialect.select.format(flags=flags if kind == "f" else "", operands=operands)
            case ["bitcast"]:
                # Signed and unsigned integers are one type.
                if self.type(result.type) == type:
                    return values[0]
                text = f"bitcast {type} {values[0]} to {self.type(result.type)}"
            case [name] if name in self.dialect.half:
                return self.half(name, args, hint)
            case ["convert"]:
                return self.convert(args[0], result.type, hint)
            case ["intrinsic"] if op.libm in self.dialect.steps:
                return self.steps(op.libm, args, flags, hint)
            case ["intrinsic"] if op.libm not in self.dialect.own:
                text = self.intrinsic(inst, flags)
            case ["guarded"] if self.dialect.guarded and isinstance(result.type, ScalarType):
                lines, name, attributes = guards.declare(op.libm, result.type.dtype)
                self.declarations.update(lines)
                text = f"call {type} @{name}({type} {values[0]}) {attributes}"
            case [] | ["intrinsic"] | ["guarded"]:
                return self.library(inst, flags, hint)
            case _:
                raise InternalError(f"{op.name}: the LLVM spelling {op.llvm!r} is unknown")
        return self.assign(text, hint)

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
        words = {"truth": "i1", "bits": "i16", "wide": "i32", "half": "half", "float": "float"}
        fields = {key: lanes(word) for key, word in words.items()}
        fields |= {key: self.constant(value, wide) for key, value in HALF_INTEGERS.items()}
        fields |= {key: self.constant(value, single) for key, value in HALF_FLOATS.items()}
        fields |= dict(zip("xy", self.operands(args), strict=False))
        made: list[str] = []
        for step in self.dialect.half[name]:
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

    def library(self, inst: Inst, flags: str, hint: str) -> str:
        """A function of the C math library, called once a lane."""
        match inst.result.type:
            case ScalarType(dtype):
                return self.library_call(inst.op.libm, dtype, flags, self.operands(inst.args), hint)
            case VectorType(dtype, lanes):
                total = "undef"
                vector = self.type(inst.result.type)
                for lane in range(lanes):
                    items = [self.assign(f"extractelement {self.typed(a)}, i32 {lane}", "lane") for a in inst.args]
                    item = self.library_call(inst.op.libm, dtype, flags, items, "lane")
                    item = f"{element_type(dtype)} {item}"
                    total = self.assign(f"insertelement {vector} {total}, {item}, i32 {lane}", hint)
                return total
        raise InternalError(f"{inst.op.name} of type {inst.result.type}")

    def library_call(self, function: str, dtype: DType, flags: str, values: Sequence[str], hint: str) -> str:
        single = dtype.bits == 32
        own = self.dialect.own.get(function)
        if own:
            name = symbol(own.format(letter="f" if single else "d"))
        else:
            name = symbol(self.dialect.library.format(name=function + ("f" if single else "")))
        type = element_type(dtype)
        self.declarations.add(f"declare {type} {name}({', '.join([type] * len(values))})")
        attributes = f" {self.dialect.call}" if self.dialect.call else ""
        return self.assign(f"call {flags}{type} {name}({', '.join(f'{type} {v}' for v in values)}){attributes}", hint)
