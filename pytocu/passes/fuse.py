"""Groups array operations into kernels.

Every returned array that has to be computed belongs to the kernel of its iteration shape:
results of one shape share a kernel.  Views and producers go inside and are computed again
where they are needed, so no temporary is ever written; what stays outside is host work:
checks, conversions of Python scalars, arithmetic on lengths, and views of arguments that are
returned as views.
"""

from __future__ import annotations

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.rewrite import copy_with
from pytocu.ir.types import ArrayType, WeakType, shape_of
from pytocu.passes import cleanup
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Build ``kernel`` regions."""
    terminator = function.body.terminator
    groups: dict[tuple[DimLike, ...], list[Value]] = {}
    returned = _distinct(terminator)
    for root in returned:
        if not on_host(root):
            group = groups.setdefault(shape_of(root.type), [])
            if root not in group:
                group.append(root)
    if not groups:
        return function
    builder = Builder()
    values: dict[Value, Value] = {}
    # Host values come first and in order: checks run before anything is written.
    for inst in function.body.insts[:-1]:
        if inst.op.effects == "check" or all(on_host(r) for r in inst.results):
            builder.loc = inst.loc
            builder.insts.append(inst)
    for number, (shape, roots) in enumerate(groups.items()):
        name = function.name if len(groups) == 1 else f"{function.name}_{number}"
        why = "" if len(groups) == 1 else f"results of shape {_shape_text(shape)} have their own iterations"
        _kernel(builder, function, name, why, roots, values)
    builder.loc = terminator.loc
    builder.inst("return", tuple(values.get(a, a) for a in returned), dict(terminator.attrs))
    fused = Function(function.name, function.level, Block(function.params, builder.take()), function.facts)
    # Views and constants that went inside have no use outside any more.
    return cleanup.dce(fused, context)


def _distinct(terminator: Inst) -> list[Value]:
    """The returned values; one that stands twice is copied, because its results are two arrays.

    The user's function computed it twice: the front end returns one value once.
    """
    builder = Builder(terminator.loc)
    returned: list[Value] = []
    for value in terminator.args:
        again = value in returned and isinstance(value.type, ArrayType) and not on_host(value)
        returned.append(builder.emit("copy", (value,), name=value.name) if again else value)
    return returned


def _shape_text(shape: tuple[DimLike, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def on_host(value: Value) -> bool:
    """Whether a value is made without a kernel: arguments, their views, Python scalars, constants."""
    while value.inst is not None:
        inst = value.inst
        if isinstance(value.type, WeakType) or inst.op.kind in ("const", "scalar"):
            return True
        if inst.op.kind != "view" or inst.op.name == "broadcast" or not isinstance(value.type, ArrayType):
            return False
        value = inst.args[0]
        if not isinstance(value.type, ArrayType):
            return False
    return True


def _kernel(
    builder: Builder, function: Function, name: str, why: str, roots: list[Value], values: dict[Value, Value]
) -> None:
    order, used = _producers(roots)
    # In the order of the signature, so that a kernel reads like the function it came from.
    place = {param: number for number, param in enumerate(function.params)}
    inputs = sorted(used, key=lambda value: place.get(value, len(place)))
    region = Builder()
    inner: dict[Value, Value] = {}
    params: list[Value] = []
    for value in inputs:
        param = Value(value.type, _name(value))
        params.append(param)
        inner[value] = param
    for inst in order:
        region.loc = inst.loc
        made = copy_with(inst, region, [inner[a] for a in inst.args])
        inner.update(zip(inst.results, made, strict=True))
    region.loc = roots[0].inst.loc if roots[0].inst else region.loc
    region.emit("yield", [inner[r] for r in roots])
    builder.loc = region.loc
    attrs = {"name": name}
    if why:
        attrs["why"] = why
    body = Block(tuple(params), region.take())
    kernel = builder.inst("kernel", inputs, attrs, [r.type for r in roots], (body,))
    for root, result in zip(roots, kernel.results, strict=True):
        result.name = root.name
        values[root] = result


def _name(value: Value) -> str:
    """The user's name for a kernel input; a converted scalar is called like the scalar."""
    if value.name or value.inst is None or value.inst.op.name != "convert":
        return value.name
    return value.inst.args[0].name or "scalar"


def _producers(roots: list[Value]) -> tuple[list[Inst], list[Value]]:
    """The instructions a kernel holds, operands first, and the values it takes from outside."""
    inputs: dict[Value, None] = {}
    order: list[Inst] = []
    done: set[Inst] = set()
    for root in roots:
        assert root.inst is not None
        stack: list[tuple[Inst, bool]] = [(root.inst, False)]
        while stack:
            inst, ready = stack.pop()
            if inst in done:
                continue
            if ready:
                done.add(inst)
                order.append(inst)
                continue
            stack.append((inst, True))
            for arg in reversed(inst.args):
                if _enters(arg):
                    assert arg.inst is not None
                    if arg.inst not in done:
                        stack.append((arg.inst, False))
                else:
                    inputs[arg] = None
    return order, list(inputs)


def _enters(value: Value) -> bool:
    """Whether a producer is computed inside the kernel."""
    inst = value.inst
    return inst is not None and (inst.op.kind in ("elementwise", "view", "const")) and not isinstance(value.type, WeakType)

