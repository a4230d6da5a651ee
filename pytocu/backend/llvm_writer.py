"""Instructions of loop-level functions as LLVM IR text: structured regions become blocks and phis.

In: rows that are all primitives.  Out: the lines of one function's body, in any dialect; the
functions around them are written by :mod:`pytocu.backend.llvm` and :mod:`pytocu.backend.nvvm`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.backend.llvm_dialect import element_type, kind_of
from pytocu.backend.llvm_rows import RowWriter
from pytocu.deferred import Deferred
from pytocu.errors import NOTHING, BackendError, InternalError
from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.lanes import is_widened, lane_reach, share_of_lane
from pytocu.ir.ops import GRID_AXES
from pytocu.ir.types import F32, F64, PointerType, ScalarType, Type, VectorType, element, scalar
from pytocu.record import Record

_ELSEWHERE = {
    "shared": "shared memory",
    "local": "memory of one thread",
    "barrier": "barriers",
    "thread_index": "thread numbers",
    "block_index": "block numbers",
    "block_count": "blocks",
    "shuffle_xor": "warps",
}
_LOOPS = 100000
"""The number of the first metadata about loops: of kernels there are fewer, and those of places are higher."""
_PLACES = {"thread_index": "tid.x", "block_index": "ctaid.x", "block_count": "nctaid.x"}


class _Phis(Record):
    """Lines kept free at the head of a loop, from `place` on, for these types and names."""

    place: int
    rows: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.rows]


_has_many_ways = Deferred("pytocu.backend.many_ways", "has_many_ways")
_spared = Deferred("pytocu.backend.divider", "spared")


class Writer(RowWriter):
    """Writes the basic blocks of one function; `label` is the block that is open."""

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
        if self.dialect.freeze:
            self.kept.update(_kept(block))
        with self.scope():
            for inst in block.insts[:-1]:
                self.inst(inst)
        if block.terminator.op.name != "yield":
            raise BackendError(f"{block.terminator.op.name} inside a loop or branch: carry a flag instead")
        return block.terminator.args

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Around what is written into blocks of its own: addresses that are computed there nothing behind them has."""
        self.addresses.append({})
        yield
        self.addresses.pop()

    def bind(self, values: Sequence[Value], names: Sequence[str]) -> None:
        self.values.update(zip(values, names, strict=True))

    def inst(self, inst: Inst) -> None:
        """Write one instruction, with what is inside of it."""
        first = len(self.lines)
        self.write(inst)
        if self.origins is not None:
            for place in range(first, len(self.lines)):
                self.origins.setdefault(place, inst)

    def inside(self, inst: Inst, write: Callable[[Inst], None]) -> None:
        """Write a loop, which is around what is written meanwhile."""
        around, self.around = self.around, inst
        if self.dialect.waits and inst.op.name == "for":
            self.spared = _spared(inst, self.written)
        write(inst)
        self.around = around

    def write(self, inst: Inst) -> None:
        """The lines of one instruction."""
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
            case "prefetch":
                self.prefetch(inst)
            case "for":
                self.inside(inst, self.loop)
            case "if":
                self.branch(inst)
            case "while":
                self.inside(inst, self.repeat)
            case "shared" if "shared" in self.dialect.spaces:
                self.values[inst.result] = self.tile(inst)
            case "local" if "local" in self.dialect.spaces:
                self.values[inst.result] = self.local(inst)
            case "lanes":
                self.bind(inst.results, self.together(inst))
            case "transposed":
                self.bind(inst.results, self.transposed(inst))
            case "packed":
                self.values[inst.result] = self.assign(f"bitcast {self.typed(inst.args[0])} to i64", "bits")
            case "ones":
                self.declarations.add("declare i64 @llvm.ctpop.i64(i64)")
                self.values[inst.result] = self.assign(f"call i64 @llvm.ctpop.i64({self.typed(inst.args[0])})", "ones")
            case "lowest_one":
                self.declarations.add("declare i64 @llvm.cttz.i64(i64, i1)")
                text = f"call i64 @llvm.cttz.i64({self.typed(inst.args[0])}, i1 false)"
                self.values[inst.result] = self.assign(text, "lowest")
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
                self.natural.add(index)
                if not self.dialect.as_written:
                    self.assume_natural(counter)
        following = self.operands(self.block(region))
        # Most threads run a loop over the grid once; a loop that LLVM can count it would unroll,
        # with a division before it.
        wrap = "" if over in GRID_AXES else "nsw "
        onward = self.assign(f"add {wrap}{width} {counter}, {one}", "next")
        self.fill(phis, [first, *self.operands(carried)], before, [onward, *following])
        self.line(f"br label %{head}{self.wish(inst)}")
        self.open(done)
        self.bind(inst.results, names)

    def wish(self, inst: Inst) -> str:
        """What stands behind the branch back to the head of a loop that LLVM would otherwise make something else of."""
        wanted: tuple[str, ...] = ()
        if self.dialect.keeps_loops and is_widened(inst):
            # It is not to be unrolled.
            wanted = ('!"llvm.loop.unroll.disable"',)
        elif "parallel" in self.dialect.spread and (_has_many_ways(inst) or _goes_back_in_groups(inst)):
            wanted = ('!"llvm.loop.vectorize.enable", i1 false',)
        elif self.dialect.masks and _is_within_row(inst):
            # What is left of a row behind whole vectors is another one under a mask.
            wanted = ('!"llvm.loop.vectorize.predicate.enable", i1 true', '!"llvm.loop.interleave.count", i32 2')
        elif self.dialect.long and self.is_long(inst):
            wanted = ('!"llvm.loop.interleave.count", i32 2',)
        if not wanted:
            return ""
        nodes: list[str] = []
        for wish in wanted:
            notes = [declared for declared in self.declarations if declared.startswith("!")]
            node = next((note.partition(" ")[0] for note in notes if note.endswith(f" = !{{{wish}}}")), "")
            if not node:
                node = f"!{_LOOPS + len(notes)}"
                self.declarations.add(f"{node} = !{{{wish}}}")
            nodes.append(node)
        number = _LOOPS + sum(declared.startswith("!") for declared in self.declarations)
        # Each loop has a node of its own, which LLVM knows by its naming itself.
        self.declarations.add(f"!{number} = distinct !{{!{number}, {', '.join(nodes)}}}")
        return f", !llvm.loop !{number}"

    def is_long(self, inst: Inst) -> bool:
        """Whether an element waits long for one operation after the other, so that two vectors at once are faster."""
        insts = list(walk(inst.regions[0]))
        return not any(i.op.name in ("for", "while") for i in insts) and _arithmetic(insts) >= self.dialect.long

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
        if self.around is not None and _is_note(inst) and self.is_worth_vectors(self.around):
            self.note(inst)
            return
        yes, no, join = self.fresh("then", ""), self.fresh("else", ""), self.fresh("join", "")
        condition = self.values[inst.args[0]]
        if self.dialect.expect and any(i.op.name == "atomic_minimum" for i in inst.regions[0].insts):
            # A note of a failure: a loop is shorter without it.
            self.declarations.add(f"declare i1 @{self.dialect.expect}(i1, i1)")
            condition = self.assign(f"call i1 @{self.dialect.expect}(i1 {condition}, i1 false)", "fails")
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")
        ends: list[tuple[list[str], str]] = []
        for label, region in zip((yes, no), inst.regions, strict=True):
            self.open(label)
            if region.terminator.op.name == "return":
                with self.scope():
                    for step in region.insts[:-1]:
                        self.inst(step)
                self.exit = self.exit or self.fresh("exit", "")
                self.line(f"br label %{self.exit}")
                continue
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

    def is_worth_vectors(self, loop: Inst) -> bool:
        """Whether the loop is faster as vector code, with the comparisons of all positions and loads of single elements."""
        least = self.dialect.worth_vectors
        if loop.op.name != "for" or least is None:
            return False
        insts = list(walk(loop.regions[0]))
        return _arithmetic(insts) >= least * sum(map(_is_note, insts))

    def note(self, inst: Inst) -> None:
        """A failure that is noted behind all iterations: a branch would keep the loop from becoming vector code.

        Until then the smallest number is in memory of this function, of which LLVM makes a register.
        """
        bad, good = inst.regions
        condition = self.values[inst.args[0]]
        words: list[tuple[Value, Value, str, str]] = []
        for step in bad.insts[:-1]:
            if step.op.name != "atomic_minimum":
                self.inst(step)
                continue
            pointer, index, value = step.args
            memory = "" if words and self.is_known(value) else self.smallest(condition, self.values[value])
            words.append((pointer, index, memory, self.values[value]))
        self.block(good)
        for result, failed, kept in zip(inst.results, bad.terminator.args, good.terminator.args, strict=True):
            operands = f"i1 {condition}, {self.typed(failed)}, {self.typed(kept)}"
            self.values[result] = self.assign(f"select {operands}", result.name or "v")

        def behind() -> None:
            found = [self.assign(f"load i64, ptr {memory}, align 8") if memory else value for *_, memory, value in words]
            fails = self.assign(f"icmp ne i64 {found[0]}, {NOTHING}", "fails")
            yes, join = self.fresh("then", ""), self.fresh("join", "")
            self.line(f"br i1 {fails}, label %{yes}, label %{join}")
            self.open(yes)
            for (pointer, index, *_), number in zip(words, found, strict=True):
                fields = self.address(pointer, index)
                self.line(f"atomicrmw min {fields['pointer']} {fields['address']}, i64 {number} monotonic")
            self.line(f"br label %{join}")
            self.open(join)

        self.last_blocks.append(behind)

    def is_known(self, value: Value) -> bool:
        """Whether the name of a value holds in all blocks; an index is the word that it is converted to."""
        source = value.inst.args[0] if value.inst is not None and value.inst.op.name == "convert_raw" else value
        return source in self.everywhere and self.values[source] == self.values[value]

    def smallest(self, condition: str, number: str) -> str:
        """Memory of the smallest number that there is while a condition holds."""
        memory = self.fresh("noted")
        self.first_block.append(f"  {memory} = alloca i64, align 8")
        self.first_block.append(f"  store i64 {NOTHING}, ptr {memory}, align 8")
        self.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")
        here = self.assign(f"select i1 {condition}, i64 {number}, i64 {NOTHING}", "here")
        so_far = self.assign(f"load i64, ptr {memory}, align 8", "so_far")
        least = self.assign(f"call i64 @llvm.smin.i64(i64 {so_far}, i64 {here})", "least")
        self.line(f"store i64 {least}, ptr {memory}, align 8")
        return memory

    def finish(self) -> None:
        """What stands behind everything else, also where a branch leaves the function."""
        if self.exit:
            self.line(f"br label %{self.exit}")
            self.open(self.exit)
        for write in self.last_blocks:
            write()

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
        space = self.dialect.spaces["shared"]
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
        base, behind = _apart(index) if self.dialect.as_written else (index, 0)
        address = self.element_address(fields, self.values[pointer], self.type(index.type), self.values[base])
        if behind:
            address = self.element_address(fields, address, self.type(index.type), str(behind))
        return fields | {"address": address, "align": dtype.itemsize}

    def element_address(self, fields: dict[str, str | int], address: str, index_type: str, index: str) -> str:
        """The address of an element, which is computed once where LLVM does not see that it is there already."""
        key = (address, index)
        for scope in self.addresses if self.dialect.as_written else ():
            if key in scope:
                return scope[key]
        named = {"type": fields["type"], "pointer": fields["pointer"]}
        text = self.dialect.element.format(address=address, index_type=index_type, index=index, **named)
        found = self.addresses[-1][key] = self.assign(text, "at")
        return found

    def access(self, pointer: Value, index: Value, type: Type) -> dict[str, str | int]:
        """Template fields of a load or store of the type, which may be several elements."""
        fields = self.address(pointer, index)
        memory = self.type(type, memory=True)
        wanted = self.dialect.pointer.format(type=memory, space=self.space(pointer))
        if wanted != fields["pointer"]:
            fields["address"] = self.assign(f"bitcast {fields['pointer']} {fields['address']} to {wanted}", "at")
        return fields | {"type": memory, "pointer": wanted}

    def space(self, pointer: Value) -> str:
        """What stands in the type of a pointer to the same memory."""
        return self.dialect.spaces[pointer.type.space] if isinstance(pointer.type, PointerType) else ""

    def unchanged(self, pointer: Value) -> str:
        """What stands behind a load through a pointer whose memory nobody writes while the kernel runs."""
        note = self.dialect.unchanged
        if not note or not self.is_unchanged(pointer):
            return ""
        self.declarations.add(f"{note.rpartition(' ')[2]} = !{{}}")
        return note

    def is_unchanged(self, pointer: Value) -> bool:
        """Whether nobody writes the memory of a pointer while the kernel runs."""
        return pointer in self.function.params and pointer not in self.written and not self.function.fact("waits")

    def load(self, inst: Inst) -> None:
        result = inst.result
        pointer, index = inst.args
        fields = self.access(pointer, index, result.type)
        name = self.assign(self.dialect.load.format(**fields) + self.unchanged(pointer), result.name or "v")
        if inst in self.kept:
            name = self.assign(f"freeze {fields['type']} {name}", "kept")
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

    def prefetch(self, inst: Inst) -> None:
        """An instruction for each line; the addresses may be those of nothing."""
        if not self.dialect.prefetch:
            raise BackendError(f"prefetch: a {self.dialect.device} has no form of it")
        self.declarations.add(f"declare void @{self.dialect.prefetch}(ptr, i32, i32, i32)")
        pointer, index = inst.args
        ahead = inst.attr("ahead")
        # Without "inbounds": it may lie behind the end of the array.
        of = f"{element_type(element(pointer.type), True)}, {self.typed(pointer)}"
        here = self.assign(f"getelementptr {of}, {self.typed(index)}", "here")
        for distance in range(ahead, ahead + inst.attr("bytes"), self.dialect.line):
            there = self.assign(f"getelementptr i8, ptr {here}, i64 {distance}", "ahead") if distance else here
            self.line(f"call void @{self.dialect.prefetch}(ptr {there}, i32 0, i32 3, i32 1)")

    def together(self, inst: Inst) -> list[str]:
        """The region of `lanes`: once, on vectors of one element of each lane; of a single lane as it is."""
        (region,) = inst.regions
        count = inst.attr("lanes")
        number, *params = region.params
        vectors = [a for a in inst.args if isinstance(a.type, VectorType)]
        carried = [a for a in inst.args if not isinstance(a.type, VectorType)]
        given: list[str] = []
        for vector, share in zip(vectors, lane_reach(inst), strict=True):
            for first in share_of_lane(share, 0):
                given.append(self.picked(vector, [first + share.step * lane for lane in range(count)]))
        if count == 1 and len(carried) == len(inst.results):
            self.bind([number, *params], ["0", *given, *self.operands(carried)])
            return self.operands(self.block(region))
        if carried or any(step.regions for step in region.insts):
            raise BackendError("a CPU computes lanes together: they hand nothing on, and have no loops or branches")
        wide = {param: Value(_of_lanes(param.type, count), param.name) for param in params}
        self.bind(list(wide.values()), given)
        for step in region.insts[:-1]:
            args = tuple(wide[a] if a in wide else self.repeated(a, count) for a in step.args)
            made = Inst(step.op, args, step.attrs, tuple(_of_lanes(t, count) for t in step.types), (), step.loc)
            wide.update(zip(step.results, made.results, strict=True))
            self.inst(made)
        rest = iter(self.operands([wide[a] for a in region.terminator.args]))
        return [self.joined(result.type, [next(rest) for _ in range(_lanes(result.type) // count)]) for result in inst.results]

    def picked(self, vector: Value, lanes: Sequence[int]) -> str:
        """Some elements of a vector, as a vector, or the only one."""
        if len(lanes) == 1:
            return self.assign(f"extractelement {self.typed(vector)}, i32 {lanes[0]}", "lane")
        if list(lanes) == list(range(_lanes(vector.type))):
            return self.values[vector]
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        operands = f"{self.typed(vector)}, {self.type(vector.type)} poison"
        return self.assign(f"shufflevector {operands}, <{len(lanes)} x i32> <{mask}>", "lanes")

    def repeated(self, value: Value, count: int) -> Value:
        """A value of before the region in every lane."""
        wide = Value(_of_lanes(value.type, count), value.name)
        type = self.type(wide.type)
        one = self.assign(f"insertelement {type} poison, {self.typed(value)}, i32 0")
        self.values[wide] = self.assign(f"shufflevector {type} {one}, {type} poison, <{count} x i32> zeroinitializer")
        return wide

    def joined(self, type: Type, shares: Sequence[str]) -> str:
        """The elements of all lanes, one lane after the other, of at most two each."""
        if len(shares) == 1:
            return shares[0]
        first, second = shares
        count = _lanes(type) // 2
        part = self.type(_of_lanes(scalar(element(type)), count))
        mask = ", ".join(f"i32 {lane // 2 + lane % 2 * count}" for lane in range(2 * count))
        return self.assign(f"shufflevector {part} {first}, {part} {second}, <{2 * count} x i32> <{mask}>")

    def transposed(self, inst: Inst) -> list[str]:
        """Shuffles of two vectors each, as many rounds as the number of vectors has bits.

        First pieces of 16 bytes change places.  What then moves stays inside of its piece, which all processors do in one
        instruction.
        """
        type, count = self.type(inst.args[0].type), len(inst.args)
        rows = self.operands(inst.args)
        piece = min(count, max(16 // element(inst.args[0].type).itemsize, 1))

        def shuffled(a: int, b: int, lanes: list[int]) -> str:
            mask = ", ".join(f"i32 {lane}" for lane in lanes)
            return self.assign(f"shufflevector {type} {rows[a]}, {type} {rows[b]}, <{count} x i32> <{mask}>", "turned")

        half = count // 2
        while half >= piece:
            low = [k - half + count if k & half else k for k in range(count)]
            made = {}
            for a in (k for k in range(count) if not k & half):
                made[a] = shuffled(a, a + half, low)
                made[a + half] = shuffled(a, a + half, [k + half for k in low])
            rows = [made[k] for k in range(count)]
            half //= 2
        for _ in range(piece.bit_length() - 1):
            low = [k - k % piece + k % piece // 2 + k % 2 * count for k in range(count)]
            high = [k + piece // 2 for k in low]
            firsts = (first + k for first in range(0, count, piece) for k in range(piece // 2))
            rows = [shuffled(a, a + piece // 2, lanes) for a in firsts for lanes in (low, high)]
        return rows

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


def _apart(index: Value) -> tuple[Value, int]:
    """An index as another one and a constant: sums of indices do not overflow, so an address is as far from another one."""
    behind = 0
    while index.inst is not None and index.inst.op.name in ("add", "subtract"):
        x, y = index.inst.args
        if y.inst is None or y.inst.op.name != "const":
            break
        number = int(y.inst.attr("value"))
        index, behind = x, behind + (number if index.inst.op.name == "add" else -number)
    return index, behind


def _kept(block: Block) -> Iterator[Inst]:
    """The loads of what a block stores again where it was, unless something else takes its place.

    LLVM would store what takes its place under a mask. That is slow on processors without AVX-512, and what is loaded there
    afterwards waits for it to reach the cache.
    """
    for inst in block.insts:
        if inst.op.name != "store":
            continue
        pointer, index, value = inst.args[:3]
        if value.inst is not None and value.inst.op.name == "where":
            for arm in value.inst.args[1:]:
                if arm.inst is not None and arm.inst.op.name == "load" and arm.inst.args == (pointer, index):
                    yield arm.inst


def _arithmetic(insts: Sequence[Inst]) -> int:
    """How many operations on floats there are."""
    return sum(i.op.kind == "elementwise" and kind_of(i.types[0]) == "f" for i in insts)


_NEIGHBOURS = 3
"""Loads of a loop that has something to do besides waiting for memory."""


def _is_within_row(loop: Inst) -> bool:
    """Whether a loop computes floats of a row from a place within it on, of several that lie along memory."""
    lower = loop.args[0]
    block = loop.regions[0]
    accesses = [i for i in block.insts if i.op.name in ("load", "store")]
    stores = [i for i in accesses if i.op.name == "store"]
    if (lower.inst is not None and lower.inst.op.name == "const") or len(loop.args) > 3 or len(stores) != 1:
        return False
    if any(i.op.kind not in ("elementwise", "const") and i not in accesses for i in block.insts[:-1]):
        return False
    type = stores[0].args[2].type
    loads = [i for i in accesses if i.op.name == "load"]
    if type not in (scalar(F32), scalar(F64)) or len(loads) < _NEIGHBOURS or any(i.result.type != type for i in loads):
        return False
    steps = _steps(block)
    return all(steps.get(i.args[1], 0) == 1 for i in accesses)


def _goes_back_in_groups(loop: Inst) -> bool:
    """Whether a loop loads several elements side by side, each time some before those of the last time.

    LLVM 22 would end the process: two of its ways to find out what vectors of 16-bit integers of such groups cost differ.
    """
    block = loop.regions[0]
    steps = _steps(block)
    found = Counter((i.args[0], steps.get(i.args[1])) for i in block.insts if i.op.name == "load")
    return any(count > 1 and step is not None and step < -1 for (_, step), count in found.items())


def _steps(block: Block) -> dict[Value, int | None]:
    """How far what a loop computes of its index moves with each iteration, if that is known now."""
    steps: dict[Value, int | None] = {block.params[0]: 1}
    for inst in block.insts[:-1]:
        moves = [steps.get(a, 0) for a in inst.args]
        signs = {"add": (1, 1), "subtract": (1, -1)}.get(inst.op.name)
        step = None if any(moves) or None in moves else 0
        if signs and None not in moves:
            step = sum(sign * (move or 0) for sign, move in zip(signs, moves, strict=True))
        elif inst.op.name == "multiply" and None not in moves and step is None:
            # One of both moves, and the other is the same in each iteration.
            factors = [a.inst.attr("value") for a, move in zip(inst.args, moves, strict=True) if not move and a.inst is not None
                       and a.inst.op.name == "const"]  # fmt: skip
            step = factors[0] * sum(move or 0 for move in moves) if len(factors) == 1 else None
        steps.update(dict.fromkeys(inst.results, step))
    return steps


def _is_note(inst: Inst) -> bool:
    """Whether it is a branch that notes a failure and does nothing else."""
    if inst.op.name != "if":
        return False
    bad, good = inst.regions
    if bad.terminator.op.name == "return":
        return False
    pure = all(i.op.kind in ("elementwise", "const") or i.op.name == "atomic_minimum" for i in bad.insts[:-1])
    return pure and len(good.insts) == 1 and any(i.op.name == "atomic_minimum" for i in bad.insts)


def _lanes(type: Type) -> int:
    if not isinstance(type, VectorType):
        raise InternalError(f"a vector of type {type}")
    return type.lanes


def _of_lanes(type: Type, count: int) -> VectorType:
    if not isinstance(type, ScalarType):
        raise BackendError(f"a CPU computes lanes together: a value of type {type} has no vector")
    return VectorType(type.dtype, count)
