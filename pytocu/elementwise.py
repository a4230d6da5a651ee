"""``@pytocu.vectorize``: a Python function of scalars as a broadcasting ufunc, compiled for the arguments it meets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from pytocu.config import UFUNC_KEYWORDS, Elementwise, Options
from pytocu.errors import PytocuError, raised
from pytocu.jitted import JitFunction, checked_device, fastmath_flags, plain_function


class VectorizedFunction(JitFunction[..., Any]):
    """A function of scalars that is called with arrays, as NumPy's ufuncs are; made by :func:`vectorize`.

    Attributes
    ----------
    nin : int
        How many arguments it takes, without those of ``excluded=``.
    nout : int or None
        How many results it has, where ``nout=`` says so.
    """

    def __init__(self, function: Callable[..., Any], device: str | None, options: Options, static: tuple[str, ...] = ()):
        super().__init__(function, device, options, tuple(dict.fromkeys((*static, "casting", "dtype"))))
        stated = self.__pytocu_elements__
        assert stated is not None
        own = [n for n in self._names if n not in (*self._outs, *UFUNC_KEYWORDS)]
        self._spread = tuple(n for n in own if n not in stated.excluded)
        self.nin, self.nout = len(self._spread), stated.outputs

    def __repr__(self) -> str:
        return f"<pytocu.vectorize {self.__name__}{self._signature}>"

    # Every argument may be an array, and its default one of another call's elements.
    _known_defaults = False

    def _calling(self, signature: inspect.Signature, options: Options) -> tuple[inspect.Signature, Callable[..., Any]]:
        stated = options.elements
        assert stated is not None
        own = list(signature.parameters.values())
        self._outs = ("out", *(f"out{n}" for n in range(1, stated.outputs or 1)))
        for parameter in own:
            if parameter.name in (*self._outs, *UFUNC_KEYWORDS):
                raise PytocuError(
                    f"{self.__name__} has a parameter {parameter.name}, which every vectorized function has: rename it"
                )
        for name in stated.excluded:
            if name not in signature.parameters:
                listed = ", ".join(signature.parameters) or "none"
                raise PytocuError(f"excluded={name!r}: {self.__name__} has no such parameter; its parameters: {listed}")
        kinds = inspect.Parameter
        first = [p for p in own if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
        only = own[len(first) :]
        outs = [kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=None) for n in self._outs]
        defaults = {"where": True, "casting": "same_kind", "dtype": None}
        named = [kinds(n, kinds.KEYWORD_ONLY, default=d) for n, d in defaults.items()]
        for parameter in only:
            if parameter.kind is not kinds.KEYWORD_ONLY:
                raise PytocuError(
                    f"{self.__name__} takes any number of arguments ({parameter}): name each parameter of a vectorized function"
                )
        listed = [*first, *outs, *only, *named]

        def in_python(*args: Any, **kwargs: Any) -> Any:
            return self._in_python(args, kwargs)

        in_python.__qualname__ = self.__qualname__
        return inspect.Signature(listed), in_python

    def _is_static(self, name: str, value: Any) -> bool:
        # `where=True` is no mask.
        return super()._is_static(name, value) or (name == "where" and type(value) is bool)

    def _known_in_bundle(self) -> tuple[str, ...]:
        # What is built is the code without a mask.
        return (*super()._known_in_bundle(), "where")

    def _general(self, values: tuple[Any, ...]) -> Any:
        given = dict(zip(self._names, values, strict=True))
        if isinstance(given["out"], tuple):
            given |= self._outputs_of(given["out"])
        for name in self._spread:
            if isinstance(given[name], (list, tuple)):
                given[name] = np.asarray(given[name])
        return super()._general(tuple(given.values()))

    def _outputs_of(self, out: tuple[Any, ...]) -> dict[str, Any]:
        """The parameters for ``out=`` of several arrays."""
        if len(out) != len(self._outs):
            text = "The 'out' tuple must have exactly one entry per ufunc output"
            help = f"state nout={len(out)} in @pytocu.vectorize" if self.nout is None else None
            raise raised(ValueError(text), None, help)
        return dict(zip(self._outs, out, strict=True))

    def _in_python(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The same in Python, element by element: for ``PYTOCU_DISABLE``."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        own = {n: v for n, v in given.arguments.items() if n not in (*self._outs, *UFUNC_KEYWORDS)}
        outs = [given.arguments[n] for n in self._outs]
        return _loop(self._function, own, self._spread, outs, **{n: given.arguments[n] for n in UFUNC_KEYWORDS})


class NoElement(ValueError):
    """A vectorized function has no element to run for, and so no result type, where nothing is compiled."""


def _loop(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    spread: Sequence[str],
    outs: Sequence[Any],
    where: Any,
    casting: Any,
    dtype: Any,
) -> Any:
    """A vectorized function in Python: the plain function for each element."""
    numbers = [n for n in spread if isinstance(arguments[n], (bool, int, float, complex, np.generic, np.ndarray))]
    weak = {n for n in numbers if type(arguments[n]) in (bool, int, float, complex)}
    if len(weak) == len(numbers):
        weak = set()
    arrays = {n: np.asarray(arguments[n]) for n in numbers if n not in weak}
    whole = np.broadcast_shapes(*(a.shape for a in arrays.values()), np.shape(where))
    whole = np.broadcast_shapes(whole, *(o.shape for o in outs if o is not None))
    given = {n: np.broadcast_to(a, whole) for n, a in arrays.items()}
    mask = np.broadcast_to(where, whole)
    found: dict[tuple[int, ...], tuple[Any, ...]] = {}
    several = False
    for place in np.ndindex(whole):
        if mask[place]:
            made = function(**{**arguments, **{n: a[place] for n, a in given.items()}})
            several = isinstance(made, tuple)
            found[place] = made if several else (made,)
    if not found and all(o is not None for o in outs):
        return tuple(outs) if len(outs) > 1 else outs[0]
    if not found:
        raise NoElement("PYTOCU_DISABLE=1: what a vectorized function makes of no element is known only when it is compiled")
    results: list[Any] = []
    for number, members in enumerate(zip(*found.values(), strict=True)):
        kinds = {type(m): m for m in members}
        result = np.empty(whole, dtype or np.result_type(*kinds.values()))
        for place, member in zip(found, members, strict=True):
            result[place] = member
        out = outs[number] if number < len(outs) else None
        if out is not None:
            np.copyto(out, result, casting=casting, where=mask)
        results.append(result[()] if out is None else out)
    return tuple(results) if several else results[0]


@overload
def vectorize(fn: Callable[..., Any], /) -> VectorizedFunction: ...
@overload
def vectorize(
    *,
    excluded: str | int | Sequence[str | int] = (),
    nout: int | None = None,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
) -> Callable[[Callable[..., Any]], VectorizedFunction]: ...
@overload
def vectorize(
    fn: Callable[..., Any],
    /,
    *,
    excluded: str | int | Sequence[str | int] = (),
    nout: int | None = None,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
) -> VectorizedFunction: ...
def vectorize(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    excluded: str | int | Sequence[str | int] = (),
    nout: int | None = None,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
) -> Any:
    """Make a broadcasting ufunc of a Python function of scalars; use it bare or called.

    The function may have branches, loops whose number of steps depends on the data, early returns and calls of
    other Python functions.  It is compiled for the dtypes it meets, and each element runs through it alone: on a
    GPU a thread has one element.

    Parameters
    ----------
    fn : function
        A function of scalars with source, which returns a number or a tuple of numbers.
    excluded : str, int or sequence of these, optional
        Parameters, by name or position, that get their argument as it is: a table to search in, for instance.
    nout : int, optional
        How many numbers it returns.  Needed only where ``out=`` names several arrays.
    device, backend, fastmath
        As for :func:`pytocu.jit`.

    Returns
    -------
    VectorizedFunction
        Takes arrays and scalars that broadcast, ``out=`` (also behind the other arguments), ``where=``,
        ``casting=`` and ``dtype=`` (of the results).  The numbers in the function are NumPy scalars of the
        arguments' dtypes; Python's numbers stay Python's, as in NumPy's promotion.  In a function with
        ``@pytocu.jit`` it is compiled with what is around it.

    Raises
    ------
    PytocuError
        An unknown flag, device or parameter name, or a parameter that is called as one of the keywords.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> @pytocu.vectorize
    ... def gcd(a, b):
    ...     while b:
    ...         a, b = b, a % b
    ...     return a
    >>> gcd(np.array([12, 18, 7]), np.array([[8], [27]]))
    array([[4, 2, 1],
           [3, 9, 1]])
    """
    checked_device(device)
    flags = fastmath_flags(fastmath)

    def decorate(function: Any) -> Any:
        names = tuple(inspect.signature(plain_function(function), follow_wrapped=False).parameters)
        wanted = (excluded,) if isinstance(excluded, (str, int)) else tuple(excluded)
        for one in wanted:
            if isinstance(one, int) and not -len(names) <= one < len(names):
                raise PytocuError(f"excluded={one}: {function.__name__} has {len(names)} parameters")
        stated = Elementwise(tuple(one if isinstance(one, str) else names[one] for one in wanted), nout)
        return VectorizedFunction(function, device, Options(backend, flags, stated))

    return decorate if fn is None else decorate(fn)


__all__ = ["VectorizedFunction", "vectorize"]
