"""Plans as Python functions: each step of a plan becomes a line, written once a plan.

What a call of a ready plan costs is decided here, so nothing is looked up that can be known
when the function is written: lengths are local variables, dtypes and kernels are globals of
the function, and checks are comparisons.  The text can be read: see `Program.source`.

What depends on lengths and strides alone is computed once for a signature: a program for the arrays
of one library has a function `bind` that computes it and makes the function that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.errors import NOTHING, CompileError, InternalError, PytocuError, is_note
from pytocu.ir.dims import Dim, DimLike, ends_of, symbols
from pytocu.ir.types import dtype_named, is_strided
from pytocu.lazy import lazy
from pytocu.runtime import arrays
from pytocu.runtime.plan import KernelSpec, Plan
from pytocu.runtime.program_blocks import BLOCKS, last_launches, leaves, observed, walked, write_block
from pytocu.runtime.program_text import CHECKS, Text
from pytocu.runtime.program_values import (
    COMPARISONS,
    PYTHON_OPERATORS,
    bounds_of,
    clamped,
    converter,
    python_part,
    result_class,
    truth,
)
from pytocu.runtime.program_views import Views, view_part
from pytocu.runtime.strides import laid_out
from pytocu.runtime.templates import Access


class Program:
    """A plan as Python functions, each of which is compiled when it is first asked for.

    A call that no other one follows needs one of them.

    Parameters
    ----------
    plan : Plan
    access : Access
        How arrays are read and made.
    prefix : sequence of str
        Names of the parameters before the plan's arguments (``infos``, ``stream``).
    """

    def __init__(self, plan: Plan, access: Access, prefix: Sequence[str]):
        self._plan = plan
        self._access = access
        self._prefix = prefix

    @lazy
    def _text(self) -> tuple[str, dict[str, Any]]:
        writer = _Writer(self._plan, self._access)
        return writer.write(self._prefix), writer.globals

    @property
    def source(self) -> str:
        """The text of `run` and `bind`."""
        return self._text[0]

    @lazy
    def _functions(self) -> dict[str, Any]:
        source, names = self._text
        return self._compiled(source, {**names, **self._access.loaded()})

    def _compiled(self, source: str, names: Mapping[str, Any]) -> dict[str, Any]:
        namespace: dict[str, Any] = {**CHECKS, **self._access.globals, **names}
        exec(compile(source, f"<plan of {self._plan.name}>", "exec"), namespace)
        return namespace

    @lazy
    def run(self) -> Callable[..., Any]:
        """``run(*prefix, *arguments)``, where what `Access.given` names follows each array."""
        return self._functions["run"]

    @lazy
    def bind(self) -> Callable[..., Callable[..., Any] | None]:
        """`run` for arrays of these shapes and strides.

        With the same parameters; None where lengths do not fit together, which only the generic program puts into words.
        Where `Access.bound` says so.
        """
        return self._functions["bind"]

    @lazy
    def suits(self) -> Callable[..., bool]:
        """With the same parameters: whether the facts that the code relies on hold for these sizes."""
        writer = _Writer(self._plan, self._access)
        return self._compiled(writer.write_suits(self._prefix), writer.globals)["suits"]


class _Writer(Text):
    def __init__(self, plan: Plan, access: Access):
        super().__init__(plan, access)
        self.views = Views()
        # What is known of Python scalars: the classes they may have.
        self.weak = {n: p.dtype for n, p in enumerate(plan.parameters) if p.kind == "weak"}
        self.observed = observed(plan)
        self.walked = walked(plan)
        # A launch with nothing on the device behind it.
        self.launched = False

    def write(self, prefix: Sequence[str]) -> str:
        """The function that runs the plan."""
        for template in self.access.setup:
            each = "{n}" in template
            self.lines.extend([self.read(template, n) for n in self.arrays()] if each else [template])
        for mask in sorted({self.mask(n) for n in self.arrays()} - {0}) if self.access.misaligned else ():
            pointers = " | ".join(self.read(self.access.pointer, n) for n in self.arrays() if self.mask(n) == mask)
            self.lines.append(self.access.misaligned.format(pointers=pointers, mask=mask))
        self.unpack_lengths()
        if self.access.shared:
            self.compare_memory()
        last = {} if self.access.keep else last_launches(self.plan)
        for position, step in enumerate(self.plan.steps):
            if step[0] in BLOCKS:
                self.launched = False
                write_block(self, position, step)
                continue
            first = len(self.lines)
            self.step(position, step)
            if position in last:
                self.lines.append(f"del {', '.join(f'v{slot}' for slot in last[position])}")
            if self.depth:
                indent = "    " * self.depth
                self.lines[first:] = [indent + line.replace("\n", f"\n{indent}") for line in self.lines[first:]]
        temporaries = [slot for slot in self.allocated if slot not in leaves(self.plan.tree)]
        if temporaries and self.access.keep:
            self.lines.append(self.access.keep.format(made=f"({''.join(f'v{slot}, ' for slot in temporaries)})"))
        self.lines.append(f"return {self.tree(self.plan.tree)}")
        if not self.access.bound:
            return self.function("run", prefix)
        parameters = self.parameters(prefix)
        inner = self.function("run", prefix).splitlines()
        self.lines = [*self.head, *inner, "return run"]
        # For one call; who calls again keeps what `bind` gave.
        run = f"    run = bind({parameters})\n    return NotImplemented if run is None else run({parameters})\n"
        return f"{self.function('bind', prefix)}\ndef run({parameters}):\n{run}"

    def step(self, position: int, step: tuple[Any, ...]) -> None:
        add = self.lines.append
        match step:
            case ("launch", number, slots):
                self.launch(number, slots)
            case ("allocate", slot, dtype, shape, layout, is_scalar):
                element = dtype_named(dtype)
                names = {
                    "make": f"make{slot}",
                    "dtype": self.constant(self.access.dtype(element), f"dtype_{dtype}_"),
                    "element": self.constant(element, f"element_{dtype}_"),
                    "order": repr(layout),
                    "axes": repr(laid_out(shape, layout)[1]),
                }
                template = self.access.allocate[layout if layout in ("C", "F") else "other"]
                if layout not in ("C", "F") and "{axes}" in template:
                    # A view of an array in row-major order.
                    shape = laid_out(shape, layout)[0]
                self.early.append(f"shape{slot} = {self.dims(shape)}")
                if self.access.maker:
                    self.early.append(self.access.maker.format(shape=f"shape{slot}", **names))
                # What a step that is partly made has put into its memory stays there.
                stays = self.open and self.open[-1][1].startswith("step") and not self.open[-1][1].startswith("steps")
                made = template.format(made=f"v{slot}", shape=f"shape{slot}", **names)
                add(f"if {self.open[-1][1]}: {made}" if stays else made)
                self.kind[slot] = "scalar" if is_scalar else "array"
                self.allocated[slot] = self.depth
                if slot in self.walked and not self.depth and self.access.made_pointer != "{made}_pointer":
                    # Each step would look for it again.
                    add(f"v{slot}_pointer = {self.pointer(slot)}")
                    self.pointed.add(slot)
            case ("failures", slot, count):
                self.words.add(slot)
                self.lines.extend(self.access.failures.format(made=f"v{slot}", count=count).splitlines())
            case ("failed", slot, at, *_):
                if self.access.failed:
                    number = next(n for n, need in enumerate(self.failures.needs) if need.at == at)
                    add(self.access.failed.format(made=f"v{slot}", at=at, number=number, nothing=NOTHING))
            case ("dim", slot, dim):
                self.early.append(f"v{slot} = {self.dim(dim)}")
            case ("stride", slot, source, axis):
                strides, shape = self.read(self.access.strides, source), self.read(self.access.shape, source)
                # An axis that is not walked may state any stride.
                self.early.append(f"v{slot} = {strides}[{axis}] // {self.itemsize(source)} if {shape}[{axis}] > 1 else 0")
            case ("check", "broadcast", dims, shapes):
                left, right = (self.dim(d) for d in dims)
                listed = "(" + "".join(f"{self.dims(s)}, " for s in shapes) + ")"
                self.check(f"{left} != {right}", f"fail_broadcast({position}, {listed})")
            case ("check", "assign" | "mask" | "place" | "output" as kind, dims, shapes):
                target, value = (self.dim(d) for d in dims)
                given, wanted = (self.dims(s) for s in shapes)
                self.check(f"{target} != {value}", f"fail_assign({position}, {given}, {wanted}, {kind!r})")
            case ("check", "index", (index, size, axis), steps) if steps:
                self.check_steps(position, index, size, axis, steps)
            case ("check", "index", dims, _):
                index, size, axis = (self.dim(d) for d in dims)
                self.check(f"not -{size} <= {index} < {size}", f"fail_index({position}, {index}, {size}, {axis})")
            case ("check", "equal" | "fits" | "meets" as kind, dims, (error, sentence, *parts)):
                said = [part for part in parts if isinstance(part, str) or is_note(part)]
                shapes = [part for part in parts if part not in said]
                fail = self.failures.lengths(error, sentence, position, kind, said)
                values = ", ".join(self.dims(part) for part in (dims, *shapes))
                self.check(f"{self.dim(dims[0])} != {self.dim(dims[1])}", f"{self.constant(fail, 'fail')}({values})")
            case ("warn", dims, path, sentence, modules, level):
                give = self.constant(self.failures.warning(position, path, sentence, modules, level), "give")
                add(f"{give}({self.dims(dims)})")
            case ("check", "squeeze", dims, _):
                self.check(f"{self.dim(dims[0])} != 1", f"fail_squeeze({position})")
            case ("check", str(kind), dims, _) if kind.startswith("empty "):
                self.check(f"{self.dim(dims[0])} == 0", f"fail_empty({position}, {kind.removeprefix('empty ')!r})")
            case ("writable", source, what, *caught):
                if self.access.writable:
                    add(self.access.writable.format(n=source, what=what, position=position, caught=bool(caught)))
                if self.access.shared and is_strided(self.plan.parameters[source].layout):
                    self.globals["repeats_elements"] = arrays.repeats_elements
                    shape, strides = self.read(self.access.shape, source), self.read(self.access.strides, source)
                    self.check(f"repeats_elements({shape}, {strides}, {self.itemsize(source)})", self.access.shared)
            case ("read_length", slot, name, limit):
                self.read_length(position, slot, name, limit)
            case ("bind", slot, names, length):
                self.bind(slot, names, length)
            case ("strides", source, names):
                self.strides(source, names)
            case ("library", slots, name, sources, options, types):
                self.library(position, slots, name, sources, options, types)
            case ("memory", slot, sources, span):
                self.memory(span, sources, f"v{slot}_pointer")
            case ("offset", slot, source, memory):
                add(f"v{slot} = ({self.read(self.access.pointer, source)} - v{memory}_pointer) // {self.itemsize(source)}")
            case ("convert", slot, source, dtype, wrap):
                element = dtype_named(dtype).numpy
                call = f"{self.constant(converter(element, wrap), 'convert')}(v{source})"
                # A kernel's parameter is converted as it is packed, so a value in range needs no NumPy scalar.
                bounds = None if wrap or slot in self.observed else bounds_of(element, self.weak.get(source, ""))
                if bounds is not None:
                    call = f"v{source} if {bounds[0]} <= v{source} <= {bounds[1]} else {call}"
                add(f"try: v{slot} = {call}")
                fail = self.settled(f"{self.constant(self.failures.conversion(position), 'fail')}(error)")
                add(f"except (OverflowError, ValueError, TypeError) as error: {fail}")
            case ("part", slot, source, which):
                words = f".view({self.constant(np.uint16, 'uint16_')})" if which == "bits" else f".{which}"
                add(f"v{slot} = v{source}{words}")
            case ("read", slot, source):
                self.globals["truth"] = truth
                add(f"v{slot} = truth({self.access.scalar.format(made=f'v{source}')})")
                self.notice()
                flags = [steps for steps, flag in self.flags.items() if flag == source and self.numbers[steps] is None]
                for steps in flags:
                    pointer = self.access.made_pointer.format(made=f"v{source}")
                    add(f"if {steps}.noting: {self.access.note_flag.format(steps=steps, pointer=pointer)}")
            case ("python", slot, name, sources):
                values = [f"v{s}" for s in sources]
                if name in PYTHON_OPERATORS:
                    made = PYTHON_OPERATORS[name].format(*values)
                else:
                    function = python_part().PYTHON_FUNCTIONS[name].function
                    made = f"{self.constant(function, name)}({', '.join(values)})"
                add(f"try: v{slot} = {made}")
                raised = "(ArithmeticError, NotImplementedError, TypeError, ValueError)"
                add(f"except {raised} as error: {self.fail(position)}")
                self.weak[slot] = "bool" if name in COMPARISONS else result_class(name, sources, self.weak)
            case ("const", slot, value, dtype):
                made = dtype_named(dtype).numpy.type(value) if dtype else value
                add(f"v{slot} = {self.constant(made, 'constant')}")
                if dtype is None:
                    self.weak[slot] = type(value).__name__
            case ("view", slot, source, op, attrs):
                self.views.add(self, slot, source, op, attrs)
            case _:
                raise InternalError(f"a plan has no step {step[0]}")

    def bind(self, slot: int, names: Sequence[str], length: DimLike | None) -> None:
        """A Python int gets names; what is computed of them belongs to the call, or to the step of a loop."""
        self.early = self.lines
        made = [self.lengths.setdefault(name, f"n{len(self.lengths)}") for name in names]
        if length is not None:
            self.globals["clamped"] = clamped
            self.lines.append(f"{made[0]} = clamped(v{slot}, {self.dim(length)})")
            return
        for one, sign in zip(made, ("", "-"), strict=False):
            self.lines.append(f"{one} = {sign}v{slot} if {sign}v{slot} > 0 else 0")

    def strides(self, source: int, names: Sequence[str]) -> None:
        """The strides of an argument get names, two each."""
        strides, shape = self.read(self.access.strides, source), self.read(self.access.shape, source)
        for at, name in enumerate(names):
            one = self.lengths.setdefault(name, f"n{len(self.lengths)}")
            sign, axis = "-" if at % 2 else "", at // 2
            self.early.append(
                f"{one} = max({sign}{strides}[{axis}] // {self.itemsize(source)}, 0) if {shape}[{axis}] > 1 else 0"
            )

    def check_steps(self, position: int, index: DimLike, size: DimLike, axis: int, steps: Sequence[Any]) -> None:
        """An index of every step of loops, looked at in the first and the last ones unless these do not tell."""
        ends = [end for bound in (size - 1 - index, index + size) for end in ends_of(bound, steps) or (-1,)]
        inside = " and ".join(f"{self.dim(end)} >= 0" for end in dict.fromkeys(ends))
        own = {name for name, _, _ in steps}
        wanted = {name: None for dim in (index, size, *(count for _, count, _ in steps)) for name in symbols(dim)}
        sizes = ", ".join(f"{name!r}: {self.lengths[name]}" for name in wanted if name not in own)
        fail = self.failures.steps(position, index, size, axis, steps)
        self.check(f"not ({inside})", f"{self.constant(fail, 'fail')}({{{sizes}}})")

    def notice(self) -> None:
        """What was wrong with the data is raised before the host goes on with what was made of them."""
        if self.words and self.access.noticed:
            self.lines.append(self.access.noticed)

    def read_length(self, position: int, slot: int, name: str, limit: DimLike) -> None:
        """The host waits for a number; what follows depends on more than lengths and strides of arguments."""
        self.lengths[name] = length = f"n{len(self.lengths)}"
        self.lines.append(f"{length} = {self.access.word.format(pointer=self.access.made_pointer.format(made=f'v{slot}'))}")
        self.notice()
        if not isinstance(limit, Dim):
            self.lines.append(f"if {length} > {limit}: {self.constant(self.failures.too_long(position), 'fail')}({length})")
        self.early = self.lines

    def library(
        self, position: int, slots: Sequence[int], name: str, sources: Sequence[int], options: Any, types: Sequence[Any]
    ) -> None:
        """A call of the caller's library."""
        self.launched = False
        operands = "".join(f"{self.leaf(s) if s in self.views.parts else f'v{s}'}, " for s in sources)
        given = self.constant({k: v for k, v in options.items() if not isinstance(v, Dim)}, "options")
        lengths = "".join(f", {k!r}: {self.dim(v)}" for k, v in options.items() if isinstance(v, Dim))
        given = f"{{**{given}{lengths}}}" if lengths else given
        results = "".join(f"({dtype_named(dtype).numpy.name!r}, {self.dims(shape)}), " for dtype, shape in types)
        call = self.access.library.format(name=name, operands=f"({operands})", options=given, results=f"({results})")
        targets = "".join(f"v{slot}, " for slot in slots)
        if "{pointers}" in self.access.library_targets:
            targets = self.access.library_targets.format(made=targets, pointers="".join(f"v{s}_pointer, " for s in slots))
        self.lines.append(f"try: {targets} = {call}")
        failures = "(CompileError, ArithmeticError, TypeError, ValueError, RuntimeError)"
        self.globals["CompileError"] = CompileError
        self.lines.append(f"except {failures} as error: {self.fail(position)}")
        self.kind.update(dict.fromkeys(slots, "array"))

    def launch(self, number: int, slots: Sequence[int]) -> None:
        spec = self.plan.kernels[number]
        values = ", ".join(self.parameter(s, w) for s, w in zip(slots, spec.parameters, strict=True))
        work, cost, count = f"work{number}", f"cost{number}", f"blocks{number}"
        grid = ", ".join(map(self.dim, spec.grid))
        self.early.append(f"{work} = {self.dim(spec.work)}")
        text = self.access.launch
        if "{cost}" in text + self.access.note:
            # An iteration without elements writes its results nevertheless: the sum of nothing is 0.
            self.early.append(f"{cost} = {'1' if spec.cost == 1 else f'{self.dim(spec.cost)} or 1'}")
        if "{blocks}" in text:
            blocks = f"tiles({grid}, {spec.block}) if {work} else 0" if grid else _blocks(work, spec)
            self.early.append(f"{count} = {blocks}")
        guard = self.open[-1][1] if self.open else ""
        filled = {"number": number, "values": values, "work": work, "cost": cost, "blocks": count, "grid": grid}
        early = "early_" if spec.waits and self.launched and not self.depth else ""
        self.launched = True
        inner = text.format(block=spec.block, early=early, **filled).splitlines()
        for outer, _ in self.open:
            # Where numbers are computed, launches are written of the plan alone.
            if outer and self.numbers[outer] is None:
                inner.append(f"if {outer}.noting: {self.access.note.format(steps=outer, **filled)}")
        lines = [f"if {work}:", *(f"    {line}" for line in inner)]
        if self.access.idle:
            lines += ["else:", f"    {self.access.idle.format(number=number)}"]
        self.lines.extend([f"if {guard}:", *(f"    {line}" for line in lines)] if guard else lines)

    def parameter(self, slot: int, word: str) -> str:
        if word != "pointer":
            return f"v{slot}"
        return f"v{slot}_pointer" if slot in self.words else self.pointer(slot)

    def fail(self, position: int) -> str:
        """What raises `error` at the user's line."""
        return self.settled(f"{self.constant(self.failures.error(position), 'fail')}(error)")

    def tree(self, tree: Any) -> str:
        match tree:
            case int():
                return self.leaf(tree)
            case ("tuple", *members):
                return "(" + "".join(f"{self.tree(m)}, " for m in members) + ")"
            case ("named", path, *members):
                return f"{self.maker(path)}(({''.join(f'{self.tree(m)}, ' for m in members)}))"
            case ("list", *members):
                return "[" + ", ".join(self.tree(m) for m in members) + "]"
            case ("dict", *items):
                return "{" + ", ".join(f"{key!r}: {self.tree(member)}" for key, member in items) + "}"
            case ("if", test, yes, no):
                return f"({self.tree(yes)} if {self.tree(test)} else {self.tree(no)})"
            case ("members", member, kind):
                return f"{self.constant(getattr(view_part(), kind), kind)}({self.leaf(member)})"
            case ("either", member, marks):
                return f"{self.constant(view_part().either, 'either')}({self.leaf(member)}, {self.leaf(marks)})"
            case ("zip", ("named", path, *members)):
                return f"[*map({self.maker(path)}, zip({', '.join(self.tree(m) for m in members)}))]"
            case ("zip", (_, *members)):
                return f"[*zip({', '.join(self.tree(m) for m in members)})]"
            case ("read-only", member):
                return f"{self.constant(view_part().read_only, 'read_only')}({self.tree(member)})"
            case ("str", text):
                return repr(text)
            case _:
                return "None"

    def maker(self, path: Any) -> str:
        kind = python_part().class_at(path)
        if kind is None:
            raise PytocuError(f"results are of the class {path}, which is not loaded: import its module first")
        return self.constant(kind._make, "put_together")

    def leaf(self, slot: int) -> str:
        if slot in self.views.parts:
            return self.views.made(self, slot)
        template = {"scalar": self.access.scalar, "array": self.access.array}.get(self.kind.get(slot, ""), "{made}")
        return template.format(made=f"v{slot}")


def _blocks(work: str, spec: KernelSpec) -> str:
    """How many blocks cover the work, as text."""
    block = spec.tile
    if not block:
        return "0"
    # A shift takes half as long as a division.
    needed = f"({work} + {block - 1}) >> {block.bit_length() - 1}" if block.bit_count() == 1 else f"-(-{work} // {block})"
    # No grid is larger; work that 32 bits count needs none that is.
    return needed if spec.index_bits == 32 else f"min({needed}, {2**31 - 1})"
