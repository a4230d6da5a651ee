"""Calls of NumPy functions (and their namesakes in CuPy and jax.numpy).

Functions are known by the object they are, so ``np.exp``, ``from numpy import exp`` and
``xp.exp`` from a closure are one operation.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import sys
import types
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, closest, raised
from pytocu.frontend import attributes
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.operators import attempt, compute, elementwise, known_option, refuse_complex
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.tables import Handler, Table, on_array
from pytocu.frontend.ufunc_calls import REFUSED_UFUNCS, call_ufunc, rows_of, without_axes
from pytocu.frontend.values import (
    Context,
    Members,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dim_value,
    dimensions,
    is_array,
    is_number,
    is_numpy_scalar,
    is_weak,
    no_number,
    several,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import product
from pytocu.ir.types import WeakType, element, scalar

NAMESPACES = ("numpy", "cupy", "jax.numpy", "array_api_compat.numpy", "array_api_compat.cupy")
"""Modules whose functions are taken for NumPy's of the same name."""


def _constructor(context: Context, scalar_type: type[np.generic], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``np.float32(x)``: a scalar of a scalar or 0-d array, an array of an array."""
    if len(args) != 1 or kwargs:
        raise UnsupportedError(f"np.{scalar_type.__name__} takes one argument here", context.loc)
    dtype = attributes.target_dtype(context, scalar_type)
    value = as_value(context, args[0])
    refuse_complex(context, value, dtype)
    if is_array(value) and not dimensions(value):
        return context.builder.emit("cast", (value,), {}, (scalar(dtype),))
    return attributes.astype(context, value, scalar_type, copy=False) if is_array(value) else cast(context, value, dtype)


_is_complex = Deferred("pytocu.frontend.array_functions", "is_complex")
_nonzero = Deferred("pytocu.frontend.compaction", "nonzero")
_in_own_words = Deferred("pytocu.frontend.own_words", "in_own_words")
_first_said = Deferred("pytocu.frontend.own_words", "first_said")
_binding_words = Deferred("pytocu.binding", "binding_words")
_array_of = Deferred("pytocu.frontend.reshaping", "array_of")
_known_cast = Deferred("pytocu.frontend.known", "known_cast")
_known_ufunc = Deferred("pytocu.frontend.known", "known_ufunc")


class ErrorState:
    """``np.errstate(...)`` that only silences, which compiled code always does."""

    __pytocu_plain__ = True


def _errstate(context: Context, **kwargs: Any) -> ErrorState:
    modes = {k: v for k, v in kwargs.items() if k != "call"}
    compute(context, np.errstate, **modes)
    for keyword, mode in kwargs.items():
        if keyword == "call" or mode not in ("ignore", "warn", None):
            raise UnsupportedError(
                f"np.errstate({keyword}={mode!r}) is not compiled: floating-point errors are not looked for",
                context.loc,
                "silence with 'ignore', and test the result with np.isfinite",
            )
    return ErrorState()


def _astype(context: Context, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Value:
    """``np.astype``, the array API's name of the method, which is of arrays alone."""
    if device is not None:
        attempt(context, np.empty, 0, device=known_option(context, device, "device="))
    if not (isinstance(x, Value) and is_array(x)):
        if isinstance(x, Value) and isinstance(x.type, WeakType):
            # A Python number has no such method.
            attempt(context, np.astype, {"bool": False, "int": 0, "float": 0.0, "complex": 0j}[x.type.kind], float)
        attempt(context, np.astype, stand_in(x) if isinstance(x, Value) else x, float)
    return attributes.astype(context, as_strong(context, x), dtype, copy=copy)


def _transpose(context: Context, a: Any, axes: Any = None) -> Value:
    return attributes.transpose(context, _with_methods(context, a), (axes,))


def _squeeze(context: Context, a: Any, axis: Any = None) -> Value:
    return attributes.squeeze(context, _with_methods(context, a), axis)


def _with_methods(context: Context, value: Any) -> Value:
    """An operand whose method NumPy calls: a Python scalar has none, and becomes an array."""
    return _array_of(context, value) if is_weak(value) else as_strong(context, value)


def _matrix_transpose(context: Context, x: Value, /) -> Value:
    # NumPy has another sentence here than for the attribute.
    attempt(context, np.matrix_transpose, stand_in(x))
    return attributes.attribute(context, x, "mT")


def _result_type(context: Context, *operands: Any) -> Any:
    return compute(context, np.result_type, *(_promotion_example(o) for o in operands))


def _promotion_example(operand: Any) -> Any:
    """What stands for a run-time value in ``np.result_type``."""
    if not isinstance(operand, Value):
        return operand
    if isinstance(operand.type, WeakType):
        return {"bool": np.dtype(bool), "int": 0, "float": 0.0, "complex": 0j}[operand.type.kind]
    return element(operand.type).numpy


def _example_array(operand: Any) -> Any:
    """What stands for a run-time value where NumPy looks at its dtype."""
    return stand_in(operand) if isinstance(operand, Value) and not isinstance(operand.type, WeakType) else operand


def _min_scalar_type(context: Context, a: Any) -> Any:
    if isinstance(a, Value) and not (is_array(a) and dimensions(a)):
        text = "np.min_scalar_type of a number known only at run time depends on its value"
        raise UnsupportedError(text, context.loc, "x.dtype is the dtype of x")
    return compute(context, np.min_scalar_type, a) if not isinstance(a, Value) else element(a.type).numpy


def _is_scalar(context: Context, value: Any) -> bool:
    return not is_array(value) if isinstance(value, Value) else compute(context, np.isscalar, value)


def _size(context: Context, a: Any, axis: Any = None) -> Any:
    """The number of elements, or of those along some axes."""
    value = as_strong(context, a)
    if axis is None:
        return attributes.attribute(context, value, "size")
    shape = dimensions(value)
    known_option(context, axis, "axis=")
    attempt(context, np.size, stand_in(value), axis)
    along = [normal_axis(context, int(a) if isinstance(a, bool) else a, len(shape)) for a in several(axis)]
    if len({*along}) < len(along):
        raise raised(ValueError("repeated axis"), context.loc)
    return dim_value(context, product([shape[a] for a in along]))


_OWN: dict[str, Handler] = {
    "clip": on_array(attributes.clip),
    "errstate": _errstate,
    "transpose": _transpose,
    "permute_dims": _transpose,
    "matrix_transpose": on_array(_matrix_transpose),
    "linalg.matrix_transpose": on_array(_matrix_transpose),
    "swapaxes": on_array(attributes.swapaxes),
    "moveaxis": on_array(attributes.moveaxis),
    "expand_dims": on_array(lambda context, a, axis: attributes.expand_dims(context, a, axis)),
    "squeeze": _squeeze,
    "astype": _astype,
    "ndim": lambda context, a: len(dimensions(as_value(context, a))),
    "shape": lambda context, a: attributes.attribute(context, as_strong(context, a), "shape"),
    "size": _size,
    "result_type": _result_type,
    "common_type": lambda context, *arrays: attempt(context, np.common_type, *map(_example_array, arrays)),
    "min_scalar_type": _min_scalar_type,
    "iterable": lambda context, y: bool(dimensions(y)) if isinstance(y, Value) else compute(context, np.iterable, y),
    "isscalar": lambda context, element: _is_scalar(context, element),
    "iscomplexobj": lambda context, x: attempt(context, _is_complex.function, x),
    "isrealobj": lambda context, x: not attempt(context, _is_complex.function, x),
}

_REDUCTIONS = {
    "averages": "average",
    "nan_statistics": "nansum nanprod nanmin nanmax nanmean nanvar nanstd nanargmin nanargmax",
    "positions": "argmin argmax",
    "gufuncs": "matmul vecdot matvec vecmat linalg.matmul linalg.vecdot",
    "products": "linalg.norm linalg.matrix_norm linalg.vector_norm",
    "reductions": "sum prod min max any all amin amax",
    "scans": "cumsum cumprod cumulative_sum cumulative_prod nancumsum nancumprod",
    "statistics": "mean var std ptp count_nonzero",
}
"""What reduces or scans, by the modules that do it."""

FUNCTIONS = Table(
    "FUNCTIONS",
    _OWN,
    {
        "array_functions": (
            "where isposinf isneginf nan_to_num fix sinc angle real imag isreal iscomplex isclose "
            "select real_if_close"
        ),
        "angles": "unwrap",
        "bessel": "i0",
        "bits": "packbits unpackbits",
        "comparing": "allclose array_equal array_equiv",
        "index_loops": "ndindex ndenumerate",
        "inplace": "copyto",
        "conversions": "array asarray asanyarray ascontiguousarray asfortranarray copy fromiter",
        "compaction": "nonzero flatnonzero argwhere compress extract",
        "convolutions": "convolve correlate",
        "covariances": "cov corrcoef",
        "creation": (
            "zeros ones empty zeros_like ones_like empty_like full full_like eye "
            "identity tri tril triu diag indices meshgrid ndarray vander"
        ),
        "decompositions": (
            "linalg.cholesky linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.pinv linalg.qr linalg.svd "
            "linalg.svdvals"
        ),
        "diagonals": (
            "trace diagflat diag_indices diag_indices_from tril_indices tril_indices_from triu_indices "
            "triu_indices_from fill_diagonal linalg.diagonal linalg.trace"
        ),
        "editing": "block delete insert resize trim_zeros",
        "flat_positions": "unravel_index ravel_multi_index ix_ putmask place",
        "fitting": "polyfit",
        "frequencies": "fft.fftfreq fft.rfftfreq fft.fftshift fft.ifftshift",
        "gathering": "take take_along_axis choose",
        "histograms": "bincount histogram histogram_bin_edges",
        "histograms_2d": "histogram2d histogramdd",
        "interpolation": "interp digitize trapezoid",
        "joining": "concatenate stack vstack hstack dstack column_stack append roll tile repeat",
        "least_squares": "linalg.lstsq linalg.multi_dot linalg.tensorinv linalg.tensorsolve",
        "library_calls": (
            "sort sort_complex argsort lexsort searchsorted linalg.solve linalg.inv linalg.det linalg.slogdet fft.fft fft.ifft "
            "fft.rfft fft.irfft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft2 fft.irfft2 fft.rfftn fft.irfftn fft.hfft "
            "fft.ihfft"
        ),
        "matrix_products": (
            "dot vdot inner outer tensordot einsum linalg.matrix_power linalg.outer linalg.tensordot"
        ),
        "neighbours": "diff linalg.cross ediff1d gradient kron cross",
        "order_statistics": "median nanmedian percentile quantile nanpercentile nanquantile",
        "padding": "pad",
        "partitions": "partition argpartition",
        "polynomials": "poly polyval polyadd polysub polymul polydiv polyder polyint",
        "ranks": "linalg.cond linalg.matrix_rank",
        **_REDUCTIONS,
        "rounding": "around round",
        "reshaping": (
            "reshape ravel broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d flip "
            "fliplr flipud rot90 rollaxis diagonal"
        ),
        "scattering": "put put_along_axis",
        "sets": "unique unique_all unique_counts unique_inverse unique_values isin union1d setxor1d intersect1d setdiff1d",
        "arange": "arange",
        "spaced_numbers": "linspace logspace geomspace",
        "sliding_windows": "lib.stride_tricks.sliding_window_view",
        "splitting": "array_split split hsplit vsplit dsplit unstack",
        "windows": "bartlett blackman hamming hanning kaiser",
    },
)
"""NumPy functions that are not ufuncs of the op table, by name; parameters are called as NumPy calls them."""

INDEX_TRICKS = Table("OBJECTS", {}, {"index_tricks": "mgrid ogrid r_ c_ s_ index_exp"})
"""What is made by indexing an object, by its name in NumPy."""


@lru_cache
def _by_identity(inner: tuple[str, ...]) -> dict[int, tuple[str, Any]]:
    """Every public function of NumPy's namespace and of modules inside it, by its id."""
    found: dict[int, tuple[str, Any]] = {}
    # Not dir(): asking for each name would import NumPy's test and Fortran tools.
    for name, value in vars(np).items():
        if callable(value):
            preferred = name in FUNCTIONS or rows_of(name) or name == getattr(value, "__name__", "")
            if preferred or id(value) not in found:
                found[id(value)] = (name, value)
    for name in FUNCTIONS:
        *modules, own = name.split(".")
        if ".".join(modules) in inner:
            value = getattr(reduce(getattr, modules, np), own, None)
            if id(value) not in found and value is not None:
                found[id(value)] = (name, value)
    return found


@lru_cache
def _inner_modules() -> frozenset[str]:
    return frozenset(name.rpartition(".")[0] for name in FUNCTIONS if "." in name)


def numpy_name(function: Any) -> str | None:
    """The NumPy name of a function of NumPy or a namesake library, or None."""
    # NumPy imports some of its modules when they are asked for, which is not done here.
    entry = _by_identity(tuple(m for m in _inner_modules() if f"numpy.{m}" in sys.modules)).get(id(function))
    if entry is not None and entry[1] is function:
        return entry[0]
    module = getattr(function, "__module__", None) or type(function).__module__ or ""
    if module.split(".")[0] in ("cupy", "jax", "array_api_compat"):
        name = getattr(function, "__name__", None) or getattr(function, "name", "")
        name = name.removeprefix("cupy_")
        for part in ("linalg", "fft"):
            if f".{part}" in module and f"{part}.{name}" in FUNCTIONS:
                return f"{part}.{name}"
        if hasattr(np, name) and callable(getattr(np, name)):
            return name
    return None


def ufunc_method(function: Any) -> tuple[str, str] | None:
    """The ufunc's name and the method's, of a bound method of a ufunc of NumPy or a namesake library."""
    owner, method = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is None or method not in ("reduce", "accumulate", "outer", "at", "reduceat"):
        return None
    name = numpy_name(owner)
    return None if name is None or not rows_of(name) else (name, method)


def index_trick(base: Any) -> Handler | None:
    """What indexing an object of NumPy's makes: ``(context, key)``; None of other objects."""
    return next((INDEX_TRICKS[name] for name in INDEX_TRICKS if base is getattr(np, name)), None)


def is_reduction(name: str) -> bool:
    """Whether a function reduces or scans."""
    return FUNCTIONS.modules.get(name) in _REDUCTIONS or name in ("dot", "vdot", "inner")


def namespace_attribute(module: types.ModuleType, name: str) -> Any:
    """An attribute of a NumPy-like module; functions come from NumPy itself."""
    if module.__name__ in NAMESPACES and module is not np and callable(getattr(np, name, None)):
        return getattr(np, name)
    return getattr(module, name)


def call_numpy(context: Context, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a NumPy function on abstract values.

    Raises
    ------
    UnsupportedError
        pytocu has no such function, or not with this keyword.
    """
    for value in (*args, *kwargs.values()):
        if isinstance(value, Members) and name != "fromiter":
            raise no_number(context, value)
    known_now = not contains_dynamic(args) and not contains_dynamic(kwargs)
    if isinstance(function, type) and issubclass(function, (np.generic, np.dtype)):
        if known_now and len(args) == 1 and issubclass(function, np.generic):
            return _known_cast(context, function, args[0], *args, **kwargs)
        if known_now or not issubclass(function, np.generic):
            return compute(context, function, *args, **kwargs)
        made = _constructor(context, function, args, kwargs)
        # A complex number of Python's is NumPy's from here on.
        is_pythons = isinstance(made, Value) and made in context.complexes
        return elementwise(context, "positive", made) if is_pythons else made
    is_ufunc = name not in FUNCTIONS and (bool(rows_of(name)) or name in REFUSED_UFUNCS)
    if known_now and args and all(map(is_number, args)) and (name in _OF_NUMBERS or is_ufunc) and _is_plain(kwargs):
        # A value that may be branched on as well.
        return _known_ufunc(context, name, function, args, kwargs)
    if known_now and is_reduction(name) and args and _is_data(args[0]) and _is_plain(kwargs):
        made = compute(context, function, *args, **kwargs)
        if isinstance(made, np.generic):
            return made
    if name == "where" and len(args) == 1 and not kwargs:
        return _nonzero(context, _array_of(context, args[0]))
    if name in FUNCTIONS:
        return call_handler(context, f"np.{name}", FUNCTIONS[name], args, kwargs, context)
    if is_ufunc:
        try:
            return call_ufunc(context, name, args, kwargs)
        except CompileError as error:
            if error.own_words:
                raise _in_own_words(context, error, getattr(np, name), args, kwargs) from None
            raise
    if name in COMPILE_TIME and known_now:
        return compute(context, function, *args, **kwargs)
    raise UnsupportedError(f"np.{name} is not supported", context.loc, attributes.instead_of(name))


_OF_NUMBERS = (
    "isclose", "isposinf", "isneginf", "isreal", "iscomplex", "nan_to_num", "round", "around", "fix", "angle", "real", "imag",
    "allclose", "array_equal", "array_equiv",
)  # fmt: skip
"""Functions, besides the ufuncs, that give a scalar for scalars."""


def _is_plain(kwargs: dict[str, Any]) -> bool:
    """Whether no argument writes memory or leaves elements unwritten."""
    return kwargs.get("where", True) is True and kwargs.get("out") is None


def _is_data(value: Any) -> bool:
    """Numbers known now, and tuples and lists of them."""
    return all(map(_is_data, value)) if isinstance(value, (tuple, list)) else is_number(value)


COMPILE_TIME = (
    "finfo", "iinfo", "promote_types", "can_cast", "issubdtype", "isdtype", "broadcast_shapes",
)  # fmt: skip
"""NumPy functions of values known while compiling only."""


def call_handler(
    owner: Any, name: str, handler: Handler, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context
) -> Any:
    """``handler(owner, *args, **kwargs)`` when its signature takes the arguments.

    Raises
    ------
    TypeError
        NumPy's function does not take them.
    UnsupportedError
        NumPy's function does, this one does not; the parameters it has are named.
    """
    signature = inspect.signature(handler)
    try:
        bound = signature.bind(owner, *args, **kwargs)
    except TypeError as error:
        found = _not_taken(name, str(error), signature, args, kwargs, context)
        if name.startswith("ndarray."):
            # Methods have other words than functions, and some take what others do not.
            found = _in_own_words(context, found, _named(name), (owner, *args), kwargs)
        raise found from None
    for parameter in signature.parameters.values():
        if parameter.name in _KNOWN or (isinstance(parameter.default, (bool, str)) and parameter.name != "where"):
            known_option(context, bound.arguments.get(parameter.name), f"{parameter.name}=")
    try:
        made = handler(*bound.args, **bound.kwargs)
    except CompileError as error:
        function = _named(name)
        if function is None:
            raise
        own = (owner,) if name.startswith("ndarray.") else ()
        found = (_in_own_words if error.own_words else _first_said)(context, error, function, (*own, *args), kwargs)
        if found is error:
            raise
        raise found from None
    if bound.arguments.get("out") is not None and name.rpartition(".")[2] in _OF_SCALARS:
        operand = next((v for v in bound.arguments.values() if v is not context), None)
        # NumPy calls the method of a scalar, which writes the array and gives a scalar.
        return without_axes(context, made) if isinstance(operand, np.generic) or is_numpy_scalar(operand) else made
    return made


def _named(name: str) -> Any:
    """The function or method of NumPy, or Python's own, that a handler stands for; None of others."""
    if name.startswith("ndarray."):
        method = name.removeprefix("ndarray.")
        # Of the class, as Python calls a method: the sentence about keyword arguments has its name.
        return lambda value, *args, **kwargs: getattr(type(value), method)(value, *args, **kwargs)
    if name.startswith("np."):
        return operator.attrgetter(name.removeprefix("np."))(np)
    return getattr(builtins, name, None)


_OF_SCALARS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "around", "choose", "clip", "max", "mean", "min", "prod", "round", "std",
    "sum", "take", "var",
)  # fmt: skip
"""Functions with ``out=`` that are methods of NumPy scalars."""


def _not_taken(
    name: str,
    sentence: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context: Context,
) -> CompileError:
    """The error of arguments that a handler does not take, in the words of its signature."""
    taken = [p for p in list(signature.parameters)[1:] if p != "value"]
    owner = (None,) if name.startswith("ndarray.") else ()
    refused = [n for n in kwargs if n not in signature.parameters]
    builtin = getattr(builtins, name, None)
    if builtin is not None:
        # Python's own functions say it in words of their own.
        try:
            builtin(*[1] * len(args), **dict.fromkeys(kwargs, 1))
        except TypeError as error:
            sentence = str(error)
        return raised(TypeError(sentence), context.loc, _instead(refused, taken) if taken else None)
    try:
        numpys = inspect.signature(operator.attrgetter(name.removeprefix("np."))(np))
    except (AttributeError, ValueError):
        # Functions without a signature, and Python's own.
        numpys = None
    if numpys is not None:
        try:
            given = numpys.bind(*owner, *args, **kwargs).arguments
            refused = refused or [n for n in given if n not in signature.parameters and n not in ("self", "args", "kwargs")]
        except TypeError as error:
            sentence = _binding_words(numpys, owner + args, kwargs) or str(error)
            return raised(TypeError(f"{name.rpartition('.')[2]}() {sentence}"), context.loc, _instead(refused, taken))
    if refused:
        text = f"{name} with the argument {refused[0]}= is not supported"
        return UnsupportedError(text, context.loc, _instead(refused, taken))
    # Functions and methods of C whose parameters have no names.
    return raised(TypeError(f"{name.rpartition('.')[2]}() {sentence}"), context.loc, _instead(refused, taken))


def _instead(refused: list[str], taken: list[str]) -> str:
    close = closest(refused[0], taken) if refused else None
    if close:
        return f"did you mean {close}?"
    return f"supported are the arguments {', '.join(taken)}" if taken else "it takes no arguments"


_KNOWN = ("axes", "edge_order")
"""Arguments, besides flags and names of ways, that no function takes at run time."""
