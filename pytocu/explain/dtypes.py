"""Why a value is float64: the way back from it to the literal, argument or operation that made it so.

Types are NumPy's and known from the front end on, so what is followed is the IR before every pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytocu.explain.model import Cause, Step, Wide
from pytocu.explain.source import dtype_text, is_choice, is_primary, operand_texts, segment, takes_dtype
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.regions import bindings, carried_count, given, is_region
from pytocu.ir.types import C128, F64, ArrayType, DType, Type, WeakType, element
from pytocu.trees import Trees, as_written

WIDE = (F64, C128)

_MOST_CAUSES = 4

ALWAYS_WIDE = frozenset({"interp", "histogram", "histogram2d", "bincount"})
"""Functions whose result is float64 for operands of every dtype."""


def wide_values(function: Function) -> tuple[Wide, ...]:
    """The returned values and named arrays of float64 and complex128, each with what made it so.

    Parameters
    ----------
    function : Function
        At array level, as the front end made it.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> low = pytocu.jit(lambda x, i: (x + i) * 2).lower("f32[n]", "i32[n]")
    >>> wide = wide_values(low.function)
    >>> wide[0].name, wide[0].causes[0].sentence
    ('the result', 'NumPy computes `x + i` of float32 and int32 in float64')
    """
    outer = {param: argument for inst in walk(function.body) if is_region(inst) for param, argument in bindings(inst)}
    found: list[Wide] = []
    told: set[tuple[Any, ...]] = set()
    for name, value in _candidates(function):
        origins = list(_origins(value, outer))
        causes = {}
        for origin, path in origins:
            cause = _cause(origin, path, function.params)
            causes.setdefault((cause.kind, cause.text, cause.loc), cause)
        # What is like the value itself in a loop is no cause beside others.
        of_itself = {k for k, c in causes.items() if c.sentence.endswith(f"has the dtype of `{name}`")}
        if len(of_itself) < len(causes):
            causes = {k: c for k, c in causes.items() if k not in of_itself}
        key = tuple(causes)
        if key in told or (value not in function.body.terminator.args and all((k,) in told for k in key)):
            continue
        told |= {key, *((k,) for k in key)}
        found.append(Wide(name, element(value.type).numpy.name, tuple(causes.values())[:_MOST_CAUSES]))
    return tuple(found)


def as_in_source(found: Sequence[Wide], trees: Trees) -> tuple[Wide, ...]:
    """With what arguments hold as the function writes it."""
    if not trees:
        return tuple(found)

    def said(cause: Cause) -> Cause:
        texts = {field: as_written(getattr(cause, field), trees) for field in ("text", "sentence", "help")}
        return cause._replace(**texts) if cause.kind == "argument" else cause

    return tuple(wide._replace(name=as_written(wide.name, trees), causes=tuple(map(said, wide.causes))) for wide in found)


def is_wide(type: Type) -> bool:
    """Whether values of a type are float64 or complex128; Python's scalars adapt and are not."""
    return not isinstance(type, WeakType) and element(type) in WIDE


def _candidates(function: Function) -> Iterator[tuple[str, Value]]:
    returned = function.body.terminator.args
    for number, value in enumerate(returned):
        if is_wide(value.type):
            yield value.name or (f"result {number}" if len(returned) > 1 else "the result"), value
    for inst in function.body.insts:
        for value in inst.results:
            if value.name and isinstance(value.type, ArrayType) and is_wide(value.type) and value not in returned:
                yield value.name, value


def _origins(value: Value, outer: Mapping[Value, Value]) -> Iterator[tuple[Value, list[Value]]]:
    """Where the dtype begins, each with the values from there on; arguments first, since they decide alone."""
    found: list[tuple[Value, list[Value]]] = []
    stack: list[tuple[Value, list[Value]]] = [(value, [])]
    seen: set[Value] = set()
    while stack:
        at, path = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        before = _deciding(at, [a for a in _made_of(at, outer) if is_wide(a.type)])
        before = [a for a in before if element(a.type) is element(value.type)] or before
        if before:
            stack.extend((a, [at, *path]) for a in reversed(before))
        else:
            found.append((at, path))
    return iter(sorted(found, key=lambda origin: origin[0].inst is not None))


def _deciding(value: Value, wide: Sequence[Value]) -> Sequence[Value]:
    """Of wide operands those that are wide of their own: others are converted because of them."""
    own = [a for a in wide if not _is_implicit(a, value)]
    return own or wide


def _is_implicit(value: Value, user: Value) -> bool:
    """Whether a value is a conversion that its user makes for itself, or a number that no operand in the text is."""
    inst = value.inst
    if inst is not None and inst.op.name == "const" and user.inst is not None and inst.loc == user.inst.loc:
        return not is_region(user.inst) and len(operand_texts(segment(inst.loc))) != len(user.inst.args)
    while inst is not None and user.inst is not None and inst.loc == user.inst.loc:
        if inst.op.name == "cast":
            return True
        if inst.op.kind != "view" and inst.op.name not in ("keep", "copy"):
            break
        inst = inst.args[0].inst
    return False


def _made_of(value: Value, outer: Mapping[Value, Value]) -> Sequence[Value]:
    """What decides a value's dtype; `outer` are the arguments that parameters of loops and branches stand for."""
    inst = value.inst
    if inst is None:
        return (outer[value],) if value in outer else ()
    if inst.op.name == "update":
        # What is written into an array takes its dtype.
        return inst.args[:1]
    if not is_region(inst):
        return inst.args
    number = inst.results.index(value)
    first = (given(inst)[number],) if carried_count(inst) else ()
    return *first, *(region.terminator.args[number] for region in inst.regions)


def _cause(origin: Value, path: Sequence[Value], params: Sequence[Value]) -> Cause:
    steps = tuple(_step(v) for v in path if v.inst is not None)
    steps = tuple(s for n, s in enumerate(steps) if n == 0 or s.text != steps[n - 1].text)
    inst = origin.inst
    dtype = element(origin.type).numpy.name
    if inst is None:
        return Cause("argument", origin.name, f"the argument {origin.name} is {dtype}", _narrow_argument(origin), steps)
    text = segment(inst.loc)
    user = path[0].inst if path else None
    asked_for = dtype_text(text)
    like = next((t for t in operand_texts(text) if "_like(" in text), "") or asked_for.removesuffix(".dtype")
    if like and (not asked_for or asked_for.endswith(".dtype")):
        steps = (Step(text, dtype, inst.loc), *(s for s in steps if s.text != text))
        param = next((p for p in params if p.name == like and is_wide(p.type)), None)
        if param is not None:
            return Cause("argument", like, f"the argument {like} is {dtype}", _narrow_argument(param), steps)
        return Cause("function", text, f"`{text}` has the dtype of `{like}`", "", steps, inst.loc)
    if asked_for:
        said = f"`{text}` asks for {dtype}"
        return Cause("conversion", text, said, _NARROW_ENOUGH, steps, inst.loc)
    match inst.op.name:
        case "const":
            return _constant(origin, user, steps, dtype, {p.name for p in params})
        case "cast" if _counts(inst):
            return Cause("function", text, *_makes(text, dtype), steps, inst.loc)
        case "cast":
            before = element(inst.args[0].type).numpy.name
            asked = "astype" in text or dtype in text or "double" in text
            casts = [a for a in user.args if _is_implicit(a, origin)] if user is not None else []
            narrow = dict.fromkeys(element(a.inst.args[0].type) for a in casts if a.inst is not None)
            listed = " and ".join(d.numpy.name for d in narrow) or before
            said = f"`{text}` asks for {dtype}" if asked else f"NumPy computes `{text}` of {listed} in {dtype}"
            if _called(text) in ALWAYS_WIDE:
                return Cause("function", text, *_makes(text, dtype), steps, inst.loc)
            help = _NARROW_ENOUGH if asked else _narrow_result(text, tuple(narrow) or (element(inst.args[0].type),))
            help = "" if asked and before == dtype else help
            return Cause("conversion" if asked else "function", text, said, help, steps, inst.loc)
    kind, said, help = _operation(inst, text, dtype)
    return Cause(kind, text, said, help, steps, inst.loc)


def _counts(inst: Inst) -> bool:
    """Whether numbers that a call counts itself are cast."""
    made = inst.args[0].inst
    while made is not None and made.loc == inst.loc and made.op.kind == "view":
        made = made.args[0].inst
    return made is not None and made.loc == inst.loc and made.op.name in ("iota", "const")


def _step(value: Value) -> Step:
    inst = value.inst
    assert inst is not None
    dtype = element(value.type).numpy.name
    if is_region(inst):
        text = segment(inst.loc)
        name = value.name or (text if is_choice(text) else "")
        return Step(name, dtype, inst.loc, "behind the loop" if carried_count(inst) else "behind the branches")
    return Step(segment(inst.loc), dtype, inst.loc)


def _constant(origin: Value, user: Inst | None, steps: tuple[Step, ...], dtype: str, params: set[str]) -> Cause:
    assert origin.inst is not None
    number = origin.inst.attr("value")
    whole = segment(origin.inst.loc)
    texts = operand_texts(whole)
    text = whole
    if user is not None and origin in user.args and len(texts) == len(user.args) and user.loc == origin.inst.loc:
        text = texts[user.args.index(origin)]
    narrow = "complex64" if dtype == "complex128" else "float32"
    if user is not None and is_region(user):
        # A variable of a loop: the constant is what it begins with.
        name = user.results[list(given(user)).index(origin)].name if origin in given(user) else ""
        said = f"`{name or 'a variable'}` begins as a NumPy {dtype} ({number!r}), which does not adapt as a Python number does"
        return Cause("constant", name, said, f"begin with a Python number, or with np.{narrow}(...)", steps, origin.inst.loc)
    # Not that of an operand in the text, the constant is one that the function makes for itself.
    own = text in params or (user is not None and text == whole and user.loc == origin.inst.loc)
    if user is None or user.op.name in ("broadcast", "copy") or own:
        return Cause("function", whole, *_makes(whole, dtype), steps, origin.inst.loc)
    said = f"`{text}` is a NumPy {dtype} ({number!r}), which does not adapt to the array as a Python number does"
    own = re.fullmatch(r"([\w.]*)\b(?:float64|double|complex128)(\(.*\))", text)
    narrowed = f"{own[1]}{narrow}{own[2]}" if own else f"np.{narrow}({text})"
    help = f"write {narrowed}, or compute it with Python's numbers and math"
    return Cause("constant", text, said, help, steps, origin.inst.loc)


def _makes(text: str, dtype: str) -> tuple[str, str]:
    """What is said of a call that makes float64 of its own, and what helps."""
    if takes_dtype(_called(text)):
        return f"`{text}` makes {dtype}, because no dtype is given", "give it dtype=np.float32"
    said = f"NumPy computes `{text}` in {dtype}, whatever it is given"
    return said, "convert its result with astype(np.float32), if that is precise enough"


def _operation(inst: Inst, text: str, dtype: str) -> tuple[str, str, str]:
    operands: list[str] = [_operand_name(a.type) for a in inst.args]
    if all(a.inst is not None and a.inst.loc == inst.loc for a in inst.args):
        # A call whose operands are its own: it makes an array of nothing of the program's.
        return "function", *_makes(text, dtype)
    listed = " and ".join(dict.fromkeys(operands))
    said = f"NumPy computes `{text}` of {listed} in {dtype}"
    texts = operand_texts(text)
    whole = [n for n, a in enumerate(inst.args) if not isinstance(a.type, WeakType) and element(a.type).kind in "biu"]
    if len(texts) == len(inst.args) and whole:
        help = "write " + " and ".join(f"{_bracketed(texts[n])}.astype(np.float32)" for n in whole)
        return "promotion", said, help
    if all(isinstance(a.type, WeakType) for a in inst.args):
        return "promotion", said, "use Python's math, whose numbers adapt to arrays"
    return "promotion", said, "convert its operands with astype(np.float32)"


def _operand_name(type: Type) -> str:
    return f"Python's {type.kind}" if isinstance(type, WeakType) else element(type).numpy.name


def _bracketed(text: str) -> str:
    return text if is_primary(text) else f"({text})"


def _narrow_argument(value: Value) -> str:
    narrow: DType | str = "float32" if element(value.type) is F64 else "complex64"
    if isinstance(value.type, ArrayType):
        return f"pass {value.name}.astype(np.{narrow})"
    return f"pass a Python number, which adapts to arrays, or np.{narrow}({value.name})"


def _narrow_result(text: str, operands: Sequence[DType]) -> str:
    """What makes a call narrow whose operands are of these dtypes."""
    narrow = "give it dtype=np.float32" if takes_dtype(_called(text)) else ""
    if _called(text) not in ALWAYS_WIDE and any(d.kind in "biu" for d in operands):
        return f"{narrow}{', or ' if narrow else ''}convert its operands with astype(np.float32)"
    return narrow or "convert its result with astype(np.float32), if that is precise enough"


def _called(text: str) -> str:
    return text.partition("(")[0].rpartition(".")[2]


_NARROW_ENOUGH = "convert to float32 instead, if that is precise enough"
