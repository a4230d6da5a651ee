"""Calls: NumPy functions, Python's own, methods, and functions of the user (inlined)."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from collections import deque
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.aliases import note_unnamed
from pytocu.frontend.attributes import METHODS, Method
from pytocu.frontend.frames import Frame, LocalFunction, Partial, qualified_name
from pytocu.frontend.masked import contains_masked, values
from pytocu.frontend.numbers import as_numpy
from pytocu.frontend.numpy_calls import call_handler, call_numpy, numpy_name, ufunc_method
from pytocu.frontend.objects import note_function, note_member, refuse_outside
from pytocu.frontend.operators import attempt, binary, check_plain
from pytocu.frontend.refused import REFUSED
from pytocu.frontend.source import function_node
from pytocu.frontend.type_texts import FLAGS, by_number
from pytocu.frontend.values import (
    Context,
    Counted,
    GrownMethod,
    Masked,
    Members,
    Ranks,
    contains_dynamic,
    describe,
    flattened,
    is_array,
    is_number,
    python_type_name,
)
from pytocu.ir.core import Value
from pytocu.ir.types import WeakType, dtype_of

_LIBRARIES = ("numpy", "cupy", "jax", "jaxlib")
_CHANGES = {
    list: ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
    dict: ("update", "pop", "popitem", "clear", "setdefault"),
    set: ("add", "update", "pop", "remove", "discard", "clear"),
}
_READS = {
    list: ("copy",),
    dict: ("keys", "values", "items", "get", "copy"),
}


_ask = Deferred("pytocu.frontend.counted", "ask")
_by_place = Deferred("pytocu.frontend.counted", "by_place")
_index_in_tuple = Deferred("pytocu.frontend.list_methods", "index_in_tuple")
_copiers = Deferred("pytocu.frontend.builtin_calls", "copiers")
_iterators = Deferred("pytocu.frontend.iterators", "handlers")
_make_super = Deferred("pytocu.frontend.records", "make_super")
_is_class = Deferred("pytocu.frontend.records", "is_class")
_make = Deferred("pytocu.frontend.records", "make")
_append = Deferred("pytocu.frontend.grown", "append")
_binding_words = Deferred("pytocu.binding", "binding_words")
_counted_methods = Deferred("pytocu.frontend.counted", "methods")
_call_builtin = Deferred("pytocu.frontend.builtin_calls", "call_builtin")
_refuse_keys = Deferred("pytocu.frontend.builtin_calls", "refuse_keys")
_call_pure = Deferred("pytocu.frontend.builtin_calls", "call_pure")
_extend = Deferred("pytocu.frontend.extending", "extend")
_text_of = Deferred("pytocu.frontend.formatting", "text_of")
_exception_of = Deferred("pytocu.frontend.formatting", "exception_of")
_heap_functions = Deferred("pytocu.frontend.heaps", "functions")
_make_queue = Deferred("pytocu.frontend.queues", "make")
_call_queue = Deferred("pytocu.frontend.queues", "call_method")
_call_number_method = Deferred("pytocu.frontend.python_methods", "call_method")
_has_handler = Deferred("pytocu.frontend.builtin_calls", "has_handler")
_is_pure = Deferred("pytocu.frontend.builtin_calls", "is_pure")
_sort_known = Deferred("pytocu.frontend.ordering", "sort_known")
_known_cast = Deferred("pytocu.frontend.known", "known_cast")
_call_function = Deferred("pytocu.frontend.masked_work", "call_function")
_call_method = Deferred("pytocu.frontend.masked_work", "call_method")
_call_ufunc_method = Deferred("pytocu.frontend.ufunc_methods", "call_ufunc_method")
_piecewise = Deferred("pytocu.frontend.piecewise", "piecewise")

CALLERS = {
    name: Deferred("pytocu.frontend.given_functions", name)
    for name in ("apply_along_axis", "apply_over_axes", "fromfunction", "mask_indices")
}
"""Functions of NumPy that call what they are given, besides ``np.piecewise``."""
_arguments_of = Deferred("pytocu.frontend.vectorized", "arguments_of")
_over_elements = Deferred("pytocu.frontend.vectorized", "over_elements")

_AS_GIVEN = (getattr, hasattr, abs, functools.partial)
"""Python functions that are given masked values as they are."""

_ITERATORS = (enumerate, zip, reversed, iter, map, filter)
"""Python functions whose results look at what they go over when they are gone over."""

_SIZED = (tuple, list, dict, set, str, range)

_OF_HEAPS = ("heapq", "_heapq")
"""Modules that functions of heaps say they are of."""


def call(frame: Frame, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The abstract value of a call.

    Raises
    ------
    UnsupportedError
        The function cannot be compiled.
    """
    context = frame.context
    if context.asking:
        args, kwargs = _noted(context, function, args, kwargs)
    match function:
        case Method() if isinstance(function.value, Masked) or contains_masked(args) or contains_masked(kwargs):
            return _call_method(context, function.name, function.value, args, kwargs)
        case Method(value=Value(type=WeakType())):
            return _call_number_method(function, args, kwargs, context)
        case Method():
            handler = functools.partial(METHODS[function.name], context)
            return call_handler(function.value, f"ndarray.{function.name}", handler, args, kwargs, context)
        case Ranks():
            return flattened(call(frame, function.key, args, kwargs))
        case GrownMethod(grown=Counted() as counted, name=name):
            return call_handler(frame, f"list.{name}", _counted_methods()[name], (counted, *args), kwargs, context)
        case GrownMethod(grown=list() as held, name=name):
            return _call_queue(frame, held, name, args, kwargs)
        case GrownMethod():
            return call_handler(frame, "list.append", _append.function, (function.grown, *args), kwargs, context)
        case Value():
            raise raised(TypeError(f"'{python_type_name(function)}' object is not callable"), context.loc)
        case LocalFunction():
            signature = _signature_of(function.node, function.defaults)
            return _inline(context, function, function.node, signature, args, kwargs)
        case Partial():
            return call(frame, function.function, (*function.args, *args), {**function.kwargs, **kwargs})
        case functools.partial():
            return call(frame, function.func, (*function.args, *args), {**function.keywords, **kwargs})
        case types.MethodType() if function.__name__ == "_replace" and _is_named_tuple(type(function.__self__)):
            return attempt(context, function, *args, **kwargs)
        case types.MethodWrapperType() if function.__name__ == "__len__" and type(function.__self__) in _SIZED:
            return call(frame, len, (function.__self__, *args), kwargs)
        case types.MethodType():
            return call(frame, function.__func__, (function.__self__, *args), kwargs)
        case _ if _is_of("copy", function) and function.__name__ in ("copy", "deepcopy"):
            return call_handler(frame, f"copy.{function.__name__}", _copiers()[function.__name__], args, kwargs, context)
        case _ if _is_of("dataclasses", function) and function.__name__ in _OF_DATA_CLASSES:
            handler = _OF_DATA_CLASSES[function.__name__].function
            return call_handler(frame, f"dataclasses.{function.__name__}", handler, args, kwargs, context)
    if _is_of_heaps(function):
        handler = _heap_functions()[function]
        return call_handler(frame, f"heapq.{function.__name__}", handler, args, kwargs, context)
    if getattr(type(function), "__pytocu_plain__", False) and hasattr(function, "__self__"):
        return call(frame, function.__func__, (function.__self__, *args), kwargs)
    python = python_function(function)
    if python is not None:
        try:
            node = function_node(python)
        except CompileError as error:
            loc = context.loc if error.loc is None else error.loc._replace(caller=context.loc)
            raise type(error)(error.message, loc, error.help) from None
        if not any(python is known for known in context.inlined):
            context.inlined.append(python)
            note_function(context, python)
        signature = inspect.signature(python, follow_wrapped=False)
        stated = getattr(function, "__pytocu_elements__", None)
        if stated is not None:
            _refuse_recursion(context, python)
            args, kwargs, keywords = _arguments_of(context, signature, args, kwargs)
            arguments = bind(context, python, signature, args, kwargs)
            return _over_elements(context, python, node, stated, arguments, context.loc, **keywords)
        return _inline(context, python, node, signature, args, kwargs)
    if _is_named_tuple(function):
        return attempt(context, function, *args, **kwargs)
    if function is deque:
        return call_handler(frame, "deque", _make_queue.function, args, kwargs, context)
    if getattr(function, "__module__", None) == "itertools" and function in _iterators():
        args, kwargs = values(context, args), values(context, kwargs)
        return call_handler(frame, f"itertools.{function.__name__}", _iterators()[function], args, kwargs, context)
    if function is super:
        return _make_super(frame, args)
    if getattr(function, "__objclass__", None) is object and function.__name__ == "__init__":
        # It does nothing where a class has an __init__ of its own.
        return attempt(context, function, *args, **kwargs)
    if isinstance(function, type) and _is_class(function):
        return _make(frame, function, args, kwargs)
    name = numpy_name(function)
    if name in CALLERS:
        args, kwargs = values(context, args), values(context, kwargs)
        return call_handler(frame, f"np.{name}", CALLERS[name].function, args, kwargs, context)
    if name is not None and name != "piecewise" and (contains_masked(args) or contains_masked(kwargs)):
        plain = lambda *a, **k: call_numpy(context, name, function, a, k)  # noqa: E731
        return _call_function(context, name, plain, args, kwargs)
    if name == "piecewise":
        return call_handler(frame, "np.piecewise", _piecewise.function, args, kwargs, context)
    if name is not None:
        return call_numpy(context, name, function, args, kwargs)
    method = ufunc_method(function)
    if method is not None or (_has_handler(function) and not any(function is f for f in _AS_GIVEN)):
        if any(function is f for f in _ITERATORS):
            # What they go over may change behind the call: it is the list itself and no copy.
            args = tuple(values(context, a) if isinstance(a, Masked) else a for a in args)
        else:
            args, kwargs = values(context, args), values(context, kwargs)
    if method is not None:
        return _call_ufunc_method(context, *method, args, kwargs)
    if _has_handler(function):
        return _call_builtin(frame, function, args, kwargs)
    owner, method = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, tuple) and isinstance(function, types.BuiltinMethodType):
        return _call_tuple(frame, owner, method, function, args, kwargs)
    if type(owner) in _CHANGES and isinstance(function, types.BuiltinMethodType):
        return _call_container(frame, owner, method, function, args, kwargs)
    if not contains_dynamic(args) and not contains_dynamic(kwargs) and _is_pure(function):
        if isinstance(owner, np.generic) and method == "astype":
            return _known_cast(context, function, owner, *args, **kwargs)
        return _call_pure(context, function, *args, **kwargs)
    if (type(owner) is str and method == "format") or any(function is f for f in (str, repr, format)):
        return _text_of(frame, function, args, kwargs)
    if isinstance(function, type) and issubclass(function, Exception) and not kwargs and _is_pure(function):
        return _exception_of(context, function, args)
    special = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(special, types.FunctionType) and not isinstance(function, type):
        note_member(context, function, "__call__")
        return call(frame, special, (function, *args), kwargs)
    raise _refused(context, function)


def _noted(
    context: Context, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with notes on those that NumPy is given; see `pytocu.frontend.numbers.as_numpy`."""
    if isinstance(function, type) and issubclass(function, np.generic):
        what = np.dtype(function)
        return as_numpy(context, args, known.name if (known := dtype_of(what)) is not None else "object"), kwargs
    if function is round:
        return as_numpy(context, args, "object"), kwargs
    if isinstance(function, Method) or numpy_name(function) is not None or ufunc_method(function) is not None:
        return as_numpy(context, args), {name: as_numpy(context, v) for name, v in kwargs.items()}
    return args, kwargs


def _is_named_tuple(function: Any) -> bool:
    """A class of named tuples whose objects are made by Python's own code."""
    if not (isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields")):
        return False
    made_by = getattr(function.__new__, "__globals__", {}).get("__name__", "")
    return made_by.startswith("namedtuple_") and function.__init__ is object.__init__


_OF_DATA_CLASSES = {
    "replace": Deferred("pytocu.frontend.records", "replace"),
    "astuple": Deferred("pytocu.frontend.records", "as_tuple"),
    "asdict": Deferred("pytocu.frontend.records", "as_dict"),
}
"""Functions of `dataclasses` that are compiled, by their names there."""


def _is_of(module: str, function: Any) -> bool:
    """Whether it is a function of a module of Python, which is there where anybody has one."""
    plain = isinstance(function, types.FunctionType) and function.__module__ == module
    return plain and getattr(sys.modules.get(module), function.__name__, None) is function


def _is_of_heaps(function: Any) -> bool:
    """Whether it is a function of `heapq`, which are written here as the programs that they are."""
    plain = isinstance(function, types.BuiltinFunctionType | types.FunctionType)
    return plain and function.__module__ in _OF_HEAPS and function in _heap_functions()


def python_function(function: Any) -> types.FunctionType | None:
    """The Python function behind a function, a jitted function or a cache around one."""
    if isinstance(function, types.FunctionType):
        library = (function.__module__ or "").split(".")[0] in _LIBRARIES
        return None if library else function
    inner = getattr(function, "__wrapped__", None)
    if isinstance(function, functools._lru_cache_wrapper) or getattr(type(function), "__pytocu_plain__", False):
        return inner if isinstance(inner, types.FunctionType) else None
    return None


def _inline(
    context: Context,
    function: Any,
    node: ast.FunctionDef | ast.Lambda,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    _refuse_recursion(context, function)
    arguments = bind(context, function, signature, args, kwargs)
    caller = context.builder.loc
    context.passes[-1] += 1
    try:
        return note_unnamed(context, context.hooks.run_function(context, function, node, arguments, caller))
    finally:
        context.builder.loc = caller


def _refuse_recursion(context: Context, function: Any) -> None:
    if any(function is active for active in context.active):
        raise UnsupportedError(
            f"recursion: {function.__name__} calls itself", context.loc, "write it as a loop over range(...)"
        )


def _signature_of(node: ast.FunctionDef | ast.Lambda, defaults: dict[str, Any]) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters: list[inspect.Parameter] = []

    def add(arguments: list[ast.arg], kind: Any) -> None:
        for argument in arguments:
            parameters.append(kinds(argument.arg, kind, default=defaults.get(argument.arg, kinds.empty)))

    add(node.args.posonlyargs, kinds.POSITIONAL_ONLY)
    add(node.args.args, kinds.POSITIONAL_OR_KEYWORD)
    if node.args.vararg:
        parameters.append(kinds(node.args.vararg.arg, kinds.VAR_POSITIONAL))
    add(node.args.kwonlyargs, kinds.KEYWORD_ONLY)
    if node.args.kwarg:
        parameters.append(kinds(node.args.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def bind(
    context: Context, function: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Arguments by parameter name with defaults filled in; Python's TypeError at the call."""
    bound = None
    try:
        bound = signature.bind(*args, **kwargs)
        # Python 3.13 binds where a parameter without a name for callers is missing, and another of the same name is given.
        words = _binding_words(signature, args, kwargs) if kwargs and len(bound.arguments) < len(signature.parameters) else ""
    except TypeError as error:
        words = _binding_words(signature, args, kwargs) or str(error)
    if bound is None or words:
        text = f"{qualified_name(function)}() {words}"
        raise raised(TypeError(text), context.loc, f"the signature is {function.__name__}{signature}")
    bound.apply_defaults()
    return dict(bound.arguments)


def _call_container(frame: Frame, owner: Any, method: str, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A method of a list, dict or set; its members may be run-time values."""
    context = frame.context
    kind = type(owner)
    dynamic = contains_dynamic(owner) or contains_dynamic(args) or contains_dynamic(kwargs)
    if method in _CHANGES[kind]:
        refuse_outside(context, owner, f"{kind.__name__}.{method}()")
        # A dict's keys are compared, and its values are not.
        keys = args[:1] if method in ("setdefault", "pop") else ()
        if kind is list and method == "sort" and (dynamic or kwargs.get("key") is not None):
            if owner and any(id(owner) in one.known for one in context.growing):
                # In a loop that makes it longer it is one whose length a run decides.
                _ask(context, owner, owner)
            owner[:] = call_handler(frame, "list.sort", _sort_known.function, (owner, *args), kwargs, context)
            return None
        if dynamic and (kind is set or method == "remove" or (kind is dict and contains_dynamic(keys))):
            if kind is list:
                # In a loop that makes it longer it is one whose length a run decides.
                _ask(context, owner, owner)
            raise UnsupportedError(
                f"{kind.__name__}.{method}() compares values known only at run time, which is not compiled",
                context.loc,
                by_number(owner),
            )
        if kind is list and method in ("pop", "insert") and contains_dynamic(args[:1]):
            counted = _by_place(frame, owner)
            if counted is not None:
                return call_handler(frame, f"list.{method}", _counted_methods()[method], (counted, *args), kwargs, context)
            text = f"list.{method}() at a position that is known only at run time is not compiled"
            raise UnsupportedError(text, context.loc, "make an array of the list: np.delete or np.insert of np.array(...)")
        if kind is list and method == "extend" and len(args) == 1 and not kwargs and contains_dynamic(args):
            _extend(frame, owner, args[0], "list.extend()")
            return None
        made = (_call_pure if method == "sort" else attempt)(context, function, *args, **kwargs)
        if kind is dict:
            _refuse_keys(context, owner)
        return made
    # Of a dict the keys are compared alone.
    if dynamic and (method not in _READS.get(kind, ()) or (method == "get" and contains_dynamic(args[:1]))):
        if kind is list:
            _ask(context, owner, owner)
        raise UnsupportedError(
            f"{kind.__name__}.{method}() compares values known only at run time, which is not compiled",
            context.loc,
            by_number(owner),
        )
    for value in args if kind is dict else (owner, *args):
        check_plain(context, value, f"{kind.__name__}.{method}()")
    result = attempt(context, function, *args, **kwargs)
    if method not in ("keys", "values", "items"):
        return result
    return Members(result, [lambda: [*owner, *owner.values()]], lambda: list(function(*args)), sized=True)


def _call_tuple(frame: Frame, owner: Any, method: str, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """``tuple.count`` or ``tuple.index``."""
    context = frame.context
    compared = len(args) == 1 and not kwargs and all(map(_is_compared, (*owner, *args)))
    if compared and method == "index" and (contains_dynamic(owner) or contains_dynamic(args)):
        return _index_in_tuple(frame, tuple(owner), args[0])
    if compared and method == "count":
        equal = (binary(context, "equal", member, args[0]) for member in owner)
        return functools.reduce(functools.partial(binary, context, "add"), equal, 0)
    if contains_dynamic(owner) or contains_dynamic(args) or contains_dynamic(kwargs):
        text = f"tuple.{method}() compares values known only at run time, which is not compiled"
        raise UnsupportedError(text, context.loc, "compare the members: t[0] == v")
    for value in (owner, *args):
        check_plain(context, value, f"tuple.{method}()")
    return attempt(context, function, *args, **kwargs)


def _is_compared(value: Any) -> bool:
    """Whether a value is a number, which another one equals or not."""
    return is_number(value) or (isinstance(value, Value) and not is_array(value))


_WITHOUT_MEANING = (
    "print",
    "input",
    "open",
    "exec",
    "eval",
    "compile",
    "breakpoint",
    "__import__",
    "globals",
    "locals",
    "vars",
)


def _refused(context: Context, function: Any) -> CompileError:
    name = getattr(function, "__name__", type(function).__name__)
    module = getattr(function, "__module__", None) or ""
    owner = getattr(function, "__self__", None)
    if module in ("math", "cmath"):
        known = hasattr(np, name) or hasattr(np, {"pow": "power"}.get(name, name))
        return UnsupportedError(
            f"math.{name} of a value known only at run time is not compiled",
            context.loc,
            f"use np.{name}, which takes scalars and arrays" if known else "use NumPy's functions",
        )
    # Only for this sentence, and not cheap to import.
    import random

    library_random = module.startswith(("numpy.random", "cupy.random", "random"))
    if library_random or isinstance(owner, (np.random.RandomState, np.random.Generator, random.Random)):
        return UnsupportedError(f"random numbers ({name}) are not compiled", context.loc, "pass the samples as an argument")
    if function is np.vectorize.__call__:
        return UnsupportedError("np.vectorize is not supported", context.loc, REFUSED["vectorize"])
    if isinstance(owner, np.ufunc):
        if owner.signature is not None:
            # NumPy has none of these methods of what computes whole arrays.
            example = np.ones((2, 2))
            try:
                function(*{"at": (example, 0, example), "outer": (example, example)}.get(name, (example,)))
            except (RuntimeError, TypeError) as error:
                return raised(error, context.loc)
        return UnsupportedError(f"np.{owner.__name__}.{name} is not compiled", context.loc, "compute it outside the function")
    if name in _WITHOUT_MEANING:
        return UnsupportedError(f"{name}() has no meaning in compiled code", context.loc, "call it outside the function")
    if function is type:
        return UnsupportedError("type() is not compiled", context.loc, "use isinstance(x, ...) or x.dtype")
    if _is_pure(function):
        help = f"{FLAGS}, or np.unique(x)" if function in (set, frozenset) else "use NumPy's functions and operators"
        return UnsupportedError(f"{name}() of values known only at run time is not compiled", context.loc, help)
    if module == "itertools":
        return UnsupportedError(f"itertools.{name} is not compiled", context.loc, "write a for statement over range(...)")
    if isinstance(function, type):
        return UnsupportedError(
            f"making an object of the class {name} would run its code while compiling",
            context.loc,
            "make the object outside and pass it, or use tuples and dicts",
        )
    if not callable(function):
        return raised(TypeError(f"'{type(function).__name__}' object is not callable"), context.loc)  # pyright: ignore[reportReturnType]
    if module.split(".")[0] in _LIBRARIES:
        return UnsupportedError(f"{module}.{name} is not supported", context.loc, "call it outside the function")
    return UnsupportedError(
        f"{describe(function)} is not Python code that can be read",
        context.loc,
        "call it outside the function and pass its result",
    )
