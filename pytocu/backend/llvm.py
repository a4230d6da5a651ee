"""Loop-level functions to LLVM IR text.

In: functions whose rows are all primitives.  Out: one module as text.  Every function becomes
two: an internal one that takes the parameters themselves, and the exported kernel
``void name(ptr slots, i64 begin, i64 end)``, which reads them from 8-byte slots.

What differs between LLVM's own dialect and older ones stands in :class:`Dialect`; the rest of
the module writes instructions that every LLVM reads.
"""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr, Block, Function, Inst, Value, walk
from pytocu.ir.ops import spelled
from pytocu.ir.types import COMPILED_DTYPES, DType, IndexType, PointerType, ScalarType, Type, VectorType


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one LLVM spells what versions and targets of LLVM spell differently.

    Parameters
    ----------
    pointer, load, store, element : str
        Templates over ``type`` (of the element in memory), ``pointer``, ``address``, ``align``,
        ``value``, ``index_type`` and ``index``.
    negate : str
        Flips the sign bit of a float: a template over ``type``, ``flags`` and ``x``.
    intrinsic : str
        Name of an intrinsic: a template over ``name`` and ``suffix`` (``f32``, ``v4f32``).
    library : str
        Symbol of a C math function: a template over ``name`` (``sinf``, ``sin``).
    kernel, local, call : str
        Attributes of an exported kernel, of the function it calls, and of a library call.
    enter, leave : tuple of str
        Lines around the work of a kernel.
    declarations : tuple of str
        What those lines need.
    """

    pointer: str = "ptr"
    load: str = "load {type}, {pointer} {address}, align {align}"
    store: str = "store {type} {value}, {pointer} {address}, align {align}"
    element: str = "getelementptr inbounds {type}, {pointer} {address}, {index_type} {index}"
    negate: str = "fneg {flags}{type} {x}"
    intrinsic: str = "llvm.{name}.{suffix}"
    # The dot keeps a function of the user's that is called `exp` apart from the library's,
    # and keeps LLVM from rewriting calls as it would those of names it knows.
    library: str = "math.{name}"
    kernel: str = 'nounwind "no-builtins"'
    local: str = 'noinline nounwind "no-builtins"'
    call: str = "nobuiltin nounwind willreturn memory(none)"
    enter: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    declarations: tuple[str, ...] = ()


CPU = Dialect()
"""Any processor whose floating-point mode is left as the caller has it."""

# 0x1F80: round to nearest, all exceptions masked, subnormals kept on input and on output.  The
# work is in a function that is not inlined, so no arithmetic moves across the two changes.
X86_64 = Dialect(
    enter=(
        "%mode.saved = alloca i32, align 4",
        "%mode.exact = alloca i32, align 4",
        "store i32 8064, ptr %mode.exact, align 4",
        "call void @llvm.x86.sse.stmxcsr(ptr %mode.saved)",
        "call void @llvm.x86.sse.ldmxcsr(ptr %mode.exact)",
    ),
    leave=("call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)",),
    declarations=("declare void @llvm.x86.sse.stmxcsr(ptr)", "declare void @llvm.x86.sse.ldmxcsr(ptr)"),
)
"""x86-64: subnormal numbers count whatever mode the calling thread is in."""


def host_dialect() -> Dialect:
    """The dialect for this machine's processor."""
    return X86_64 if platform.machine().lower() in ("x86_64", "amd64") else CPU


_FLOAT = {32: "float", 64: "double"}
_FLOAT_PREDICATE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_ELSEWHERE = {
    "shared": "shared memory",
    "barrier": "barriers",
    "thread_index": "thread numbers",
    "block_index": "block numbers",
}


def _kind(type: Type) -> str:
    match type:
        case ScalarType(dtype) | VectorType(dtype):
            return dtype.kind
        case IndexType():
            return "i"
        case PointerType():
            return "p"
    raise InternalError(f"a value of type {type} at loop level")


def _element_type(dtype: DType, memory: bool = False) -> str:
    if dtype not in COMPILED_DTYPES:
        raise BackendError(f"LLVM code for {dtype.name} is not written: lower it to float32 or float64 first")
    if dtype.kind == "b":
        return "i8" if memory else "i1"
    return _FLOAT[dtype.bits] if dtype.kind == "f" else f"i{dtype.bits}"


def _literal(value: Attr, dtype: DType) -> str:
    match dtype.kind:
        case "b":
            return "true" if value else "false"
        case "f":
            # LLVM writes a float as the hexadecimal bits of the double of the same value.
            rounded = float(dtype.numpy.type(value))
            bits = 0x7FF8000000000000 if rounded != rounded else struct.unpack("<Q", struct.pack("<d", rounded))[0]
            return f"0x{bits:016X}"
        case _:
            if not isinstance(value, int):
                raise InternalError(f"the constant {value!r} is not a {dtype.name}")
            half = 1 << (dtype.bits - 1)
            return str((value + half) % (2 * half) - half)


def _symbol(name: str) -> str:
    return f"@{name}" if re.fullmatch(r"[A-Za-z_.$][\w.$]*", name, re.ASCII) else f'@"{name}"'


@dataclass(frozen=True, slots=True)
class _Phis:
    """Lines kept free at the head of a loop, from `place` on, for these types and names."""

    place: int
    rows: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.rows]


class _Writer:
    """Writes the basic blocks of one function; `label` is the block that is open."""

    def __init__(self, function: Function, dialect: Dialect, declarations: set[str]):
        self.function = function
        self.dialect = dialect
        self.declarations = declarations
        self.index_bits = int(function.fact("index_bits", 64))
        self.lines: list[str] = []
        self.label = "entry"
        self.values: dict[Value, str] = {}
        self.taken: dict[str, int] = {}

    # Names and types.

    def fresh(self, hint: str, mark: str = "%") -> str:
        """A local name nothing else has; dots keep ours apart from the user's."""
        hint = re.sub(r"\W", "_", hint, flags=re.ASCII) if mark == "%" else hint
        count = self.taken.get(hint, 0)
        self.taken[hint] = count + 1
        return f"{mark}{hint}.{count}" if count or hint.isdigit() else f"{mark}{hint}"

    def type(self, type: Type, memory: bool = False) -> str:
        """The type as text, in a register or in memory."""
        match type:
            case ScalarType(dtype):
                return _element_type(dtype, memory)
            case VectorType(dtype, lanes):
                return f"<{lanes} x {_element_type(dtype, memory)}>"
            case IndexType():
                return f"i{self.index_bits}"
            case PointerType(dtype, "global"):
                return self.dialect.pointer.format(type=_element_type(dtype, True))
            case PointerType():
                raise BackendError(f"{type}: a CPU has no {type.space} memory of a block")
        raise InternalError(f"a value of type {type} at loop level")

    def typed(self, value: Value) -> str:
        """The value with its type, as most instructions write an operand."""
        return f"{self.type(value.type)} {self.values[value]}"

    def constant(self, value: Attr, type: Type) -> str:
        """The constant as an operand."""
        match type:
            case ScalarType(dtype):
                return _literal(value, dtype)
            case VectorType(dtype, lanes):
                item = f"{_element_type(dtype)} {_literal(value, dtype)}"
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
            case "for":
                self.loop(inst)
            case "if":
                self.branch(inst)
            case "while":
                self.repeat(inst)
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
        if over == "parallel":
            if carried:
                raise InternalError("a parallel loop carries values from one iteration to the next")
            first, last, one = self.bound("begin"), self.bound("end"), "1"
            # Indices that are not negative divide by a shift or an unsigned multiplication.
            known = self.assign(f"icmp sge {width} {first}, 0", "known")
            self.declarations.add("declare void @llvm.assume(i1)")
            self.line(f"call void @llvm.assume(i1 {known})")
        elif over == "serial":
            first, last, one = self.values[lower], self.values[upper], self.values[step]
        else:
            raise BackendError(f'a loop over "{over}" has no CPU form: use "parallel" or "serial"')
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
        following = self.operands(self.block(region))
        onward = self.assign(f"add nsw {width} {counter}, {one}", "next")
        self.fill(phis, [first, *self.operands(carried)], before, [onward, *following])
        self.line(f"br label %{head}")
        self.open(done)
        self.bind(inst.results, names)

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
            results = self.operands(self.block(region))
            ends.append((results, self.label))
            self.line(f"br label %{join}")
        self.open(join)
        for number, result in enumerate(inst.results):
            sources = ", ".join(f"[ {values[number]}, %{label} ]" for values, label in ends)
            self.values[result] = self.assign(f"phi {self.type(result.type)} {sources}", result.name or "v")

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

    def address(self, pointer: Value, index: Value) -> dict[str, str | int]:
        """Template fields of an access: a pointer parameter and an offset in elements."""
        dtype = pointer.type.dtype if isinstance(pointer.type, PointerType) else None
        if dtype is None:
            raise InternalError(f"an access through a value of type {pointer.type}")
        fields: dict[str, str | int] = {"type": _element_type(dtype, True), "pointer": self.type(pointer.type)}
        text = self.dialect.element.format(
            address=self.values[pointer], index_type=self.type(index.type), index=self.values[index], **fields
        )
        return fields | {"address": self.assign(text, "at"), "align": dtype.itemsize}

    def load(self, inst: Inst) -> None:
        result = inst.result
        fields = self.address(*inst.args) | {"type": self.type(result.type, memory=True)}
        name = self.assign(self.dialect.load.format(**fields), result.name or "v")
        self.values[result] = self.from_memory(name, result.type)

    def from_memory(self, name: str, type: Type) -> str:
        """Any non-zero byte is true."""
        if _kind(type) != "b":
            return name
        zero = "0" if isinstance(type, ScalarType) else "zeroinitializer"
        return self.assign(f"icmp ne {self.type(type, memory=True)} {name}, {zero}", "v")

    def store(self, inst: Inst) -> None:
        pointer, index, value = inst.args
        fields = self.address(pointer, index) | {"type": self.type(value.type, memory=True)}
        name = self.values[value]
        if _kind(value.type) == "b":
            name = self.assign(f"zext {self.typed(value)} to {fields['type']}", "v")
        self.line(self.dialect.store.format(value=name, **fields))

    # Elementwise rows.

    def elementwise(self, inst: Inst) -> str:
        """Write a row of the op table; its result."""
        op, args, result = inst.op, inst.args, inst.result
        operand = args[1] if op.name == "where" else args[0] if args else None
        if operand is None or not (op.llvm or op.libm):
            raise BackendError(f"{op.name} has no LLVM spelling")
        kind = _kind(operand.type)
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
                text = self.dialect.negate.format(type=type, flags=flags, x=values[0])
            case ["neg"]:
                text = f"sub {wrap}{type} {self.constant(0, operand.type)}, {values[0]}"
            case ["not"]:
                text = f"xor {pair}, {self.constant(kind == 'b' or -1, operand.type)}"
            case ["cmp", predicate] if kind == "f":
                text = f"fcmp {flags}{_FLOAT_PREDICATE[predicate]} {pair}"
            case ["cmp", predicate]:
                text = f"icmp {'' if predicate in ('eq', 'ne') else signed}{predicate} {pair}"
            case ["select"]:
                text = f"select {flags if kind == 'f' else ''}{', '.join(map(self.typed, args))}"
            case ["convert"]:
                return self.convert(args[0], result.type, hint)
            case ["intrinsic"]:
                text = self.intrinsic(inst, flags)
            case []:
                return self.library(inst, flags, hint)
            case _:
                raise InternalError(f"{op.name}: the LLVM spelling {op.llvm!r} is unknown")
        return self.assign(text, hint)

    def convert(self, x: Value, target: Type, hint: str) -> str:
        """A C conversion of a value in range."""
        source_kind, target_kind = _kind(x.type), _kind(target)
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
        name = _symbol(self.dialect.intrinsic.format(name=inst.op.libm, suffix=suffix))
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
                    item = f"{_element_type(dtype)} {item}"
                    total = self.assign(f"insertelement {vector} {total}, {item}, i32 {lane}", hint)
                return total
        raise InternalError(f"{inst.op.name} of type {inst.result.type}")

    def library_call(self, function: str, dtype: DType, flags: str, values: Sequence[str], hint: str) -> str:
        name = _symbol(self.dialect.library.format(name=function + ("f" if dtype.bits == 32 else "")))
        type = _element_type(dtype)
        self.declarations.add(f"declare {type} {name}({', '.join([type] * len(values))})")
        attributes = f" {self.dialect.call}" if self.dialect.call else ""
        return self.assign(f"call {flags}{type} {name}({', '.join(f'{type} {v}' for v in values)}){attributes}", hint)


def _check_share(function: Function) -> None:
    """Several threads run the function, each a share of its one parallel loop."""
    top = function.body.insts
    parallel = [i for i in walk(function.body) if i.op.name == "for" and i.attr("over") == "parallel"]
    if not parallel:
        return
    if len(parallel) > 1 or parallel[0] not in top:
        raise InternalError(f"{function.name}: a kernel has one parallel loop, at its top level")
    for inst in top:
        if inst is not parallel[0] and any(i.op.effects == "write" for i in walk(Block((), (inst,)))):
            raise InternalError(f"{function.name}: a store beside the parallel loop would run once a thread")


def _slot(writer: _Writer, param: Value, number: int) -> str:
    """Read a parameter from its slot; the operand with its type."""
    dialect = writer.dialect
    slots = dialect.pointer.format(type="i64")
    at = dialect.element.format(type="i64", pointer=slots, address="%slots", index_type="i64", index=number)
    at = writer.assign(at, "at")
    memory = "i64" if isinstance(param.type, IndexType) else writer.type(param.type, memory=True)
    pointer = dialect.pointer.format(type=memory)
    if pointer != slots:
        at = writer.assign(f"bitcast {slots} {at} to {pointer}", "at")
    name = writer.assign(dialect.load.format(type=memory, pointer=pointer, address=at, align=8), param.name or "v")
    if isinstance(param.type, IndexType) and writer.index_bits < 64:
        name = writer.assign(f"trunc i64 {name} to i{writer.index_bits}", "v")
    return f"{writer.type(param.type)} {writer.from_memory(name, param.type) if _kind(param.type) == 'b' else name}"


def _function(function: Function, dialect: Dialect, declarations: set[str]) -> str:
    if function.level != "loop":
        raise InternalError(f"{function.name} is at {function.level} level, not at loop level")
    _check_share(function)
    written = {inst.args[0] for inst in walk(function.body) if inst.op.name == "store"}
    work = _Writer(function, dialect, declarations)
    params: list[str] = []
    for param in function.params:
        name = work.fresh(param.name or "v")
        work.values[param] = name
        # Arguments do not overlap unless nothing is written, so loops need no run-time checks.
        attributes = ""
        if isinstance(param.type, PointerType):
            attributes = "noalias " if param in written else "noalias readonly "
        params.append(f"{work.type(param.type)} {attributes}{name}")
    params += ["i64 %range.begin", "i64 %range.end"]
    for inst in function.body.insts[:-1]:
        work.inst(inst)
    last = function.body.terminator
    if last.op.name != "return" or last.args:
        raise InternalError(f"{function.name}: a kernel ends with a return of nothing")
    inner = _symbol(f"{function.name}.share")
    outer = _Writer(function, dialect, declarations)
    for text in dialect.enter:
        outer.line(text)
    arguments = [_slot(outer, param, number) for number, param in enumerate(function.params)]
    arguments += ["i64 %begin", "i64 %end"]
    outer.line(f"call void {inner}({', '.join(arguments)})")
    for text in dialect.leave:
        outer.line(text)
    declarations.update(dialect.declarations)
    slots = dialect.pointer.format(type="i64")
    head = f"define internal void {inner}({', '.join(params)}) {dialect.local} {{"
    kernel = f"define void {_symbol(function.name)}({slots} %slots, i64 %begin, i64 %end) {dialect.kernel} {{"
    parts = [head, "entry:", *work.lines, "  ret void", "}", "", kernel, "entry:", *outer.lines, "  ret void", "}"]
    return "\n".join(parts)


def emit(functions: Sequence[Function], dialect: Dialect | None = None) -> str:
    """LLVM IR of loop-level functions, as one module.

    Parameters
    ----------
    functions : sequence of Function
        At loop level, in the CPU's form: one loop over ``parallel`` at most.  Names differ.
    dialect : Dialect, optional
        This machine's by default.

    Returns
    -------
    str
        Each function is exported as ``void name(ptr slots, i64 begin, i64 end)``: slots of
        8 bytes hold the parameters in order (a pointer, a scalar at the start of its slot, an
        index as int64) and iterations ``begin`` to ``end`` of the parallel loop are run.

    Raises
    ------
    BackendError
        A dtype or an instruction has no form on the CPU.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> text = "loop func @nothing(%n: index) {\\n  return\\n}"
    >>> "define void @nothing(ptr %slots, i64 %begin, i64 %end)" in emit([parse_function(text)])
    True
    """
    dialect = dialect or host_dialect()
    declarations: set[str] = set()
    bodies = [_function(function, dialect, declarations) for function in functions]
    parts = bodies + (["\n".join(sorted(declarations))] if declarations else [])
    return "\n\n".join(parts) + "\n"
