"""A plan in words: what is checked, made, launched and returned, in that order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytocu.errors import plain_name
from pytocu.explain.loops import how
from pytocu.ir.dims import format_shape
from pytocu.ir.library_names import numpy_name
from pytocu.runtime.plan import Parameter, Plan, Step
from pytocu.runtime.plan_loops import judged


def plan_text(plan: Plan) -> str:
    """The plan, one step a line.

    Examples
    --------
    >>> import pytocu
    >>> exe = pytocu.jit(lambda x: x[1:] * 2).lower("f32[n]").compile("cuda:sm_90")
    >>> print(plan_text(exe.plan))
    plan of lambda_
      argument 0: x, f32[n]
      where n is length 0 of x
    steps
      1 = allocate f32[max(n - 1, 0)]
      2 = the length max(n - 1, 0)
      3 = the length n
      launch lambda_(0, 1, 2, 3)
      return 1
    kernels
      lambda_(pointer, pointer, index, index): pointwise, max(n - 1, 0) iterations, blocks of 256 threads, 4 iterations a thread
    """
    lines = [f"plan of {plan.name}"]
    lines += [f"  argument {number}: {_parameter(p)}" for number, p in enumerate(plan.parameters)]
    lines += [f"  where {name} is length {axis} of {plan.parameters[number].name}" for name, number, axis in plan.symbols]
    lines += [f"  if {fact}" for fact in plan.assumptions]
    for kind, numbers in plan.sharing:
        names = " and ".join(plan.parameters[n].name for n in numbers)
        lines.append(f"  if {names} {'are the same array' if kind == 'same' else 'overlap'}")
    lines += ["steps", *_steps(plan)]
    lines.append(f"  return {_tree(plan.tree)}")
    if plan.kernels:
        lines.append("kernels")
    for kernel in plan.kernels:
        parts = [kernel.schedule, f"{kernel.work} iterations"]
        if kernel.block:
            parts.append(f"blocks of {kernel.block} threads")
        if kernel.each != 1:
            parts.append(f"{kernel.each} iterations a thread")
        if kernel.grid:
            parts.append(f"threads in columns and rows {format_shape(kernel.grid)}")
        if kernel.index_bits != 32:
            parts.append(f"indices of {kernel.index_bits} bits")
        lines.append(f"  {kernel.name}({', '.join(kernel.parameters)}): {', '.join(parts)}")
    return "\n".join(lines)


def _steps(plan: Plan) -> Iterator[str]:
    """The steps, those of loops and branches further to the right."""
    loops, depth = judged(plan), 1
    on_gpu = any(kernel.block for kernel in plan.kernels)
    for position, step in enumerate(plan.steps):
        depth -= step[0] in ("else", "end")
        yield f"{'  ' * depth}{_step(plan, step)}"
        depth += step[0] in ("for", "while", "if", "else")
        if position in loops:
            yield f"{'  ' * depth}(steps are {how(loops[position], on_gpu)})"
        depth -= step[0] == "next"


def _parameter(parameter: Parameter) -> str:
    match parameter.kind:
        case "array":
            known = {"C": "", "F": ", column-major", "S": ", strided"}
            order = known.get(parameter.layout, f", order {parameter.layout}")
            return f"{parameter.name}, {parameter.dtype}[{', '.join(map(str, parameter.shape))}]{order}"
        case "weak":
            return f"{parameter.name}, Python's {parameter.dtype}"
        case _:
            return f"{parameter.name}, {parameter.dtype}"


def _step(plan: Plan, step: Step) -> str:
    match step:
        case ("check", "equal" | "fits" | "meets", dims, (error, sentence, *_)):
            return f"check equal: {' and '.join(map(str, dims[:2]))}, or raise {plain_name(error)} ({sentence})"
        case ("warn", _, path, sentence, *_):
            return f"give {path.rpartition(':')[2]} ({sentence})"
        case ("check", kind, dims, shapes):
            of = f", of shapes {' and '.join(map(_shape, shapes))}" if shapes else ""
            return f"check {kind}: {' and '.join(map(str, dims))}{of}"
        case ("allocate", made, dtype, shape, layout, scalar):
            order = "" if layout == "C" else f", order {layout}"
            return f"{made} = allocate {dtype}{'' if scalar else f'[{_dims(shape)}]'}{order}"
        case ("failures", made, count):
            return f"{made} = {count} words for what goes wrong with the data"
        case ("failed", slot, at, error, sentence, *_):
            return f"raise {plain_name(error)} ({sentence}) if word {at} of {slot} says so"
        case ("writable", slot, what, *_):
            return f"check that {slot} may be written ({what})"
        case ("memory", made, slots, name):
            return f"{made} = the memory {name} that {_slots(slots)} lie in"
        case ("offset", made, *slots):
            return f"{made} = the place of {_slots(tuple(slots))}"
        case ("dim", made, value):
            return f"{made} = the length {value}"
        case ("bind", slot, names, length):
            return f"{names[0]} = {slot} as a {'number' if length is None else f'bound of {length} elements'}"
        case ("strides", slot, names):
            return f"{', '.join(names)} = the strides of {slot}"
        case ("stride", made, slot, axis):
            return f"{made} = the stride of axis {axis} of {slot}"
        case ("convert", made, slot, dtype, _):
            return f"{made} = {slot} as {dtype}"
        case ("part", made, slot, which):
            return f"{made} = the {which} part of {slot}"
        case ("const", made, value, dtype):
            return f"{made} = {value!r}{f' as {dtype}' if dtype else ''}"
        case ("launch", number, slots):
            return f"launch {plan.kernels[number].name}({_slots(slots)})"
        case ("view", made, slot, name, attrs):
            inside = ", ".join(f"{k} = {_attr(v)}" for k, v in attrs.items())
            return f"{made} = {name} of {slot}{f' ({inside})' if inside else ''}"
        case ("for", counter, bounds, params, starts):
            return f"for {counter} in range({_slots(bounds)}){_begins(params, starts)}"
        case ("while", params, starts):
            return f"while {params[0]}{_begins(params, starts)}"
        case ("if", test):
            return f"if {test}"
        case ("else" | "end" as word,):
            return word
        case ("next", params, values):
            return f"next step: {_slots(params)} = {_slots(values)}" if params else "next step"
        case ("hand on", results, values):
            return f"{_slots(results)} = {_slots(values)}" if results else "nothing is handed on"
        case ("read", made, slot):
            return f"{made} = the truth value in {slot}, waited for"
        case ("read_length", slot, name, _):
            return f"{name} = the number in {slot}, waited for"
        case ("library", made, name, slots, *_):
            return f"{_slots(made)} = np.{numpy_name(name)}({_slots(slots)}) of the caller's library"
        case ("python", made, name, slots):
            return f"{made} = {name}({_slots(slots)}), as Python does"
    return str(step)


def _begins(params: tuple[int, ...], starts: tuple[int, ...]) -> str:
    return f", beginning with {_slots(params)} = {_slots(starts)}" if params else ""


def _attr(value: Any) -> str:
    return f"({_dims(value)})" if isinstance(value, tuple) else str(value)


def _dims(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values))


def _shape(shape: tuple[Any, ...]) -> str:
    return f"({_dims(shape)})"


def _slots(slots: tuple[int, ...]) -> str:
    return ", ".join(map(str, slots))


def _tree(tree: Any) -> str:
    match tree:
        case ("tuple", *members):
            return f"({', '.join(map(_tree, members))}{',' if len(members) == 1 else ''})"
        case ("list", *members):
            return f"[{', '.join(map(_tree, members))}]"
        case ("named", path, *members):
            return f"{str(path).rpartition('.')[2]}({', '.join(map(_tree, members))})"
        case ("dict", *items):
            return f"{{{', '.join(f'{key!r}: {_tree(value)}' for key, value in items)}}}"
        case ("if", test, yes, no):
            return f"{_tree(yes)} if {_tree(test)} else {_tree(no)}"
        case ("members", member, kind):
            return f"list of the {kind} of {member}"
        case ("either", member, marks):
            return f"list of the elements of {member}, or of their numbers where {marks} says so"
        case ("zip", member):
            return f"list of {_tree(member)} for each"
        case ("read-only", member):
            return f"read-only {_tree(member)}"
        case ("str", text):
            return repr(text)
        case ("none",):
            return "None"
        case _:
            return str(tree)
