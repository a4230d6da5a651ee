"""Plans as Python functions: each step of a plan becomes a line, written once a plan.

What a call of a ready plan costs is decided here, so nothing is looked up that can be known
when the function is written: lengths are local variables, dtypes and kernels are globals of
the function, and checks are comparisons.  The text can be read: see `Program.source`.

What depends on lengths and strides alone is computed once for a signature: a program for the arrays
of one library has a function `bind` that computes it and makes the function that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pytocu.errors import (
    NOTHING,
    CompileError,
    IndexingError,
    InternalError,
    Loc,
    PytocuError,
    ShapeError,
    failure,
    located,
    refuse_repeating,
)
from pytocu.ir.dims import (
    ASSIGNED,
    Atom,
    Dim,
    DimLike,
    assignment_sentence,
    empty_sentence,
    format_shape,
    output_sentence,
    product,
)
from pytocu.ir.types import DType, dtype_named, number_of
from pytocu.record import Record
from pytocu.runtime import arrays
from pytocu.runtime.failures import found
from pytocu.runtime.plan import KernelSpec, Plan, memory_range
from pytocu.runtime.strides import byte_bounds

PYTHON_OPERATORS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}", "floor_divide": "{} // {}",
    "remainder": "{} % {}", "power": "{} ** {}", "negative": "-{}", "positive": "+{}", "absolute": "abs({})",
    "invert": "~{}", "bitwise_and": "{} & {}", "bitwise_or": "{} | {}", "bitwise_xor": "{} ^ {}",
    "left_shift": "{} << {}", "right_shift": "{} >> {}", "equal": "{} == {}", "not_equal": "{} != {}",
    "less": "{} < {}", "less_equal": "{} <= {}", "greater": "{} > {}", "greater_equal": "{} >= {}",
}  # fmt: skip
"""What Python does with Python scalars, by the name of the row."""

_BLOCKS = frozenset({"for", "while", "if", "else", "end", "next", "hand on"})
"""Steps that begin and end loops and branches of the host, and that say what these hand on."""

_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
_REAL = frozenset({"bool", "int", "float"})


def python_part() -> Any:
    """What Python does on the host between kernels, loaded for plans that have such steps."""
    from pytocu.ir import python_functions

    return python_functions


def view_part() -> Any:
    """Views of arguments as results, loaded for plans that have some."""
    from pytocu.runtime import plan_views

    return plan_views


LARGEST_STEP = 2**16
"""Elements that a loop of a kernel goes beyond the last index at most: so many a block of threads has of a row at once."""


class Access(Record):
    """How a program reads arrays and makes new ones.

    Templates of Python text: ``{n}`` is the number of an argument, ``{made}`` the name of a new
    array, ``{dtype}`` and ``{element}`` its library's dtype and :class:`DType`, ``{itemsize}`` the
    bytes of an element.  `allocate` is a statement for each order of elements, `maker` one that states what it calls,
    where that depends on the shape.  Lines of `setup`
    stand at the beginning, those with ``{n}`` once for each array; `misaligned` leaves a call for whose
    arrays ``{pointers}``, joined bit by bit, are no multiples of the word size (``{mask}``: that - 1).
    `launch` starts a kernel on ``{work}`` iterations, on a GPU in ``{blocks}`` blocks of ``{block}`` threads, and
    `idle` stands where a kernel has nothing to do.  `given` are parameters that follow each array.
    `keep` is a statement about arrays that are no results (``{made}`` is a tuple of them).
    `writable` refuses an array that must not be written (``{what}``: NumPy's name for it,
    ``{position}``: the step), and `shared` leaves a call whose arguments are in other memory than
    the plan says; where it is empty, that was compared before.  `failures` makes ``{count}`` words
    in which kernels note what is wrong with the data, and `failed` raises it (``{number}``: of the
    requirement, ``{at}``: its first word); where nobody waits for the kernel, it is empty.  `word` reads an
    int64 at ``{pointer}`` and waits for it, and `library` calls ``{name}`` of the caller's library, which gives
    `library_targets`, by default the arrays.  `bound`
    says that there is a `bind`: see :class:`Program`.  `loaded` gives the globals that the binary has;
    it is asked when the text is compiled, because the binary may still be on its way.
    """

    shape: str
    pointer: str
    strides: str
    allocate: Mapping[str, str]
    made_pointer: str
    launch: str
    scalar: str
    array: str
    globals: Mapping[str, Any]
    dtype: Callable[[DType], Any] = lambda element: element.numpy
    setup: tuple[str, ...] = ()
    misaligned: str = ""
    idle: str = ""
    given: tuple[str, ...] = ()
    keep: str = ""
    writable: str = ""
    shared: str = ""
    failures: str = ""
    failed: str = ""
    word: str = ""
    library: str = ""
    library_targets: str = ""
    maker: str = ""
    bound: bool = False
    loaded: Callable[[], Mapping[str, Any]] = dict


class Launch(Record):
    """How kernels are started, as the fields of :class:`Access` of these names."""

    launch: str
    idle: str
    globals: Mapping[str, Any]
    keep: str = ""
    failures: str = ""
    failed: str = ""
    loaded: Callable[[], Mapping[str, Any]] = dict


class Program(Record):
    """A plan as Python functions.

    Attributes
    ----------
    run : callable
        ``run(*prefix, *arguments)``, where what `Access.given` names follows each array.
    suits : callable
        With the same parameters: whether the facts that the code relies on hold for these sizes.
    bind : callable or None
        With the same parameters: `run` for arrays of these shapes and strides, or None where lengths do
        not fit together, which only the generic program puts into words.
    """

    source: str
    run: Callable[..., Any]
    suits: Callable[..., bool]
    bind: Callable[..., Callable[..., Any] | None] | None = None


def write_program(plan: Plan, access: Access, prefix: Sequence[str]) -> Program:
    """Write a plan as Python functions.

    Parameters
    ----------
    plan : Plan
    access : Access
        How arrays are read and made.
    prefix : sequence of str
        Names of the parameters before the plan's arguments (``infos``, ``stream``).
    """
    writer = _Writer(plan, access)
    source = f"{writer.write(prefix)}\n{_Writer(plan, access).write_suits(prefix)}"
    code = compile(source, f"<plan of {plan.name}>", "exec")
    namespace: dict[str, Any] = {**_CHECKS, **access.globals, **writer.globals, **access.loaded()}
    exec(code, namespace)
    return Program(source, namespace["run"], namespace["suits"], namespace.get("bind"))


class _Writer:
    def __init__(self, plan: Plan, access: Access):
        self.plan = plan
        self.access = access
        self.lines: list[str] = []
        # What depends on lengths and strides alone.
        self.early: list[str] = [] if access.bound else self.lines
        self.head = self.early
        self.globals: dict[str, Any] = {"fail_broadcast": self._fail_broadcast, "fail_index": self._fail_index}
        self.globals |= {"fail_squeeze": self._fail_squeeze, "fail_assign": self._fail_assign}
        self.globals["fail_empty"] = self._fail_empty
        self.globals["check_output"] = self._check_output
        self.globals["raise_found"] = self._raise_found
        self.needs = plan.failures()
        self.words: set[int] = set()
        self.lengths: dict[str, str] = {}
        self.shapes: dict[int, str] = {}
        self.views: dict[int, tuple[int, str, str, str]] = {}
        self.view_dtypes: dict[int, str] = {}
        self.kind: dict[int, str] = {}
        # What is known of Python scalars: the classes they may have.
        self.weak = {n: p.dtype for n, p in enumerate(plan.parameters) if p.kind == "weak"}
        self.observed = _observed(plan)
        # How many loops and branches of the host are open.
        self.depth = 0
        # Memory by the depth at which it is made.
        self.allocated: dict[int, int] = {}

    # Text of lengths.

    def dim(self, dim: DimLike) -> str:
        """A dimension as a Python expression over the local names of lengths."""
        if not isinstance(dim, Dim):
            return str(dim)
        parts: list[str] = []
        for monomial, coefficient in dim.terms:
            factors = [self.atom(a) for a in monomial]
            if coefficient != 1 or not factors:
                factors.insert(0, str(coefficient))
            parts.append("*".join(factors))
        return parts[0] if len(parts) == 1 and "*" not in parts[0] else f"({' + '.join(parts)})"

    def atom(self, atom: Atom) -> str:
        if not atom.args:
            return self.lengths[atom.name]
        a, b = (self.dim(x) for x in atom.args)
        if atom.name in ("min", "max"):
            comparison = "<" if atom.name == "min" else ">"
            # A conditional is several times faster than a call of min or max.
            return f"({a} if {a} {comparison} {b} else {b})"
        return f"({a} {atom.name} {b})"

    def dims(self, shape: Sequence[DimLike]) -> str:
        """A shape as a tuple display."""
        inner = ", ".join(self.dim(d) for d in shape)
        return f"({inner},)" if len(shape) == 1 else f"({inner})"

    def constant(self, value: Any, hint: str) -> str:
        """A global name for an object."""
        for name, known in self.globals.items():
            if known is value:
                return name
        name = f"{hint}{len(self.globals)}"
        self.globals[name] = value
        return name

    # Steps.

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
        last = {} if self.access.keep else _last_launches(self.plan)
        for position, step in enumerate(self.plan.steps):
            if step[0] in _BLOCKS:
                self.block(position, step)
                continue
            first = len(self.lines)
            self.step(position, step)
            if position in last:
                self.lines.append(f"del {', '.join(f'v{slot}' for slot in last[position])}")
            if self.depth:
                indent = "    " * self.depth
                self.lines[first:] = [indent + line.replace("\n", f"\n{indent}") for line in self.lines[first:]]
        temporaries = [slot for slot in self.allocated if slot not in _leaves(self.plan.tree)]
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

    def write_suits(self, prefix: Sequence[str]) -> str:
        """The function that says whether assumptions hold and every index fits the kernels' width."""
        self.early = self.head = self.lines
        self.unpack_lengths()
        for step in self.plan.steps:
            if step[0] == "read_length":
                # As long as it may get.
                self.lengths[step[2]] = self.dim(step[3])
        for name, numbers in self.plan.spans():
            self.memory(name, numbers)
        conditions = [f"{self.dim(f.dim)} {f.relation} {f.number}" for f in self.plan.assumptions]
        for n in self.arrays():
            if self.plan.parameters[n].layout == "S":
                shape, strides = self.read(self.access.shape, n), self.read(self.access.strides, n)
                conditions.append(f"fits_strides({shape}, {strides}, {self.itemsize(n) - 1})")
        if not any(spec.index_bits == 64 for spec in self.plan.kernels):
            conditions.extend(self.fits())
        self.lines.append(f"return {' and '.join(dict.fromkeys(conditions)) or 'True'}")
        return self.function("suits", prefix)

    def fits(self) -> list[str]:
        """Conditions under which every offset, and an index one grid or one step of a loop further, fits 32 bits."""
        limit = 2**31 - 1 - LARGEST_STEP
        conditions = [f"{self.lengths[name]} <= {limit}" for name, _ in self.plan.spans()]
        for n in self.arrays():
            parameter = self.plan.parameters[n]
            if parameter.layout == "S":
                shape, strides = self.read(self.access.shape, n), self.read(self.access.strides, n)
                conditions.append(f"reach({shape}, {strides}) < {limit * dtype_named(parameter.dtype).word.itemsize}")
            else:
                words = dtype_named(parameter.dtype).words
                conditions.append(f"{'*'.join(map(self.dim, parameter.shape)) or '1'} <= {limit // words}")
        for spec in self.plan.kernels:
            elements = self.dim(spec.work) if spec.cost == 1 else f"{self.dim(spec.work)}*{self.dim(spec.cost)}"
            conditions.append(f"2*{elements} < {2**31 - 1 - spec.tile}")
        return conditions

    def function(self, name: str, prefix: Sequence[str]) -> str:
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def {name}({self.parameters(prefix)}):\n{body}\n"

    def parameters(self, prefix: Sequence[str]) -> str:
        parameters = list(prefix)
        for n, parameter in enumerate(self.plan.parameters):
            parameters.append(f"v{n}")
            if parameter.kind == "array":
                parameters.extend(template.format(n=n) for template in self.access.given)
        return ", ".join(parameters)

    def check(self, condition: str, failure: str) -> None:
        """Leave where lengths do not fit together; `failure` says so."""
        if self.depth:
            # Whether it is looked at depends on the branch around it.
            self.lines.append(f"if {condition}: {failure}")
            return
        leave = failure if self.early is self.lines else "return None"
        self.early.append(f"if {condition}: {leave}")

    def arrays(self) -> list[int]:
        return [n for n, p in enumerate(self.plan.parameters) if p.kind == "array"]

    def read(self, template: str, number: int) -> str:
        """A template about an argument, filled in."""
        return template.format(n=number, itemsize=self.itemsize(number))

    def itemsize(self, number: int) -> int:
        return dtype_named(self.plan.parameters[number].dtype).itemsize

    def mask(self, number: int) -> int:
        """The bits of an address that a multiple of the word size does not have."""
        return dtype_named(self.plan.parameters[number].dtype).word.itemsize - 1

    def unpack_lengths(self) -> None:
        wanted: dict[int, dict[int, str]] = {}
        for name, number, axis in self.plan.symbols:
            self.lengths[name] = f"n{len(self.lengths)}"
            wanted.setdefault(number, {})[axis] = self.lengths[name]
        for number, axes in wanted.items():
            ndim = len(self.plan.parameters[number].shape)
            names = ", ".join(axes.get(a, "_") for a in range(ndim))
            self.early.append(f"{names}{',' if ndim == 1 else ''} = {self.read(self.access.shape, number)}")

    def compare_memory(self) -> None:
        """Leave where arguments share memory with a written one in another way than the plan says."""
        plan = self.plan
        together = {n: numbers for _, numbers in plan.sharing for n in numbers}
        ends: dict[int, tuple[str, str]] = {}
        for written in plan.written:
            for other, parameter in enumerate(plan.parameters):
                if parameter.kind != "array" or other == written or (other in plan.written and other < written):
                    continue
                pointer, pointer_other = (self.read(self.access.pointer, n) for n in (written, other))
                if other in together.get(written, ()):
                    for template in (self.access.shape, self.access.strides):
                        self.check(f"{self.read(template, other)} != {self.read(template, written)}", self.access.shared)
                    self.lines.append(f"if {pointer_other} != {pointer}: {self.access.shared}")
                    continue
                low, high = self.extent(written, ends)
                low_other, high_other = self.extent(other, ends)
                least, most = f"least{written}_{other}", f"most{written}_{other}"
                self.early.append(f"{least}, {most} = {low} - {high_other}, {high} - {low_other}")
                self.lines.append(f"if {least} < {pointer_other} - {pointer} < {most}: {self.access.shared}")

    def extent(self, number: int, known: dict[int, tuple[str, str]]) -> tuple[str, str]:
        """Where an argument's elements begin and end, in bytes from its address."""
        if number not in known:
            parameter = self.plan.parameters[number]
            itemsize = self.itemsize(number)
            known[number] = ("0", f"end{number}")
            if parameter.layout == "S":
                known[number] = (f"low{number}", f"end{number}")
                self.globals["byte_bounds"] = byte_bounds
                arguments = f"{self.read(self.access.shape, number)}, {self.read(self.access.strides, number)}, {itemsize}"
                self.early.append(f"low{number}, end{number} = byte_bounds({arguments})")
            else:
                self.early.append(f"end{number} = {self.dim(product(parameter.shape) * itemsize)}")
        return known[number]

    def memory(self, span: str, numbers: Sequence[int], pointer: str = "_") -> None:
        """The first address of memory that arguments share, and how many elements it has."""
        self.globals["memory_range"] = memory_range
        self.lengths[span] = f"n{len(self.lengths)}"
        self.lines.append(f"{pointer}, {self.lengths[span]} = memory_range(({''.join(f'infos[{n}], ' for n in numbers)}))")

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
                    "order": repr("F" if layout == "F" else "C"),
                }
                template = self.access.allocate["F" if layout == "F" else "C"]
                self.early.append(f"shape{slot} = {self.dims(shape)}")
                if self.access.maker:
                    self.early.append(self.access.maker.format(shape=f"shape{slot}", **names))
                add(template.format(made=f"v{slot}", shape=f"shape{slot}", **names))
                self.kind[slot] = "scalar" if is_scalar else "array"
                self.allocated[slot] = self.depth
            case ("failures", slot, count):
                self.words.add(slot)
                self.lines.extend(self.access.failures.format(made=f"v{slot}", count=count).splitlines())
            case ("failed", slot, at, *_):
                if self.access.failed:
                    number = next(n for n, need in enumerate(self.needs) if need.at == at)
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
            case ("check", "index", dims, _):
                index, size, axis = (self.dim(d) for d in dims)
                self.check(f"not -{size} <= {index} < {size}", f"fail_index({position}, {index}, {size}, {axis})")
            case ("check", "equal" | "fits", dims, (error, sentence)):
                fail = partial(self._fail_lengths, error, sentence, position)
                values = f"({''.join(f'{self.dim(d)}, ' for d in dims)})"
                self.check(f"{self.dim(dims[0])} != {self.dim(dims[1])}", f"{self.constant(fail, 'fail')}{values}")
            case ("check", "squeeze", dims, _):
                self.check(f"{self.dim(dims[0])} != 1", f"fail_squeeze({position})")
            case ("check", str(kind), dims, _) if kind.startswith("empty "):
                self.check(f"{self.dim(dims[0])} == 0", f"fail_empty({position}, {kind.removeprefix('empty ')!r})")
            case ("writable", source, what):
                if self.access.writable:
                    add(self.access.writable.format(n=source, what=what, position=position))
                if self.access.shared and self.plan.parameters[source].layout == "S":
                    self.globals["repeats_elements"] = arrays.repeats_elements
                    shape, strides = self.read(self.access.shape, source), self.read(self.access.strides, source)
                    self.check(f"repeats_elements({shape}, {strides}, {self.itemsize(source)})", self.access.shared)
            case ("read_length", slot, name, limit):
                self.read_length(position, slot, name, limit)
            case ("library", slots, name, sources, options, types):
                self.library(position, slots, name, sources, options, types)
            case ("memory", slot, sources, span):
                self.memory(span, sources, f"v{slot}_pointer")
            case ("offset", slot, source, memory):
                add(f"v{slot} = ({self.read(self.access.pointer, source)} - v{memory}_pointer) // {self.itemsize(source)}")
            case ("convert", slot, source, dtype, wrap):
                element = dtype_named(dtype).numpy
                call = f"{self.constant(_converter(element, wrap), 'convert')}(v{source})"
                # A kernel's parameter is converted as it is packed, so a value in range needs no NumPy scalar.
                bounds = None if wrap or slot in self.observed else _bounds(element, self.weak.get(source, ""))
                if bounds is not None:
                    call = f"v{source} if {bounds[0]} <= v{source} <= {bounds[1]} else {call}"
                add(f"try: v{slot} = {call}")
                add(f"except (OverflowError, ValueError, TypeError) as error: {self.failure(position)}(error)")
            case ("part", slot, source, which):
                words = f".view({self.constant(np.uint16, 'uint16_')})" if which == "bits" else f".{which}"
                add(f"v{slot} = v{source}{words}")
            case ("read", slot, source):
                self.globals["truth"] = truth
                add(f"v{slot} = truth({self.access.scalar.format(made=f'v{source}')})")
            case ("python", slot, name, sources):
                values = [f"v{s}" for s in sources]
                if name in PYTHON_OPERATORS:
                    made = PYTHON_OPERATORS[name].format(*values)
                else:
                    function = python_part().PYTHON_FUNCTIONS[name].function
                    made = f"{self.constant(function, name)}({', '.join(values)})"
                add(f"try: v{slot} = {made}")
                add(f"except (ArithmeticError, TypeError, ValueError) as error: {self.failure(position)}(error)")
                self.weak[slot] = "bool" if name in _COMPARISONS else self.result_class(name, sources)
            case ("const", slot, value, dtype):
                made = dtype_named(dtype).numpy.type(value) if dtype else value
                add(f"v{slot} = {self.constant(made, 'constant')}")
                if dtype is None:
                    self.weak[slot] = type(value).__name__
            case ("view", slot, source, op, attrs):
                self.view(slot, source, op, attrs)
            case _:
                raise InternalError(f"a plan has no step {step[0]}")

    def read_length(self, position: int, slot: int, name: str, limit: DimLike) -> None:
        """The host waits for a number; what follows depends on more than lengths and strides of arguments."""
        self.lengths[name] = length = f"n{len(self.lengths)}"
        self.lines.append(f"{length} = {self.access.word.format(pointer=self.access.made_pointer.format(made=f'v{slot}'))}")
        if not isinstance(limit, Dim):
            self.lines.append(f"if {length} > {limit}: {self.constant(self._fail_long(position), 'fail')}({length})")
        self.early = self.lines

    def _fail_long(self, position: int) -> Callable[[int], None]:
        def fail(length: int) -> None:
            raise CompileError(f"the result would have {length} elements", self._loc(position), "leave out the large numbers")

        return fail

    def library(
        self, position: int, slots: Sequence[int], name: str, sources: Sequence[int], options: Any, types: Sequence[Any]
    ) -> None:
        """A call of the caller's library."""
        operands = "".join(f"{self.leaf(s) if s in self.views else f'v{s}'}, " for s in sources)
        given = self.constant(options, "options")
        results = "".join(f"({dtype_named(dtype).numpy.name!r}, {self.dims(shape)}), " for dtype, shape in types)
        call = self.access.library.format(name=name, operands=f"({operands})", options=given, results=f"({results})")
        targets = "".join(f"v{slot}, " for slot in slots)
        if "{pointers}" in self.access.library_targets:
            targets = self.access.library_targets.format(made=targets, pointers="".join(f"v{s}_pointer, " for s in slots))
        self.lines.append(f"try: {targets} = {call}")
        failures = "(CompileError, ArithmeticError, TypeError, ValueError, RuntimeError)"
        self.globals["CompileError"] = CompileError
        self.lines.append(f"except {failures} as error: {self.failure(position)}(error)")
        self.kind.update(dict.fromkeys(slots, "array"))
    def block(self, position: int, step: tuple[Any, ...]) -> None:
        """The beginning or the end of a loop or a branch, or what it hands on."""

        def assign(targets: Sequence[int], values: Sequence[int]) -> str:
            """One statement, so that memories can change places."""
            left, right = [f"v{slot}" for slot in targets], [f"v{slot}" for slot in values]
            for target, value in zip(targets, values, strict=True):
                if value in self.kind:
                    self.kind[target] = self.kind[value]
                    if self.access.made_pointer == "{made}_pointer":
                        left.append(f"v{target}_pointer")
                        right.append(f"v{value}_pointer")
            return f"{', '.join(left)} = {', '.join(right)}" if left else "pass"

        def let_go() -> None:
            """State that what a step allocated is used no more."""
            inner = [slot for slot, depth in self.allocated.items() if depth == self.depth]
            for slot in inner:
                del self.allocated[slot]
            if inner and self.access.keep:
                self.lines.append(indent + self.access.keep.format(made=f"({''.join(f'v{slot}, ' for slot in inner)})"))

        indent = "    " * self.depth
        match step:
            case ("for", counter, bounds, params, starts):
                self.lines.append(indent + assign(params, starts))
                numbers = ", ".join(f"v{slot}" for slot in bounds)
                self.lines.append(f"{indent}for v{counter} in range({numbers}):")
                self.depth += 1
            case ("while", params, starts):
                self.lines.append(indent + assign(params, starts))
                self.lines.append(f"{indent}while v{params[0]}:")
                self.depth += 1
            case ("if", test):
                self.lines.append(f"{indent}if v{test}:")
                self.depth += 1
            case ("next", params, yielded):
                let_go()
                self.lines.append(indent + assign(params, yielded))
                self.depth -= 1
            case ("else",):
                let_go()
                self.lines.append(f"{indent[4:]}else:")
            case ("end",):
                let_go()
                self.depth -= 1
            case ("hand on", results, values):
                self.lines.append(indent + assign(results, values))

    def launch(self, number: int, slots: Sequence[int]) -> None:
        spec = self.plan.kernels[number]
        values = ", ".join(self.parameter(s, w) for s, w in zip(slots, spec.parameters, strict=True))
        work, cost, count = f"work{number}", f"cost{number}", f"blocks{number}"
        grid = ", ".join(map(self.dim, spec.grid))
        self.early.append(f"{work} = {self.dim(spec.work)}")
        text = self.access.launch
        if "{cost}" in text:
            # An iteration without elements writes its results nevertheless: the sum of nothing is 0.
            self.early.append(f"{cost} = {'1' if spec.cost == 1 else f'{self.dim(spec.cost)} or 1'}")
        if "{blocks}" in text:
            blocks = f"tiles({grid}, {spec.block}) if {work} else 0" if grid else _blocks(work, spec)
            self.early.append(f"{count} = {blocks}")
        self.lines.append(f"if {work}:")
        text = text.format(number=number, values=values, work=work, cost=cost, block=spec.block, blocks=count, grid=grid)
        self.lines.extend(f"    {line}" for line in text.splitlines())
        if self.access.idle:
            self.lines.append(f"else:\n        {self.access.idle.format(number=number)}")

    def result_class(self, name: str, sources: Sequence[int]) -> str:
        """The class of a Python operator's result, or "" where it depends on the values."""
        if name not in PYTHON_OPERATORS:
            result = python_part().PYTHON_FUNCTIONS[name].result
            return self.weak.get(sources[-1], "") if result == "same" else result
        classes = {self.weak.get(s, "") for s in sources}
        if not classes <= _REAL:
            return ""
        if name in ("divide", "power"):
            return "" if name == "power" else "float"
        return "float" if "float" in classes else "int"

    def parameter(self, slot: int, word: str) -> str:
        if word != "pointer":
            return f"v{slot}"
        if slot in self.words:
            return f"v{slot}_pointer"
        if slot < len(self.plan.parameters):
            return self.read(self.access.pointer, slot)
        return self.access.made_pointer.format(made=f"v{slot}")

    def failure(self, position: int) -> str:
        """A global function that raises an exception at the user's line."""
        loc = self.plan.locs.get(position)

        def fail(error: BaseException) -> None:
            raise located(error, loc) from None

        return self.constant(fail, "fail")

    def _fail_broadcast(self, position: int, shapes: Sequence[tuple[int, ...]]) -> None:
        refuse_repeating(shapes, self._loc(position))
        listed = " ".join(format_shape(s) for s in shapes)
        from pytocu.operands import operand_notes

        loc = self._loc(position)
        notes = operand_notes(loc, [f"shape {format_shape(s)}" for s in shapes]) if loc is not None else ()
        raise ShapeError(f"operands could not be broadcast together with shapes {listed} ", loc, None, notes)

    def _fail_assign(self, position: int, given: tuple[int, ...], wanted: tuple[int, ...], kind: str) -> None:
        if kind == "assign":
            refuse_repeating([given], self._loc(position), wanted)
        sentence = output_sentence(given, wanted) if kind == "output" else assignment_sentence(given, wanted, ASSIGNED[kind])
        raise ShapeError(sentence, self._loc(position))

    def _fail_index(self, position: int, index: int, size: int, axis: int) -> None:
        raise IndexingError(f"index {index} is out of bounds for axis {axis} with size {size}", self._loc(position))

    def _fail_squeeze(self, position: int) -> None:
        message = "cannot select an axis to squeeze out which has size not equal to one"
        raise ShapeError(message, self._loc(position))

    def _fail_lengths(self, error: str, sentence: str, position: int, *dims: int) -> None:
        raise failure(error, sentence, dims, self._loc(position))

    def _fail_empty(self, position: int, name: str) -> None:
        raise ShapeError(empty_sentence(name), self._loc(position))

    def _check_output(self, info: arrays.ArrayInfo, what: str, position: int) -> None:
        try:
            arrays.check_output(info, what)
        except CompileError as error:
            raise type(error)(error.message, self._loc(position), error.help) from None

    def _raise_found(self, words: Any, number: int) -> None:
        raise found(words, self.needs[number])

    def _loc(self, position: int) -> Loc | None:
        return self.plan.locs.get(position)

    # Views of arguments: shape, strides and offset as expressions.

    def view(self, slot: int, source: int, op: str, attrs: Mapping[str, Any]) -> None:
        shape, strides, offset = f"shape{slot}", f"strides{slot}", f"offset{slot}"
        if source in self.views:
            argument, base_shape, base_strides, base_offset = self.views[source]
        else:
            argument, base_offset = source, "0"
            base_shape, base_strides = self.read(self.access.shape, source), self.read(self.access.strides, source)
        dims = {k: tuple(self.dim(d) for d in v) for k, v in attrs.items() if k in ("start", "size")}
        arguments = [base_shape, base_strides, base_offset]
        if source in self.view_dtypes:
            self.view_dtypes[slot] = self.view_dtypes[source]
        match op:
            case "view":
                self.view_dtypes[slot] = attrs["dtype"]
                call = f"({', '.join(arguments)})"
            case "newaxis":
                call = f"view_newaxis({', '.join(arguments)}, {attrs['axis']})"
            case "transpose":
                call = f"view_transpose({', '.join(arguments)}, {attrs['axes']})"
            case "slice":
                start, size = (f"({', '.join(dims[k])},)" for k in ("start", "size"))
                call = f"view_slice({', '.join(arguments)}, {start}, {attrs['step']}, {size})"
            case "index":
                call = f"view_index({', '.join(arguments)}, {attrs['axis']}, {self.dim(attrs['at'])})"
            case "diagonal":
                call = f"view_diagonal({', '.join(arguments)}, {attrs['offset']}, {self.dim(attrs['length'])})"
            case "reshape":
                call = f"view_reshape({', '.join(arguments)}, {self.dims(attrs['shape'])})"
            case "real" | "imag":
                word = dtype_named(self.view_dtypes.get(source, self.plan.parameters[argument].dtype)).word
                self.view_dtypes[slot] = word.name
                # The imaginary part is the second word of an element.
                call = f"({base_shape}, {base_strides}, {base_offset} + {word.itemsize if op == 'imag' else 0})"
            case _:
                raise InternalError(f"{op} is no view of an argument")
        self.globals.update(view_part().VIEWS)
        self.early.append(f"{shape}, {strides}, {offset} = {call}")
        self.views[slot] = (argument, shape, strides, offset)

    # Results.

    def tree(self, tree: Any) -> str:
        match tree:
            case int():
                return self.leaf(tree)
            case ("tuple", *members):
                return "(" + "".join(f"{self.tree(m)}, " for m in members) + ")"
            case ("named", path, *members):
                kind = python_part().class_at(path)
                if kind is None:
                    raise PytocuError(f"results are of the class {path}, which is not loaded: import its module first")
                make = self.constant(kind._make, "make")
                return f"{make}(({''.join(f'{self.tree(m)}, ' for m in members)}))"
            case ("list", *members):
                return "[" + ", ".join(self.tree(m) for m in members) + "]"
            case ("dict", *items):
                return "{" + ", ".join(f"{key!r}: {self.tree(member)}" for key, member in items) + "}"
            case ("str", text):
                return repr(text)
            case _:
                return "None"

    def leaf(self, slot: int) -> str:
        if slot in self.views:
            argument, shape, strides, offset = self.views[slot]
            dtype = dtype_named(self.view_dtypes[slot]) if slot in self.view_dtypes else None
            make_view = self.constant(view_part().make_view(self.plan.parameters[argument].name, dtype), "make_view")
            return f"{make_view}(v{argument}, {shape}, {strides}, {offset})"
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


def _observed(plan: Plan) -> set[int]:
    """Values that something besides a kernel sees."""
    seen = set(_leaves(plan.tree))
    for step in plan.steps:
        match step:
            case ("convert" | "stride" | "view" | "part", _, source, *_):
                seen.add(source)
            case ("python", _, _, sources):
                seen.update(sources)
            case ("library", _, _, sources, *_):
                seen.update(sources)
    return seen


def _last_launches(plan: Plan) -> dict[int, list[int]]:
    """Temporary arrays that only kernels see, by the step that reads them last: the next ones can have their memory."""
    if any(step[0] in _BLOCKS for step in plan.steps):
        # What a step of a loop reads last the next step reads again.
        return {}
    others = [step[1:] for step in plan.steps if step[0] not in ("allocate", "launch")]
    made = {step[1] for step in plan.steps if step[0] == "allocate"} - _observed(plan) - _numbers(others)
    last: dict[int, int] = {}
    for position, step in enumerate(plan.steps):
        if step[0] == "launch":
            last.update((slot, position) for slot in step[2] if slot in made)
    return {position: [slot for slot in last if last[slot] == position] for position in last.values()}


def _numbers(value: Any) -> set[int]:
    """Every number that stands somewhere in steps."""
    if isinstance(value, (tuple, list)):
        return {number for member in value for number in _numbers(member)}
    return {value} if isinstance(value, int) else set()


def _leaves(tree: Any) -> list[int]:
    match tree:
        case int():
            return [tree]
        case ("tuple" | "list", *members):
            return [leaf for m in members for leaf in _leaves(m)]
        case ("named", _, *members):
            return [leaf for m in members for leaf in _leaves(m)]
        case ("dict", *items):
            return [leaf for _, m in items for leaf in _leaves(m)]
        case _:
            return []


def _bounds(dtype: np.dtype, kind: str) -> tuple[Any, Any] | None:
    """Between which values packing a Python scalar does what a conversion to the dtype does."""
    match dtype.kind:
        case "f" if kind in _REAL:
            # Rounding cannot reach infinity below these.
            return (-3e38, 3e38) if dtype.itemsize == 4 else (-1e308, 1e308) if dtype.itemsize == 8 else None
        case "i" | "u" if kind in ("bool", "int"):
            return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        case _:
            return None


def truth(value: Any) -> bool:
    """Whether the number in an array without axes is not zero; a device is waited for."""
    read = getattr(value, "item", None)
    return bool(read() if read is not None else value.copy_to_host().item())


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Bytes between the first and the last element."""
    return sum([(n - 1) * abs(s) for n, s in zip(shape, strides, strict=True) if n > 1])


def fits_strides(shape: Sequence[int], strides: Sequence[int], mask: int) -> bool:
    """Whether steps along every axis are whole elements."""
    return not any(s & mask for n, s in zip(shape, strides, strict=True) if n > 1)


def _converter(dtype: np.dtype, wrap: bool) -> Callable[[Any], Any]:
    """A Python scalar to the dtype; a float that overflows becomes infinite, silently."""
    if wrap:
        return lambda value: number_of(value, dtype, True)
    if dtype.kind not in "fc" or dtype == np.float64:
        return dtype.type

    def convert(value: Any) -> Any:
        with np.errstate(all="ignore"):
            return dtype.type(value)

    if dtype.kind == "c":
        return convert
    limit = 6e4 if dtype.itemsize == 2 else 3e38

    def quick(value: Any) -> Any:
        # Changing NumPy's error state costs more than the rest of a call, and few values need it.
        return dtype.type(value) if -limit < value < limit else convert(value)

    return quick


_CHECKS = {"reach": reach, "fits_strides": fits_strides}

ANY_LIBRARY = Access(
    shape="infos[{n}].shape",
    pointer="infos[{n}].pointer",
    strides="infos[{n}].byte_strides",
    allocate=dict.fromkeys("CF", "{made}, {made}_pointer = executor.allocate({shape}, {element}, {order})"),
    made_pointer="{made}_pointer",
    launch="executor.launch({number}, ({values},), {work}, {cost}, ({grid}))",
    scalar="executor.scalar({made})",
    array="executor.array({made})",
    globals={},
    keep="executor.keep({made})",
    writable="check_output(infos[{n}], {what!r}, {position})",
    failures="{made}, {made}_pointer = executor.failures({count})",
    word="executor.word({pointer})",
    library="executor.library({name!r}, {operands}, {options}, {results})",
    library_targets="{made}{pointers}",
    failed="if executor.waits and {made}[{at}] != {nothing}: raise_found({made}, {number})",
)
"""Arrays by their descriptions, memory and launches by an executor: ``run(executor, infos, *arguments)``."""
