"""The text form: what is printed reads back to the same text, and bad text names its line."""

from __future__ import annotations

import struct

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pytocu.errors import CompileError, InternalError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, attr_key, walk
from pytocu.ir.dims import dim_max, floordiv, symbol
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import format_attr, print_function
from pytocu.ir.types import COMPILED_DTYPES, INDEX, WEAK_FLOAT, ArrayType, PointerType, VectorType, parse_type, scalar
from pytocu.ir.verifier import verify

ARRAY = """\
func @mask_out(%points: f32[n, 3], %mask: bool[n]) {
  check {dims = (n, n), kind = "broadcast", shapes = ((n, 1), (n, 3))}  # mask.py:5:11
  %0 = newaxis %mask {axis = 1} : bool[n, 1]  # mask.py:5:20
  %1 = const inf : weak float  # mask.py:5:41
  %points_1 = where %0, %1, %points : f32[n, 3]  # mask.py:5:11
  return %points_1 {tree = 0}  # mask.py:5:4
}"""

VIEWS = """\
func @views(%x: f64[n, m; S], %k: weak int, %s: i8, %z: f32[]) {
  %0 = slice %x {size = (max(n - 2, 0), m), start = (1, 0), step = (1, 1)} : f64[max(n - 2, 0), m]
  %1 = transpose %0 {axes = (1, 0)} : f64[m, max(n - 2, 0)]
  %2 = index %1 {at = m - 1, axis = 0, keep = False} : f64[max(n - 2, 0)]
  %3 = broadcast %2 {expand = (), ndim = 1, shape = (4, max(n - 2, 0))} : f64[4, max(n - 2, 0)]
  %4 = dim {value = 2*m*n - 1} : weak int
  %5 = const -0.0 : f64
  %6 = const nan : weak float
  %7 = const True : weak bool
  %8 = const complex(1.0, -0.0) : c64
  %9 = const (1, 2.5, "a, b", None, (n,), ()) : weak int
  return
}"""

KERNEL = """\
func @fused(%x: f32[n]) {
  %y = kernel %x {name = "fused", why = "one \\"consumer\\"; a { b } : c\\n# d \\\\"} : f32[n] (%x: f32[n]) {
    %0 = const 1.5 : f32
    %1 = multiply %x, %0 : f32[n]
    yield %1
  }
  %0 = add %y, %y : f32[n]
  return %y, %0
}"""

HOST = """\
host func @host(%x: f32[n, 3]) facts {index_bits = 32, symbols = (("n", 0, 0),)} {
  assume {dim = n, number = 1, relation = "!="}
  %0 = stride %x {axis = 0} : index
  %1 = dim {value = 3*n} : index
  %out = allocate : f32[n, 3]
  launch %x, %0, %1, %out {block = 8, name = "k", outputs = 1, work = 3*n} (%x: ptr f32, %0: index, %n: index, %out: ptr f32) {
    %1 = const 0 : index
    %2 = const 1 : index
    for %1, %n, %2 {over = "grid"} (%i: index) {
      %3 = load %x, %i : f32
      store %out, %i, %3
      yield
    }
    return
  }
  return %out
}"""

LOOP = """\
loop func @everything(%x: ptr f32, %shared: ptr shared f32, %n: index, %s: i32) facts {index_bits = 64} {
  %0 = const 0 : index
  %1 = const 1 : index
  %2 = shared {size = 64} : ptr shared f32
  %3 = thread_index : index
  %4 = block_index : index
  %total = const 0.0 : f32
  %total_1, %count = for %0, %n, %1, %total, %0 {over = "serial"} : f32, index (%i: index, %total_2: f32, %count_1: index) {
    %5 = load %x, %i : f32
    %6 = greater %5, %total_2 : bool
    %7 = if %6 : f32 () {
      yield %5
    } () {
      %8 = negative %5 : f32
      yield %8
    }
    barrier
    yield %7, %count_1
  }
  %9 = while %count : index (%w: index) {
    %10 = less %w, %n : bool
    yield %10, %w
  } (%w_1: index) {
    %11 = add %w_1, %1 : index
    yield %11
  }
  %12 = const 2.0 : <4 x f32>
  %13 = add %12, %12 : <4 x f32>
  store %x, %9, %total_1
  return
}"""


@pytest.mark.parametrize("text", [ARRAY, VIEWS, KERNEL, HOST, LOOP], ids=["array", "views", "kernel", "host", "loop"])
def test_text_reads_back(text):
    locs = "  # mask.py" in text
    function = parse_function(text)
    assert print_function(function, locs=locs) == text
    assert print_function(parse_function(print_function(function)), False) == print_function(function)


def test_locations_are_read_and_written_only_on_request():
    function = parse_function(ARRAY)
    places = [(i.loc.file, i.loc.line, i.loc.column) for i in walk(function.body)]
    assert places[1] == ("mask.py", 5, 20)
    assert "#" not in print_function(function)
    bare = parse_function(print_function(function), file="bare.ir")
    assert [(i.loc.file, i.loc.line) for i in walk(bare.body)] == [("bare.ir", line) for line in range(2, 7)]


def test_comments_and_blank_lines_are_skipped():
    text = "# a comment\n\nfunc @f(%x: f32[n]) {\n  # another\n\n  return %x\n}"
    assert print_function(parse_function(text)) == "func @f(%x: f32[n]) {\n  return %x\n}"


def test_names_are_made_unique_and_valid():
    b = Builder()
    x = b.param(parse_type("f32[n]"), "x")
    for name in ("x", "x", "x_1", "a b", "2", "", "\u03c0"):
        b.emit("negative", (x,), name=name)
    b.emit("return", (x,))
    text = print_function(b.function("f", "array", (x,)))
    defined = [line.split(" = ")[0].strip() for line in text.splitlines()[1:-2]]
    assert defined == ["%x_1", "%x_2", "%x_1_1", "%a_b", "%0", "%1", "%\u03c0"]
    assert print_function(parse_function(text)) == text


def test_isolated_regions_have_names_of_their_own():
    (launch,) = [i for i in parse_function(HOST).body.insts if i.op.name == "launch"]
    outer = {v for i in parse_function(HOST).body.insts for v in i.results}
    assert not outer & {a for i in walk(launch.regions[0]) for a in i.args}
    with pytest.raises(CompileError, match="%y is not defined here"):
        parse_function(KERNEL.replace("multiply %x, %0", "multiply %y, %0"))


def test_deep_text_needs_no_deep_stack():
    b = Builder()
    x = value = b.param(parse_type("f32[n]"), "x")
    for _ in range(20_000):
        value = b.emit("negative", (value,))
    b.emit("return", (value,))
    text = print_function(b.function("deep", "array", (x,)))
    assert print_function(parse_function(text)) == text


n, m = symbol("n"), symbol("m")
# What the syntax is made of, everything that ends a line for Python, and letters beyond ASCII. A list, because
# the whole of Unicode is slow to set up in a fresh checkout.
HARD_CHARACTERS = list("\"\\'(){}[]<>,:;=#%@ ab1\n\r\t\v\f\x1c\x85\u2028\x00\u00e9\u03c0\U0001f600")
single = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.complex_numbers(), st.text(HARD_CHARACTERS),
    st.sampled_from([n, n * m - 2, dim_max(n - 2, 0), floordiv(n + 1, 4), 3 * floordiv(n, 2) + 1]),
)  # fmt: skip
attributes = st.recursive(single, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


@given(st.dictionaries(st.sampled_from(["name", "why", "shape", "work"]), attributes, max_size=3))
def test_attributes_read_back(attrs):
    b = Builder()
    b.inst("launch", (), attrs, (), (Block((), ()),))
    b.emit("return")
    text = print_function(b.function("f", "host", ()))
    launch = parse_function(text).body.insts[0]
    expected = tuple(sorted((k, attr_key(v)) for k, v in attrs.items()))
    assert tuple((k, attr_key(v)) for k, v in launch.attrs) == expected
    assert print_function(parse_function(text)) == text


@given(single)
def test_facts_read_back(value):
    b = Builder()
    b.emit("return")
    function = b.function("f", "host", (), (("stated", value), ("bits", 32)))
    again = parse_function(print_function(function))
    assert attr_key(again.facts) == attr_key(function.facts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("inf"), "inf"), (float("-inf"), "-inf"), (float("nan"), "nan"), (-0.0, "-0.0"), (1.0, "1.0"), (1, "1"),
        (True, "True"), (None, "None"), ((), "()"), ((1,), "(1,)"), ((n, 2), "(n, 2)"), ('a"b', '"a\\"b"'),
        (1e300, "1e+300"), (-1j, "complex(-0.0, -1.0)"), (-float("nan"), "-nan"),
        (complex(-float("nan"), 1), "complex(-nan, 1.0)"),
        (struct.unpack("<d", bytes([7, 0, 0, 0, 0, 0, 0xF8, 0xFF]))[0], "-nan(0x8000000000007)"),
    ],
)  # fmt: skip
def test_attribute_spelling(value, text):
    assert format_attr(value) == text
    constant = Builder()
    constant.emit("return")
    again = parse_function(print_function(constant.function("f", "host", (), (("stated", value),))))
    assert attr_key(again.fact("stated")) == attr_key(value)


@pytest.mark.parametrize("value", [('"', ")"), ("\\", "("), ('\\"', "),("), ("{", ("}", '"')), (" : f32", "  # a:1:2")])
def test_strings_may_hold_the_syntax(value):
    b = Builder()
    b.inst("launch", (), {"why": value}, (), (Block((), ()),))
    b.emit("return")
    text = print_function(b.function("f", "host", ()))
    assert parse_function(text).body.insts[0].attr("why") == value


types = st.one_of(
    st.sampled_from(COMPILED_DTYPES).map(scalar),
    st.sampled_from([INDEX, WEAK_FLOAT]),
    st.builds(PointerType, st.sampled_from(COMPILED_DTYPES), st.sampled_from(["global", "shared", "local"])),
    st.builds(VectorType, st.sampled_from(COMPILED_DTYPES), st.sampled_from([2, 4])),
    st.builds(
        ArrayType,
        st.sampled_from(COMPILED_DTYPES),
        st.lists(st.sampled_from([0, 3, n, n * m + 1, dim_max(n - 2, 0), floordiv(n, 2)]), max_size=3).map(tuple),
        st.sampled_from("CFS"),
    ),
)


@given(st.lists(types, max_size=4))
def test_types_read_back(given_types):
    assert [parse_type(str(t)) for t in given_types] == given_types
    b = Builder()
    params = [b.param(t, "x") for t in given_types]
    b.emit("return", params)
    text = print_function(b.function("f", "array", params))
    assert [p.type for p in parse_function(text).params] == given_types


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 0, "the text ends inside a block"),
        ("function f", 1, "expected a function"),
        ("func @f(x: f32[n]) {\n}", 1, "expected a parameter"),
        ("func @f(%x: f31[n]) {\n}", 1, "no dtype pytocu knows: 'f31'"),
        ("func @f(%x: f32[n/2]) {\n}", 1, "is not a dimension"),
        ("func @f(%x: f32[n], %x: f32[n]) {\n}", 1, "%x is defined twice"),
        ("func @f() {\n  return", 2, "a closing '}' is missing"),
        ("func @f(%x: f32[n]) {\n  %y = frobnicate %x : f32[n]\n}", 2, "there is no operation 'frobnicate'"),
        ("func @f(%x: f32[n]) {\n\n  %y = add %x, %z : f32[n]\n}", 3, "%z is not defined here"),
        ("func @f(%x: f32[n]) {\n  %y = add %x, x : f32[n]\n}", 2, "x is not defined here"),
        ("func @f(%x: f32[n]) {\n  %x = add %x, %x : f32[n]\n}", 2, "%x is defined twice"),
        ("func @f(%x: f32[n]) {\n  %y = add %x, %x\n}", 2, "%y has no type, which stands at the end of the line"),
        ("func @f(%x: f32[n]) {\n  add %x, %x : f32[n]\n}", 2, "0 results but 1 type"),
        ("func @f(%x: f32[n]) {\n  %y = add %x, %x : f31\n}", 2, "f31"),
        ("func @f(%x: f32[n]) {\n  %y = newaxis %x {axis} : f32[n, 1]\n}", 2, "expected an attribute like axis = 1"),
        ("func @f(%x: f32[n]) {\n  %y = newaxis %x {axis = $} : f32[n, 1]\n}", 2, "'$' is not a constant"),
        ("func @f() {\n  %y = const what? : f32\n}", 2, "'what?' is not a constant"),
        ("func @f() {\n  %y = const complex(1.0, 2.j) : c64\n}", 2, "'complex(1.0, 2.j)' is not a complex number"),
        ("loop func @f(%v: <9999999999 x f32>) {\n  return\n}", 1, "a vector has 1 to 4096 elements"),
        ("func @f() {\n  %y = const complex(1.0) : c64\n}", 2, "'complex(1.0)' is not a complex number"),
        ("loop func @f(%c: bool) {\n  if %c\n}", 2, "if needs a region"),
        ("loop func @f(%c: bool) {\n  if %c () {\n    yield\n  }\n  return\n}", 4, "if has 2 regions, not 1"),
        ("loop func @f(%n: index) {\n  while %n : index (%i: index) {\n    yield %q\n  }", 3, "%q is not defined here"),
    ],
)
def test_bad_text_names_its_line(text, line, message):
    with pytest.raises(CompileError) as error:
        parse_function(text, file="bad.ir")
    assert message in error.value.message
    assert (error.value.loc.file, error.value.loc.line) == ("bad.ir", line)


def test_a_constant_is_a_number() -> None:
    """``false`` is a length of that name, and Python's ``False`` a number."""
    text = "loop func @f() {\n  %0 = const VALUE : bool\n  return\n}"
    verify(parse_function(text.replace("VALUE", "False")))
    with pytest.raises(InternalError, match="has value = false, which is not a number"):
        verify(parse_function(text.replace("VALUE", "false")))
