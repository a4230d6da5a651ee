"""Checks a function against the rules of its level and of the stage it has reached.

The structural rules hold everywhere: values are defined before use and once, arities and
attributes are those of the op's row, inferred types match, blocks end with their
terminator.  The stage rules are data: each names what holds from one pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytocu.errors import CompileError, InternalError
from pytocu.ir import regions
from pytocu.ir.core import Block, Function, Inst, Value, types_of, walk
from pytocu.ir.promote import operand, ufunc_loop
from pytocu.ir.types import ArrayType, IndexType, ScalarType, Type, VectorType, WeakType, element, scalar, shape_of

_TERMINATORS = ("return", "yield")


def verify(function: Function, stage: Iterable[str] = ()) -> None:
    """Check a function.

    Parameters
    ----------
    function : Function
        At any level.
    stage : iterable of str
        Names of the rules of `STAGE_RULES` that hold by now.

    Raises
    ------
    InternalError
        Naming the rule and the instruction.
    """
    _block(function.body, set(), function.level, "return")
    rules = [(name, STAGE_RULES[name]) for name in stage]
    # A sweep changes arrays inside of its kernel.
    inside = {i for launch in walk(function.body) if launch.op.name == "launch" for i in walk(launch.regions[0])}
    for inst in walk(function.body):
        for name, rule in rules:
            if not rule(inst) and not (name == "buffers" and inst.op.name == "update" and inst in inside):
                _fail(inst, f"breaks the rule {name!r}")


def _fail(inst: Inst, message: str) -> None:
    raise InternalError(f"IR verifier: {inst.op.name} at {inst.loc.short()} {message}: {inst!r}")


def _block(block: Block, visible: set[Value], level: str, terminator: str) -> None:
    visible = set(visible)
    for param in block.params:
        if param in visible:
            raise InternalError(f"IR verifier: the block parameter %{param.name} is defined twice")
        visible.add(param)
    if not block.insts or block.terminator.op.name not in _TERMINATORS:
        raise InternalError("IR verifier: a block does not end with return or yield")
    for inst in block.insts:
        if inst.op.name in _TERMINATORS and inst is not block.terminator:
            _fail(inst, "stands before the end of its block")
        for arg in inst.args:
            if arg not in visible:
                _fail(inst, f"uses %{arg.name or '?'} before its definition")
        _instruction(inst, level)
        # A launch holds array operations until its loops are lowered.
        inner = _inner_level(inst, level)
        for region in inst.regions:
            _block(region, set() if inst.op.isolated else visible, inner, "yield")
        for number, result in enumerate(inst.results):
            if result in visible or result.inst is not inst or result.index != number:
                _fail(inst, "has a result that belongs elsewhere")
            visible.add(result)


def _inner_level(inst: Inst, level: str) -> str:
    if inst.op.name == "launch":
        return "loop" if any(not isinstance(p.type, ArrayType | ScalarType) for p in inst.regions[0].params) else "array"
    return level


def _instruction(inst: Inst, level: str) -> None:
    op = inst.op
    if level not in op.levels:
        _fail(inst, f"is not an operation of the {level} level")
    if op.arity is not None and len(inst.args) != op.arity:
        _fail(inst, f"has {len(inst.args)} arguments, not {op.arity}")
    if len(inst.regions) != op.regions:
        _fail(inst, f"has {len(inst.regions)} regions, not {op.regions}")
    for name, _ in inst.attrs:
        if name not in op.attrs and name != "fastmath":
            _fail(inst, f"has the attribute {name}, which its row does not list")
    if inst.loc is None:
        _fail(inst, "has no source location")
    if op.kind == "region":
        _closed_region(inst)
    if op.name == "update" and not _is_view_of(inst.args[1], inst.args[0]):
        _fail(inst, "updates something else than a view of its first argument")
    if op.name == "const" and not isinstance(inst.attr("value"), bool | int | float | complex):
        _fail(inst, f"has the value {inst.attr('value')!s}, which is no number")
    if op.infer is not None and not inst.regions:
        try:
            inferred = op.infer(op, types_of(inst.args), dict(inst.attrs))
        except (TypeError, ValueError, CompileError) as error:
            _fail(inst, f"has argument types its row refuses ({error})")
            return
        if inferred != inst.types:
            _fail(inst, f"states {', '.join(map(str, inst.types))} but gives {', '.join(map(str, inferred))}")


def _closed_region(inst: Inst) -> None:
    """Parameters are of the types of what they stand for, and what is yielded is of the results'."""
    count = regions.element_count(inst)
    for number, (param, argument) in enumerate(regions.bindings(inst)):
        given = _element_type(argument.type) if number < count else regions.bare(argument.type)
        if regions.bare(param.type) != given:
            _fail(inst, f"gives {given} to the parameter %{param.name} of type {param.type}")
    if inst.op.name == "map":
        (region,) = inst.regions
        yielded = tuple(a.type for a in region.terminator.args)
        if yielded != tuple(map(_element_type, inst.types)) or len({shape_of(t) for t in inst.types}) != 1:
            _fail(inst, f"yields elements {', '.join(map(str, yielded))} for {', '.join(map(str, inst.types))}")
        return
    first = regions.given(inst)[: regions.carried_count(inst)]
    for region in inst.regions:
        yielded = tuple(regions.bare(a.type) for a in region.terminator.args)
        if yielded != tuple(map(regions.bare, inst.types)):
            _fail(inst, f"yields {', '.join(map(str, yielded))} for {', '.join(map(str, inst.types))}")
    if any(regions.bare(a.type) != regions.bare(t) for a, t in zip(first, inst.types, strict=len(first) > 0)):
        _fail(inst, "carries values of other types than its first ones")


def _element_type(type: Type) -> Type:
    """What one element of a value is."""
    return scalar(element(type)) if isinstance(type, ArrayType) else type


def _is_view_of(value: Value, base: Value) -> bool:
    """Views from the base to the value, each element once."""
    while value is not base:
        if value.inst is None or value.inst.op.kind != "view" or value.inst.op.repeats:
            return False
        value = value.inst.args[0]
    return True


def _is_settled(inst: Inst) -> bool:
    """Operands have the dtypes of NumPy's loop; Python scalars meet only Python scalars."""
    if inst.op.kind != "elementwise" or not inst.args:
        return True
    weak = [isinstance(a.type, WeakType) for a in inst.args]
    if all(weak):
        return True
    if any(weak):
        return False
    if not inst.op.numpy or any(isinstance(a.type, IndexType) for a in inst.args):
        return True
    if inst.op.name == "where":
        return element(inst.args[1].type) is element(inst.args[2].type) is element(inst.types[0])
    given = tuple(element(a.type) for a in inst.args)
    loop, _ = ufunc_loop(inst.op.numpy, tuple(operand(a.type) for a in inst.args))
    return given == loop


def _has_one_shape(inst: Inst) -> bool:
    """Array operands of an elementwise instruction have the result's shape or no axes, new contents their view's."""
    if inst.op.name == "update":
        return shape_of(inst.args[2].type) == shape_of(inst.args[1].type)
    if inst.op.kind != "elementwise" and inst.op.name != "map":
        return True
    given = inst.args[: regions.element_count(inst)] if inst.op.name == "map" else inst.args
    shapes = {shape_of(a.type) for a in given} - {()}
    return not shapes or shapes == {shape_of(inst.types[0])}


def _is_primitive(inst: Inst) -> bool:
    """Backends spell every element operation directly."""
    if inst.op.kind != "elementwise" or not all(isinstance(a.type, ScalarType | VectorType | IndexType) for a in inst.args):
        return True
    if all(isinstance(a.type, IndexType) for a in inst.args):
        return "i" in inst.op.primitive
    arg = inst.args[1] if inst.op.name == "where" else inst.args[0]
    return isinstance(arg.type, IndexType) or element(arg.type).kind in inst.op.primitive


def _has_no_kernel(inst: Inst) -> bool:
    """Kernels have become launches, and updates happen in place."""
    return inst.op.name not in ("kernel", "update")


def _is_scheduled(inst: Inst) -> bool:
    """Every launch says how it runs."""
    return inst.op.name != "launch" or inst.attr("schedule") is not None


def _is_looped(inst: Inst) -> bool:
    """Launches hold loops, so no array value is left inside them."""
    if inst.op.name != "launch":
        return True
    return all(not isinstance(t, ArrayType) for region in inst.regions for i in walk(region) for t in i.types)


def _is_plain(inst: Inst) -> bool:
    """Loops hold no float16 and no complex numbers."""
    if inst.op.name != "launch":
        return True
    kernel = inst.regions[0]
    types = [*(p.type for p in kernel.params), *(t for i in walk(kernel) for t in i.types)]
    return all(isinstance(t, IndexType | ArrayType) or element(t).word is element(t) for t in types)


STAGE_RULES: dict[str, Callable[[Inst], bool]] = {
    "settled types": _is_settled,
    "one shape": _has_one_shape,
    "buffers": _has_no_kernel,
    "scheduled": _is_scheduled,
    "loops": _is_looped,
    "plain dtypes": _is_plain,
    "primitive": _is_primitive,
}
"""What holds from a pass on: name to predicate over instructions."""
