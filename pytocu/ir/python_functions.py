"""What Python itself does on the host between kernels: functions of Python scalars, and named tuples.

Each function is a row of the op table (the name here is the row's) and a step of plans.  The values are
Python's own, and so are the exceptions.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import Loc, callers_frame, located
from pytocu.record import Record

_said = Deferred("pytocu.sentences", "said")


class PythonFunction(Record):
    """A function, how many arguments it takes (None for any), and what it returns.

    Attributes
    ----------
    result : str
        ``bool``, ``int``, ``float`` or ``complex``; ``same`` for the kind of the last argument.
    raises : bool
        Whether it may raise.
    """

    function: Callable[..., Any]
    arity: int | None
    result: str
    raises: bool = True


def _part(function: Callable[..., Any], number: int) -> Callable[..., Any]:
    return lambda x: function(x)[number]


def _exponent(number: int) -> int:
    if number < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return number


NEGATIVE_POWER = "a Python int to a negative power is a float, which is known only at run time: write float(x) ** n"


def _natural(number: int) -> int:
    if number < 0:
        raise NotImplementedError(NEGATIVE_POWER)
    return number


def _step(number: int) -> int:
    if number == 0:
        raise ValueError("range() arg 3 must not be zero")
    return number


def _words(number: float) -> tuple[int, ...]:
    return struct.unpack("<II", struct.pack("<d", number))


def _from_words(high: int, low: int) -> float:
    return struct.unpack("<d", struct.pack("<II", low, high))[0]


_FLOAT_OF_ONE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2",
    "expm1", "fabs", "gamma", "lgamma", "log1p", "log10", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "ulp",
)  # fmt: skip
_FLOAT_OF_TWO = ("atan2", "copysign", "fmod", "ldexp", "nextafter", "pow", "remainder")
_INT = {"ceil": 1, "factorial": 1, "floor": 1, "isqrt": 1, "trunc": 1, "comb": 2, "perm": None, "gcd": None, "lcm": None}

PYTHON_FUNCTIONS: dict[str, PythonFunction] = {
    **{f"math_{n}": PythonFunction(getattr(math, n), 1, "float") for n in _FLOAT_OF_ONE},
    **{f"math_{n}": PythonFunction(getattr(math, n), 2, "float") for n in _FLOAT_OF_TWO},
    **{f"math_{n}": PythonFunction(getattr(math, n), arity, "int") for n, arity in _INT.items()},
    **{f"math_{n}": PythonFunction(getattr(math, n), 1, "bool") for n in ("isfinite", "isinf", "isnan")},
    "math_isclose": PythonFunction(lambda a, b, r, t: math.isclose(a, b, rel_tol=r, abs_tol=t), 4, "bool"),
    "math_log": PythonFunction(math.log, None, "float"),
    "math_hypot": PythonFunction(math.hypot, None, "float"),
    "math_fsum": PythonFunction(lambda *values: math.fsum(values), None, "float"),
    "python_sum": PythonFunction(lambda *values: sum(values), None, "float"),
    "math_modf_fraction": PythonFunction(_part(math.modf, 0), 1, "float"),
    "math_modf_integer": PythonFunction(_part(math.modf, 1), 1, "float"),
    "math_frexp_mantissa": PythonFunction(_part(math.frexp, 0), 1, "float"),
    "math_frexp_exponent": PythonFunction(_part(math.frexp, 1), 1, "int"),
    "python_float": PythonFunction(float, 1, "float"),
    "python_complex": PythonFunction(complex, None, "complex"),
    "python_real": PythonFunction(lambda z: z.real, 1, "float", raises=False),
    "python_imag": PythonFunction(lambda z: z.imag, 1, "float", raises=False),
    "python_int": PythonFunction(int, 1, "int"),
    "python_from_words": PythonFunction(_from_words, 2, "float", raises=False),
    "python_high": PythonFunction(_part(_words, 1), 1, "int", raises=False),
    "python_low": PythonFunction(_part(_words, 0), 1, "int", raises=False),
    "python_round": PythonFunction(round, 1, "int"),
    "python_bit_count": PythonFunction(int.bit_count, 1, "int", raises=False),
    "python_bit_length": PythonFunction(int.bit_length, 1, "int", raises=False),
    "python_conjugate": PythonFunction(complex.conjugate, 1, "complex", raises=False),
    "python_is_integer": PythonFunction(float.is_integer, 1, "bool", raises=False),
    "python_round_to": PythonFunction(lambda digits, x: round(x, digits), 2, "same"),
    "python_exponent": PythonFunction(_exponent, 1, "same"),
    "python_natural": PythonFunction(_natural, 1, "same"),
    "python_step": PythonFunction(_step, 1, "same"),
    "python_steps": PythonFunction(lambda start, stop, step: len(range(start, stop, step)), 3, "int", raises=False),
    "python_not": PythonFunction(lambda x: not x, 1, "bool", raises=False),
    "python_min": PythonFunction(lambda *values: min(values), None, "same", raises=False),
    "python_max": PythonFunction(lambda *values: max(values), None, "same", raises=False),
    "python_choose": PythonFunction(lambda c, yes, no: yes if c else no, 3, "same", raises=False),
}
if "fma" in dir(math):
    # Of Python 3.13 and later.
    PYTHON_FUNCTIONS["math_fma"] = PythonFunction(vars(math)["fma"], 3, "float")


FILE_MODULE = "_pytocu_file_"
"""What the name of a module that a command has run from a file begins with, so that it is none that a program imports."""


def class_path(kind: type) -> str:
    """How a class is found again: ``module:name``.

    Examples
    --------
    >>> class_path(PythonFunction)
    'pytocu.ir.python_functions:PythonFunction'
    """
    return f"{kind.__module__}:{kind.__qualname__}"


def class_at(path: str) -> Any:
    """The class behind a path of :func:`class_path`, or None where there is none of this name."""
    module, _, names = path.partition(":")
    # What stands for objects in results is loaded where there are such results.
    found: Any = import_module(module) if module == "pytocu.trees" else sys.modules.get(module)
    for name in names.split("."):
        found = getattr(found, name, None)
    return found


def give_warning(path: str, sentence: str, numbers: Sequence[int], loc: Loc, modules: Sequence[str], level: int) -> None:
    """What ``warnings.warn`` does where a program stands.

    Parameters
    ----------
    path : str
        The class, as :func:`class_path` says it.
    sentence : str
        See `pytocu.sentences`.
    modules : sequence of str
        The modules of the functions that are read there, the innermost first.
    level : int
        Which function's line it is about: 1 is the innermost, and what is above all of them calls the function.

    Raises
    ------
    Warning
        Python's filters make it an exception.
    """
    import warnings

    places = list(loc.chain())
    try:
        text, kind = _said(sentence, numbers), class_at(path)
        if level > len(places):
            warnings.warn(text, kind, stacklevel=callers_frame() + level - len(places) - 1)
            return
        place, module = places[level - 1], modules[level - 1]
        registry = vars(sys.modules[module]).setdefault("__warningregistry__", {}) if module in sys.modules else {}
        warnings.warn_explicit(text, kind, place.file, place.line, module, registry)
    except (Warning, ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise located(error, loc) from None
