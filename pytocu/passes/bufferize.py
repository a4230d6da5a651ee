"""Array level to host level: results become memory, kernels become launches.

Every kernel result is a new array (the layout is column-major where every full-size operand
is), and the launch names it behind the kernel's inputs.
"""

from __future__ import annotations

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.types import ArrayType, Type, element, shape_of
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Allocate results and turn kernels into launches."""
    builder = Builder()
    values: dict[Value, Value] = {}
    for inst in function.body.insts:
        builder.loc = inst.loc
        args = tuple(values.get(a, a) for a in inst.args)
        if inst.op.name != "kernel":
            if args == inst.args:
                builder.insts.append(inst)
            else:
                made = Inst(inst.op, args, inst.attrs, inst.types, inst.regions, inst.loc)
                builder.insts.append(made)
                values.update(zip(inst.results, made.results, strict=True))
            continue
        outputs: list[Value] = []
        for result in inst.results:
            layout = _layout(inst, result.type)
            out = builder.emit("allocate", (), {}, (_stored(result.type, layout),), name=_pointer_name(inst, result))
            outputs.append(out)
            values[result] = out
        attrs = {"name": inst.attr("name"), "outputs": len(outputs)}
        if inst.attr("why"):
            attrs["why"] = inst.attr("why")
        builder.inst("launch", (*args, *outputs), attrs, (), inst.regions)
    return Function(function.name, "host", Block(function.params, builder.take()), function.facts)


def _pointer_name(inst: Inst, result: Value) -> str:
    """Apart from the user's variable, which names the value stored there."""
    if len(inst.results) == 1:
        return "out"
    return f"{result.name}_out" if result.name else f"out{result.index}"


def _stored(type: Type, layout: str) -> Type:
    """NumPy scalars stay scalars: the runtime reads them out of an array without axes."""
    return ArrayType(element(type), shape_of(type), layout) if isinstance(type, ArrayType) else type


def _layout(inst: Inst, type: Type) -> str:
    """Column-major when every array operand of the result's shape is."""
    shape = shape_of(type)
    full = [a.type.layout for a in inst.args if isinstance(a.type, ArrayType) and a.type.shape == shape]
    return "F" if len(shape) > 1 and full and all(layout == "F" for layout in full) else "C"
