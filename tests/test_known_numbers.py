"""Numbers known while compiling: a number written in the source gives what the element of an array gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import promote
from pytocu.ir.core import OPS
from pytocu.ir.types import ALL_DTYPES
from pytocu.testing.cases import FORMULAS
from pytocu.testing.compare import compare
from pytocu.testing.fuzz_programs import make

PLAIN = (0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 0.5)
INSIDE = (0, 1, 2, 7)
FLOATS = [d for d in ALL_DTYPES if d.kind == "f"]
INTEGERS = [d for d in ALL_DTYPES if d.kind in "iu"]
BEYOND = (300.5, -1.0, 3e9, -3e9, 1e19, 1e30, np.inf, -np.inf, np.nan)


def cases() -> Iterator[tuple[str, tuple[np.generic, ...]]]:
    """A call with numbers whose formula may differ from NumPy's answer here or elsewhere."""
    for name in sorted(set(FORMULAS) - {"cast", "power", "less", "less_equal", "greater", "greater_equal"}):
        op = OPS[name]
        function = "np.clip" if name == "clip" else f"np.{op.numpy}"
        for dtype in (*FLOATS, *INTEGERS):
            values = [dtype.numpy.type(v) for v in (PLAIN if dtype.kind == "f" else INSIDE)]
            try:
                promote.ufunc_loop(op.numpy, (dtype,) * (op.arity or 0))
            except TypeError:
                continue
            if op.arity == 3:
                values = values[:4]
            for numbers in itertools.product(values, repeat=op.arity or 0):
                yield f"{function}({{}})", numbers


def both(texts: list[tuple[str, tuple[np.generic, ...]]]) -> tuple[Any, Any]:
    """Values of calls, with the numbers as constants and with them as elements of arrays."""
    dtypes = sorted({n.dtype.name for _, numbers in texts for n in numbers})
    arrays = {d: np.array([n for _, numbers in texts for n in numbers if n.dtype.name == d]) for d in dtypes}
    places = dict.fromkeys(dtypes, 0)
    known, read = [], []
    for text, numbers in texts:
        spelled, elements = [], []
        for number in numbers:
            name = number.dtype.name
            spelled.append(f"np.{name}('{number}')" if number.dtype.kind == "f" else f"np.{name}({number})")
            elements.append(f"a_{name}[{places[name]}]")
            places[name] += 1
        known.append(text.format(", ".join(spelled)))
        read.append(text.format(", ".join(elements)))
    head = f"({', '.join(f'a_{d}' for d in dtypes)}):\n    return ("
    functions = [make(f"def calls{head}{', '.join(lines)},)\n", "calls") for lines in (known, read)]
    return tuple(pytocu.jit(f)(*arrays.values()) for f in functions)


CASES = list(cases())


@pytest.mark.parametrize("part", range(4))
def test_a_number_gives_what_an_element_gives(part: int) -> None:
    chosen = CASES[part :: 4 * 5]
    assert len(chosen) > 80
    known, read = both(chosen)
    for case, one, other in zip(chosen, known, read, strict=True):
        try:
            compare(one, other)
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from None


def test_conversions_of_numbers_are_those_of_elements() -> None:
    pairs = [(v, s, d) for v in BEYOND for s in ("f4", "f8", "f2") for d in INTEGERS if s != "f2" or not np.isfinite(v)]
    numbers = [(f"np.{d.numpy.name}({{}})", (np.dtype(s).type(v),)) for v, s, d in pairs]
    methods = [(f"{{}}.astype(np.{d.numpy.name})", (np.dtype(s).type(v),)) for v, s, d in pairs]
    for texts in (numbers, methods):
        known, read = both(texts)
        compare(known, read)


def test_numbers_are_the_same_on_every_machine() -> None:
    """What NumPy answers here is not asked: these depend on its vectors, and on the processor."""

    def program() -> Any:
        low = np.minimum(-0.0, 0.0), np.maximum(-0.0, 0.0), np.fmin(0.0, -0.0), np.fmax(np.float32(0.0), np.float32(-0.0))
        return low, np.float32(-np.inf) ** np.float32(0.5), np.float64(1e30).astype(np.int32)

    with np.errstate(all="ignore"):
        low, root, cast = pytocu.jit(program)()
    assert [str(v) for v in low] == ["-0.0", "-0.0", "0.0", "0.0"]
    assert (root, cast) == (np.inf, np.int32(-(2**31)))
    assert root.dtype == np.float32 and cast.dtype == np.int32


def test_the_function_of_two_numbers_takes_roots_where_its_loop_does() -> None:
    for dtype in (np.float16, np.float32, np.float64, float):

        def program() -> Any:
            powers = [np.power(dtype(x), y) for x in (-0.0, -np.inf, 2.0) for y in (0.5, dtype(0.5))]
            return powers, [dtype(x) ** dtype(0.5) for x in (-0.0, 2.0)]

        with np.errstate(all="ignore"):
            expected = program()
        compare(pytocu.jit(program)(), expected)


def test_complex_numbers_compare_as_arrays_do() -> None:
    """NumPy's operators on complex scalars look past a NaN; NumPy's functions and arrays do not."""
    z = np.array([complex(np.nan, 1), complex(1, np.nan), 1 + 2j, 1 + 1j])

    def known() -> Any:
        numbers = [np.complex128(complex(*parts)) for parts in ((np.nan, 1), (1, np.nan), (1, 2), (1, 1))]
        return [[p < q, p <= q, p > q, p >= q, p == q] for p in numbers for q in numbers]

    def read(z: Any) -> Any:
        return [[z[i] < z[j], z[i] <= z[j], z[i] > z[j], z[i] >= z[j], z[i] == z[j]] for i in range(4) for j in range(4)]

    compare(pytocu.jit(known)(), pytocu.jit(read)(z))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u8", "i8", "f2", "?"])
def test_choices_that_are_python_ints(dtype: str) -> None:
    """NumPy takes the low bits of a choice that the dtype does not hold."""
    number, array = np.array([0, 1]), np.array([1, 2], dtype)

    def choose(number: Any, value: Any, array: Any) -> Any:
        return np.choose(number, [value, array])

    for value in (-3, 300, 2**63, True, 2.5):
        with np.errstate(over="ignore"):
            expected = choose(number, value, array)
        compare(pytocu.jit(choose)(number, value, array), expected)
        compare(pytocu.jit(choose, static=("value",))(number, value, array), expected)
    if dtype != "f2":
        with pytest.raises(OverflowError):
            pytocu.jit(choose)(number, 2**64, array)


def numpys(function: Any, *arguments: Any) -> Any:
    """NumPy's value, or the class of its error and its sentence."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        return (TypeError if isinstance(error, TypeError) else ValueError), str(error)


@pytest.mark.parametrize("source", ["f4", "i8", "?", "c8"])
@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16"])
def test_arrays_as_one_element(dtype: str, source: str) -> None:
    """An array with axes is no element, but of bools; which error it is depends on the dtype."""

    def element(a: Any, b: Any) -> Any:
        a[1] = b
        return a

    def augmented(a: Any, b: Any) -> Any:
        a[1] |= b
        return a

    def filled(a: Any, b: Any) -> Any:
        a.fill(b)
        return a

    def initial(a: Any, b: Any) -> Any:
        return np.sum(a, initial=b)

    for shape in ((1,), (2,), (1, 1), (0,)):
        given = np.ones(shape, source)
        for function in (element, filled, initial, *((augmented,) if dtype == source == "?" else ())):
            expected = numpys(function, np.zeros(3, dtype), given)
            if not isinstance(expected, tuple):
                compare(pytocu.jit(function)(np.zeros(3, dtype), given), expected)
                continue
            kind, sentence = expected
            with pytest.raises(kind) as raised:
                pytocu.jit(function)(np.zeros(3, dtype), given)
            assert str(raised.value).startswith(sentence)
