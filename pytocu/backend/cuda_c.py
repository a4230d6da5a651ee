"""CUDA C text of kernels.

In: functions at loop level whose rows are all primitives.  Out: one source that includes
nothing, with one ``extern "C"`` kernel a function.

The text computes exactly what the IR says: signed arithmetic that may wrap is done unsigned
and cast back, and narrow integers are cut back to their width after C's promotion to ``int``.
A value that is used once and has no name of the user's is written where it is used; everything
else becomes a ``const`` variable.  Only memory the kernel never writes is read out of order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pytocu.backend import ptx
from pytocu.backend.c_expressions import (
    C_TYPES,
    CONJUNCTION,
    POSTFIX,
    TERNARY,
    UNARY,
    WRAPPING,
    Expression,
    binary,
    bitcast,
    cast,
    float_literal,
    integer_literal,
    invert,
    unary,
    wrapping,
)
from pytocu.backend.cuda_functions import ALIGNED, COPY_WORDS, LOAD_GROUPS, OUTLINED, STORE_GROUPS
from pytocu.backend.names import Names, file_name, kernel_names, outlined, reserved
from pytocu.errors import UNKNOWN, InternalError
from pytocu.ir.core import Block, Function, Inst, Value, walk, written_pointers
from pytocu.ir.lanes import is_widened, lane_reach, share_of_lane
from pytocu.ir.ops import GRID_AXES, spelled
from pytocu.ir.types import (
    F32,
    I8,
    I32,
    I64,
    IndexType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element,
)

LONGEST_EXPRESSION = 80
LONGEST_LINE = 108

_WORD = re.compile(r"[A-Za-z_]\w*")


def emit(functions: Sequence[Function], lineinfo: bool = False, marks: Callable[[Inst], str] | None = None) -> str:
    """CUDA C of the functions, one kernel each.

    Parameters
    ----------
    functions : sequence of Function
        At loop level in the form for a GPU, primitives only.
    lineinfo : bool
        Write ``#line`` before each statement so that profilers show the Python source.
    marks : callable, optional
        End each statement with a comment: what this says of each instruction that the statement computes.

    Returns
    -------
    str
        Source without any ``#include``; kernels are called as :func:`kernel_names` says.

    Raises
    ------
    InternalError
        A pass left something that has no spelling in CUDA C.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> print(emit([parse_function('''
    ... loop func @twice(%x: ptr f32, %out: ptr f32, %n: index) facts {index_bits = 32} {
    ...   %0 = const 0 : index
    ...   %1 = const 1 : index
    ...   for %0, %n, %1 {over = "grid"} (%i: index) {
    ...     %2 = load %x, %i : f32
    ...     %3 = const 2.0 : f32
    ...     %4 = multiply %2, %3 : f32
    ...     store %out, %i, %4
    ...     yield
    ...   }
    ...   return
    ... }''')]))  # doctest: +ELLIPSIS
    // twice (<ir>:...)
    extern "C" __global__ void twice(const float* __restrict__ x, float* __restrict__ out, int n) {
        #pragma unroll 1
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            out[i] = x[i] * 2.0f;
        }
    }
    <BLANKLINE>
    """
    names = kernel_names(functions)
    kernels = [_Kernel(f, name, lineinfo, marks).write() for f, name in zip(functions, names, strict=True)]
    used = {inst.op.name for f in functions for inst in walk(f.body)}
    grouped = [inst for f in functions for inst in walk(f.body) if inst.attr("width") is not None]
    used |= {f"{inst.op.name} groups" for inst in grouped}
    parts = {"aligned": ALIGNED, "load groups": LOAD_GROUPS, "store groups": STORE_GROUPS}
    used |= {"half_to_float"} if used & ptx.COMPARISONS.keys() else set()
    helpers = [ptx.cuda_function(name) for name in (*ptx.INSTRUCTIONS, *ptx.COMPARISONS) if name in used]
    helpers += [text for name, text in parts.items() if name in used]
    rare = dict.fromkeys((i.op, element(i.types[0])) for f in functions for i in walk(f.body) if i.op.llvm == "outlined")
    helpers += [OUTLINED.format(type=C_TYPES[dtype], name=outlined(op, dtype), function=op.libm + ("f" if dtype is F32 else ""))
                for op, dtype in rare]  # fmt: skip
    helpers += [ptx.WAIT_FUNCTION] if any(f.fact("waits") for f in functions) else []
    helpers += [ptx.START_FUNCTION] if any(f.fact("followed") for f in functions) else []
    structures = ["\n".join(_structure(*pair) for pair in _alignments(functions).items())]
    structures = [text for text in structures if text]
    if any("copy_words" in text for text in structures):
        structures.insert(0, COPY_WORDS)
    return "\n\n".join([*structures, *helpers, *kernels]) + "\n"


def _alignments(functions: Sequence[Function]) -> dict[VectorType, int]:
    """The vectors, and what the addresses of each divide by, at most 16."""
    found: dict[VectorType, int] = {}
    for inst in (i for f in functions for i in walk(f.body)):
        types = [v.type for v in (*inst.args, *inst.results) if isinstance(v.type, VectorType)]
        grouped = inst.attr("width") is not None
        for type in [*types, _group(inst)] if grouped else types:
            bytes = type.lanes * type.dtype.itemsize
            align = None if grouped else inst.attr("align")
            found[type] = min(found.get(type, 16), bytes & -bytes, align or 16)
    return found


def _structure(type: VectorType, align: int) -> str:
    """The C type of a vector, which is moved in accesses of `align` bytes."""
    name, lanes = _vector_name(type), f"{C_TYPES[type.dtype]} lane[{type.lanes}];"
    if type.dtype != I8 or align < 4:
        return f"struct alignas({align}) {name} {{ {lanes} }};"
    # NVRTC splits a vector of int8 itself and then takes the first byte of each word, of whose
    # negative or sum it needs the low byte, for a number that has its sign already.
    word = {4: "unsigned int", 8: "uint2", 16: "uint4"}[align]
    copy = f"copy_words<{word}, {type.lanes // align}>(lane, from.lane);"
    return f"""\
struct alignas({align}) {name} {{
    {lanes}
    {name}() = default;
    __device__ __forceinline__ {name}(const {name}& from) {{ {copy} }}
    __device__ __forceinline__ {name}& operator=(const {name}& from) {{
        {copy}
        return *this;
    }}
}};"""


def _is_quotient(value: Value) -> bool:
    return value.inst is not None and value.inst.op.name == "divide"


def _group(inst: Inst) -> VectorType:
    """What a load or store of groups moves at once."""
    return VectorType(element(inst.args[0].type), inst.attr("width"))


def _vector_name(type: VectorType) -> str:
    return f"{type.dtype}x{type.lanes}"


def _share(lane: str, share: int, number: int) -> str:
    """The place of a lane's element in a vector that has `share` for each."""
    first = lane if share == 1 else f"{share} * {lane}"
    return f"{first} + {number}" if number else first


class _Kernel:
    """Writes one function; statements are added in order, expressions wait to be used."""

    def __init__(self, function: Function, name: str, lineinfo: bool, marks: Callable[[Inst], str] | None):
        self.function = function
        self.name = name
        self.lineinfo = lineinfo
        self.marks = marks
        self.origins: dict[Value, dict[Inst, None]] = {}
        self.inst: Inst | None = None
        self.index_type = "int" if function.fact("index_bits", 64) == 32 else "long long"
        self.names = Names(reserved())
        self.expressions: dict[Value, Expression] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.loc = UNKNOWN
        self.uses: dict[Value, list[Block]] = {}
        self.count_uses(function.body)
        self.written = written_pointers(function.body)

    def count_uses(self, body: Block) -> None:
        pending = [body]
        while pending:
            block = pending.pop()
            for inst in block.insts:
                for arg in inst.args:
                    self.uses.setdefault(arg, []).append(block)
                pending.extend(inst.regions)

    # Text.

    def write(self) -> str:
        params = ", ".join(map(self.parameter, self.function.params))
        block = self.function.fact("block")
        resident = self.function.fact("resident")
        blocks = f", {resident // block}" if isinstance(block, int) and isinstance(resident, int) else ""
        bounds = f"__launch_bounds__({block}{blocks}) " if isinstance(block, int) else ""
        head = f'extern "C" __global__ void {bounds}{self.name}('
        if len(head) + len(params) + 3 > LONGEST_LINE:
            params = "\n    " + params.replace(", ", ",\n    ") + "\n"
        if self.function.fact("waits"):
            self.lines.append("    wait_for_launch_before();")
        elif self.function.fact("followed"):
            self.lines.append("    let_next_launch_begin();")
        self.block(self.function.body)
        loc = next((i.loc for i in walk(self.function.body) if i.loc.line), None)
        place = f" ({loc.short().rpartition(':')[0]})" if loc else ""
        title = re.sub(r"[\x00-\x1f\\\ud800-\udfff]", "?", f"{self.function.name}{place}")
        return "\n".join([f"// {title}", f"{head}{params}) {{", *self.lines, "}"])

    def parameter(self, value: Value) -> str:
        name = self.name_value(value)
        match value.type:
            case PointerType(dtype):
                const = "" if value in self.written else "const "
                # What a kernel of before still writes must not be read through the cache for constant data.
                restrict = "" if const and self.function.fact("waits") else "__restrict__ "
                return f"{const}{C_TYPES[dtype]}* {restrict}{name}"
            case _:
                return f"{self.c_type(value.type)} {name}"

    def c_type(self, type: Type) -> str:
        match type:
            case IndexType():
                return self.index_type
            case ScalarType(dtype) if dtype in C_TYPES:
                return C_TYPES[dtype]
            case VectorType(dtype) if dtype in C_TYPES:
                return _vector_name(type)
        raise InternalError(f"the cuda_c backend has no type for {type} in {self.function.name}")

    def statement(self, text: str) -> None:
        if self.lineinfo and self.loc.line:
            self.lines.append(f'#line {self.loc.line} "{file_name(self.loc.file)}"')
        marks = " ".join(map(self.marks, self.origins_of(self.inst))) if self.marks is not None else ""
        self.lines.append(f"{'    ' * self.depth}{text}{marks and f'  // {marks}'}")

    def origins_of(self, inst: Inst | None) -> dict[Inst, None]:
        """An instruction and those whose text stands where it uses their results."""
        if inst is None or self.marks is None:
            return {}
        return {inst: None} | {used: None for arg in inst.args for used in self.origins.get(arg, ())}

    def close(self, text: str = "}") -> None:
        self.depth -= 1
        self.lines.append(f"{'    ' * self.depth}{text}")

    # Names and values.

    def name_value(self, value: Value, hint: str = "") -> str:
        """Give the value a variable's name, and use it from now on."""
        name = self.names.add(value.name or hint or "t")
        self.expressions[value] = Expression(name)
        return name

    def declare(self, value: Value, hint: str = "") -> None:
        """A ``const`` variable that holds the value from here on."""
        text = self.expressions[value].text
        if not hint and value.inst is not None and value.inst.op.name == "load":
            pointer, at = (self.expressions[a].text for a in value.inst.args[:2])
            hint = f"{pointer}_{at}" if _WORD.fullmatch(at) else f"{pointer}_value"
        name = self.name_value(value, hint)
        user, self.inst = self.inst, value.inst or self.inst
        self.statement(f"const {self.c_type(value.type)} {name} = {text};")
        self.inst = user
        self.origins.pop(value, None)

    def shorten(self, values: Sequence[Value]) -> bool:
        """Give the longest of the values a name; False when all are short already."""
        # A value used elsewhere too must not hide behind a variable of an inner scope.
        nested = [v for v in values if len(self.uses[v]) == 1 and not self.expressions[v].literal]
        nested = [v for v in nested if len(self.expressions[v].text) > 12 and not _WORD.fullmatch(self.expressions[v].text)]
        if not nested:
            return False
        self.declare(max(nested, key=lambda v: len(self.expressions[v].text)))
        return True

    # Statements.

    def block(self, block: Block) -> None:
        """The block's statements, without what its ``yield`` hands on."""
        for inst in block.insts:
            self.loc = inst.loc if inst.loc.line else self.loc
            self.inst = inst
            match inst.op.name:
                case "store":
                    self.store(inst)
                case "atomic_minimum":
                    pointer, at, value = (self.expressions[a].text for a in inst.args)
                    self.statement(f"atomicMin({pointer} + {at}, {value});")
                case "for":
                    self.loop(inst)
                case "while":
                    self.while_loop(inst)
                case "if":
                    self.branch(inst)
                case "lanes":
                    self.lanes(inst)
                case "shared":
                    dtype, size = element(inst.result.type), inst.attr("size")
                    name = self.name_value(inst.result, "tile")
                    self.statement(f"__shared__ {C_TYPES[dtype]} {name}[{size}];")
                case "barrier":
                    self.statement("__syncthreads();")
                case "return":
                    if block is not self.function.body:
                        self.statement("return;")
                case "yield":
                    pass
                case "prefetch":
                    raise InternalError("the cuda_c backend has no spelling for prefetch, which only code for a CPU has")
                case _:
                    self.value(inst, block)

    def value(self, inst: Inst, block: Block) -> None:
        """An instruction without effects: kept as text, or declared at once."""
        result = inst.result
        uses = self.uses.get(result, [])
        if not uses:
            return
        made = self.spell(inst)
        while len(made.text) > LONGEST_EXPRESSION and self.shorten(inst.args):
            made = self.spell(inst)
        self.expressions[result] = made
        self.origins[result] = self.origins_of(inst)
        if result.name:
            return self.declare(result)
        if inst.op.kind in ("const", "index"):
            return
        # A read of memory the kernel writes stays in its place among the writes.
        ordered = inst.op.name == "load" and (inst.args[0] in self.written or self.is_shared(inst.args[0]))
        # Nor does one that stands before a barrier wait until after it.
        ordered |= inst.op.name == "load" and any(i.op.name == "barrier" for i in block.insts)
        # All threads of a warp come to an exchange, so it stays where it stands.
        if ordered or inst.op.kind == "warp" or len(uses) > 1 or uses[0] is not block:
            self.declare(result)

    def is_shared(self, pointer: Value) -> bool:
        return isinstance(pointer.type, PointerType) and pointer.type.space != "global"

    def store(self, inst: Inst) -> None:
        while True:
            pointer, at, value, *rest = (self.expressions[a].text for a in inst.args)
            text = f"{pointer}[{at}] = {value};"
            if rest:
                kind = f"{_vector_name(_group(inst))}, {inst.attr('step')}"
                text = f"store_groups<{kind}>(&{pointer}[{at}], {', '.join((value, *rest))});"
            elif isinstance(inst.args[2].type, VectorType):
                text = f"*({self.c_type(inst.args[2].type)}*)&{text}"
            if len(text) + 4 * self.depth <= LONGEST_LINE or not self.shorten(inst.args[1:]):
                return self.statement(text)

    def assign(self, names: Sequence[str], values: Sequence[Value]) -> None:
        """``names = values``, all at once."""
        changed: set[str] = set()
        for name, value in zip(names, values, strict=True):
            # A value that reads a variable assigned before it is computed before all of them.
            if changed & set(_WORD.findall(self.expressions[value].text)):
                self.declare(value)
            if self.expressions[value].text != name:
                changed.add(name)
        for name, value in zip(names, values, strict=True):
            text = self.expressions[value].text
            if text != name:
                self.statement(f"{name} = {text};")

    def carry(self, params: Sequence[Value], results: Sequence[Value], init: Sequence[Value]) -> list[str]:
        """Variables of a loop, and their first values; the parameters and results are these."""
        names: list[str] = []
        for param, result, value in zip(params, results, init, strict=True):
            text = self.expressions[value].text
            name = self.name_value(param, result.name or "carried")
            self.expressions[result] = Expression(name)
            self.statement(f"{self.c_type(param.type)} {name} = {text};")
            names.append(name)
        return names

    def loop(self, inst: Inst) -> None:
        _, upper, step, *init = inst.args
        body = inst.regions[0]
        index, *params = body.params
        for bound in (upper, step):
            text = self.expressions[bound].text
            if "[" in text or "?" in text or len(text) > 30:
                self.declare(bound, "end" if bound is upper else "step")
        names = self.carry(params, inst.results, init)
        first, increment = self.schedule(inst)
        i = self.name_value(index, "i")
        end = self.expressions[upper].inside(12)
        head = f"for ({self.index_type} {i} = {first}; {i} < {end}; {i}"
        if 4 * self.depth + len(head) + len(increment) > LONGEST_LINE - 8:
            stride = self.names.add("stride")
            self.statement(f"const {self.index_type} {stride} = {increment};")
            increment = stride
        if inst.attr("over") in GRID_AXES or is_widened(inst):
            # Most threads run it once, or its body takes as much at a time as the schedule wants.
            self.statement("#pragma unroll 1")
        self.statement(f"{head}++) {{" if increment == "1" else f"{head} += {increment}) {{")
        self.depth += 1
        self.block(body)
        if body.terminator.op.name == "yield":
            self.assign(names, body.terminator.args)
        self.close()

    def schedule(self, inst: Inst) -> tuple[str, str]:
        """First index and increment of a loop, by who runs its iterations."""
        lower, step = self.expressions[inst.args[0]], self.expressions[inst.args[2]]
        over = inst.attr("over")
        if over == "serial":
            return lower.text, step.text
        if over not in GRID_AXES:
            raise InternalError(f"the cuda_c backend has no loop over {over!r}")
        # Index registers are unsigned and have 32 bits.
        wide = "(long long)" if self.index_type == "long long" else ""
        thread, threads = f"{wide}blockIdx.x * blockDim.x + threadIdx.x", f"{wide}gridDim.x * blockDim.x"
        thread, threads = (text.replace(".x", f".{GRID_AXES[over]}") for text in (thread, threads))
        if lower.text == "0" and step.text == "1":
            return thread, threads
        signed = "" if wide else "(int)"
        thread, threads = f"{signed}({thread})", f"{signed}({threads})"
        if step.text != "1":
            thread, threads = (f"{t} * {step.inside(14)}" for t in (thread, threads))
        return (thread if lower.text == "0" else f"{lower.inside(12)} + {thread}"), threads

    def while_loop(self, inst: Inst) -> None:
        before, after = inst.regions
        shares = before.terminator.args[1:] == before.params
        names = self.carry(before.params, inst.results if shares else before.params, inst.args)
        if shares:
            handed = names
        else:
            handed = [self.name_value(r, a.name) for r, a in zip(inst.results, after.params, strict=True)]
            for result, name in zip(inst.results, handed, strict=True):
                self.statement(f"{self.c_type(result.type)} {name};")
        place = len(self.lines)
        self.statement("while (true) {")
        self.depth += 1
        body = len(self.lines)
        self.block(before)
        condition = self.expressions[before.terminator.args[0]]
        if shares and len(self.lines) == body:
            del self.lines[place:]
            self.depth -= 1
            self.statement(f"while ({condition.text}) {{")
            self.depth += 1
        else:
            if not shares:
                self.assign(handed, before.terminator.args[1:])
            self.statement(f"if ({unary('!', condition).text}) break;")
        for param, name in zip(after.params, handed, strict=True):
            self.expressions[param] = Expression(name)
        self.block(after)
        if after.terminator.op.name == "yield":
            self.assign(names, after.terminator.args)
        self.close()

    def branch(self, inst: Inst) -> None:
        names = [self.name_value(r) for r in inst.results]
        condition = self.expressions[inst.args[0]].text
        for result, name in zip(inst.results, names, strict=True):
            self.statement(f"{self.c_type(result.type)} {name};")
        self.statement(f"if ({condition}) {{")
        for number, region in enumerate(inst.regions):
            self.depth += 1
            start = len(self.lines)
            self.block(region)
            if region.terminator.op.name == "yield":
                self.assign(names, region.terminator.args)
            if number == 0:
                self.close("} else {")
            elif len(self.lines) == start:
                self.lines.pop()
                self.close()
            else:
                self.close()

    def lanes(self, inst: Inst) -> None:
        """A loop over the lanes of vectors, which the compiler unrolls."""
        (region,) = inst.regions
        count = inst.attr("lanes")
        number, *params = region.params
        vectors = [v for v in inst.args if isinstance(v.type, VectorType)]
        carried = [v for v in inst.args if not isinstance(v.type, VectorType)]
        made = [(self.name_value(r, "vector"), r.type.lanes // count) for r in inst.results if isinstance(r.type, VectorType)]
        for (name, _), result in zip(made, inst.results, strict=False):
            self.statement(f"{self.c_type(result.type)} {name};")
        names = self.carry(params[len(params) - len(carried) :], inst.results[len(made) :], carried)
        k = self.name_value(number, "k")
        self.statement("#pragma unroll")
        self.statement(f"for ({self.index_type} {k} = 0; {k} < {count}; {k}++) {{")
        self.depth += 1
        shares = zip(vectors, lane_reach(inst), strict=True)
        given = [(self.expressions[v].inside(POSTFIX), share) for v, share in shares]
        places = [(vector, share.step, m) for vector, share in given for m in share_of_lane(share, 0)]
        for param, (vector, step, m) in zip(params, places, strict=False):
            self.expressions[param] = Expression(f"{vector}.lane[{_share(k, step, m)}]", POSTFIX)
            if len(self.uses.get(param, ())) > 1:
                text = self.expressions[param].text
                self.statement(f"const {self.c_type(param.type)} {self.name_value(param)} = {text};")
        self.block(region)
        targets = [f"{name}.lane[{_share(k, share, m)}]" for name, share in made for m in range(share)]
        for target, value in zip(targets, region.terminator.args, strict=False):
            self.statement(f"{target} = {self.expressions[value].text};")
        self.assign(names, region.terminator.args[len(targets) :])
        self.close()

    # Expressions.

    def spell(self, inst: Inst) -> Expression:
        """The C expression of an instruction without effects."""
        op = inst.op
        args = [self.expressions[a] for a in inst.args]
        match op.name:
            case "const":
                return self.constant(inst)
            case "load":
                place = Expression(f"{args[0].inside(POSTFIX)}[{args[1].text}]", POSTFIX)
                if len(args) > 2:
                    kind = f"{self.c_type(inst.types[0])}, {_vector_name(_group(inst))}, {inst.attr('step')}"
                    rest = "".join(f", {a.text}" for a in args[2:])
                    return Expression(f"load_groups<{kind}>(&{place.text}{rest})", POSTFIX)
                if not isinstance(inst.types[0], VectorType):
                    return place
                return Expression(f"*(const {self.c_type(inst.types[0])}*)&{place.text}", UNARY)
            case "aligned":
                pairs = zip(args, inst.attr("bytes"), strict=True)
                return Expression(" && ".join(f"aligned({x.text}, {bytes})" for x, bytes in pairs), CONJUNCTION)
            case "thread_index":
                return Expression(f"({self.index_type})threadIdx.x", UNARY)
            case "block_index":
                return Expression(f"({self.index_type})blockIdx.x", UNARY)
            case "block_count":
                return Expression(f"({self.index_type})gridDim.x", UNARY)
            case "shuffle_xor":
                made = Expression(f"__shfl_xor_sync(0xffffffffu, {args[0].text}, {inst.attr('mask')})", POSTFIX)
                dtype = element(inst.types[0])
                # Narrow integers travel as int.
                return cast(C_TYPES[dtype], made) if dtype.bits < 32 else made
            case "convert_raw":
                return cast(self.c_type(inst.types[0]), args[0])
            case name if name in ptx.INSTRUCTIONS or name in ptx.COMPARISONS:
                return Expression(f"{name}({', '.join(a.text for a in args)})", POSTFIX)
            case "bitcast":
                return bitcast(args[0], element(inst.args[0].type), element(inst.types[0]))
        operand = inst.args[1 if op.name == "where" else 0].type if inst.args else inst.types[0]
        is_index = isinstance(operand, IndexType)
        kind = "i" if is_index else element(operand).kind
        if not spelled(op, kind):
            raise InternalError(f"the cuda_c backend has no spelling for {op.name} of {operand} in {self.function.name}")
        dtype = I64 if is_index else element(operand)
        if op.libm:
            name = outlined(op, dtype) if op.llvm == "outlined" else op.libm + ("f" if dtype is F32 else "")
            return Expression(f"{name}({', '.join(a.text for a in args)})", POSTFIX)
        token = re.sub(r"\{\d\}", "", op.c).strip()
        if op.name == "where":
            condition, yes, no = args
            text = f"{condition.inside(9)} ? {yes.inside(TERNARY + 1)} : {no.inside(TERNARY)}"
            return Expression(text, TERNARY)
        if is_index:
            if len(args) == 2 and args[0].literal and args[1].literal and self.index_type == "long long":
                args[0] = cast(self.index_type, args[0])
            return unary(token, args[0]) if len(args) == 1 else binary(token, *args)
        if token == "~":
            return invert(args[0], dtype)
        if kind == "f" and token in ("!=", "==", "<=", ">=") and inst.args[0] is inst.args[1] and _is_quotient(inst.args[0]):
            # NVRTC does not compute 0.0 / 0.0, and takes what it is to be equal to itself; of others `x > y | x != x` is one
            # comparison.
            made = Expression(f"isnan({args[0].text})", POSTFIX)
            return made if token == "!=" else unary("!", made)
        if kind in "iu" and (token in WRAPPING):
            return wrapping(token, args, dtype)
        return unary(token, args[0]) if len(args) == 1 else binary(token, *args)

    def constant(self, inst: Inst) -> Expression:
        value, type = inst.attr("value"), inst.types[0]
        if isinstance(type, IndexType):
            # A length fits `index`, so a small number needs no suffix.
            return integer_literal(value, I32 if abs(value) < 2**31 else I64)
        dtype = element(type)
        match dtype.kind:
            case "b":
                return Expression("true" if value else "false", literal=True)
            case "i" | "u":
                return integer_literal(value, dtype)
            case "f":
                return float_literal(value, dtype)
        raise InternalError(f"the cuda_c backend has no constant of {type}")
