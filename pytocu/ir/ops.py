"""The op table: one row an operation.

A row says what NumPy calls it, how its type follows, whether its bits are NumPy's, how
backends spell it (primitives) or which formula it is (``expand``), and one sentence.
Everything else in the compiler that knows an operation by name reads it from here.
"""

from __future__ import annotations

import operator
from typing import Any

from pytocu.ir import expand_positions, infer
from pytocu.ir.core import OPS, Op
from pytocu.ir.formulas import Formulas
from pytocu.ir.python_functions import PYTHON_FUNCTIONS
from pytocu.ir.types import F32, U16

ALL = frozenset({"array", "host", "loop"})
LOOP = frozenset({"loop"})
HOST = frozenset({"host"})
ARRAY = frozenset({"array"})
UPPER = frozenset({"array", "host"})

expand, expand_bits, expand_half = Formulas("expand"), Formulas("expand_bits"), Formulas("expand_half")
expand_float32, gpu_half = Formulas("expand_float32"), Formulas("expand_gpu_half")
cx, cm, in_float64 = Formulas("expand_complex"), Formulas("expand_complex_math"), Formulas("expand_float64").in_float64

HALF_ROWS = (
    "add", "subtract", "multiply", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
)  # fmt: skip
"""Rows that are an instruction on float16 where GPUs have it: ``half_`` and the name is its row."""

_REAL = frozenset({"cbrt", "arctan2", "hypot"})
"""Transcendental functions that NumPy has of real numbers alone."""


def row(name: str, kind: str, arity: int | None, doc: str, **fields: Any) -> Op:
    """Add a row to the table."""
    if name in OPS:
        raise ValueError(f"the op {name} stands twice in the table")
    OPS[name] = Op(name, kind, arity, doc, **fields)
    return OPS[name]


def ufunc(name: str, arity: int, doc: str, **fields: Any) -> Op:
    """A NumPy ufunc with one output, or one output of several."""
    fields.setdefault("numpy", name)
    fields.setdefault("infer", infer.ufunc)
    if name in HALF_ROWS:
        fields.setdefault("gpu_half", gpu_half.native[name])
    return row(name, "elementwise", arity, doc, levels=ALL, **fields)


def math(name: str, doc: str, ulp: float, arity: int = 1, libm: str = "", **fields: Any) -> Op:
    """A transcendental function, spelled by the C math library's name."""
    if name in _VECTOR:
        fields.setdefault("vector", _VECTOR[name])
    if name not in _REAL:
        fields.setdefault("complex", in_float64[getattr(cm, name)])
        fields.setdefault("complex_ulp", 4.0)
    return ufunc(name, arity, doc, exact=False, ulp=ulp, libm=libm or name, primitive="f", **fields)


_VECTOR = {
    name: Formulas("expand_elementary").arithmetic[getattr(Formulas(module), name)]
    for module, names in {
        "expand_elementary": "exp exp2 expm1 log log2 log10 log1p sinh cosh tanh arcsinh arccosh arctanh arctan arctan2 arcsin "
        "arccos hypot",
        "expand_trigonometric": "sin cos tan",
        "expand_power": "power cbrt",
    }.items()
    for name in names.split()
}
"""Formulas that CPUs run in vectors, by the names of the rows."""


# Arithmetic. `primitive` lists the dtype kinds a backend spells; other kinds expand.
ufunc("add", 2, "x + y", primitive="iuf", c="{0} + {1}", llvm="add", python=operator.add, symbol="+",
      expand=lambda e, t, x, y: e("bitwise_or", x, y), complex=cx.componentwise["add"])  # fmt: skip
ufunc("subtract", 2, "x - y", primitive="iuf", c="{0} - {1}", llvm="sub", python=operator.sub, symbol="-",
      complex=cx.componentwise["subtract"])  # fmt: skip
ufunc("multiply", 2, "x * y", primitive="iuf", c="{0} * {1}", llvm="mul", python=operator.mul, symbol="*",
      expand=lambda e, t, x, y: e("bitwise_and", x, y), complex=cx.multiply, complex_ulp=3.5)  # fmt: skip
ufunc("divide", 2, "x / y, always floating", primitive="f", c="{0} / {1}", llvm="fdiv", python=operator.truediv, symbol="/",
      aliases=("true_divide",), complex=cx.divide, complex_ulp=4, gpu_half=gpu_half.divide)  # fmt: skip
ufunc("floor_divide", 2, "x // y", expand=expand.floor_divide, python=operator.floordiv, symbol="//")
ufunc("remainder", 2, "x % y, with the sign of y", expand=expand.remainder, python=operator.mod, symbol="%", aliases=("mod",))
ufunc("fmod", 2, "The remainder with the sign of x", primitive="f", libm="fmod", expand=expand.fmod, vector=expand.float_fmod)
ufunc("power", 2, "x ** y", exact=False, ulp=2, primitive="f", libm="pow", expand=expand.power, vector=_VECTOR["power"],
      python=operator.pow, symbol="**", aliases=("pow",), complex=cm.power, complex_ulp=4)  # fmt: skip
ufunc("gcd", 2, "The greatest common divisor", expand=expand_bits.gcd)
ufunc("lcm", 2, "The least common multiple", expand=expand_bits.lcm)
ufunc("negative", 1, "-x", primitive="iuf", c="-{0}", llvm="neg", python=operator.neg, symbol="-",
      half=expand_half.negative, complex=cx.componentwise["negative"])  # fmt: skip
ufunc("positive", 1, "+x", expand=expand.identity, python=operator.pos, symbol="+", complex=cx.componentwise["positive"],
      half=expand_half.same)  # fmt: skip
ufunc("conjugate", 1, "x, of a real number", expand=expand.identity, aliases=("conj",), complex=cx.conjugate,
      half=expand_half.same)  # fmt: skip
ufunc("absolute", 1, "|x|", primitive="f", libm="fabs", llvm="intrinsic", expand=expand.absolute, python=operator.abs,
      symbol="abs", aliases=("abs",), half=expand_half.absolute, complex=cx.absolute, complex_ulp=3)  # fmt: skip
ufunc("fabs", 1, "|x|, always floating", primitive="f", libm="fabs", llvm="intrinsic", half=expand_half.absolute)
ufunc("sign", 1, "-1, 0 or 1; NaN stays", expand=expand.sign, complex=cx.sign, complex_ulp=3,
      gpu_half=gpu_half.on_bits[expand.sign])  # fmt: skip
ufunc("square", 1, "x * x", expand=expand.square, complex=cx.square, complex_ulp=3.5, gpu_half=gpu_half.on_bits[expand.square])
ufunc("reciprocal", 1, "1 / x", expand=expand.reciprocal, complex=cx.reciprocal, complex_ulp=3,
      gpu_half=gpu_half.on_bits[expand.reciprocal])  # fmt: skip
ufunc("sqrt", 1, "Square root, correctly rounded", primitive="f", libm="sqrt", llvm="intrinsic",
      complex=in_float64[cm.sqrt], complex_ulp=3, gpu_half=gpu_half.sqrt)  # fmt: skip
ufunc("copysign", 2, "|x| with the sign of y", primitive="f", libm="copysign", llvm="intrinsic", half=expand_half.copysign)
ufunc("maximum", 2, "The larger; NaN wins, and x of equal zeros", expand=expand.maximum,
      complex=cx.extreme["greater_equal", True], gpu_half=gpu_half.on_bits[expand.maximum])  # fmt: skip
ufunc("minimum", 2, "The smaller; NaN wins, and x of equal zeros", expand=expand.minimum,
      complex=cx.extreme["less_equal", True], gpu_half=gpu_half.on_bits[expand.minimum])  # fmt: skip
ufunc("fmax", 2, "The larger; a NaN loses", expand=expand.fmax, complex=cx.extreme["greater_equal", False],
      gpu_half=gpu_half.on_bits[expand.fmax])  # fmt: skip
ufunc("fmin", 2, "The smaller; a NaN loses", expand=expand.fmin, complex=cx.extreme["less_equal", False],
      gpu_half=gpu_half.on_bits[expand.fmin])  # fmt: skip
ufunc("clip", 3, "min(max(x, low), high)", expand=expand.clip, complex=cx.clip, gpu_half=gpu_half.on_bits[expand.clip])
ufunc("heaviside", 2, "0 below zero, y at zero, 1 above", expand=expand.heaviside,
      gpu_half=gpu_half.on_bits[expand.heaviside])  # fmt: skip

# Rounding.
ufunc("floor", 1, "Largest integer not above x", primitive="f", libm="floor", llvm="intrinsic",
    expand=expand.integers_unchanged)  # fmt: skip
ufunc("ceil", 1, "Smallest integer not below x", primitive="f", libm="ceil", llvm="intrinsic", expand=expand.integers_unchanged)
ufunc("trunc", 1, "x without its fraction", primitive="f", libm="trunc", llvm="intrinsic", expand=expand.integers_unchanged)
ufunc("rint", 1, "Nearest integer, ties to even", primitive="f", libm="rint", llvm="intrinsic",
      complex=cx.componentwise["rint"])  # fmt: skip

# Parts and neighbours of a floating-point number.
ufunc("modf_fraction", 1, "x without its integer, with the sign of x", numpy="modf", expand=expand_bits.modf_fraction)
ufunc("modf_integer", 1, "x without its fraction, as a float", numpy="modf", output=1, expand=expand_bits.modf_integer)
ufunc("frexp_mantissa", 1, "m of x = m * 2**e with 0.5 <= |m| < 1", numpy="frexp", expand=expand_bits.frexp_mantissa)
ufunc("frexp_exponent", 1, "e of x = m * 2**e; 0 for zeros, infinities and NaN", numpy="frexp", output=1,
      expand=expand_bits.frexp_exponent)  # fmt: skip
ufunc("ldexp", 2, "x * 2**y, rounded once", expand=expand_bits.ldexp)
ufunc("nextafter", 2, "The number next to x on the way to y", expand=expand_bits.nextafter, half=expand_half.nextafter)
ufunc("spacing", 1, "The distance from x to the next number away from zero", expand=expand_bits.spacing,
      half=expand_half.spacing)  # fmt: skip

# Comparison and logic.
for _name, _symbol, _c, _llvm, _python in (
    ("equal", "==", "==", "cmp eq", operator.eq),
    ("not_equal", "!=", "!=", "cmp ne", operator.ne),
    ("less", "<", "<", "cmp lt", operator.lt),
    ("less_equal", "<=", "<=", "cmp le", operator.le),
    ("greater", ">", ">", "cmp gt", operator.gt),
    ("greater_equal", ">=", ">=", "cmp ge", operator.ge),
):
    ufunc(_name, 2, f"x {_symbol} y", primitive="biuf", c=f"{{0}} {_c} {{1}}", llvm=_llvm, python=_python, symbol=_symbol,
          overflow="answer", complex=getattr(cx, _name))  # fmt: skip
ufunc("logical_and", 2, "Both are non-zero", expand=expand.logical_and, complex=cx.logical["bitwise_and"],
      gpu_half=gpu_half.on_bits[expand.logical_and])  # fmt: skip
ufunc("logical_or", 2, "Either is non-zero", expand=expand.logical_or, complex=cx.logical["bitwise_or"],
      gpu_half=gpu_half.on_bits[expand.logical_or])  # fmt: skip
ufunc("logical_xor", 2, "Exactly one is non-zero", expand=expand.logical_xor, complex=cx.logical["bitwise_xor"],
      gpu_half=gpu_half.on_bits[expand.logical_xor])  # fmt: skip
ufunc("logical_not", 1, "Is zero", expand=expand.logical_not, complex=cx.logical["invert"],
      gpu_half=gpu_half.on_bits[expand.logical_not])  # fmt: skip
ufunc("bitwise_and", 2, "x & y", primitive="biu", c="{0} & {1}", llvm="and", python=operator.and_, symbol="&")
ufunc("bitwise_or", 2, "x | y", primitive="biu", c="{0} | {1}", llvm="or", python=operator.or_, symbol="|")
ufunc("bitwise_xor", 2, "x ^ y", primitive="biu", c="{0} ^ {1}", llvm="xor", python=operator.xor, symbol="^")
ufunc("invert", 1, "~x", primitive="biu", c="~{0}", llvm="not", python=operator.invert, symbol="~",
    aliases=("bitwise_not", "bitwise_invert"))  # fmt: skip
ufunc("left_shift", 2, "x << y; 0 beyond the width", expand=expand.left_shift, python=operator.lshift, symbol="<<",
      aliases=("bitwise_left_shift",))  # fmt: skip
ufunc("right_shift", 2, "x >> y; the sign beyond the width", expand=expand.right_shift, python=operator.rshift, symbol=">>",
      aliases=("bitwise_right_shift",))  # fmt: skip
ufunc("bitwise_count", 1, "How many bits of |x| are 1", expand=expand_bits.bitwise_count)
ufunc("isnan", 1, "Is NaN", expand=expand.isnan, half=expand_half.isnan, complex=cx.isnan)
ufunc("isinf", 1, "Is an infinity", expand=expand.isinf, half=expand_half.isinf, complex=cx.isinf)
ufunc("isfinite", 1, "Is neither NaN nor infinite", expand=expand.isfinite, half=expand_half.isfinite, complex=cx.isfinite)
ufunc("signbit", 1, "The sign bit, of zeros too", expand=expand.signbit, half=expand_half.signbit)

# Transcendental functions: the bounds are those of the C and CUDA math libraries.
math("exp", "e ** x", 2)
math("exp2", "2 ** x", 2)
math("expm1", "e ** x - 1", 2)
math("log", "Natural logarithm", 2, gpu_float32=expand_float32.log)
math("log2", "Logarithm to base 2", 2, complex_ulp=6)
math("log10", "Logarithm to base 10", 3, complex_ulp=6)
math("log1p", "log(1 + x)", 2, complex_ulp=6)
math("cbrt", "Cube root", 4)
math("sin", "Sine of an angle in radians", 2, gpu_float32=expand_float32.sin)
math("cos", "Cosine of an angle in radians", 2, gpu_float32=expand_float32.cos)
math("tan", "Tangent of an angle in radians", 2, complex_ulp=6, gpu_float32=expand_float32.tan)
math("arcsin", "Inverse sine, in radians", 3, libm="asin", aliases=("asin",))
math("arccos", "Inverse cosine, in radians", 3, libm="acos", aliases=("acos",))
math("arctan", "Inverse tangent, in radians", 2, libm="atan", aliases=("atan",))
math("sinh", "Hyperbolic sine", 4)
math("cosh", "Hyperbolic cosine", 4)
math("tanh", "Hyperbolic tangent", 2, complex_ulp=6, gpu_half=gpu_half.tanh,
     gpu_float32=expand_float32.tanh)  # fmt: skip
math("arcsinh", "Inverse hyperbolic sine", 4, libm="asinh", aliases=("asinh",))
math("arccosh", "Inverse hyperbolic cosine", 4, libm="acosh", aliases=("acosh",))
math("arctanh", "Inverse hyperbolic tangent", 4, libm="atanh", aliases=("atanh",))
math("arctan2", "Angle of the point (y, x), in radians", 3, arity=2, libm="atan2", aliases=("atan2",),
     gpu_float32=expand_float32.arctan2)  # fmt: skip
ufunc("float_power", 2, "x ** y in float64", exact=False, ulp=2, expand=lambda e, t, x, y: e("power", x, y),
      complex=cm.power, complex_ulp=4)  # fmt: skip
math("hypot", "sqrt(x*x + y*y) without overflow", 2, arity=2, gpu_float32=expand_float32.hypot)
ufunc("logaddexp", 2, "log(exp(x) + exp(y))", exact=False, ulp=4, expand=expand.logaddexp)
ufunc("logaddexp2", 2, "log2(2**x + 2**y)", exact=False, ulp=4, expand=expand.logaddexp2)
ufunc("deg2rad", 1, "Degrees to radians", expand=expand.degrees_to_radians, aliases=("radians",))
ufunc("rad2deg", 1, "Radians to degrees", expand=expand.radians_to_degrees, aliases=("degrees",))

# Selection, conversion, constants.
row("where", "elementwise", 3, "y where the condition holds, else z", infer=infer.where, levels=ALL, numpy="where",
    primitive="biuf", c="{0} ? {1} : {2}", llvm="select")  # fmt: skip
row("cast", "elementwise", 1, "astype: to another dtype, defined for every input", levels=ALL, expand=expand.cast)
row("copy", "elementwise", 1, "A new array with the same values, in the order that is stated, if one is; what is read of a "
    "blank one has been assigned",
    infer=infer.copied, levels=ALL, attrs=("order", "blank"), expand=expand.identity)  # fmt: skip
row("as_array", "elementwise", 1, "A NumPy scalar as a 0-d array", infer=infer.as_array, levels=ALL, expand=expand.identity)
row("compose", "elementwise", 2, "Complex numbers of real and imaginary parts", infer=infer.compose, levels=ALL)
row("convert", "scalar", 1, "A Python scalar to a dtype, OverflowError if it does not fit (its low bits with wrap)",
    levels=UPPER, effects="check", attrs=("wrap",))  # fmt: skip
for _name, _function in PYTHON_FUNCTIONS.items():
    row(_name, "scalar", _function.arity, f"{_name.replace('_', '.', 1)} of Python scalars, on the host", levels=UPPER,
        infer=infer.python_scalar(_function.result), effects="check" if _function.raises else "",
        python=_function.function)  # fmt: skip
row("const", "const", 0, "A constant", levels=ALL, attrs=("value",))
row("dim", "scalar", 0, "A length of the call, as a Python int (or an index for a kernel)", levels=UPPER, attrs=("value",))

row("require", "elementwise", None, "The first where the second holds; else an exception, in whose sentence {0} is the "
    "smallest of the third that breaks it, and {1} ... are lengths", infer=infer.require,
    attrs=("error", "sentence", "dims", "said"))  # fmt: skip

# Views: no data moves; `index_map` takes output indices to input indices.
row("view", "view", 1, "The same memory as numbers of another dtype of the same size", levels=UPPER,
    index_map=lambda index, attrs: index)  # fmt: skip
row("newaxis", "view", 1, "A new axis of length 1", infer=infer.newaxis, levels=UPPER, attrs=("axis",),
    index_map=lambda index, attrs: (*index[: attrs["axis"]], *index[attrs["axis"] + 1 :]))  # fmt: skip
row("transpose", "view", 1, "The axes in another order", infer=infer.transpose, levels=UPPER, attrs=("axes",),
    index_map=lambda index, attrs: tuple(index[attrs["axes"].index(a)] for a in range(len(index))))  # fmt: skip
row("slice", "view", 1, "Every step-th element from start, size of them, on each axis", infer=infer.slice_, levels=UPPER,
    attrs=("start", "step", "size"),
    index_map=lambda index, attrs: tuple(
        i * step + start for i, start, step in zip(index, attrs["start"], attrs["step"], strict=True)))  # fmt: skip
row("index", "view", 1, "One position of an axis, which disappears", infer=infer.index, levels=UPPER, attrs=("axis",
    "at", "keep"),
    index_map=lambda index, attrs: (*index[: attrs["axis"]], attrs["at"], *index[attrs["axis"] :]))  # fmt: skip
row("pick", "view", 2, "The position of an axis that the second operand states, which is one of it; the axis disappears",
    infer=infer.pick, levels=UPPER, attrs=("axis",),
    index_map=lambda index, attrs: (*index[: attrs["axis"]], attrs["at"], *index[attrs["axis"] :]))  # fmt: skip
row("real", "view", 1, "The real parts", infer=infer.part, levels=UPPER, index_map=lambda index, attrs: index)
row("imag", "view", 1, "The imaginary parts", infer=infer.part, levels=UPPER, index_map=lambda index, attrs: index)
row("broadcast", "view", 1, "Repeated along new axes and axes of length 1, those in expand", infer=infer.broadcast,
    levels=UPPER, attrs=("shape", "expand", "ndim", "writable"), repeats=True,
    index_map=lambda index, attrs: tuple(
        0 if axis in attrs["expand"] else index[axis] for axis in range(len(index) - attrs["ndim"], len(index))))  # fmt: skip

row("reshape", "view", 1, "The elements in row-major order, of a shape source, in another shape", infer=infer.reshape,
    levels=UPPER, attrs=("shape", "source"),
    index_map=lambda index, attrs: expand_positions.reshaped(index, attrs["shape"], attrs["source"]))  # fmt: skip
row("diagonal", "view", 1, "Elements whose position on the last axis is `offset` more than on the one before, as the last axis",
    infer=infer.diagonal, levels=UPPER, attrs=("offset", "length", "writable"),
    index_map=lambda index, attrs: (
        *index[:-1], index[-1] + max(-attrs["offset"], 0), index[-1] + max(attrs["offset"], 0)))  # fmt: skip
row("windows", "view", 1, "The `length` elements from each position of an axis on, of `size` positions, along a new last axis",
    infer=infer.windows, levels=UPPER, attrs=("axis", "size", "length"), repeats=True,
    index_map=lambda index, attrs: tuple(
        place + index[-1] if axis == attrs["axis"] else place for axis, place in enumerate(index[:-1])))  # fmt: skip
row("wrapped", "view", 1, "The elements of an axis of a length from a start on, and then those before", infer=infer.same,
    levels=UPPER, attrs=("axis", "start", "length"),
    index_map=lambda index, attrs: tuple(
        (place + attrs["start"]).wrapped(attrs["length"]) if axis == attrs["axis"] else place
        for axis, place in enumerate(index)))  # fmt: skip
row("strided", "view", 1, "Elements of flat memory: offset + sum(index * stride)", infer=infer.strided, levels=UPPER,
    attrs=("shape", "offset", "strides"),
    index_map=lambda index, attrs: (
        sum(i * s for i, s in zip(index, attrs["strides"], strict=True)) + attrs["offset"],))  # fmt: skip

# Reductions, scans and generated values.
row("reduce", "reduce", None, "The elements along axes combined by a row of the table of reductions", infer=infer.reduce,
    levels=ARRAY, attrs=("op", "axes", "pieces", "piece"))  # fmt: skip
row("scan", "scan", None, "Each element combined with those before it on the axis, or in its piece and with the state that the "
    "second operand has for it; exclusive leaves the element itself out", infer=infer.scan, levels=ARRAY,
    attrs=("op", "axis", "exclusive", "pieces", "piece"))  # fmt: skip
row("iota", "generated", 0, "The position of each element on an axis", infer=infer.iota, levels=ARRAY, attrs=("axis",
    "shape"))  # fmt: skip

row("concatenate", "choice", None, "The operands one after the other along an axis, each read in place", levels=ARRAY,
    infer=infer.concatenate, attrs=("axis",))  # fmt: skip
row("own_piece", "choice", 1, "The element of the piece, counted on the first axis, that holds a position on axes",
    infer=infer.own_piece, levels=ARRAY, attrs=("axes", "piece", "shape"))  # fmt: skip
row("gather", "choice", None, "Elements of the first at the positions on axes that the others state, whose axes come at `at`",
    infer=infer.gather, levels=ARRAY, attrs=("axes", "at"))  # fmt: skip

row("search", "choice", 2, "How many elements of the first, in ascending order with NaN last, are less than each value; with "
    "`right` not greater", infer=infer.search, levels=ARRAY, attrs=("right",))  # fmt: skip

row("compaction", "choice", None, "The positions, counted in row-major order, of the true elements of the first, one after the "
    "other; of pieces of it the second says how many are true before each", infer=infer.compaction, levels=ARRAY,
    attrs=("shape", "piece"))  # fmt: skip

row("fold_range", "choice", 4, "The first operand combined, by a row `op`, with elements of the second, a vector, one after "
    "the other: from the position that the third states up to that of the fourth", infer=infer.fold_range, levels=ARRAY,
    attrs=("op",))  # fmt: skip

row("combine_at", "stored", 3, "The first operand, an array, whose elements are combined, by a row `op`, with those of the "
    "third, one after the other: each with the element of the number that the second states, all counted in rows; or replaced, "
    "by ``last``.  Where the values have more axes, numbers are those of all elements behind a position",
    infer=infer.combine_at,
    levels=ARRAY, attrs=("op",))  # fmt: skip

row("place", "stored", 4, "The first operand, an array, whose elements, or all behind positions of leading axes, at which the "
    "second, a mask, is true are those of the third, one after the other; the fourth says how many these are, and none behind "
    "them is read.  Where that may be a `single` one, it is for all", infer=infer.place, levels=ARRAY,
    attrs=("single",))  # fmt: skip

# What is in memory of its own, and what waits for memory.
row("keep", "stored", 1, "The operand in memory of its own, for instructions that read elsewhere in it than they write",
    infer=infer.kept, levels=ARRAY)  # fmt: skip
row("library", "stored", None, "A function of NumPy, CuPy or PyTorch, one of the list of library calls, on whole arrays",
    infer=infer.library_call, levels=UPPER, attrs=("function", "options"))  # fmt: skip
row("read_length", "host", 1, "The number becomes the length `name`, which is at most `limit`: the host waits for it",
    infer=infer.nothing, levels=UPPER, effects="check", attrs=("name", "limit"))  # fmt: skip

row("bind", "host", 1, "The Python int as a number with a name, which positions and lengths are made of: it is not negative, "
    "or a second name stands for what it has below 0. With a `length` it is a bound of a slice of so many elements: counted "
    "from the front, and 0 or the length where it is beyond. With `on_cpu` it is that number where a CPU computes",
    infer=infer.nothing, levels=UPPER, effects="check", attrs=("names", "length", "on_cpu"))  # fmt: skip
row("strides", "host", 1, "The elements from one position of each axis of an argument to the next as numbers with names, two "
    "for each axis: what is above 0, and what is below; 0 of an axis that is not walked", infer=infer.nothing, levels=UPPER,
    effects="check", attrs=("names",))  # fmt: skip

# Memory as the user's function sees it.
row("update", "update", 3, "The first array with the third in place of its view, the second", infer=infer.update, levels=ARRAY)
row("memory", "host", None, "The flat memory that arguments share, from its lowest address; names are those of their symbols",
    levels=UPPER, attrs=("names",))  # fmt: skip
row("writable", "host", 1, "The argument may be written; NumPy's error, which begins with `what`, when it may not, or a "
    "refusal where a clause of the program would have `caught` that", infer=infer.nothing, levels=UPPER, effects="check",
    attrs=("what", "caught"))  # fmt: skip

# Host level.
row("part", "scalar", 1, "What stands for a float16 or a complex number: its bits, or one of its parts",
    infer=infer.part, levels=frozenset({"host", "loop"}), attrs=("which",))  # fmt: skip
row("read", "scalar", 1, "Whether a number in memory is not zero, which the host waits for, as a Python bool", levels=HOST)
row("check", "host", 0, "A condition on lengths; NumPy's error when it fails", infer=infer.nothing, levels=UPPER,
    effects="check",
    attrs=("kind", "dims", "shapes"))  # fmt: skip
row("assume", "host", 0, "A fact about a length that the code relies on", infer=infer.nothing, levels=UPPER, effects="check",
    attrs=("dim", "relation", "number"))  # fmt: skip
row("allocate", "host", 0, "A new array", levels=HOST, effects="alloc")
row("offset", "host", 2, "Elements from the beginning of shared memory to an argument's first", infer=infer.index_of,
    levels=HOST)  # fmt: skip
row("stride", "host", 1, "Elements from one position of an axis to the next", infer=infer.index_of, levels=HOST,
    attrs=("axis",))  # fmt: skip
row("failures", "host", 0, "Words in which kernels note what went wrong: the smallest number of each", levels=HOST,
    effects="alloc")  # fmt: skip
row("failed", "host", 1, "The exception of a requirement, where its word was written", infer=infer.nothing, levels=HOST,
    effects="check", attrs=("at", "error", "sentence", "dims", "said"))  # fmt: skip
row("kernel", "control", None, "Array operations that run as one kernel; the region yields its results", levels=ARRAY,
    regions=1, isolated=True, attrs=("name", "why", "parallel", "reduced", "places"))  # fmt: skip
row("launch", "control", None, "Run a kernel that reads some arguments and writes others", infer=infer.nothing, levels=HOST,
    effects="write", regions=1, isolated=True,
    attrs=("name", "outputs", "schedule", "work", "cost", "block", "each", "grid", "why", "parallel", "reduced", "places",
    "known", "lanes", "side", "share", "several", "vector", "whole", "free", "resident"))  # fmt: skip
row("return", "control", None, "Leave the function; tree arranges the results by their numbers, and updates pairs an argument "
    "with its new contents; orders are the layouts that new arrays have in NumPy", infer=infer.nothing, levels=ALL,
    effects="control", attrs=("tree", "updates", "orders"))  # fmt: skip
row("yield", "control", None, "Leave a region with these results", infer=infer.nothing, levels=ALL, effects="control")

# Loops and branches of the user's program (see `pytocu.ir.regions`): pure, and closed like a kernel.
row("for_loop", "region", None, "As many steps as range() of the first three has; the region is given the step's number of the "
    "range, the carried values and the rest, and yields the next carried values. With `numbers` it is not "
    "negative and has a name, by which positions and lengths of the region know it; behind the name stand how many steps "
    "there are, and whether the last number comes first. `once` is 1 where it has a step and 0 where it has none", levels=UPPER,
    regions=1, isolated=True, attrs=("carried", "numbers", "once"))  # fmt: skip
row("while_loop", "region", None, "Steps while the first carried value holds; the region is given the carried values and the "
    "rest, and yields the next carried values. `once` is 1 where it has a step and 0 where it has none", levels=UPPER,
    regions=1, isolated=True, attrs=("carried", "once"))  # fmt: skip
row("if_else", "region", None, "The first region where the first argument holds, else the second; both are given the rest",
    levels=UPPER, regions=2, isolated=True)  # fmt: skip
row("map", "region", None, "The region for each element of the first so many arguments, which broadcast: it is given these "
    "elements as scalars and the rest as they are, and yields an element of each result", levels=UPPER, regions=1,
    isolated=True, attrs=("elements",))  # fmt: skip
row("item", "scalar", 1, "An element of a map as Python's number", infer=infer.item, levels=UPPER,
    python=lambda x: x.item() if hasattr(x, "item") else x)  # fmt: skip

# What the front end notes of numbers that may be Python's (see `pytocu.frontend.kinds`); it takes the notes out again.
row("from_python", "scalar", None, "A NumPy scalar that stands, `perhaps`, for a Python number `of` a kind, `known` or not; "
    "a second operand says whether it is NumPy's; `beside` is the kind of Python's number that it is on another way",
    infer=infer.marked, levels=ARRAY, attrs=("known", "of", "beside", "perhaps"))  # fmt: skip
row("as_numpy", "scalar", 1, "The number as what it is used: the operand of a NumPy function, a number of a dtype, an object",
    infer=infer.same, levels=ARRAY, attrs=("what",))  # fmt: skip

# Loop level: memory, control, indices, raw arithmetic.
row("load", "memory", None, "The element at an offset; with `lanes` that many from there, whose address divides by `align`. "
    "With `width` they are groups of so many elements, `step` from one to the next: those that begin at or behind the third "
    "operand are zeros, and addresses divide by `align` where the fourth operand holds",
    infer=infer.load, levels=LOOP, effects="read", attrs=("align", "lanes", "width", "step"))  # fmt: skip
row("store", "memory", None, "Write an element, or a vector to an address that divides by `align`, at an offset; with `width` "
    "groups as those of a load, whose operands follow the vector",
    infer=infer.nothing, levels=LOOP, effects="write", attrs=("align", "width", "step"))  # fmt: skip
row("atomic_minimum", "memory", 3, "Replace an element by the smaller of it and the value, at once", infer=infer.nothing,
    levels=LOOP, effects="write")  # fmt: skip
row("prefetch", "memory", 2, "So many `bytes` are likely to be read soon, from `ahead` bytes behind the element at an offset "
    "on, also where no array is: nothing but time changes, on a CPU", infer=infer.nothing, levels=LOOP, effects="hint",
    attrs=("ahead", "bytes"))  # fmt: skip
row("transposed", "vector", None, "The columns of the square matrix whose rows are these vectors", infer=infer.transposed,
    levels=LOOP)  # fmt: skip
row("packed", "vector", 1, "The 64 elements of a vector of bools as the bits of a uint64, the first one the lowest",
    infer=infer.packed, levels=LOOP)  # fmt: skip
row("ones", "vector", 1, "How many bits of a uint64 are 1", infer=infer.of_bits, levels=LOOP)
row("lowest_one", "vector", 1, "The place of the lowest bit of a uint64 that is 1; 64 where there is none",
    infer=infer.of_bits, levels=LOOP)  # fmt: skip
row("aligned", "index", None, "Whether the address of each pointer divides by its number of `bytes`", infer=infer.truth,
    levels=LOOP, attrs=("bytes",))  # fmt: skip
row("lanes", "control", None, "The region for each of so many lanes in turn: it is given the lane's number, its share of each "
    "vector's elements and the carried values, and yields its share of each result and the next carried values. `reach` has "
    "three numbers for each vector: lane k is given, from element k * first + second on, as many as the third says",
    levels=LOOP, regions=1, attrs=("lanes", "reach"))  # fmt: skip
row("for", "control", None, "From lower to upper by step; the rest are carried values. `over` says who runs an iteration, "
    "`few` that there are few of them", levels=LOOP, effects="control", regions=1, attrs=("over", "few"))  # fmt: skip
row("if", "control", 1, "The first region where the condition holds, else the second; `usual` where the first may be computed "
    "for any numbers, and what it gives is dropped where the condition does not hold",
    levels=LOOP, effects="control", regions=2, attrs=("usual",))  # fmt: skip
row("while", "control", None, "The first region yields a condition and the values, the second the next values", levels=LOOP,
    effects="control", regions=2)  # fmt: skip
row("shared", "memory", 0, "Memory of a block's threads, uninitialised", levels=LOOP, effects="alloc", attrs=("size",))
row("local", "memory", 0, "Memory of one thread, uninitialised", levels=LOOP, effects="alloc", attrs=("size",))
row("barrier", "memory", 0, "All threads of a block arrive before any goes on", infer=infer.nothing, levels=LOOP,
    effects="write")  # fmt: skip
row("thread_index", "index", 0, "This thread's number in its block", infer=infer.index_of, levels=LOOP)
row("block_count", "index", 0, "How many blocks the grid has", infer=infer.index_of, levels=LOOP)
row("shuffle_xor", "warp", 1, "The value of the thread of the warp whose number differs in the bits of mask",
    infer=infer.same, levels=LOOP, attrs=("mask",))  # fmt: skip
row("block_index", "index", 0, "This block's number in the grid", infer=infer.index_of, levels=LOOP)
row("divide_truncated", "elementwise", 2, "Integer division towards zero; the divisor is not 0 and the result fits",
    infer=infer.same, levels=LOOP, primitive="iu", c="{0} / {1}", llvm="div")  # fmt: skip
row("remainder_truncated", "elementwise", 2, "What divide_truncated leaves", infer=infer.same, levels=LOOP, primitive="iu",
    c="{0} % {1}", llvm="rem")  # fmt: skip
row("shift_left_raw", "elementwise", 2, "x << y for y in 0 .. width - 1", infer=infer.same, levels=LOOP, primitive="iu",
    c="{0} << {1}", llvm="shl")  # fmt: skip
row("shift_right_raw", "elementwise", 2, "x >> y for y in 0 .. width - 1", infer=infer.same, levels=LOOP, primitive="iu",
    c="{0} >> {1}", llvm="shr")  # fmt: skip
row("convert_raw", "elementwise", 1, "C conversion of a value in range", levels=LOOP, primitive="biuf",
    c="({type}){0}", llvm="convert")  # fmt: skip
row("bitcast", "elementwise", 1, "The same bits as a number of another dtype of the same size", levels=LOOP,
    primitive="iuf", c="({type}){0}", llvm="bitcast")  # fmt: skip
row("half_to_float", "elementwise", 1, "The float32 of a float16 that is given by its bits; a GPU forgets the sign of a NaN",
    infer=infer.constant_dtype(F32), levels=LOOP, primitive="u", c="half_to_float({0})", llvm="half_to_float")  # fmt: skip
row("float_to_half", "elementwise", 1, "The bits of the nearest float16, ties to even", infer=infer.constant_dtype(U16),
    levels=LOOP, primitive="f", c="float_to_half({0})", llvm="float_to_half")  # fmt: skip
for _name in HALF_ROWS:
    _half = OPS[_name]
    row(f"half_{_name}", "elementwise", 2, f"{_half.doc}, of float16 numbers given by their bits, on a GPU", levels=LOOP,
        infer=infer.truth if _half.llvm.startswith("cmp") else infer.same, primitive="u",
        c=f"half_{_name}({{0}}, {{1}})", llvm=f"half_{_name}")  # fmt: skip
row("to_short", "elementwise", 1, "The lower half of 32 bits, on a GPU", infer=infer.constant_dtype(U16), levels=LOOP,
    primitive="iu", c="to_short({0})", llvm="to_short")  # fmt: skip
for _name in ("hidden_single", "hidden_double"):
    row(_name, "elementwise", 1, "x, of which the compiler of a GPU knows nothing", infer=infer.same, levels=LOOP,
        primitive="f", c=f"{_name}({{0}})", llvm=_name)  # fmt: skip
for _name in ("hidden_word", "hidden_long"):
    row(_name, "elementwise", 1, "x, of which the assembler of a GPU knows nothing either", infer=infer.same, levels=LOOP,
        primitive="i", c=f"{_name}({{0}})", llvm=_name)  # fmt: skip
row("near_reciprocal", "elementwise", 1, "1 / x of a normal x, zero or infinity within 2**-23 of it, or 0 where that "
    "is subnormal, on a GPU",
    infer=infer.same, levels=LOOP, exact=False, ulp=2, primitive="f", c="near_reciprocal({0})",
    llvm="near_reciprocal")  # fmt: skip
row("near_double_reciprocal", "elementwise", 1, "1 / x of a float64 x within 2**-18 of it, where both are "
    "normal, zero or infinity, on a GPU",
    infer=infer.same, levels=LOOP, exact=False, ulp=2**36, primitive="f", c="near_double_reciprocal({0})",
    llvm="near_double_reciprocal")  # fmt: skip
row("near_power_of_two", "elementwise", 1, "2 ** x within 2**-22 of it; 0 for what is not normal, on a GPU", infer=infer.same,
    levels=LOOP, exact=False, ulp=2, primitive="f", c="near_power_of_two({0})", llvm="near_power_of_two")  # fmt: skip
row("near_logarithm", "elementwise", 1, "log2(x) of a zero, a negative normal number, infinity or NaN, and about that of "
    "others, on a GPU", infer=infer.same, levels=LOOP, exact=False, ulp=2**24, primitive="f", c="near_logarithm({0})",
    llvm="near_logarithm")  # fmt: skip
row("near_inverse_root", "elementwise", 1, "1 / sqrt(x) of a normal x, zero or infinity within 2**-22 of it, on a GPU",
    infer=infer.same, levels=LOOP, exact=False, ulp=4, primitive="f", c="near_inverse_root({0})",
    llvm="near_inverse_root")  # fmt: skip
row("fma", "elementwise", 3, "x * y + z rounded once", infer=infer.same, levels=LOOP, primitive="f", libm="fma",
    llvm="intrinsic")  # fmt: skip
for _name in ("sin", "cos", "tan"):
    row(f"{_name}_of_large", "elementwise", 1, f"{_name}(x), of use for |x| > 2**45 only: code may give 0 for others",
        infer=infer.same, levels=LOOP, exact=False, ulp=2, primitive="f", libm=_name, llvm="guarded")  # fmt: skip
    row(f"outlined_{_name}", "elementwise", 1, f"{_name}(x) of a rare x: a module for a GPU has the code once",
        infer=infer.same, levels=LOOP, exact=False, ulp=2, primitive="f", libm=_name, llvm="outlined")  # fmt: skip

row("fmod_of_far", "elementwise", 2, "fmod(x, y), of use where |x| < |y| * 2**m does not hold, with m digits of a fraction: "
    "code may give 0 for others", infer=infer.same, levels=LOOP, primitive="f", libm="fmod", llvm="guarded")  # fmt: skip

GRID_AXES = {"grid": "x", "grid_rows": "y"}
"""The direction of the grid in which the iterations of a loop are spread."""

OUTPUTS: dict[str, tuple[Op, ...]] = {
    "divmod": (OPS["floor_divide"], OPS["remainder"]),
    "modf": (OPS["modf_fraction"], OPS["modf_integer"]),
    "frexp": (OPS["frexp_mantissa"], OPS["frexp_exponent"]),
}
"""NumPy's functions with several results: a row for each."""

NUMPY_NAMES: dict[str, Op] = {}
"""Rows by every name NumPy has for them."""
for _op in OPS.values():
    if _op.numpy and _op.numpy not in OUTPUTS:
        for _alias in (_op.numpy, *_op.aliases):
            NUMPY_NAMES[_alias] = _op


def elementwise_rows() -> tuple[Op, ...]:
    """The rows that are NumPy ufuncs, or a result of one."""
    return tuple(op for op in OPS.values() if op.numpy and op.infer is infer.ufunc)


def spelled(op: Op, kind: str) -> bool:
    """Whether backends write this row directly for operands of the dtype kind."""
    return kind in op.primitive
