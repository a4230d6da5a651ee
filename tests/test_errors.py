"""What a user reads when something cannot be compiled: which line, why, and what to write instead."""

from __future__ import annotations

import ast
import itertools
import linecache
import re
import subprocess
import sys
import textwrap
from collections import defaultdict

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError, Loc, UnsupportedError, raised, source_excerpt
from pytocu.testing.compare import compare

X = np.arange(6, dtype=np.float32).reshape(2, 3)
I = np.arange(6, dtype=np.int32).reshape(2, 3)
M = X > 2
ARRAY = np.ones(3, np.float32)
_COUNT = iter(range(10**9))


class Runs:
    """What is no function with a text that can be read, so that only running it tells what it does."""

    def __call__(self, *args):
        raise AssertionError("ran the user's code")


class Thing:
    """A class whose code must not run while compiling."""

    data = ARRAY
    value = 3

    def __init__(self):
        self.count = 0

    __add__ = __radd__ = __len__ = __bool__ = __eq__ = __str__ = __hash__ = __contains__ = __getitem__ = __float__ = Runs()


class Slotted:
    """A class whose objects have no attributes of their own."""

    __slots__ = ("count",)

    def __init__(self):
        self.count = 0


THING = Thing()
LIST = [1, 2]
COUNTER = 0


class Own(list):
    """A list that answers by itself."""

    __getitem__ = __len__ = lambda self, *key: 3


HELD = {"OWN": Own([1]), "MAKES": defaultdict(float), "HOLDS": [(1, ARRAY)]}


def effect(*args):
    raise AssertionError("ran the user's code")


def made(text, name="f", **names):
    """A function of the text, with a file name that has source."""
    file = f"<errors {next(_COUNT)}>"
    text = textwrap.dedent(text).strip("\n") + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"np": np, "pytocu": pytocu, "THING": THING, "Slotted": Slotted, "LIST": LIST, "COUNTER": COUNTER, "ARRAY": ARRAY}
    scope |= {"effect": effect, **HELD, **names}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def error_of(function, *args, kind=CompileError, **kwargs):
    """The error of a call; a second call gives it again, and a good one afterwards works."""
    jitted = pytocu.jit(function) if not hasattr(function, "specializations") else function
    messages = []
    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            jitted(*args, **kwargs)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert isinstance(caught.value, kind), type(caught.value).__mro__
    return caught.value


# (the line, where the caret is, part of the sentence, part of the help)
STATEMENTS = [
    ("with x: pass", "with x: pass", "a with statement is not supported", "around the call"),
    ("try: pass\nexcept* ValueError: pass", "try: pass", "an except* clause is not supported", "use except"),
    ("class C: pass", "class C: pass", "a class definition is not supported", "outside the function"),
    ("async def g(): pass", "async def g(): pass", "a coroutine is not supported", "plain function"),
    ("match x:\n    case {'a': _}: pass", "match x:", "a match statement with a mapping", "if and elif"),
    ("@effect\ndef g(): pass", "effect", "the nested function g has a decorator", "leave it out"),
    ("def g():\n    yield x\nreturn g()", "def g():", "g is a generator", "a list or a tuple"),
    ("x[0, True] = 1", "x[0, True]", "an index that is one bool beside integers or arrays", "leave the bool to an if"),
    ("x.T += 1", "x.T", "x.T += ... changes an attribute", "write x.T[...]"),
    ("THING.count = 1", "THING.count", "assignment to the attribute THING.count", "assign it outside"),
    ("THING.count += 1", "THING.count", "THING.count += ... changes an attribute", "assign it outside"),
    ("x.shape = 3", "x.shape", "x gets another shape, and others than the names", "write x = x.reshape(...)"),
    ("LIST.append(3)", "LIST.append(3)", "list.append() changes a list that lives outside the function", "copy it first"),
    ("LIST[0] = 3", "LIST[0]", "LIST[0] = ... changes a list that lives outside", "copy it first"),
    ("y = LIST\ny += [3]", "y += [3]", "y += ... changes a list that lives outside", "copy it first"),
    ("global COUNTER\nCOUNTER = 1", "COUNTER", "assignment to the global COUNTER", "outside the function"),
    ("del x[0]", "del x[0]", "del x[0]", "leave it out"),
    ("while True: pass", "while True: pass", "more than 10000 steps", "whole arrays"),
    ("if x > 0: pass", "x > 0", "the branch depends on the data of an array (bool[x_0, x_1])", "np.where(condition, a, b)"),
    ("assert x > 0", "x > 0", "the assertion depends on the data of an array", "leave it out"),
    ("a, *b = x", "a, *b", "unpacking goes over an array whose length is known only at run time", "index the rows"),
    ("import antigravity", "import antigravity", "the import of antigravity, which is not loaded yet", "at the top"),
    ("from . import y", "from . import y", "a relative import", "at the top"),
    ("from os import nothing", "from os import nothing", "module 'os' has no attribute 'nothing'", ""),
    ("raise", "raise", "No active exception to reraise", ""),
    ("raise 3", "raise 3", "exceptions must derive from BaseException", ""),
]

EXPRESSIONS = [
    ("1 < x < 2", "1 < x < 2", "a chained comparison of run-time values (bool[x_0, x_1])", "write (1 < x) & (x < 2)"),
    (
        "(x > 0) and (x < 1)",
        "(x > 0) and (x < 1)",
        "'and' depends on the data of an array",
        "write (x > 0) & (x < 1), or np.logical_and(a, b)",
    ),
    ("(x > 0) or 1", "(x > 0) or 1", "'or' depends on the data of an array", "write (x > 0) | 1, or np.logical_or"),
    ("x > 0 and not (x < 1 or x == 2)", "x > 0 and not (x < 1 or x == 2)", "'and' depends on the data of an array",
     "write (x > 0) & np.logical_not((x < 1) | (x == 2)),"),
    (f"(x > 0) and ({' + '.join('x' * 30)} > 0)", f"(x > 0) and ({' + '.join('x' * 30)} > 0)",
     "'and' depends on the data of an array", "write (a) & (b), or"),
    ("not x", "not x", "'not' depends on the data of an array", "np.logical_not(x)"),
    ("1 if x else 2", "1 if x else 2", "the conditional expression depends on the data", "np.where(condition, a, b)"),
    ("x in (x, 1)", "x in (x, 1)", "'in' with values known only at run time", "combine with |"),
    ("x is x.T", "x is x.T", "'is' with values known only at run time", "=="),
    ("x == None", "x == None", "a comparison of an array with None", "write 'is None'"),
    ("x.shape < [2, 3]", "x.shape < [2, 3]", "a comparison of tuple and list", "checked where the arrays meet"),
    ("f'{x}'", "f'{x}'", "a string cannot show", "return the value itself"),
    ("'%s' % x", "'%s' % x", "a string cannot show", ""),
    ("str(x)", "str(x)", "a string cannot show", "return the value itself"),
    ("'{}'.format(x)", "'{}'.format(x)", "a string cannot show", "return the value itself"),
    ("{1: x}[x]", "{1: x}[x]", "a dict cannot be indexed by", "constants"),
    ("{x: 1}", "{x: 1}", "a key cannot be a value known", "constants as keys"),
    ("{x}", "{x}", "a key cannot be a value known", "constants as keys"),
    ("x[[[True, False]]]", "x[[[True, False]]]", "indexing with a mask", "np.where(mask, x, other)"),
    ("x[0, True]", "x[0, True]", "an index that is one bool beside integers or arrays", "leave the bool to an if"),
    ("x.resize(3)", "x.resize", "ndarray.resize is not supported", "x[...] = e, x += e, out="),
    ("x.tobytes()", "x.tobytes", "ndarray.tobytes is not supported", "make texts of results outside"),
    ("np.roots(x)", "np.roots(x)", "np.roots is not supported", "np.linalg.eigvals of the companion matrix"),
    ("np.random.rand(3)", "np.random.rand(3)", "random numbers (rand) are not compiled", "pass the samples as an argument"),
    ("np.random.default_rng().normal()", "np.random.default_rng()", "default_rng", ""),
    ("np.add(x, 1, out=3)", "np.add(x, 1, out=3)", "return arrays must be of ArrayType", ""),
    ("np.add(x, 1, x, out=x)", "np.add(x, 1, x, out=x)", "cannot specify 'out' as both", ""),
    ("np.add(x, 1, where=x > 0)", "np.add(x, 1, where=x > 0)", "the argument where=", "np.where(condition, result, other)"),
    ("np.matmul(x, x, order='C')", "np.matmul(x, x, order='C')", "the argument order='C'", "np.copy(result, order='C')"),
    (
        "np.linalg.qr(x, mode='full')",
        "np.linalg.qr(x, mode='full')",
        "np.linalg.qr with mode='full', which NumPy gives up, is not supported",
        "mode='reduced'",
    ),
    ("x.astype(np.clongdouble)", "x.astype(np.clongdouble)", "is not supported", "complex128 is the widest complex dtype"),
    ("x.astype('O')", "x.astype('O')", "dtype object is not supported", "bool, integer, float or complex"),
    ("x.astype('>f4')", "x.astype('>f4')", "dtype >f4 is not supported", "order of bytes: float32"),
    ("np.floor(x * 1j)", "np.floor(x * 1j)", "ufunc 'floor' not supported for the input types", ""),
    ("x + ARRAY", "ARRAY", "the array ARRAY is captured from outside the function", "pass it as an argument"),
    ("x + THING.data", "THING.data", "the array Thing.data is captured from outside the function", "pass it as an argument"),
    ("len(x) * [1, 2, 3]", "len(x) * [1, 2, 3]", "a list repeated by a number known only at run time", "np.array(...)"),
    ("x + THING", "x + THING", "an object of type Thing is used as a number or an array", ""),
    ("THING + 1", "THING + 1", "the operator + of an object of type Thing would run code of its class", "by attribute"),
    ("len(THING)", "len(THING)", "an object of type Thing would run code of its class", "by attribute"),
    ("1 if THING else 2", "1 if THING else 2", "bool of an object of type Thing would run code of its class", "by attribute"),
    ("THING == 3", "THING == 3", "an object of type Thing would run code of its class", "by attribute"),
    ("str(THING)", "str(THING)", "str of an object of type Thing would run code of its class", "by attribute"),
    ("f'{THING}'", "f'{THING}'", "the text of an object of type Thing would run code of its class", "by attribute"),
    ("3 in THING", "3 in THING", "'in' of an object of type Thing would run code of its class", "by attribute"),
    ("THING[0]", "THING[0]", "indexing of an object of type Thing would run code of its class", "by attribute"),
    ("x + OWN[0]", "OWN[0]", "indexing of an object of type Own would run code of its class", "index a plain list"),
    ("1 if OWN else 2", "1 if OWN else 2", "bool of an object of type Own would run code of its class", "by attribute"),
    ("x + MAKES['b']", "MAKES['b']", "the missing key 'b' of an object of type defaultdict would run code", ".get(key, value)"),
    ("x + HOLDS[0][1]", "HOLDS[0][1]", "the array HOLDS[0][1] is captured from outside the function", "pass it as an argument"),
    ("Slotted()", "Slotted()", "making an object of the class Slotted would run its code", "make the object outside"),
    ("print(x)", "print(x)", "print() has no meaning in compiled code", "outside the function"),
    ("open('file')", "open('file')", "open() has no meaning in compiled code", "outside the function"),
    ("eval('x')", "eval('x')", "eval() has no meaning in compiled code", "outside the function"),
    ("type(x)", "type(x)", "type()", "isinstance"),
    ("complex(x[0, 0] * 1j)", "complex(x[0, 0] * 1j)", "complex() of a value known only at run time (c64)", "x + 1j * y"),
    ("float(x[0, 0] * 1j)", "float(x[0, 0] * 1j)", "float() of a complex number leaves its imaginary part", "x.real"),
    ("x.item()", "x.item()", "can only convert an array of size 1 to a Python scalar", "say which one"),
    ("bool(x)", "bool(x)", "bool() depends on the data of an array", "np.where"),
    ("round(x)", "round(x)", "type numpy.ndarray doesn't define __round__ method", "np.round(x)"),
    ("max(x, 1)", "max(x, 1)", "max() of run-time values of types f32[x_0, x_1], a Python int", "np.maximum(a, b)"),
    ("any(x)", "any(x)", "the branch depends on the data of an array", ".any() and .all()"),
    ("(lambda: (yield))()", "yield", "yield is not supported", "as a tuple"),
    ("x(1)", "x(1)", "'numpy.ndarray' object is not callable", ""),
    ("len((1,))(x)", "len((1,))(x)", "'int' object is not callable", ""),
    ("[*x[0, 0]]", "[*x[0, 0]]", "Value after * must be an iterable, not numpy.float32", ""),
    ("(k for k in (x, x))", "(k for k in (x, x))", "the function returns an iterator", "tuples, lists and dicts"),
    ("x.dtype", "x.dtype", "the function returns an object of type Float32DType", "return arrays, scalars"),
    ("zip([x])", "zip([x])", "the function returns an iterator", "tuples, lists and dicts"),
    ("{1, 2}", "{1, 2}", "the function returns an object of type set", "tuples, lists and dicts"),
    ("lambda: x", "lambda: x", "the function returns the function <lambda>", "tuples, lists and dicts"),
    ("super().f(x)", "super()", "super(): __class__ cell not found", ""),
    ("x.squeeze(2)", "x.squeeze(2)", "axis 2 is out of bounds for array of dimension 2", ""),
    ("x[: int(x[0, 0])].squeeze()", "x[: int(x[0, 0])].squeeze()", "may or may not be 1", "x.squeeze(axis=0)"),
    ("effect(*x)", "effect(*x)", "goes over an array whose length is known only at run time", ""),
]


@pytest.mark.parametrize(("text", "caret", "sentence", "help"), STATEMENTS, ids=[s[0].split("\n")[-1] for s in STATEMENTS])
def test_statements(text, caret, sentence, help):
    lines = textwrap.indent(text, "    ")
    function = made(f"def f(x):\n{lines}\n    return x\n")
    check_message(error_of(function, X), caret, sentence, help)
    compare(pytocu.jit(lambda x: x + 1)(X), X + 1)


@pytest.mark.parametrize(("text", "caret", "sentence", "help"), EXPRESSIONS, ids=[s[0] for s in EXPRESSIONS])
def test_expressions(text, caret, sentence, help):
    function = made(f"def f(x):\n    y = {text}\n    return y\n", I=I)
    returned = sentence.startswith("the function returns")
    check_message(error_of(function, X), None if returned else caret, sentence, help)


def check_message(error, caret, sentence, help):
    message = str(error)
    assert sentence in error.message, message
    assert help in (error.help or ""), message
    assert help == "" or error.help, message
    if caret is not None:
        assert pointed_at(message) == caret, message


def pointed_at(message):
    """The part of the source line over the first caret."""
    lines = message.splitlines()
    for above, below in itertools.pairwise(lines):
        found = re.match(r"^( +\| *)(\^+)$", below)
        if found:
            return above[found.start(2) : found.end(2)]
    return None


def test_every_statement_and_expression_of_python_is_known():
    """A node of a later Python is refused by its own name, never read as something else."""
    covered = "\n".join([s[0] for s in STATEMENTS] + [e[0] for e in EXPRESSIONS])
    for kind in (ast.With, ast.TryStar, ast.ClassDef, ast.AsyncFunctionDef, ast.Match, ast.Yield):
        assert any(isinstance(n, kind) for n in ast.walk(ast.parse(textwrap.dedent(covered_tree(covered))))), kind


def covered_tree(text):
    return "def f(x):\n" + textwrap.indent(text.replace("from . import y\n", ""), "    ")


# NumPy's own sentences.


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: x & 1, (X,)),
        (lambda x: ~x, (X,)),
        (lambda x: x << 1, (X,)),
        (lambda m: -m, (M,)),
        (lambda m: m - m, (M,)),
        (lambda m: np.positive(m), (M,)),
        (lambda x: x + "a", (X,)),
        (lambda x: x[0, 0, 0], (X,)),
        (lambda x: x[..., ...], (X,)),
        (lambda x: x[1.5], (X,)),
        (lambda x: x["a"], (X,)),
        (lambda x: x[::0], (X,)),
        (lambda x: x[0][0][0], (X,)),
        (lambda x: x[5], (X,)),
        (lambda x: x[-3], (X,)),
        (lambda x: x.transpose(0), (X,)),
        (lambda x: x.transpose(0, 0), (X,)),
        (lambda x: np.expand_dims(x, 5), (X,)),
        (lambda x: np.swapaxes(x, 0, 2), (X,)),
        (lambda x: x.squeeze(0), (X,)),
        (lambda x: x[0].mT, (X,)),
        (lambda x: np.clip(x, 0, 1, min=2), (X,)),
        (lambda x: np.add(x), (X,)),
        (lambda x: x.shap, (X,)),
        (lambda x: np.sinn(x), (X,)),
        (lambda x: nothing(x), (X,)),  # noqa: F821
        (lambda x: len(x[0, 0]), (X,)),
        (lambda x: (1, 2)[5], (X,)),
        (lambda x: {"a": 1}["b"], (X,)),
        (lambda x: int("a"), (X,)),
        (lambda x: x / (1 // 0), (X,)),
        (lambda x: 1 + "a", (X,)),
        (lambda x: x.astype("nonsense"), (X,)),
        (lambda x: np.int8(300) + x, (X,)),
        (lambda i: i**-1, (I,)),
        (lambda x, y: x + y, (X, X[:, :2])),
        (lambda x, y: x + y, (X, np.ones(4))),
        (lambda x, y: np.where(x > 0, y, x), (X, np.ones((3, 3)))),
        (lambda x, y, z: (x + y) * z, (np.ones(3), np.ones(3), np.ones(4))),
        (lambda x: x[1:] + x[:, 1:], (X,)),
        (lambda x: (lambda a, b: a)(x), (X,)),
        (lambda x: [a for a, b in [(1, 2, 3)]], (X,)),
        (lambda x: np.float32("a"), (X,)),
        (lambda x: list(zip([1], [], strict=True)), (X,)),
        (lambda x, s: s.nothing, (X, 2)),
        (lambda x, s: x * (s / 0), (X, 2)),
        (lambda x: np.dtype("f9"), (X,)),
    ],
)
def test_numpys_sentence(function, args):
    with pytest.raises(Exception) as expected, np.errstate(all="ignore"):
        function(*args)
    kind = next(k for k in type(expected.value).__mro__ if k.__module__ == "builtins")
    error = error_of(function, *args, kind=kind)
    assert error.loc is not None and "-->" in str(error)
    sentence = str(expected.value).replace("<lambda>() ", "").replace("test_numpys_sentence.<locals>.", "")
    if kind in (NameError, AttributeError) or "missing 1 required positional" in sentence:
        # Python itself adds suggestions to these; the name is what matters.
        assert sentence.split("'")[1] in error.message or "missing" in error.message
    else:
        assert sentence in error.message


def test_errors_come_before_anything_is_computed():
    f = pytocu.jit(lambda x, y, k: (x + k, x[:, :2] + y))
    f(X, X[:, :2].copy(), 1)
    seen = f.specializations
    with pytest.raises(ValueError, match=r"shapes \(2,2\) \(2,3\) "):
        f(X, X, 1)
    assert f.specializations == seen


def defines_a_generator(x):
    def pieces():
        yield x

    return sum(pieces())


def defines_a_class(x):
    class Local:
        k = 3

    return x * Local.k


@pytest.mark.parametrize("function", [defines_a_generator, defines_a_class])
def test_what_a_refused_definition_binds_is_not_said_to_be_missing(function):
    with pytest.raises(UnsupportedError) as info:
        pytocu.jit(function)(np.ones(3))
    assert "also:" not in str(info.value)


def test_suggestions():
    for text, help in [
        ("x.shpe", "did you mean shape?"),
        ("np.sqrtt(x)", "did you mean numpy.sqrt?"),
        ("LSIT[0] + x", "did you mean LIST?"),
        ("THING.valu + x", "did you mean value?"),
        ("xx + 1", "did you mean x?"),
        ("quite_unknown + 1", None),
    ]:
        assert error_of(made(f"def f(x):\n    return {text}\n"), X).help == help


# Arguments.


class Sub(np.ndarray):
    """A subclass."""


@pytest.mark.parametrize(
    ("value", "sentence", "help"),
    [
        (np.array([1, None], object), "dtype object", ""),
        (
            np.ones(3, np.longdouble),
            "longdouble" if np.dtype(np.longdouble).name == "longdouble" else "float128",
            "astype(np.float64)",
        ),
        (np.ones(3, np.clongdouble), np.dtype(np.clongdouble).name, "astype(np.complex128)"),
        (np.ones(3, ">f4"), "byte order", "newbyteorder"),
        (np.ones(3, ">i8"), "byte order", "newbyteorder"),
        (np.zeros(3, [("a", "f4")]), "structured", ""),
        (np.zeros(3, "M8[s]"), "dates", ""),
        (np.array(["a", "b"]), "strings", ""),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "MaskedArray", "filled"),
        (np.matrix([[1.0]]), "np.matrix", "np.asarray(x)"),
        (np.ones(3).view(Sub), "Sub, a subclass of np.ndarray", "np.asarray(x)"),
        (np.recarray(3, [("a", "f4")]), "recarray", "np.asarray(x)"),
        (np.longdouble(1), "NumPy scalar", ""),
        (np.datetime64("2020-01-01"), "NumPy scalar", ""),
        (np.clongdouble(1), "NumPy scalar", ""),
        ([1.0] * 65, "a list is used as an array", "pass an array"),
        ((1.0,) * 65, "a tuple is used as an array", "pass an array"),
        ("text", "the string 'text' is used as a number or an array", ""),
        (b"text", "is used as a number or an array", ""),
        (None, "None is used as a number or an array", ""),
        ({"a": 1}, "is used as a number or an array", ""),
        (THING, "an object of type Thing is used as a number or an array", ""),
        (effect, "the function effect is used as a number or an array", ""),
        ({"a": X}, "an object of type dict is used as a number or an array", ""),
    ],
)
def test_arguments_that_are_refused(value, sentence, help):
    f = pytocu.jit(lambda x, y: y * x + 1)
    error = error_of(f, value, X)
    # NumPy's own sentence, where it has one, comes before ours.
    assert sentence in f"{error.message} {error.help}" and help in (error.help or ""), str(error)
    assert pointed_at(str(error)) in ("x", "y * x"), str(error)
    compare(f(X, X), X * X + 1)


@pytest.mark.parametrize(
    "given, call",
    [
        ("x, y, z", "g()"), ("x, y", "g(v)"), ("x, y", "g()"), ("x", "g(v, v)"), ("", "g(v)"), ("x, *, k", "g(v)"),
        ("x, *, k, j", "g(v)"), ("x, *, k=1", "g(v, 2)"), ("x, *, k=1", "g(v, 2, k=3)"), ("x, y=1, z=2", "g(v, v, v, v)"),
        ("x", "g(v, z=1)"), ("x", "g(v, x=1)"), ("x, /", "g(x=v)"), ("x, /, y=1", "g(v, x=1, z=2)"), ("x, *r", "g()"),
        ("x, **r", "g(v, v)"), ("x, y, /, **r", "g(v, y=1)"), ("*r, k", "g(v)"),
    ],
)  # fmt: skip
def test_arguments_that_a_function_does_not_take(given, call):
    """Python's words, of a function of a module and of one defined inside."""
    outside = made(f"def g({given}):\n    return 0\ndef f(v):\n    return {call}\n")
    inside = made(f"def f(v):\n    def g({given}):\n        return 0\n    return {call}\n")
    for f in (outside, inside):
        with pytest.raises(TypeError) as expected:
            f(X)
        assert error_of(f, X, kind=TypeError).message == str(expected.value)


def test_wrong_number_of_arguments_inside():
    error = error_of(made("def g(a, b=1):\n    return a\ndef f(x):\n    return g(x, 1, 2)\n"), X, kind=TypeError)
    assert error.message == "g() takes from 1 to 2 positional arguments but 3 were given"
    assert error.help == "the signature is g(a, b=1)"


# Functions.


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python keeps the text of python -c from 3.13 on")
def test_functions_of_python_c_are_not_those_of_exec():
    text = """
import numpy as np, pytocu
def f(x):
    return x + 1
made = {}
exec("\\n\\ndef f(x):\\n    return x + 2", made)
print(pytocu.jit(f)(np.ones(1)))
try:
    print(pytocu.jit(made["f"])(np.ones(1)))
except pytocu.CompileError as error:
    print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[2.]\nthe source of f is not available (file '<string>')\n"


def test_no_source():
    scope = {"np": np}
    exec("def f(x):\n    return x + 1\n", scope)
    error = error_of(scope["f"], X)
    assert "the source of f is not available (file '<string>')" in error.message
    assert "in a file or a notebook cell" in error.help
    outer = made("def f(x):\n    return g(x) + 1\n", g=scope["f"])
    assert pointed_at(str(error_of(outer, X))) == "g(x)"
    # Python takes the same code in a file for equal.
    same = made("def f(x):\n    return x + 1\n")
    assert same.__code__ == scope["f"].__code__ and (pytocu.jit(same)(X) == X + 1).all()
    assert "the source of f is not available" in error_of(scope["f"], X).message


def test_changed_source():
    function = made("def f(x):\n    return x + 1\n")
    file = function.__code__.co_filename
    for text in ("\ny = 3\n", "def f(y):\n    return y\n", "def g(x):\n    return x\n"):
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        assert "the file changed since it was imported" in error_of(function, X).help


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def f(x):\n    yield x", "f is a generator or a coroutine"),
        ("async def f(x):\n    return x", "f is a generator or a coroutine"),
        ("async def f(x):\n    yield x", "f is a generator or a coroutine"),
        ("def f(x):\n    return f(x)", "recursion: f calls itself"),
        ("def f(x):\n    return g(x)\ndef g(x):\n    return f(x)", "recursion: f calls itself"),
        ("def f(x):\n    def g(n):\n        return g(n)\n    return g(x)", "recursion: g calls itself"),
        ("def f(x):\n    y = lambda n: (lambda m: y(m))(n)\n    return y(x)", "recursion: <lambda> calls itself"),
        ("def f(x):\n    return g(x)\ndef g(x):\n    yield x", "g is a generator or a coroutine"),
    ],
)
def test_functions_that_are_refused(text, sentence):
    error = error_of(made(text), X)
    assert sentence in error.message and error.help and "-->" in str(error)


def test_a_function_that_calls_itself_is_said_once():
    """What is read behind the error is in the same functions: it is not entered again."""
    body = "if k == 0:\n            return y\n        return g(y * 2, k - 1)"
    text = f"def f(x, n):\n    def g(y, k):\n        {body}\n    return g(x, n)"
    error = error_of(made(text), X, 3)
    assert str(error).count("recursion: g calls itself") == 1


@pytest.mark.parametrize(
    ("test", "first", "second", "said", "help"),
    [
        ("x.sum() > 3", "[x]", "[x, x]", "y is a list of 1 .* and a list of 2 on the other", "as many members"),
        ("x.sum() > 3", "{'a': x}", "{'b': x}", "y is a dict of 'a' .* a dict of 'b' on the other", "the same keys"),
        ("x.sum() > 3", "(x,)", "(x, x)", "y is a tuple of 1 .* and a tuple of 2 on the other", "y.append(...)"),
        ("x.sum() > 3", "1", "x", r"y is a Python int .* and f64\[x_0\] on the other", "np.full(shape, v, np.float64)"),
        ("n % 2", "x", "x.astype('f4')", r"y is f64\[x_0\] .* and f32\[x_0\] on the other", "convert it with astype"),
    ],
)
def test_sides_that_leave_different_things(test, first, second, said, help):
    text = f"def f(x, n):\n    if {test}:\n        y = {first}\n    else:\n        y = {second}\n    return y"
    error = error_of(made(text), np.ones(3), 3)
    assert re.search(said, error.message) and help in error.help


def test_a_conditional_expression_of_two_dtypes():
    error = error_of(made("def f(x, n):\n    return x.astype('f4') if n % 2 else x.astype('f8')"), np.ones(3), 3)
    assert "f32[x_0]" in error.message and "f64[x_0]" in error.message and "convert it with astype" in error.help


def test_endless_closures_are_refused():
    text = "def f(x):\n    def make(n):\n        return (lambda: make)()\n    g = make\n    return step(x)\n"
    text += "def step(x):\n    return (lambda k: k(k))(lambda k: wrap(k))\ndef wrap(k):\n    return (lambda: k(k))()\n"
    assert "recursion" in error_of(made(text), X).message


def test_nested_too_deeply():
    # 400 calls, each inside the other; Python itself reads them.
    text = "def f(x):\n    return " + "abs(" * 90 + "x" + ")" * 90
    compare(pytocu.jit(made(text))(X), X)
    chain = "def f0(x):\n    return x\n" + "".join(f"def f{n}(x):\n    return f{n - 1}(x)\n" for n in range(1, 400))
    error = error_of(made(chain, "f399"), X)
    assert "nested too deeply" in error.message and "intermediate" in error.help


# Places.


def test_columns_count_characters():
    error = error_of(made("def f(x):\n    ä = 'größe'; ω = x + 'é'; return ω\n"), X)
    assert error.loc.column == len("    ä = 'größe'; ω = ") + 1 and pointed_at(str(error)) == "x + 'é'"


def test_carets_under_wide_characters():
    error = error_of(made("def f(x):\n    return ('漢字', x.nothing)\n"), X)
    line, caret = str(error).splitlines()[2:4]
    assert caret.index("^") == line.index("x.nothing") + 2 and caret.count("^") == len("x.nothing")


def test_expressions_on_several_lines():
    error = error_of(made("def f(x):\n    y = (\n        x\n        +\n        'a')\n    return y\n"), X)
    assert error.loc.line == 3 and pointed_at(str(error)) == "x"
    error = error_of(made("def f(x):\n    return np.polyfit(x,\n        1)\n"), X)
    assert error.loc.line == 2 and pointed_at(str(error)) == "np.polyfit(x,"


def test_tabs():
    error = error_of(made("def f(x):\n\tif True:\n\t\treturn x.nothing\n"), X)
    assert pointed_at(str(error)) == "x.nothing"


def test_calls_are_listed():
    text = """
    def inner(y):
        return y.nothing

    def middle(y):
        return 1 + inner(y)

    def f(x):
        return middle(x) * 2
    """
    lines = [line.split(":")[-1] if "-->" in line else line for line in str(error_of(made(text), X)).splitlines()]
    shown = "\n".join(lines)
    assert [loc.function for loc in error_of(made(text), X).loc.chain()] == ["inner", "middle", "f"]
    assert shown.count("called from") == 2 and shown.index("y.nothing") < shown.index("inner(y)") < shown.index("middle(x)")


def test_errors_at_run_time_name_the_line():
    f = made("def f(x, y):\n    a = x * 2\n    b = a + y\n    return b\n")
    f = pytocu.jit(f)
    f(X, X)
    error = error_of(f, X, X[:, :2], kind=ValueError)
    assert error.loc.line == 3 and pointed_at(str(error)) == "a + y"
    g = pytocu.jit(made("def f(x, k):\n    return x + k * 1000\n"))
    small = np.ones(2, np.int8)
    compare(pytocu.jit(lambda x, k: x + k)(small, 100), small + 100)
    error = error_of(g, small, 5, kind=OverflowError)
    assert error.message == "Python integer 5000 out of bounds for int8" and error.loc.line == 2


# Exceptions of the user.


class MyError(ValueError):
    """An error of the user."""


def test_raise_keeps_the_class():
    f = pytocu.jit(
        made("def f(x):\n    if x.ndim == 2:\n        raise MyError(f'rank {x.ndim} of {x}')\n    return x\n", MyError=MyError)
    )
    error = error_of(f, X, kind=MyError)
    assert error.message == "rank 2 of <f32[x_0, x_1]>" and type(error).__name__ == "MyError" and error.loc.line == 3
    compare(f(X[0]), X[0])


@pytest.mark.parametrize(
    "kind", [AssertionError, KeyError, RuntimeError, OSError, NotImplementedError, StopIteration, UnicodeError]
)
def test_any_exception_can_be_raised(kind):
    f = made("def f(x):\n    raise kind('no') from None\n", kind=kind)
    assert "no" in error_of(f, X, kind=kind).message


def test_assertions():
    error = error_of(made("def f(x):\n    assert x.ndim == 3, f'rank {x.ndim}'\n    return x\n"), X, kind=AssertionError)
    assert error.message == "rank 2"
    assert error_of(made("def f(x):\n    assert x.ndim == 3\n"), X, kind=AssertionError).message == "AssertionError"


def test_raised_classes_are_made_once():
    first, second = raised(KeyError("a"), None), raised(KeyError("b"), Loc("file", 1))
    assert type(first) is type(second) and raised(first, None) is first


def test_excerpts():
    assert source_excerpt(Loc("no such file", 3)) == ""
    made("x = 1\n", "x")


def test_arrays_of_known_numbers() -> None:
    assert pytocu.jit(lambda x: x + np.int64(3).ravel())(np.ones(2)).tolist() == [4, 4]
    with pytest.raises(UnsupportedError, match="an array of 65 numbers known while compiling would become as many") as raised:
        pytocu.jit(lambda x: x + np.array([0.5] * 65))(np.ones(65))
    assert "pass it as an argument" in str(raised.value)


@pytest.mark.parametrize(
    ("function", "arguments", "help"),
    [
        (lambda x, w: x * w, (np.ones((4, 3)), np.ones(4)), "give the one of shape (4,) another axis, as in y[:, np.newaxis]"),
        (lambda x, w: x * w, (np.ones((4, 3)), np.ones((3, 4))), "transpose one of them, as y.T"),
        (lambda x, w: x * w, (np.ones(4), np.ones(3)), "have to be equal or 1"),
        (lambda x: x.reshape(5, 2), (np.ones(12),), "the lengths have to multiply to as many elements"),
        (lambda x: x.max(), (np.ones(0),), "give initial=..."),
        (lambda x: x.sum(axis=2), (np.ones((2, 2)),), "its axes are 0 to 1, or -2 to -1"),
        (lambda x, i: x[i], (np.ones(3), np.array([7])), "its positions are 0 to 2, or -3 to -1"),
        (lambda x, m: x[m], (np.ones(4), np.array([True])), "a mask is as long as the axes that it chooses from"),
        (lambda a, b: a @ b, (np.ones((3, 4)), np.ones((3, 4))), "see whether one is to be transposed, as y.T"),
        (lambda a, b: np.linalg.solve(a, b), (np.ones((3, 3)), np.ones(3)), "np.linalg.lstsq finds the nearest solution"),
        (lambda z: np.floor(z), (np.ones(3, np.complex64),), "of complex numbers take z.real and z.imag"),
        (lambda x: x + 1, (np.array([1, None]),), "convert it before the call, as x.astype(np.float64)"),
        (lambda x: x + 1, (np.array(["a"]),), "np.unique(x, return_inverse=True) gives one for each text"),
        (lambda x: x + 1, (np.array(["2020-01-01"], "M8[D]"),), "pass x.astype(np.int64)"),
    ],
)
def test_sentences_of_numpy_say_what_to_write(function, arguments, help):
    with pytest.raises(pytocu.CompileError) as caught:
        pytocu.jit(function)(*arguments)
    assert help in (caught.value.help or "")


def test_numbers_of_steps_have_the_names_of_the_program():
    def stacked(x):
        for k in range(1, len(x)):
            x = np.stack([x[:k], x[:k]])
        return x

    with pytest.raises(pytocu.UnsupportedError, match=r"and f64\[2, k \+ 1\] after it"):
        pytocu.jit(stacked).lower("f64[n]")


# Shapes that never fit, whatever the lengths of the call are.


def known_axes(x):
    return np.zeros((len(x), 3)) + np.ones((len(x), 4))


def known_axes_in_place(x):
    y = np.zeros((len(x), 3))
    y += np.ones((len(x), 4))
    return y


def longer_in_place(x):
    y = np.zeros((len(x), 1))
    y += np.ones((len(x), 4))
    return y


def more_axes_in_place(x):
    x += np.ones((2, 3, 4))
    return x


def known_axes_of_a_part(x):
    y = np.zeros((len(x), 3))
    y[...] = np.ones((len(x), 4))
    return y


def known_axes_in_a_side(x):
    y = np.zeros((len(x), 3))
    if x.sum() > 0:
        y = y + np.ones((len(x), 4))
    return y


@pytest.mark.parametrize("columns", [3, 4, 7])
@pytest.mark.parametrize(
    "function",
    [known_axes, known_axes_in_place, longer_in_place, more_axes_in_place, known_axes_of_a_part, known_axes_in_a_side],
)
def test_lengths_of_the_call_are_said_where_shapes_never_fit(function, columns):
    x = np.ones((5, columns))
    with pytest.raises(ValueError) as expected:
        function(x.copy())
    with pytest.raises(pytocu.ShapeError) as found:
        pytocu.jit(function)(x.copy())
    assert found.value.message == str(expected.value)
    with pytest.raises(pytocu.ShapeError, match=r"\(n,"):
        pytocu.jit(known_axes).lower("f64[n, m]")


def add_in_place(x, y):
    x += y
    return x


def add_into(x, y, out):
    return np.add(x, y, out=out)


@pytest.mark.parametrize(
    ("function", "shapes", "marked"),
    [
        (add_in_place, [(3,), (4,)], {4: "shape (3,) from `x`", 9: "shape (4,) from `y`"}),
        (add_in_place, [(1,), (4,)], {4: "shape (1,) from `x`"}),
        (add_in_place, [(3,), (2, 3)], {4: "f64[x_0] from `x`", 9: "f64[y_0, y_1] from `y`"}),
        (add_into, [(3,), (3,), (1,)], {28: "shape (1,) from `out`"}),
        (add_into, [(3,), (3,), (4,)], {18: "shape (3,) from `x`", 21: "shape (3,) from `y`", 28: "shape (4,) from `out`"}),
    ],
)
def test_marks_of_what_is_changed(function, shapes, marked):
    with pytest.raises(pytocu.ShapeError) as found:
        pytocu.jit(function)(*map(np.ones, shapes))
    line = function.__code__.co_firstlineno
    assert {note.loc.column - 1: note.text for note in found.value.notes} == {k: f"{v}, line {line}" for k, v in marked.items()}


def test_what_is_added_to_no_number_says_where_it_comes_from() -> None:
    def added(x):
        return x + None

    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'float' and 'NoneType'") as caught:
        pytocu.jit(added).lower("f32[n]")
    assert caught.value.help == "None is used as a number or an array"
    assert [note.text.partition(" from")[0] for note in caught.value.notes] == ["f32[n]"]


def test_pythons_own_words_stand_alone_where_no_argument_has_a_name() -> None:
    def longest(x):
        return len(x, 2)

    with pytest.raises(pytocu.CompileError, match=r"len\(\) takes exactly one argument \(2 given\)") as caught:
        pytocu.jit(longest).lower("f32[n]")
    assert caught.value.help is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x[1:] if n > 1 else x[None]", "gives f32[x_0 - 1] or f32[1, x_0]"),
        ("x[n:] if n > 1 else x[n:, None]", "gives f32[?] or f32[?, 1]"),
        ("bool(x[n:n + 2])", "data of an array (f32[?])"),
        ("x[x[n:]]", "the index is f32[?]"),
        ("x[n:n + 2].squeeze()", "the length of axis 0, which only a run knows, may or may not be 1"),
    ],
)
def test_lengths_in_messages_are_names_and_numbers(body, said):
    function = made(f"def f(x, n):\n    return {body}\n")
    with pytest.raises(CompileError) as found:
        pytocu.jit(function)(ARRAY, 1)
    assert said in str(found.value), str(found.value)
