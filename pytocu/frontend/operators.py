"""Python operators on abstract values: known numbers are computed now, the rest becomes IR."""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, class_name, located, raised
from pytocu.frontend.values import (
    Context,
    Flat,
    Grown,
    Masked,
    as_dim,
    as_strong,
    as_value,
    cast,
    const_inst,
    contains_dynamic,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_dynamic,
    is_numpy_scalar,
    is_weak,
    no_int,
    refuse_array,
    refuse_captured,
)
from pytocu.guards import is_plain, overrides
from pytocu.ir import dims, promote
from pytocu.ir.core import Value, types_of
from pytocu.ir.ops import OPS, Op
from pytocu.ir.types import (
    BOOL,
    C64,
    C128,
    F64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_INT,
    DType,
    ScalarType,
    WeakType,
    element,
    number_of,
    scalar,
    type_text,
)

_found_in_front = Deferred("pytocu.frontend.marks", "found_in_front")
_in_own_words = Deferred("pytocu.frontend.own_words", "in_own_words")
_joined_lists = Deferred("pytocu.frontend.grown", "joined")
_known_array = Deferred("pytocu.frontend.literals", "known_array")
_known_here = Deferred("pytocu.frontend.ranges", "known_here")
_lifted = Deferred("pytocu.frontend.masked", "lifted")
_mask_over = Deferred("pytocu.frontend.masked", "mask_over")
_require = Deferred("pytocu.frontend.requirements", "require")
_require_equal = Deferred("pytocu.frontend.requirements", "require_equal")

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
UNARY: dict[type[ast.AST], str] = {ast.UAdd: "positive", ast.USub: "negative", ast.Invert: "invert"}

_DIM_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def compute(context: Context, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Evaluate something known now; an exception becomes an error at this line.

    Raises
    ------
    UnsupportedError
        An operand is an object of a class whose code would run.
    CompileError
        What Python or NumPy raised.
    """
    for value in (*args, *kwargs.values()):
        check_plain(context, value, getattr(function, "__name__", "this"))
    return attempt(context, function, *args, **kwargs)


def attempt(context: Context, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """As :func:`compute`, for what runs no code of its operands' classes."""
    refuse_captured(context, (*args, *kwargs.values()))
    try:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    except UnsupportedError as error:
        # A dtype that there is none of here.
        raise UnsupportedError(error.message, context.loc, error.help) from None
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError, MemoryError, RuntimeError) as error:
        raise raised(error, context.loc) from None


def refuse_complex(context: Context, value: Value, dtype: DType) -> None:
    """Python's own error where a number of a real dtype would be made of a Python complex number.

    Raises
    ------
    TypeError
    """
    if value.type == WEAK_COMPLEX and dtype.kind in "iuf":
        compute(context, dtype.numpy.type, 0j)


_INDEXED = ("mgrid", "ogrid", "r_", "c_", "s_", "index_exp")
"""Objects of NumPy that make arrays of what they are indexed with."""


def check_plain(context: Context, value: Any, what: str) -> None:
    """Refuse objects whose own methods an operator or builtin would run.

    Raises
    ------
    UnsupportedError
    """
    if isinstance(value, np.ndarray) or (isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value)):
        refuse_captured(context, value)
        refuse_array(context, "")
    for name in _INDEXED:
        if value is getattr(np, name):
            raise UnsupportedError(f"np.{name} is used as a value", context.loc, f"index it: np.{name}[0:3]")
    if isinstance(value, Exception) and class_name(type(value)) is not None and is_plain(value.args):
        return
    if not is_plain(value):
        refuse_own_code(context, value, what)


def refuse_own_code(context: Context, value: Any, what: str, help: str = "use the numbers it holds, by attribute") -> NoReturn:
    """Refuse what a class of the user's would answer itself.

    Raises
    ------
    UnsupportedError
    """
    raise UnsupportedError(f"{what} of {describe(value)} would run code of its class while compiling", context.loc, help)


def constant_or_static(context: Context, *values: Any, constant: str = "a constant") -> str:
    """What to write where values must be known while compiling, with the names of those that are arguments."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = tuple(values[0])
    names = [v.name for v in values if isinstance(v, Value) and v in context.given]
    if not names or len(names) < sum(isinstance(v, Value) for v in values):
        return f"write {constant}, or name the argument in @jit(static=(...))"
    static = repr(names[0] if len(names) == 1 else tuple(names)).replace("'", '"')
    return f"write {constant}, or @jit(static={static}), which compiles for each value of {' and '.join(names)}"


def known_option(context: Context, value: Any, what: str) -> Any:
    """An argument that is known while compiling.

    Raises
    ------
    UnsupportedError
        It is known only at run time.
    """
    if contains_dynamic(value):
        raise UnsupportedError(f"{what} must be known while compiling", context.loc, constant_or_static(context, value))
    check_plain(context, value, what)
    return value


def known_int(context: Context, value: Any, what: str) -> int:
    """An argument that is an int known while compiling.

    Raises
    ------
    TypeError
        It is known, and no int.
    """
    return index_of(context, known_option(context, value, what))


def index_of(context: Context, value: Any) -> int:
    """What is known as an int.

    Raises
    ------
    TypeError
        It is none.
    """
    try:
        return operator.index(value)
    except TypeError as error:
        raise no_int(context, str(error)) from None


def is_c_long(number: int) -> bool:
    """Whether int64 holds a number."""
    return -(2**63) <= number < 2**63


def is_beyond(value: Any, end: int = 2**63) -> bool:
    """Whether it is an int of Python's, known now, that int64 does not hold, or none of 64 bits where `end` is ``2**64``."""
    inst = const_inst(value)
    number = value if inst is None else inst.attr("value")
    return type(number) is int and (inst is None or value.type == WEAK_INT) and not -(2**63) <= number < end


def clamped(number: int, farthest: int = 2**62) -> int:
    """A distance along an array: farther away than an array reaches is farther away.

    Examples
    --------
    >>> clamped(-(10**30)) == -(2**62)
    True
    """
    return max(-farthest, min(number, farthest))


TOO_LARGE = OverflowError("Python int too large to convert to C long")
"""What NumPy raises of ints that int64 does not hold where it takes no larger ones."""


def c_long(context: Context, number: int) -> int:
    """A number that int64 holds.

    Raises
    ------
    OverflowError
        It holds none.
    """
    if not is_c_long(number):
        raise raised(TOO_LARGE, context.loc)
    return number


def binary(context: Context, name: str, left: Any, right: Any) -> Any:
    """``left <op> right`` with Python's and NumPy's meaning."""
    try:
        made = _binary(context, name, left, right)
    except CompileError as error:
        if error.own_words:
            raise _in_own_words(context, error, OPS[name].python, (left, right), {}) from None
        raise
    return _as_python_raises(context, name, left, right, made) if _note_complex(context, left, right, made) else made


def _as_python_raises(context: Context, name: str, left: Any, right: Any, made: Value) -> Value:
    """A complex number of Python's that NumPy's formula made, with Python's exceptions."""
    python = OPS[name].python
    assert python is not None
    if name == "divide":
        tried, fine = (1j, 0j), elementwise(context, "not_equal", right, 0)
    elif name == "power":
        tried, exponent = (0j, -1j), as_strong(context, right)
        real = context.builder.emit("real", (exponent,)) if element(exponent.type).kind == "c" else exponent
        positive, of_reals = elementwise(context, "greater_equal", real, 0), elementwise(context, "equal", exponent, real)
        fine = elementwise(context, "logical_and", positive, of_reals)
        fine = elementwise(context, "logical_or", fine, elementwise(context, "not_equal", left, 0))
    else:
        return made
    try:
        python(*tried)
    except ZeroDivisionError as error:
        made = _require(context, made, as_strong(context, fine), "ZeroDivisionError", str(error))
    context.complexes.add(made)
    return made


def _binary(context: Context, name: str, left: Any, right: Any) -> Any:
    row = OPS[name]
    if isinstance(left, Masked) or isinstance(right, Masked):
        right = chosen_exponent(context, left, right) if name == "power" else right
        return _lifted(context, lambda a, b: binary(context, name, a, b), left, right)
    if any(isinstance(side, Flat) for side in (left, right)):
        left, right = _with_flat(context, row, left, right)
    if any(is_queue(context, side) for side in (left, right)):
        _refuse_queue(context, row, left, right)
    if any(isinstance(side, Grown) for side in (left, right)):
        found = _of_lists(context, row, left, right)
        if found is not None:
            return found
    elif not is_dynamic(left) and not is_dynamic(right):
        assert row.python is not None
        for side in (left, right):
            check_plain(context, side, f"the operator {row.symbol}")
        made = compute(context, row.python, left, right)
        numbers = isinstance(left, np.number) and isinstance(right, np.number)
        if row.overflow == "answer" and numbers and (np.iscomplexobj(left) or np.iscomplexobj(right)):
            # The operators of complex NumPy scalars look past a NaN, those of arrays do not.
            return attempt(context, promote.numpy_function(name), left, right)
        # A list beside a scalar of NumPy.
        return _known_array(context, made) if isinstance(made, np.ndarray) else made
    length = _length_arithmetic(context, name, left, right)
    if length is not None:
        return length
    if any(isinstance(side, (list, tuple)) for side in (left, right)):
        of_numbers = _sequence_and_number(context, name, left, right)
        if of_numbers is not None:
            return of_numbers
        if name in _MIRRORED and isinstance(left, (list, tuple)):
            # Which has no answer, so that Python asks the array.
            name, left, right = _MIRRORED[name], right, left
    if name in ("equal", "not_equal"):
        for value, other in ((left, right), (right, left)):
            if (value is None or isinstance(value, str)) and (is_weak(other) or is_numpy_scalar(other)):
                return name == "not_equal"
            if value is None:
                raise UnsupportedError(
                    "a comparison of an array with None", context.loc, f"write 'is {'not ' * (name == 'not_equal')}None'"
                )
    if name in ("floor_divide", "remainder"):
        assert row.python is not None
        refuse_complex_scalars(context, row.python, left, right)
    if name == "power":
        weak_ints = isinstance(left, Value) and left.type in (WEAK_BOOL, WEAK_INT)
        if weak_ints and type(right) is int and right < 0:
            # Python computes a power of ints that is not an int in floats.
            return elementwise(context, "power", context.builder.emit("python_float", (left,)), float(right))
        if not is_array(left) and not is_array(right):
            # The operators of scalars run no loop.
            return _elementwise(context, name, left, right)
        rewritten = fast_power(left, right)
        if rewritten is not None:
            return elementwise(context, rewritten, left)
        return choose_power(context, elementwise(context, name, left, right), left, right)
    return elementwise(context, name, left, right)


_MIRRORED = {"equal": "equal", "not_equal": "not_equal", "less": "greater", "less_equal": "greater_equal",
             "greater": "less", "greater_equal": "less_equal"}  # fmt: skip
"""The comparison of the operands exchanged."""

_COMPARISONS = tuple(_MIRRORED)


def _with_flat(context: Context, row: Op, left: Any, right: Any) -> tuple[Any, Any]:
    """``x.flat`` as an array, which it is for comparisons and beside what NumPy's operators are of; others Python refuses."""
    sides = left, right
    of_numpy = any(isinstance(s, np.generic) or (isinstance(s, Value) and not isinstance(s.type, WeakType)) for s in sides)
    if not of_numpy and row.name not in _COMPARISONS:
        assert row.python is not None
        attempt(context, row.python, *(example(s) if isinstance(s, Value) else s for s in sides))
    left, right = (as_value(context, s) if isinstance(s, Flat) else s for s in sides)
    return left, right


def is_queue(context: Context, held: Any) -> bool:
    """Whether a list stands for a ``collections.deque``."""
    return held.queue is not None if isinstance(held, Grown) else id(held) in context.queues


def as_queue(context: Context, held: Any) -> Any:
    """An empty queue or list of Python's, which is asked for what it refuses."""
    return deque() if is_queue(context, held) else [] if isinstance(held, Grown) else held


def _refuse_queue(context: Context, row: Op, left: Any, right: Any) -> None:
    """Refuse what queues do themselves; an array or a scalar of NumPy makes arrays of them."""
    if any(isinstance(side, Value) and not isinstance(side.type, WeakType) for side in (left, right)):
        return
    if row.name in _COMPARISONS and is_queue(context, left) and is_queue(context, right):
        return
    assert row.python is not None
    sides = (example(s) if isinstance(s, Value) else as_queue(context, s) for s in (left, right))
    attempt(context, row.python, *sides)
    raise UnsupportedError(f"{row.symbol} of a deque is not compiled", context.loc, "make a list of it: list(...)")


def _of_lists(context: Context, row: Op, left: Any, right: Any) -> Any:
    """What Python's lists do themselves, as ``list + list``; None where an array or a scalar of NumPy makes arrays of them."""
    if any(isinstance(side, Value) and not isinstance(side.type, WeakType) for side in (left, right)):
        return None
    if row.name == "add" and all(isinstance(side, Grown | list) for side in (left, right)):
        made = _joined_lists(context, left, right)
        if made is not None:
            return made
    (grown, *_) = (side for side in (left, right) if isinstance(side, Grown))
    text = f"{row.symbol} of {grown.text}, whose length is known only at run time, is not compiled"
    raise UnsupportedError(text, context.loc, "make arrays of the lists: np.array(...)")


def _sequence_and_number(context: Context, name: str, left: Any, right: Any) -> Any:
    """What Python does with a list or tuple and a number; None where NumPy makes an array of the list.

    Raises
    ------
    CompileError
        Python's own error; a list repeated by a number that is known only at run time.
    """
    other = right if isinstance(left, (list, tuple)) else left
    if is_array(other) or (is_numpy_scalar(other) and name != "multiply"):
        return None
    # Its members are not looked at.
    sides = [type(o)([0]) if isinstance(o, (list, tuple)) else example(o) for o in (left, right)]
    python = OPS[name].python
    assert python is not None
    made = attempt(context, python, *sides)
    if name == "multiply":
        kind = type(left if other is right else right).__name__
        raise UnsupportedError(
            f"a {kind} repeated by a number known only at run time", context.loc, f"write np.array(...) of the {kind} first"
        )
    return made


def chosen_exponent(context: Context, base: Any, exponent: Any) -> Any:
    """Exponents of masked values, where those that the mask leaves out may be negative and mean nothing."""
    masked = exponent if isinstance(exponent, Masked) else base
    if not isinstance(masked, Masked) or masked.elements is not None:
        return exponent
    first, second = (side.array if isinstance(side, Masked) else side for side in (base, exponent))
    mask = _mask_over(context, masked.mask, len(dimensions(masked.array)))
    made = harmless_exponent(context, first, second, mask)
    return exponent if made is second else Masked(made, masked.mask)


def harmless_exponent(context: Context, base: Any, exponent: Any, mask: Value) -> Any:
    """Exponents, which are 1 where a mask is false and a negative one of an integer would be an error."""
    value, one = as_value(context, exponent), 1
    if value.type == WEAK_INT:
        known, base = const_inst(value), as_value(context, base)
        if is_weak(base) or element(base.type).kind not in "biu" or (known is not None and known.attr("value") >= 0):
            return exponent
        one = (np.int64 if element(base.type) is BOOL else element(base.type).numpy.type)(1)
    elif is_weak(value) or element(value.type).kind != "i":
        return exponent
    return elementwise(context, "where", mask, exponent, one)


def refuse_complex_scalars(context: Context, function: Callable[..., Any], *operands: Any) -> None:
    """NumPy's sentence for operators that its complex scalars lack; arrays have another one."""
    if any(map(is_array, operands)):
        return
    examples = [example(o) if isinstance(o, Value) else o for o in operands]
    if any(map(_is_complex, examples)):
        attempt(context, function, *examples)


def _is_complex(one: Any) -> bool:
    try:
        return np.iscomplexobj(one)
    except (TypeError, ValueError):
        # NumPy itself, which has a `dtype` that is none, and lists of several lengths.
        return False


def example(value: Value) -> Any:
    """Some scalar of the value's type."""
    if isinstance(value.type, WeakType):
        return {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[value.type.kind]
    return element(value.type).numpy.type(1)


def _length_arithmetic(context: Context, name: str, left: Any, right: Any) -> Any:
    a, b = as_dim(left), as_dim(right)
    if a is None or b is None:
        return None
    if name in _DIM_ARITHMETIC:
        made = _DIM_ARITHMETIC[name](a, b)
        # Steps of loops have numbers of 64 bits: whether they hold what is as large is for arithmetic to say.
        if isinstance(made, dims.Dim) and any(abs(times) >= 2**62 for _, times in made.terms):
            return None
        return dim_value(context, made)
    if name in ("floor_divide", "remainder") and isinstance(b, int) and b > 0:
        return dim_value(context, dims.floordiv(a, b) if name == "floor_divide" else dims.modulo(a, b))
    return None


def fast_power(left: Any, right: Any) -> str | None:
    """The row that NumPy runs for ``array ** scalar`` with an exponent -1, 0.5, 1 or 2, if any."""
    known = not is_dynamic(right) and is_weak(right)
    if known and is_array(left) and element(left.type) is BOOL:
        # An int8, where other exponents give an int64; of arrays without axes too.
        return "square" if type(right) is int and right == 2 else None
    if known and is_array(left) and (dimensions(left) or _rewrites_without_axes()):
        kind = element(left.type).kind
        if kind == "c":
            # The float -1.0 and 1 go through power, which has its own products.
            return {(int, -1): "reciprocal", (int, 2): "square", (float, 0.5): "sqrt"}.get((type(right), right))
        if kind == "f":
            return {-1: "reciprocal", 0.5: "sqrt", 1: "positive", 2: "square"}.get(right)
        if kind in "iu" and type(right) is int and right in (1, 2):
            return "positive" if right == 1 else "square"
    return None


@lru_cache
def _rewrites_without_axes() -> bool:
    """Whether NumPy runs another row for such a power of an array without axes too, which its versions differ in."""
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(np.array(-np.inf) ** 0.5))


_REWRITTEN_POWERS: dict[tuple[str, str], tuple[tuple[float, str], ...]] = {
    ("f", "bool"): ((1, "positive"),),
    ("f", "int"): ((-1, "reciprocal"), (1, "positive"), (2, "square")),
    ("f", "float"): ((-1, "reciprocal"), (0.5, "sqrt"), (1, "positive"), (2, "square")),
    ("c", "int"): ((-1, "reciprocal"), (2, "square")),
    ("c", "float"): ((0.5, "sqrt"),),
}
"""By the kinds of an array and of a Python scalar: exponents for which NumPy runs another row."""


def choose_power(context: Context, power: Value, left: Any, right: Any) -> Value:
    """``array ** scalar`` of a Python scalar known only at run time: NumPy looks at its value too."""
    if not (isinstance(right, Value) and isinstance(right.type, WeakType) and is_array(left)):
        return power
    if element(left.type) is BOOL and right.type == WEAK_INT:
        raise UnsupportedError(
            "a power of bools by a Python int known only at run time is int8 or int64, by whether the exponent is 2",
            context.loc,
            "convert the bools: x.astype(np.int64) ** n",
        )
    if not dimensions(left) and not _rewrites_without_axes():
        return power
    for exponent, row in _REWRITTEN_POWERS.get((element(left.type).kind, right.type.kind), ()):
        if row == "sqrt" and promote.takes_roots(element(left.type)):
            # The loop did already.
            continue
        same = as_strong(context, binary(context, "equal", right, type(exponent)(exponent)))
        power = elementwise(context, "where", same, elementwise(context, row, left), power)
    return power


_NEGATIVE_POWER = "Integers to negative integer powers are not allowed."


def _integer_power(context: Context, base: Value, exponent: Value) -> list[Value]:
    """The operands of a power, where an integer's exponent has to be no negative number.

    A Python int known only at run time is looked at on the host, the elements of an array by the kernel.  Where the base has no
    elements nothing is computed, and any exponent is fine.

    Raises
    ------
    ValueError
        The exponent is a negative constant, and there is an element.
    """
    operands = [base, exponent]
    if isinstance(base.type, WeakType) and isinstance(exponent.type, WeakType):
        if exponent.type.kind == "int" and base.type.kind in ("bool", "int"):
            dim = as_dim(exponent)
            if const_inst(exponent) is None and (dim is None or not _known_here(context)(dim)):
                # It is an int, as long as the exponent is not negative.
                return [base, context.builder.emit("python_natural", (exponent,))]
        return operands
    loop, _ = promote.ufunc_loop("power", tuple(promote.operand(o.type) for o in operands))
    if loop[1].kind not in "iu":
        return operands
    inst = exponent.inst
    given = isinstance(base.type, WeakType) and const_inst(base) is None
    if inst is not None and inst.op.name == "const" and not given:
        # A Python int that the loop's dtype does not hold is an OverflowError when it is converted.
        limit = 1 << (loop[1].bits - 1) if loop[1].kind == "i" else 0
        if -limit <= inst.attr("value") < 0:
            _require_equal(context, dims.product(dimensions(base)), 0, "ValueError", _NEGATIVE_POWER)
    elif exponent.type == WEAK_INT:
        # An unsigned dtype refuses negative numbers itself.
        return operands if loop[1].kind == "u" else [base, _checked_exponent(context, base, exponent)]
    elif inst is not None and inst.op.name == "convert" and inst.args[0].type == WEAK_INT:
        checked = _checked_exponent(context, base, inst.args[0])
        return [base, context.builder.emit("convert", (checked,), dict(inst.attrs), inst.types)]
    elif not isinstance(exponent.type, WeakType) and element(exponent.type).kind == "i":
        zero = context.builder.const(0, ScalarType(element(exponent.type)))
        fine = context.builder.emit("greater_equal", (exponent, zero))
        if isinstance(base.type, WeakType):
            # NumPy converts before it computes, so a base that does not fit is the first error.
            base = context.builder.emit("convert", (base,), {}, (ScalarType(loop[0]),))
        return [base, _require(context, exponent, fine, "ValueError", _NEGATIVE_POWER)]
    return operands


def _checked_exponent(context: Context, base: Value, exponent: Value) -> Value:
    """A Python int of run time that is no negative exponent, unless there is no element."""
    count = dims.product(dimensions(base))
    if not (dims.lower_bound(count) or 0) > 0:
        some = as_value(context, binary(context, "not_equal", dim_value(context, count), 0))
        exponent = context.builder.emit("python_choose", (some, exponent, as_value(context, 0)))
    return context.builder.emit("python_exponent", (exponent,))


def elementwise(context: Context, name: str, *operands: Any) -> Value:
    """One elementwise row; Python scalars stay weak beside strong operands."""
    made = _elementwise(context, name, *operands)
    return _root_or_power(context, made, *operands) if name == "power" else made


def _root_or_power(context: Context, power: Value, base: Any, exponent: Any) -> Value:
    """What NumPy's loop gives: a square root of floats where the one exponent of all elements is 0.5."""
    dtype = None if isinstance(power.type, WeakType) else element(power.type)
    exponent = as_value(context, exponent)
    if dimensions(exponent) or dtype is None or not promote.takes_roots(dtype):
        return power
    known = const_inst(exponent)
    if known is not None and known.attr("value") != 0.5:
        return power
    root = _elementwise(context, "sqrt", cast(context, as_value(context, base), dtype))
    if known is not None:
        return root
    return _elementwise(context, "where", as_strong(context, binary(context, "equal", exponent, 0.5)), root, power)


def _elementwise(context: Context, name: str, *operands: Any) -> Value:
    row = OPS[name]
    values = _adapted(context, [as_value(context, o) for o in operands])
    if name == "power":
        values = _integer_power(context, *values)
    check_fits_long(context, name, values)
    _check_fits_loop(context, name, values)
    answer = _out_of_range_comparison(context, name, values)
    if answer is not None:
        return answer
    return context.builder.emit(row, values)


def _adapted(context: Context, values: list[Value]) -> list[Value]:
    """Complex numbers of Python's that are computed as complex128, in the dtype that such numbers take beside the others."""
    own = [v in context.complexes for v in values]
    if not any(own):
        return values
    strong = [element(v.type) for v, is_own in zip(values, own, strict=True) if not (is_own or isinstance(v.type, WeakType))]
    if not strong or np.result_type(*(d.numpy for d in strong), 1j) != np.complex64:
        return values
    return [cast(context, v, C64) if is_own else v for v, is_own in zip(values, own, strict=True)]


def _note_complex(context: Context, left: Any, right: Any, made: Any) -> bool:
    """Note a complex number of Python's: what it makes of one and a float64 scalar behind it, which is a float of Python's."""
    if not isinstance(made, Value) or made.type != scalar(C128):
        return False
    first, second = (is_python_complex(context, side) for side in (left, right))
    is_float = isinstance(right, np.float64) or (isinstance(right, Value) and right.type == scalar(F64))
    if (first and (second or is_float or is_weak(right))) or (second and is_weak(left)):
        context.complexes.add(made)
        return True
    return False


def is_python_complex(context: Context, side: Any) -> bool:
    if not isinstance(side, Value):
        return type(side) is complex
    return side.type == WEAK_COMPLEX or side in context.complexes


def truths(context: Context, condition: Any) -> Value:
    """Whether elements are not zero, as bools."""
    chosen = as_strong(context, condition)
    if element(chosen.type) is BOOL:
        return chosen
    return elementwise(context, "not_equal", chosen, element(chosen.type).numpy.type(0))


def check_fits_long(context: Context, name: str, values: Sequence[Value]) -> None:
    """Logic, and comparisons with bools, take a Python int as an int64.

    Raises
    ------
    OverflowError
        That holds it not.
    """
    strong = [element(v.type) for v in values if not isinstance(v.type, WeakType)]
    compared = OPS[name].overflow == "answer" and all(d is BOOL for d in strong)
    if not strong or len(values) != 2 or not (compared or name.startswith("logical")):
        return
    for value in values:
        inst = value.inst
        if (
            value.type == WEAK_INT
            and inst is not None
            and inst.op.name == "const"
            and not -(2**63) <= inst.attr("value") < 2**63
        ):
            raise raised(OverflowError("Python int too large to convert to C long"), context.loc)


def _check_fits_loop(context: Context, name: str, values: list[Value]) -> None:
    """A Python int that the dtype of NumPy's loop does not hold is an OverflowError where it stands."""
    row = OPS[name]
    if row.numpy and row.overflow != "answer" and not all(isinstance(v.type, WeakType) for v in values):
        check_held(context, name, values, lambda number: _loop_dtype(row, values, number))


def check_held(context: Context, name: str, values: Sequence[Value], dtype_of_operand: Callable[[int], DType]) -> None:
    """State that dtypes of a loop hold the Python ints among its operands, as far as they are known.

    Raises
    ------
    OverflowError
        One does not.
    """
    for number, value in enumerate(values):
        inst = const_inst(value)
        if inst is None or value.type != WEAK_INT or 0 <= inst.attr("value") < 128:
            continue
        try:
            dtype = dtype_of_operand(number)
        except TypeError:
            # Refused where the instruction is written, which says more.
            return
        try:
            with np.errstate(all="ignore"):
                number_of(inst.attr("value"), dtype.numpy, name == "where" and promote.where_wraps())
        except OverflowError as error:
            _refuse_beside_either(context, inst.attr("value"), values)
            raise located(error, context.loc, "convert the array first, as x.astype(np.int64)") from None


def _refuse_beside_either(context: Context, number: int, values: Sequence[Value]) -> None:
    """Refuse an int beside what may be a Python number, which has no dtype that does not hold the int."""
    front = _found_in_front(context)
    for value in values:
        if value in front:
            dtype = element(value.type).numpy.name
            text = f"{number} stands beside a number that is Python's or an np.{dtype}, which does not hold it"
            raise UnsupportedError(text, context.loc, f"make both NumPy's, of one dtype: np.int64({number})")


def _loop_dtype(row: Op, values: list[Value], number: int) -> DType:
    """The dtype in which NumPy computes with an operand."""
    if row.name == "where":
        assert row.infer is not None
        return element(row.infer(row, types_of(values), {})[0])
    return promote.ufunc_loop(row.numpy, tuple(promote.operand(v.type) for v in values))[0][number]


def _out_of_range_comparison(context: Context, name: str, values: list[Value]) -> Value | None:
    """A comparison with a Python int no integer dtype holds has one answer for every element."""
    if OPS[name].overflow != "answer" or len(values) != 2:
        return None
    for number, side in enumerate(values):
        inst = side.inst
        other = values[1 - number]
        if side.type != WEAK_INT or inst is None or inst.op.name != "const" or isinstance(other.type, WeakType):
            continue
        value = inst.attr("value")
        if element(other.type).kind not in "iu" or -(2**63) <= value < 2**64:
            continue
        python = OPS[name].python
        assert python is not None
        # Any element compares the same with a number outside every integer dtype.
        answer = python(0, value) if number == 1 else python(value, 0)
        constant = context.builder.const(answer, ScalarType(BOOL))
        array_other = elementwise(context, "equal", other, other)
        return elementwise(context, "logical_and" if not answer else "logical_or", array_other, constant)
    return None


def unary(context: Context, name: str, operand: Any) -> Any:
    """``-x``, ``+x``, ``~x`` and ``abs(x)``."""
    row = OPS[name]
    if isinstance(operand, Masked):
        return _lifted(context, lambda array: unary(context, name, array), operand)
    if not is_dynamic(operand):
        assert row.python is not None
        return compute(context, row.python, operand)
    length = as_dim(operand)
    if length is not None and name in ("negative", "positive"):
        return dim_value(context, 0 - length if name == "negative" else length)
    made = elementwise(context, name, operand)
    if name != "absolute":
        _note_complex(context, operand, operand, made)
    return made


_PER_ELEMENT = "np.where(condition, a, b) chooses per element; .any() and .all() are one answer for all"


def truth(
    context: Context, value: Any, what: str, help: str | None = None, elementwise: Callable[[], str] | None = None
) -> bool:
    """The truth of a condition that must be known now.

    Parameters
    ----------
    what : str
        Who asks, for the message.
    help : str, optional
        What to write instead, where it is neither ``np.where`` nor a static argument.
    elementwise : callable, optional
        Gives what to write instead for an array, where it is not ``np.where``.

    Raises
    ------
    UnsupportedError
        It depends on array data or on a run-time scalar.
    """
    if isinstance(value, (tuple, list, dict)):
        if overrides(value, "__bool__", "__len__"):
            refuse_own_code(context, value, "bool")
        return bool(len(value))
    if isinstance(value, Masked):
        value = as_value(context, value)
    if isinstance(value, Grown):
        text = f"{what} depends on how many members {value.text} has, which is known only at run time"
        raise UnsupportedError(text, context.loc, "write len(x) > 0")
    if not isinstance(value, Value):
        return compute(context, bool, value)
    if is_array(value) and dimensions(value):
        raise UnsupportedError(
            f"{what} depends on the data of an array ({type_text(value.type)})",
            context.loc,
            help or (elementwise() if elementwise else _PER_ELEMENT),
        )
    if not isinstance(value.type, WeakType):
        raise UnsupportedError(
            f"{what} depends on a scalar computed at run time ({value.type})",
            context.loc,
            help or "choose with np.where(condition, a, b)",
        )
    if _of_lengths(value):
        raise UnsupportedError(
            f"{what} depends on the length of an array, which is known only at run time",
            context.loc,
            help or "compiled code serves every length; pass what to do as a static argument",
        )
    raise UnsupportedError(
        f"{what} depends on a Python scalar known only at run time ({value.type})",
        context.loc,
        help or "name the argument in @jit(static=(...)) so that its value is known while compiling, or use np.where",
    )


def _of_lengths(value: Value) -> bool:
    """Whether a Python scalar is computed of lengths and constants only."""
    inst = value.inst
    return inst is not None and (inst.op.name in ("dim", "const") or (bool(inst.args) and all(map(_of_lengths, inst.args))))
