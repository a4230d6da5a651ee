"""Plans as Python functions: each step of a plan becomes a line, written once a plan.

What a call of a ready plan costs is decided here, so nothing is looked up that can be known
when the function is written: lengths are local variables, dtypes and kernels are globals of
the function, and checks are comparisons.  The text can be read: see `Program.source`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.errors import IndexingError, InternalError, Loc, ShapeError, located
from pytocu.ir.dims import Atom, Dim, DimLike, format_shape
from pytocu.ir.types import dtype_named, number_of
from pytocu.runtime import arrays
from pytocu.runtime.plan import Plan

PYTHON_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "absolute": operator.abs, "invert": operator.invert, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "left_shift": operator.lshift, "right_shift": operator.rshift,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
"""What Python does with Python scalars, by the name of the row."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a program reads arrays and makes new ones.

    Templates of Python text: ``{n}`` is the number of an argument, ``{made}`` the name of a new
    array, ``{dtype}`` and ``{element}`` its NumPy dtype and :class:`DType`.  Lines of ``setup``
    stand at the beginning, those with ``{n}`` once for each array (``{mask}``: element size - 1).
    """

    shape: str
    pointer: str
    strides: str
    allocate: str
    made_pointer: str
    launch: str
    scalar: str
    array: str
    globals: Mapping[str, Any]
    setup: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A plan as a function ``run(*prefix, *arguments)``."""

    source: str
    run: Callable[..., Any]


def write_program(plan: Plan, access: Access, prefix: Sequence[str]) -> Program:
    """Write a plan as a Python function.

    Parameters
    ----------
    plan : Plan
    access : Access
        How arrays are read and made.
    prefix : sequence of str
        Names of the parameters before the plan's arguments (``infos``, ``stream``).
    """
    writer = _Writer(plan, access)
    source = writer.write(prefix)
    namespace: dict[str, Any] = {**access.globals, **writer.globals}
    exec(compile(source, f"<plan of {plan.name}>", "exec"), namespace)
    return Program(source, namespace["run"])


class _Writer:
    def __init__(self, plan: Plan, access: Access):
        self.plan = plan
        self.access = access
        self.lines: list[str] = []
        self.globals: dict[str, Any] = {"fail_broadcast": self._fail_broadcast, "fail_index": self._fail_index}
        self.globals["fail_squeeze"] = self._fail_squeeze
        self.lengths: dict[str, str] = {}
        self.shapes: dict[int, str] = {}
        self.views: dict[int, tuple[int, str, str, str]] = {}
        self.kind: dict[int, str] = {}

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
        plan = self.plan
        parameters = [*prefix, *(f"v{n}" for n in range(len(plan.parameters)))]
        arrays_used = [n for n, p in enumerate(plan.parameters) if p.kind == "array"]
        for template in self.access.setup:
            each = "{n}" in template
            texts = [template.format(n=n, mask=self.mask(n)) for n in arrays_used] if each else [template]
            self.lines.extend(texts)
        self.unpack_lengths()
        for position, step in enumerate(plan.steps):
            self.step(position, step)
        self.lines.append(f"return {self.tree(plan.tree)}")
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def run({', '.join(parameters)}):\n{body}\n"

    def mask(self, number: int) -> int:
        """The bits of an address that a multiple of the element size does not have."""
        return dtype_named(self.plan.parameters[number].dtype).itemsize - 1

    def unpack_lengths(self) -> None:
        wanted: dict[int, dict[int, str]] = {}
        for name, number, axis in self.plan.symbols:
            self.lengths[name] = f"n{len(self.lengths)}"
            wanted.setdefault(number, {})[axis] = self.lengths[name]
        for number, axes in wanted.items():
            ndim = len(self.plan.parameters[number].shape)
            names = ", ".join(axes.get(a, "_") for a in range(ndim))
            self.lines.append(f"{names}{',' if ndim == 1 else ''} = {self.access.shape.format(n=number)}")

    def step(self, position: int, step: tuple[Any, ...]) -> None:
        add = self.lines.append
        match step:
            case ("launch", number, slots):
                self.launch(number, slots)
            case ("allocate", slot, dtype, shape, layout, is_scalar):
                element = dtype_named(dtype)
                names = {
                    "dtype": self.constant(element.numpy, f"numpy_{dtype}_"),
                    "element": self.constant(element, f"element_{dtype}_"),
                    "order": repr("F" if layout == "F" else "C"),
                }
                add(self.access.allocate.format(made=f"v{slot}", shape=self.dims(shape), **names))
                self.kind[slot] = "scalar" if is_scalar else "array"
            case ("dim", slot, dim):
                add(f"v{slot} = {self.dim(dim)}")
            case ("stride", slot, source, axis):
                itemsize = dtype_named(self.plan.parameters[source].dtype).itemsize
                strides = self.access.strides.format(n=source)
                shape = self.access.shape.format(n=source)
                # An axis that is not walked may state any stride.
                add(f"v{slot} = {strides}[{axis}] // {itemsize} if {shape}[{axis}] > 1 else 0")
            case ("check", "broadcast", dims, shapes):
                left, right = (self.dim(d) for d in dims)
                listed = "(" + "".join(f"{self.dims(s)}, " for s in shapes) + ")"
                add(f"if {left} != {right}: fail_broadcast({position}, {listed})")
            case ("check", "index", dims, _):
                index, size, axis = (self.dim(d) for d in dims)
                add(f"if not -{size} <= {index} < {size}: fail_index({position}, {index}, {size}, {axis})")
            case ("check", "squeeze", dims, _):
                add(f"if {self.dim(dims[0])} != 1: fail_squeeze({position})")
            case ("convert", slot, source, dtype, wrap):
                add(f"try: v{slot} = {self.constant(_converter(dtype_named(dtype).numpy, wrap), 'convert')}(v{source})")
                add(f"except (OverflowError, ValueError, TypeError) as error: {self.failure(position)}(error)")
            case ("python", slot, name, sources):
                function = self.constant(PYTHON_OPERATORS[name], f"python_{name}_")
                add(f"try: v{slot} = {function}({', '.join(f'v{s}' for s in sources)})")
                add(f"except (ArithmeticError, TypeError, ValueError) as error: {self.failure(position)}(error)")
            case ("const", slot, value, dtype):
                made = dtype_named(dtype).numpy.type(value) if dtype else value
                add(f"v{slot} = {self.constant(made, 'constant')}")
            case ("view", slot, source, op, attrs):
                self.view(slot, source, op, attrs)
            case _:
                raise InternalError(f"a plan has no step {step[0]}")

    def launch(self, number: int, slots: Sequence[int]) -> None:
        spec = self.plan.kernels[number]
        values = ", ".join(self.parameter(s, w) for s, w in zip(slots, spec.parameters, strict=True))
        self.lines.append(f"work = {self.dim(spec.work)}")
        cost = self.dim(spec.cost)
        condition = "work" if cost == "1" else f"work and {cost}"
        self.lines.append(f"if {condition}:")
        text = self.access.launch.format(number=number, values=values, work="work", cost=cost, block=spec.block)
        self.lines.extend(f"    {line}" for line in text.splitlines())

    def parameter(self, slot: int, word: str) -> str:
        if word != "pointer":
            return f"v{slot}"
        if slot < len(self.plan.parameters):
            return self.access.pointer.format(n=slot)
        return self.access.made_pointer.format(made=f"v{slot}")

    def failure(self, position: int) -> str:
        """A global function that raises an exception at the user's line."""
        loc = self.plan.locs.get(position)

        def fail(error: BaseException) -> None:
            raise located(error, loc) from None

        return self.constant(fail, "fail")

    def _fail_broadcast(self, position: int, shapes: Sequence[tuple[int, ...]]) -> None:
        listed = " ".join(format_shape(s) for s in shapes)
        raise ShapeError(f"operands could not be broadcast together with shapes {listed} ", self._loc(position))

    def _fail_index(self, position: int, index: int, size: int, axis: int) -> None:
        raise IndexingError(f"index {index} is out of bounds for axis {axis} with size {size}", self._loc(position))

    def _fail_squeeze(self, position: int) -> None:
        message = "cannot select an axis to squeeze out which has size not equal to one"
        raise ShapeError(message, self._loc(position))

    def _loc(self, position: int) -> Loc | None:
        return self.plan.locs.get(position)

    # Views of arguments: shape, strides and offset as expressions.

    def view(self, slot: int, source: int, op: str, attrs: Mapping[str, Any]) -> None:
        shape, strides, offset = f"shape{slot}", f"strides{slot}", f"offset{slot}"
        if source in self.views:
            argument, base_shape, base_strides, base_offset = self.views[source]
        else:
            argument, base_offset = source, "0"
            base_shape, base_strides = self.access.shape.format(n=source), self.access.strides.format(n=source)
        dims = {k: tuple(self.dim(d) for d in v) for k, v in attrs.items() if k in ("start", "size")}
        arguments = [base_shape, base_strides, base_offset]
        match op:
            case "newaxis":
                call = f"view_newaxis({', '.join(arguments)}, {attrs['axis']})"
            case "transpose":
                call = f"view_transpose({', '.join(arguments)}, {attrs['axes']})"
            case "slice":
                start, size = (f"({', '.join(dims[k])},)" for k in ("start", "size"))
                call = f"view_slice({', '.join(arguments)}, {start}, {attrs['step']}, {size})"
            case "index":
                call = f"view_index({', '.join(arguments)}, {attrs['axis']}, {self.dim(attrs['at'])})"
            case _:
                raise InternalError(f"{op} is no view of an argument")
        self.globals.update(_VIEWS)
        self.lines.append(f"{shape}, {strides}, {offset} = {call}")
        self.views[slot] = (argument, shape, strides, offset)

    # Results.

    def tree(self, tree: Any) -> str:
        match tree:
            case int():
                return self.leaf(tree)
            case ("tuple", *members):
                return "(" + "".join(f"{self.tree(m)}, " for m in members) + ")"
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
            self.globals["make_view"] = _make_view(self.plan.parameters[argument].name)
            return f"make_view(v{argument}, {shape}, {strides}, {offset})"
        template = {"scalar": self.access.scalar, "array": self.access.array}.get(self.kind.get(slot, ""), "{made}")
        return template.format(made=f"v{slot}")


def _converter(dtype: np.dtype, wrap: bool) -> Callable[[Any], Any]:
    """A Python scalar to the dtype; a float that overflows becomes infinite, silently."""
    if wrap:
        return lambda value: number_of(value, dtype, True)
    if dtype.kind != "f" or dtype.itemsize == 8:
        return dtype.type

    def convert(value: Any) -> Any:
        with np.errstate(all="ignore"):
            return dtype.type(value)

    def quick(value: Any) -> Any:
        # Changing NumPy's error state costs more than the rest of a call, and few values need it.
        return dtype.type(value) if -3e38 < value < 3e38 else convert(value)

    return quick


def _make_view(name: str) -> Callable[..., Any]:
    def make_view(argument: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        info = arrays.describe(argument, name)
        assert info is not None
        return arrays.view(argument, info, shape, strides, offset)

    return make_view


Parts = tuple[tuple[int, ...], tuple[int, ...], int]


def view_newaxis(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axis: int) -> Parts:
    """A new axis of length 1."""
    return (*shape[:axis], 1, *shape[axis:]), (*strides[:axis], 0, *strides[axis:]), offset


def view_transpose(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axes: tuple[int, ...]) -> Parts:
    """The axes in another order."""
    return tuple(shape[a] for a in axes), tuple(strides[a] for a in axes), offset


def view_slice(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    start: tuple[int, ...],
    step: tuple[int, ...],
    size: tuple[int, ...],
) -> Parts:
    """Every step-th element from start, size of them, on each axis."""
    if 0 not in size:
        offset += sum(s * stride for s, stride in zip(start, strides, strict=True))
    return size, tuple(stride * s for stride, s in zip(strides, step, strict=True)), offset


def view_index(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axis: int, at: int) -> Parts:
    """One position of an axis."""
    if 0 not in shape:
        offset += at * strides[axis]
    return (*shape[:axis], *shape[axis + 1 :]), (*strides[:axis], *strides[axis + 1 :]), offset


_VIEWS = {f.__name__: f for f in (view_newaxis, view_transpose, view_slice, view_index)}

ANY_LIBRARY = Access(
    shape="infos[{n}].shape",
    pointer="infos[{n}].pointer",
    strides="infos[{n}].byte_strides",
    allocate="{made}, {made}_pointer = executor.allocate({shape}, {element}, {order})",
    made_pointer="{made}_pointer",
    launch="executor.launch({number}, ({values},), {work}, {cost})",
    scalar="executor.scalar({made})",
    array="executor.array({made})",
    globals={},
)
"""Arrays by their descriptions, memory and launches by an executor: ``run(executor, infos, *arguments)``."""
