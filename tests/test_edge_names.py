"""NumPy's functions by every name and through every object by which a user may call them."""

from __future__ import annotations

import functools
import operator

import numpy as np
from edge_tools import check

SCOPE = {
    "xp": np, "numpy": np, "la": np.linalg, "sin": np.sin, "add": np.add, "where": np.where, "newaxis": np.newaxis,
    "norm": np.linalg.norm, "float32": np.float32, "pi": np.pi, "operator": operator, "functools": functools,
    "by_name": {"s": np.sin}, "several": (np.cos, np.sin),
}  # fmt: skip

SPELLED = (
    "sin(a)", "xp.sin(a)", "numpy.sin(a)", "la.norm(a)", "norm(a)", "numpy.linalg.norm(a)", "add(a, 1)", "float32(a)",
    "where(a > 1, a, 0)", "a[:, newaxis]", "a * pi", "by_name['s'](a)", "several[0](a)", "[g(a) for g in several][1]",
    "getattr(np, 'sin')(a)", "operator.add(a, 1)", "operator.neg(a)", "operator.truediv(a, 2)", "operator.lt(a, 2)",
    "functools.reduce(np.add, [a, a, a])", "functools.partial(np.add, 1)(a)", "np.add(*[a, 1])", "np.add(a, **{'dtype': 'f4'})",
    "np.clip(a, **{'a_min': 0, 'a_max': 2})", "np.sum(a, **{'axis': 0})", "import numpy as q\nreturn q.sin(a)",
    "from numpy import cos\nreturn cos(a)", "from numpy import cos as c\nreturn c(a)", "s = np.sin\nreturn s(a)",
    "g = a.sum\nreturn g(0)", "np.e + np.pi + np.euler_gamma + a", "np.inf * a", "np.nan * a", "np.newaxis is None",
    "a.__array_namespace__().sin(a)", "np.dtype('f4').type(a[0, 0])", "a.dtype.type(3)", "np.finfo(a.dtype).eps + a",
    "np.iinfo(b.dtype).max + b", "np.issubdtype(a.dtype, np.floating)", "np.result_type(a, np.float32) == a.dtype",
)  # fmt: skip
ARRAY_API = (
    "np.pow(a, 2)", "np.concat([a, a])", "np.permute_dims(a, (1, 0))", "np.matrix_transpose(a)", "np.bitwise_left_shift(b, 1)",
    "np.bitwise_right_shift(b, 1)", "np.bitwise_invert(b)", "np.bitwise_not(b)", "np.acos(a / 9)", "np.acosh(a)",
    "np.asin(a / 9)", "np.asinh(a)", "np.atan(a)", "np.atanh(a / 9)", "np.atan2(a, 1)", "np.astype(a, np.float32)",
    "np.astype(a, int)", "np.vecdot(a, a)", "np.cumulative_sum(b)", "np.linalg.vecdot(a, a)", "np.linalg.matmul(a, b)",
    "np.linalg.outer(b, b)", "np.linalg.tensordot(a, a)", "np.linalg.vector_norm(a)", "np.abs(a)", "np.absolute(a)",
    "np.conj(a)", "np.mod(a, 2)", "np.degrees(a)", "np.rad2deg(a)", "np.around(a)", "np.fix(a)", "np.amax(a)",
    "np.linalg.norm(a, axis=0)",
)  # fmt: skip
DTYPES = (
    "np.bool(a[0, 0] > 1)", "np.long(b)", "np.intp(b)", "np.uint(b)", "np.byte(b)", "np.single(b)", "np.double(b)",
    "np.half(b)", "np.csingle(b)", "np.cdouble(b)", "np.int_(b)", "np.longlong(b)", "np.intc(b)", "np.short(b)", "np.ushort(b)",
    "np.ubyte(b)", "np.uintp(b)", "np.ulonglong(b)", "a.astype('float32')", "a.astype('<f4')", "a.astype(np.int8)",
    "a.astype('i1')", "a.astype(int)", "a.astype(bool)", "a.astype(complex)", "a.astype(float, copy=False)",
    "a.astype('f4', casting='safe')", "a.astype('f4', casting='same_kind')", "a.astype('i4', casting='same_kind')",
    "a.astype('f4', subok=False)", "a.astype(None)", "a.astype(dtype=np.float16)", "a.view('i8')", "a.view(np.uint64)",
    "a.view()", "a.view(a.dtype)",
)  # fmt: skip


def test_names() -> None:
    arguments = ("np.arange(1.0, 7.0).reshape(2, 3)", "np.array([1, 2, 3])")
    check(arguments, SPELLED, 3, SCOPE)
    check(arguments, ARRAY_API, 3)
    check(arguments, DTYPES)
