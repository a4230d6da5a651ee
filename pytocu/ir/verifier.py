"""Checks a function against the rules of its level and of the stage it has reached.

The structural rules hold everywhere: values are defined before use and once, arities and
attributes are those of the op's row, inferred types match, blocks end with their
terminator.  The stage rules are data: each names what holds from one pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytocu.errors import CompileError, InternalError
from pytocu.ir import attributes, part_rules, regions
from pytocu.ir.core import Block, Function, Inst, Value, types_of, walk
from pytocu.ir.printer import format_attr
from pytocu.ir.promote import operand, ufunc_loop
from pytocu.ir.types import ArrayType, IndexType, PointerType, ScalarType, Type, VectorType, WeakType, element, scalar, shape_of

_TERMINATORS = ("return", "yield")

FACTS: dict[str, tuple[Callable[[object], bool], str]] = {
    "index_bits": (lambda value: value in (32, 64), "32 or 64"),
    "target": (lambda value: value in ("cpu", "cuda"), '"cpu" or "cuda"'),
    "block": (lambda value: type(value) is int and value > 0, "an int above 0"),
    "resident": (lambda value: type(value) is int and value > 0, "an int above 0"),
    "several": (lambda value: type(value) is int and value > 0, "an int above 0"),
    "waits": (lambda value: isinstance(value, bool), "True or False"),
    "followed": (lambda value: isinstance(value, bool), "True or False"),
    "sharing": (lambda value: isinstance(value, tuple), "a tuple"),
    "symbols": (lambda value: isinstance(value, tuple) and all(map(_is_symbol, value)), 'a tuple as (("n", 0, 0),)'),
}
"""What a function may state about itself: which values, and in words."""


def _is_symbol(value: object) -> bool:
    match value:
        case (str(), int(), int()):
            return True
    return False


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
    _facts(function)
    _block(function.body, set(), function.level, None)
    rules = [(name, STAGE_RULES[name]) for name in stage]
    # A sweep changes arrays inside of its kernel.
    inside = {i for launch in walk(function.body) if launch.op.name == "launch" for i in walk(launch.regions[0])}
    for inst in walk(function.body):
        for name, rule in rules:
            if not rule(inst) and not (name == "buffers" and inst.op.name == "update" and inst in inside):
                _fail(inst, f"breaks the rule {name!r}")


def _fail(inst: Inst, message: str) -> None:
    raise InternalError(f"IR verifier: {inst.op.name} at {inst.loc.short()} {message}", inst.loc, repr(inst))


def _facts(function: Function) -> None:
    stated = [name for name, _ in function.facts]
    for name, value in function.facts:
        holds, words = FACTS.get(name, (None, ""))
        if holds is None:
            raise InternalError(f"IR verifier: @{function.name} states the fact {name}, which is none of {', '.join(FACTS)}")
        if stated.count(name) > 1:
            raise InternalError(f"IR verifier: @{function.name} states {name} twice")
        if not holds(value):
            raise InternalError(f"IR verifier: @{function.name} states {name} = {format_attr(value)}, which is not {words}")
    for name, number, axis in function.fact("symbols", ()):
        shapes = [shape_of(p.type) for p in function.params]
        if not (0 <= number < len(shapes) and 0 <= axis < len(shapes[number])):
            said = f"{name} is axis {axis} of argument {number}, which has no such axis"
            raise InternalError(f"IR verifier: @{function.name} states that {said}")


def _block(block: Block, visible: set[Value], level: str, owner: Inst | None) -> None:
    visible = set(visible)
    for param in block.params:
        if param in visible:
            raise InternalError(f"IR verifier: the block parameter %{param.name} is defined twice")
        visible.add(param)
    if not block.insts:
        if owner is not None:
            _fail(owner, "has an empty region: it ends with yield or return")
        raise InternalError("IR verifier: the function is empty: it ends with return")
    last = block.terminator
    if last.op.name not in _TERMINATORS:
        _fail(last, "stands at the end of a block, which is for return and yield")
    if owner is None and last.op.name != "return":
        _fail(last, "stands at the end of the function, which is for return")
    if owner is None and level != "loop" and last.attr("tree") is None:
        _fail(last, "lacks the attribute tree: how the results are arranged")
    if level != "loop" and owner is not None and last.op.name != "yield":
        _fail(last, "stands at the end of a region, which is for yield")
    for inst in block.insts:
        if inst.op.name in _TERMINATORS and inst is not block.terminator:
            _fail(inst, "stands before the end of its block")
        for arg in inst.args:
            if arg not in visible:
                _fail(inst, f"uses %{arg.name or '?'} before its definition")
        _shape(inst, level)
        # A launch holds array operations until its loops are lowered.
        inner = _inner_level(inst, level)
        for region in inst.regions:
            _block(region, set() if inst.op.isolated else visible, inner, inst)
        for number, result in enumerate(inst.results):
            if result in visible or result.inst is not inst or result.index != number:
                _fail(inst, "has a result that belongs elsewhere")
            visible.add(result)
        _instruction(inst)


def _inner_level(inst: Inst, level: str) -> str:
    if inst.op.name == "launch":
        return "loop" if part_rules.is_lowered(inst) else "array"
    return level


def _shape(inst: Inst, level: str) -> None:
    """What an instruction consists of."""
    op = inst.op
    if level not in op.levels:
        _fail(inst, f"is not an operation of the {level} level")
    if op.arity is not None and len(inst.args) != op.arity:
        _fail(inst, f"has {len(inst.args)} arguments, not {op.arity}")
    if len(inst.regions) != op.regions:
        _fail(inst, f"has {len(inst.regions)} regions, not {op.regions}")
    if inst.loc is None:
        _fail(inst, "has no source location")
    found = attributes.wrong(inst)
    if found:
        _fail(inst, found)


def _instruction(inst: Inst) -> None:
    """How the parts of an instruction go together; its regions are sound."""
    op = inst.op
    found = part_rules.wrong(inst)
    if found:
        _fail(inst, found)
    if op.kind == "region":
        _closed_region(inst)
    if op.name == "update" and not _is_view_of(inst.args[1], inst.args[0]):
        _fail(inst, "updates something else than a view of its first argument")
    if op.infer is None and not inst.regions:
        _stated(inst)
    if op.infer is not None and not inst.regions:
        try:
            inferred = op.infer(op, types_of(inst.args), dict(inst.attrs))
        except (TypeError, ValueError, CompileError) as error:
            _fail(inst, f"has argument types its row refuses ({error})")
            return
        if inferred != inst.types:
            _fail(inst, f"states {', '.join(map(str, inst.types))} but gives {', '.join(map(str, inferred))}")


_STATED: dict[str, tuple[type[Type], ...]] = {
    "allocate": (ArrayType, ScalarType),
    "bitcast": (ScalarType, VectorType),
    "cast": (ArrayType, ScalarType, VectorType),
    "const": (IndexType, ScalarType, WeakType),
    "convert": (ScalarType,),
    "convert_raw": (IndexType, ScalarType, VectorType),
    "dim": (IndexType, ScalarType, WeakType),
    "failures": (ArrayType,),
    "local": (PointerType,),
    "memory": (ArrayType,),
    "read": (WeakType,),
    "shared": (PointerType,),
    "view": (ArrayType, ScalarType),
}
"""The types that the writer of a row states, where no rule infers them."""


def _stated(inst: Inst) -> None:
    """One result, of a type the row may have, and over the elements of the operand."""
    if len(inst.types) != 1 or not isinstance(inst.types[0], _STATED[inst.op.name]):
        _fail(inst, f"cannot have results of the types ({', '.join(map(str, inst.types))})")
    if inst.op.arity == 1 and inst.op.name != "read" and shape_of(inst.args[0].type) != shape_of(inst.types[0]):
        _fail(inst, f"takes {inst.args[0].type}, and states the shape of {inst.types[0]}")
    if inst.op.name == "const" and isinstance(inst.attr("value"), complex) and not _is_complex(inst.types[0]):
        _fail(inst, f"has the value {inst.attr('value')} for {inst.types[0]}")


def _is_complex(type: Type) -> bool:
    return type.kind == "complex" if isinstance(type, WeakType) else isinstance(type, ScalarType) and type.dtype.kind == "c"


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
    return all(isinstance(t, IndexType | ArrayType) or _is_word(t) for t in types)


def _is_word(type: Type) -> bool:
    return not isinstance(type, WeakType) and element(type).word is element(type)


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
