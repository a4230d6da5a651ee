"""Expressions: names, literals, attributes, subscripts, and assignment to them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pytocu.errors import CompileError, DTypeError, UnsupportedError, closest, raised
from pytocu.frontend.attributes import Method
from pytocu.frontend.builtin_calls import Members, iterate
from pytocu.frontend.calls import call
from pytocu.frontend.choices import NeedsBranch, both_sides, choose, connect, is_choice, negate
from pytocu.frontend.compaction import known_masks
from pytocu.frontend.control import both, choice, condition, connected, decides, negated
from pytocu.frontend.frames import Frame, LocalFunction, lookup, mangled, owner_of
from pytocu.frontend.gathering import has_positions, subscript
from pytocu.frontend.inplace import assign_elements, element_view
from pytocu.frontend.literals import known_array
from pytocu.frontend.masked import as_mask, chosen, values
from pytocu.frontend.masked_work import assign as assign_masked
from pytocu.frontend.masked_work import mask_in, without_numbers
from pytocu.frontend.notes import note_operands
from pytocu.frontend.numpy_calls import index_trick
from pytocu.frontend.objects import get_attribute, refuse_outside
from pytocu.frontend.operators import BINARY, UNARY, attempt, binary, check_plain, compute, truth, unary
from pytocu.frontend.raising import mark
from pytocu.frontend.reading import read_int, scalar_of
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.source import FunctionNode
from pytocu.frontend.state import State
from pytocu.frontend.values import (
    Context,
    Masked,
    as_value,
    contains_dynamic,
    describe,
    dimensions,
    is_array,
    is_dynamic,
    is_numpy_scalar,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_min
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, WeakType, element

_REFUSED: dict[type[ast.expr], tuple[str, str | None]] = {
    ast.Await: ("await", "call the coroutine outside the function"),
    ast.Yield: ("yield", "return the arrays as a tuple"),
    ast.YieldFrom: ("yield from", "return the arrays as a tuple"),
}



def evaluate(frame: Frame, node: ast.expr) -> Any:
    """The abstract value of an expression.

    Raises
    ------
    CompileError
        At the expression's place.
    """
    builder = frame.context.builder
    saved = builder.loc
    builder.loc = frame.loc(node)
    try:
        return _evaluate(frame, node)
    finally:
        builder.loc = saved


def _evaluate(frame: Frame, node: ast.expr) -> Any:
    context = frame.context
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return lookup(frame, name)
        case ast.BinOp():
            return _binary_chain(frame, node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negate(context, evaluate(frame, operand))
        case ast.UnaryOp(op=op, operand=operand):
            return unary(context, UNARY[type(op)], evaluate(frame, operand))
        case ast.Compare():
            return _compare(frame, node)
        case ast.BoolOp(op=op, values=values):
            return _bool_op(frame, op, values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            tested = evaluate_test(frame, test)
            if is_choice(tested):
                what = "the conditional expression"

                def both() -> Any:
                    with both_sides(context, what):
                        sides = evaluate(frame, body), evaluate(frame, orelse)
                    return choose(context, tested, *sides, what)

                return _or_branch(frame, both, tested, lambda: evaluate(frame, body), lambda: evaluate(frame, orelse))
            return evaluate(frame, body if truth(context, tested, "the conditional expression") else orelse)
        case ast.Call():
            return _call(frame, node)
        case ast.Attribute(value=base, attr=name):
            return get_attribute(frame, evaluate(frame, base), mangled(frame, name))
        case ast.Subscript(value=base, slice=key):
            array, place = evaluate(frame, base), evaluate(frame, key)
            try:
                return member(frame, array, place)
            except CompileError as error:
                note_operands(frame, error, [(base, array), (key, place)])
                error.help = error.help or what_there_is(error, ast.unparse(base), array, place)
                raise
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = (None if part is None else evaluate(frame, part) for part in (lower, upper, step))
            return slice(*(_read_bound(context, bound) for bound in bounds))
        case ast.Tuple(elts=parts):
            return tuple(_elements(frame, parts))
        case ast.List(elts=parts):
            return _elements(frame, parts)
        case ast.Set(elts=parts):
            return _set(frame, _elements(frame, parts))
        case ast.Dict(keys=keys, values=values):
            return _dict(frame, keys, values)
        case ast.JoinedStr(values=parts):
            # The places of the parts differ between versions of Python; the whole text's does not.
            return "".join(_format(frame, p) if isinstance(p, ast.FormattedValue) else evaluate(frame, p) for p in parts)
        case ast.Lambda():
            return LocalFunction(node, frame, local_defaults(frame, node))
        case ast.NamedExpr(target=ast.Name() as target, value=value):
            result = evaluate(frame, value)
            if context.choosing:
                raise UnsupportedError(
                    ":= in a part that Python may leave out is not compiled", context.loc, "make it a statement of its own"
                )
            assign(frame, target, result, through_comprehensions=True)
            return result
        case ast.ListComp(elt=element, generators=generators):
            return list(_comprehension(frame, generators, lambda inner: evaluate(inner, element)))
        case ast.GeneratorExp(elt=element, generators=generators):
            return Members(_comprehension(frame, generators, lambda inner: evaluate(inner, element)))
        case ast.SetComp(elt=element, generators=generators):
            return _set(frame, list(_comprehension(frame, generators, lambda inner: evaluate(inner, element))))
        case ast.DictComp(key=key, value=value, generators=generators):
            pairs = list(_comprehension(frame, generators, lambda inner: (evaluate(inner, key), evaluate(inner, value))))
            return {_hashable(frame, k): v for k, v in pairs}
    what, help = _REFUSED.get(type(node), (f"the expression {type(node).__name__}", None))
    raise UnsupportedError(f"{what} is not supported", context.loc, help)


def _binary_chain(frame: Frame, node: ast.BinOp) -> Any:
    # Left-leaning chains (a + b + c + ...) are walked, so that their length does not recurse.
    context = frame.context
    chain: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    result = evaluate(frame, left)
    for part in reversed(chain):
        right = evaluate(frame, part.right)
        context.builder.loc = frame.loc(part)
        name = BINARY.get(type(part.op))
        if name is None:
            result = call(frame, np.matmul, (result, right), {})
        elif name == "remainder" and isinstance(result, (str, bytes)):
            result = _percent(frame, result, right)
        else:
            result = binary(context, name, result, right)
    return result


def _percent(frame: Frame, text: Any, values: Any) -> Any:
    context = frame.context
    if contains_dynamic(values) and context.in_message is not None and isinstance(text, str):
        # A run-time value is a text here.
        members = values if isinstance(values, tuple) else (values,)
        values = tuple(_shown(context, v, True) if contains_dynamic(v) else v for v in members)
        text = text.replace("%d", "%s").replace("%i", "%s")
    elif contains_dynamic(values):
        raise UnsupportedError("a string cannot show a value known only at run time", frame.context.loc, "format it outside")
    return compute(frame.context, lambda text, values: text % values, text, values)


def _compare(frame: Frame, node: ast.Compare) -> Any:
    parts = list(zip(node.ops, node.comparators, strict=True))
    return _compare_chain(frame, evaluate(frame, node.left), parts)


def _compare_chain(frame: Frame, left: Any, parts: list[tuple[ast.cmpop, ast.expr]]) -> Any:
    context = frame.context
    (op, right_node), *rest = parts
    right = evaluate(frame, right_node)
    result = _compare_one(frame, op, left, right)
    if not rest:
        return result
    if is_choice(result):
        others = lambda: _compare_chain(frame, right, rest)  # noqa: E731
        return _or_branch(frame, lambda: connect(context, "and", result, others), result, others, lambda: result)
    if is_dynamic(result):
        raise UnsupportedError(
            f"a chained comparison of run-time values ({result.type}) asks for the truth of its first part",
            context.loc,
            "write (a < x) & (x < b)",
        )
    return _compare_chain(frame, right, rest) if truth(context, result, "the comparison") else result


def _compare_one(frame: Frame, op: ast.cmpop, left: Any, right: Any) -> Any:
    context = frame.context
    match op:
        case ast.Is():
            return _identical(frame, left, right)
        case ast.IsNot():
            return not _identical(frame, left, right)
        case ast.In():
            return _contains(frame, left, right)
        case ast.NotIn():
            return not _contains(frame, left, right)
    containers = (tuple, list, dict)
    pair = [s for s in (left, right) if not (is_array(s) or is_numpy_scalar(s))]
    with_array = len(pair) == 1 and isinstance(pair[0], (tuple, list))
    if contains_dynamic((left, right)) and any(isinstance(s, containers) for s in pair) and not with_array:
        if isinstance(op, (ast.Eq, ast.NotEq)) and type(left) is type(right) and isinstance(left, (tuple, list)):
            same = _same_members(frame, left, right)
            return same if isinstance(op, ast.Eq) else negated(context, same)
        raise UnsupportedError(
            f"a comparison of {type(left).__name__} and {type(right).__name__} holding run-time values is not compiled",
            context.loc,
            "compare the members you need; shapes that must agree are checked where the arrays meet",
        )
    return binary(context, BINARY[type(op)], left, right)


def _same_members(frame: Frame, left: Any, right: Any) -> Any:
    """Whether two tuples or lists have the same numbers, as Python's own bool."""
    context = frame.context
    if len(left) != len(right):
        return False
    same: Any = True
    for a, b in zip(left, right, strict=True):
        one = a is b or _compare_one(frame, ast.Eq(), a, b)
        if isinstance(one, Value) and one.type != WEAK_BOOL:
            raise UnsupportedError(
                f"a comparison of a {type(left).__name__} that holds {describe(a if is_dynamic(a) else b)}",
                context.loc,
                "compare the members you need, or arrays with np.array_equal",
            )
        same = both(context, same, one if isinstance(one, Value) else bool(one))
    return same


def _read_bound(context: Context, bound: Any) -> Any:
    """A bound of a slice, which is Python's int: the host reads one that is computed."""
    if context.elements is not None or not isinstance(bound, Value) or isinstance(bound.type, WeakType) or dimensions(bound):
        return bound
    return read_int(context, scalar_of(context, bound, "slice"), "a slice bound") if element(bound.type).is_integer else bound


def _contains(frame: Frame, member: Any, container: Any) -> bool:
    if contains_dynamic(member) or (contains_dynamic(container) and not isinstance(container, dict)):
        raise UnsupportedError(
            "'in' with values known only at run time is not compiled", frame.context.loc, "compare with == and combine with |"
        )
    for value in (member, container):
        check_plain(frame.context, value, "'in'")
    if isinstance(container, dict):
        return compute(frame.context, lambda m, keys: m in dict.fromkeys(keys), member, list(container))
    return compute(frame.context, lambda m, c: m in c, member, container)


def _identical(frame: Frame, left: Any, right: Any) -> bool:
    if left is None or right is None or left is right:
        return left is right
    if is_dynamic(left) or is_dynamic(right):
        raise UnsupportedError(
            "'is' with values known only at run time, other than None, is not compiled", frame.context.loc, "compare with =="
        )
    if left is True or left is False or right is True or right is False:
        return left is right
    check_plain(frame.context, left, "'is'")
    check_plain(frame.context, right, "'is'")
    return left is right


def evaluate_test(frame: Frame, node: ast.expr) -> Any:
    """A value of which only the truth is wanted."""
    context = frame.context
    match node:
        case ast.BoolOp(op=op, values=[first, *rest]):
            word = "and" if isinstance(op, ast.And) else "or"
            result = evaluate_test(frame, first)
            if not rest:
                return result
            others = lambda: evaluate_test(frame, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))  # noqa: E731
            with context.builder.at(frame.loc(node)):
                if decides(result):
                    return connected(frame, word, result, others)
                elementwise = f"write (a) {'&' if word == 'and' else '|'} (b), or np.logical_{word}(a, b)"
                if truth(context, result, f"'{word}'", elementwise=elementwise) == (word == "or"):
                    return result
            return others()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            result = evaluate_test(frame, operand)
            with context.builder.at(frame.loc(node)):
                return negated(context, condition(context, result)) if decides(result) else negate(context, result)
    return evaluate(frame, node)


def _bool_op(frame: Frame, op: ast.boolop, values: list[ast.expr]) -> Any:
    word, symbol = ("and", "&") if isinstance(op, ast.And) else ("or", "|")
    first, *rest = values
    result = evaluate(frame, first)
    if not rest:
        return result
    if is_choice(result):
        others = lambda: _bool_op(frame, op, rest)  # noqa: E731
        sides = (others, lambda: result) if word == "and" else (lambda: result, others)
        return _or_branch(frame, lambda: connect(frame.context, word, result, others), result, *sides)
    elementwise = f"write (a) {symbol} (b), or np.logical_{word}(a, b)"
    if truth(frame.context, result, f"'{word}'", elementwise=elementwise) == (word == "or"):
        return result
    return _bool_op(frame, op, rest)


def _or_branch(
    frame: Frame, both: Callable[[], Any], test: Value, yes: Callable[[], Any], no: Callable[[], Any]
) -> Any:
    """Both sides and a choice, or a branch where computing what Python leaves out may raise."""
    context = frame.context
    if context.elements is not None:
        return choice(frame, test, yes, no)
    state = State(frame)
    try:
        with context.builder.nested() as insts:
            chosen = both()
    except NeedsBranch:
        state.go_back()
        return choice(frame, test, yes, no)
    context.builder.insts.extend(insts)
    return chosen


def _elements(frame: Frame, parts: Iterable[ast.expr]) -> list[Any]:
    out: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Starred):
            out.extend(iterate(frame, evaluate(frame, part.value), "*"))
        else:
            out.append(evaluate(frame, part))
    return out


def _hashable(frame: Frame, value: Any) -> Any:
    if contains_dynamic(value):
        raise UnsupportedError("a key cannot be a value known only at run time", frame.context.loc, "use constants as keys")
    compute(frame.context, hash, value)
    return value


def _set(frame: Frame, members: list[Any]) -> set[Any]:
    return {_hashable(frame, m) for m in members}


def _dict(frame: Frame, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            other = evaluate(frame, value)
            if not isinstance(other, dict):
                raise raised(TypeError(f"'{type(other).__name__}' object is not a mapping"), frame.context.loc)
            out.update(other)
        else:
            out[_hashable(frame, evaluate(frame, key))] = evaluate(frame, value)
    return out


def _format(frame: Frame, node: ast.FormattedValue) -> str:
    context = frame.context
    value = evaluate(frame, node.value)
    if contains_dynamic(value):
        if context.in_message is None:
            raise UnsupportedError(
                f"a string cannot show {describe(value)}, which is known only at run time",
                context.loc,
                "return the value itself, or format it outside",
            )
        return _shown(context, value, node.conversion < 0 and node.format_spec is None)
    check_plain(context, value, "the text")
    spec = "" if node.format_spec is None else evaluate(frame, node.format_spec)
    convert: Callable[..., Any] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(node.conversion, lambda v: v)
    return compute(context, lambda v, spec: format(convert(v), spec), value, spec)


def _shown(context: Context, value: Any, plain: bool) -> str:
    """A run-time value in the text of an exception."""
    if isinstance(value, Value) and value.type == WEAK_INT and context.in_message is not None and plain:
        context.in_message.append(value)
        return mark(len(context.in_message) - 1)
    if type(value) is tuple and plain:
        members = [_shown(context, v, True) if contains_dynamic(v) else repr(v) for v in value]
        return f"({', '.join(members)}{',' * (len(members) == 1)})"
    return f"<{value.type}>" if isinstance(value, Value) else "<run-time values>"


def _comprehension(
    frame: Frame, generators: list[ast.comprehension], emit: Callable[[Frame], Any], around: Frame | None = None
) -> Iterator[Any]:
    if around is None:
        names = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        inner = frame.inside(frozenset(names))
    else:
        inner = around
    first, *rest = generators
    # The first iterable belongs to the scope around the comprehension, as in Python.
    members = iterate(frame, evaluate(frame if around is None else inner, first.iter), "the comprehension")
    for item in members:
        assign(inner, first.target, item)
        if all(truth(frame.context, evaluate(inner, test), "the comprehension's condition") for test in first.ifs):
            if rest:
                yield from _comprehension(frame, rest, emit, inner)
            else:
                yield emit(inner)


def local_defaults(frame: Frame, node: FunctionNode) -> dict[str, Any]:
    """The default values of a nested function, evaluated where it is defined."""
    positional = (*node.args.posonlyargs, *node.args.args)
    with_default = positional[len(positional) - len(node.args.defaults) :]
    out = {a.arg: evaluate(frame, d) for a, d in zip(with_default, node.args.defaults, strict=True)}
    for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None:
            out[parameter.arg] = evaluate(frame, default)
    return out


def member(frame: Frame, base: Any, key: Any) -> Any:
    """``base[key]``."""
    context = frame.context
    if isinstance(base, Masked):
        base = as_value(context, base)
    if isinstance(base, Value):
        key = known_masks(context, base, as_mask(context, base, values(context, key)))
        place = mask_in(key) if is_array(base) else None
        view, mask, first = (base, None, 0) if place is None else without_numbers(context, base, key, *place)
        if mask is not None and not first:
            return chosen(context, view, mask)
        return subscript(context, base, key)
    trick = index_trick(base)
    if trick is not None:
        return trick(context, key)
    if contains_dynamic(key):
        raise UnsupportedError(
            f"a {type(base).__name__} cannot be indexed by a value known only at run time",
            context.loc,
            "index with constants or static arguments",
        )
    # A tuple, list or dict may hold anything: only the keys are compared.
    check_plain(context, list(base) if isinstance(base, dict) else () if isinstance(base, (tuple, list)) else base, "indexing")
    check_plain(context, key, "indexing")
    found = attempt(context, lambda: base[key])
    if isinstance(found, np.ndarray):
        if isinstance(base, np.generic):
            # scalar[None] is an array of it.
            return subscript(context, as_value(context, base), key)
        return known_array(context, found)
    return found


def changed_member(frame: Frame, base: Any, key: Any) -> Any:
    """``base[key]`` as what is changed in place: ints of run time are positions of a view."""
    context = frame.context
    changing, context.changing = context.changing, True
    try:
        return member(frame, base, key)
    finally:
        context.changing = changing


def _call(frame: Frame, node: ast.Call) -> Any:
    function = evaluate(frame, node.func)
    args = _elements(frame, node.args)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        given = {keyword.arg: value} if keyword.arg is not None else value
        if not isinstance(given, dict):
            raise raised(TypeError(f"argument after ** must be a mapping, not {type(value).__name__}"), frame.context.loc)
        repeated = next((k for k in given if k in kwargs), None)
        if repeated is not None:
            raise raised(TypeError(f"got multiple values for keyword argument '{repeated}'"), frame.context.loc)
        kwargs.update(given)
    try:
        found = call(frame, function, tuple(args), kwargs)
    except CompileError as error:
        given = [*zip(node.args, args, strict=False), *((k.value, kwargs.get(k.arg)) for k in node.keywords if k.arg)]
        if isinstance(node.func, ast.Attribute) and isinstance(function, Method):
            given.insert(0, (node.func.value, function.value))
        note_operands(frame, error, given)
        raise
    return known_array(frame.context, found) if isinstance(found, np.ndarray) else found


# Assignment.


def assign(frame: Frame, target: ast.expr, value: Any, through_comprehensions: bool = False) -> None:
    """Bind a name, or several by unpacking, or change a member of a local list or dict or elements of an array.

    Raises
    ------
    UnsupportedError
        The target is an attribute or a name outside the function.
    """
    context = frame.context
    match target:
        case ast.Name(id=name):
            if isinstance(value, Value) and not value.name and value.inst is not None:
                value.name = name
            owner_of(frame, name, through_comprehensions).locals[name] = value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(frame, parts, value)
        case ast.Subscript(value=base_node, slice=key_node):
            assign_member(frame, evaluate(frame, base_node), evaluate(frame, key_node), value, ast.unparse(target))
        case ast.Attribute():
            array = ast.unparse(target.value)
            shape = target.attr == "shape"
            help = f"write {array} = {array}.reshape(...)" if shape else "return the value and assign it outside"
            text = f"assignment to the attribute {ast.unparse(target)} is not compiled"
            raise UnsupportedError(text, context.loc, help)
        case ast.Starred():
            raise raised(SyntaxError("starred assignment target must be in a list or tuple"), context.loc)


def what_there_is(error: CompileError, text: str, known: Any, key: Any) -> str | None:
    """The help where a list, tuple or dict known now has no such member."""
    match known:
        case tuple() | list() if isinstance(error, IndexError):
            return f"{text} has {'1 element' if len(known) == 1 else f'{len(known)} elements'}, with indices from 0"
        case dict() if isinstance(error, KeyError):
            close = closest(key, [k for k in known if isinstance(k, str)]) if isinstance(key, str) else ""
            return f"did you mean {close!r}?" if close else f"its keys are {', '.join(map(repr, known)) or 'none'}"
    return None


def assign_member(frame: Frame, base: Any, key: Any, value: Any, text: str) -> None:
    """``base[key] = value``; `text` is the target as it is written."""
    context = frame.context
    if isinstance(base, Masked):
        base = as_value(context, base)
    if isinstance(base, Value):
        key = known_masks(context, base, as_mask(context, base, values(context, key)))
        place = mask_in(key) if is_array(base) else None
        if place is not None:
            assign_masked(context, *without_numbers(context, base, key, *place), value)
            return
        if has_positions(base, key):
            # Not at the head: a first call waits for what is imported.
            from pytocu.frontend.scattering import assign

            assign(context, base, key, value)
            return
        assign_elements(context, element_view(context, base, key, value, text), value)
        return
    if not isinstance(base, (list, dict)):
        raise raised(TypeError(f"'{type(base).__name__}' object does not support item assignment"), context.loc)
    refuse_outside(context, base, f"{text} = ...")
    if contains_dynamic(key):
        raise UnsupportedError(
            f"a {type(base).__name__} cannot be indexed by a value known only at run time", context.loc, "use constants as keys"
        )
    check_plain(context, key, "indexing")
    attempt(context, base.__setitem__, key, value)


def _unpack(frame: Frame, parts: list[ast.expr], value: Any) -> None:
    loc = frame.context.loc
    if isinstance(value, Value) and not is_array(value):
        raise DTypeError(f"cannot unpack a value of type {value.type}, which is one number", loc)
    star = next((n for n, p in enumerate(parts) if isinstance(p, ast.Starred)), None)
    if star is None and isinstance(value, Value) and dimensions(value) and not isinstance(dimensions(value)[0], int):
        length, count = dimensions(value)[0], len(parts)
        said = f"not enough values to unpack (expected {count}, got {{0}})"
        require_equal(frame.context, dim_min(length, count), count, "ValueError", said)
        require_equal(frame.context, length, count, "ValueError", f"too many values to unpack (expected {count})")
        items = [subscript(frame.context, value, n) for n in range(count)]
    else:
        items = list(iterate(frame, value, "unpacking"))
    if star is None:
        if len(items) != len(parts):
            problem = "too many" if len(items) > len(parts) else "not enough"
            count = "" if len(items) > len(parts) else f", got {len(items)}"
            raise raised(ValueError(f"{problem} values to unpack (expected {len(parts)}{count})"), loc)
        targets = list(zip(parts, items, strict=True))
    else:
        behind = len(parts) - star - 1
        if len(items) < len(parts) - 1:
            problem = f"not enough values to unpack (expected at least {len(parts) - 1}, got {len(items)})"
            raise raised(ValueError(problem), loc)
        middle, end = items[star : len(items) - behind], items[len(items) - behind :]
        starred = parts[star]
        assert isinstance(starred, ast.Starred)
        targets = [*zip(parts[:star], items, strict=False), (starred.value, middle), *zip(parts[star + 1 :], end, strict=True)]
    for part, item in targets:
        assign(frame, part, item)
