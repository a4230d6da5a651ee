"""The page of the docs that lists what is supported, written from the tables the compiler reads.

``python -m pytocu.testing.support --write docs/operations.md``; a test holds that the page is up to date.
"""

from __future__ import annotations

import argparse
import builtins
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pytocu.frontend import (
    array_functions,
    attributes,
    bessel,
    bits,
    calls,
    comparing,
    convolutions,
    covariances,
    diagonals,
    editing,
    fitting,
    flat_positions,
    histograms,
    histograms_2d,
    index_tricks,
    interpolation,
    iterators,
    least_squares,
    math_calls,
    numpy_calls,
    order_statistics,
    partitions,
    piecewise,
    polynomials,
    products,
    python_methods,
    reductions,
    rounding,
    sets,
    sliding_windows,
    splitting,
    windows,
)
from pytocu.frontend.builtin_calls import BUILTINS
from pytocu.frontend.refused import REFUSED
from pytocu.frontend.ufunc_calls import REFUSED_UFUNCS
from pytocu.ir import promote
from pytocu.ir.core import OPS, Op
from pytocu.ir.formulas import Formula
from pytocu.ir.library import LIBRARY
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.types import ALL_DTYPES, I32, DType
from pytocu.passes.python_numbers import FUNCTIONS
from pytocu.testing.cases import ABSOLUTE, FORMULAS, FORMULAS_OF_FUNCTIONS, LIMITS

_HEAD = """# Operations

Every NumPy ufunc and elementwise function that compiled code may use, what agrees with NumPy bit for bit, and what is
refused. The functions are the same under the names of `numpy`, `cupy`, `jax.numpy` and `array_api_compat`.

This page is written by `python -m pytocu.testing.support --write docs/operations.md` from the tables that the compiler reads.

## Ufuncs

"Exact" means NumPy's bits on every backend (sign and payload of a computed NaN excepted). Otherwise the largest distance
from the correctly rounded value is stated, in units in the last place; [accuracy.md](accuracy.md) has what was measured. The
dtypes are those of operands of one dtype; other mixes follow NumPy's promotion.

A constant that is NaN keeps its sign and payload, as in `np.copysign(x, -np.nan)`, and so does what is selected, copied,
or changed by `-`, `abs` and `copysign` alone. The sign of a NaN that arithmetic makes is the processor's, in NumPy as well:
`inf - inf` is `-nan` on x86-64 and `nan` on a GPU. Constants are computed by NumPy on the machine that compiles; where LLVM
finds out that operands are constant (`(x & 0) / 0`) it is `nan`. Of two NaN operands either may be the result.

| function | meaning | dtypes | result |
|---|---|---|---|
"""


def dtype_ranges(dtypes: Iterable[DType]) -> str:
    """Names of dtypes, runs of one kind shortened.

    Examples
    --------
    >>> from pytocu.ir.types import F32, I8, I16, I32, I64
    >>> dtype_ranges([I8, I16, I32, I64, F32])
    'int8 to int64, float32'
    """
    given = list(dtypes)
    parts: list[str] = []
    for kind in dict.fromkeys(d.kind for d in ALL_DTYPES):
        every = [d for d in ALL_DTYPES if d.kind == kind]
        named = [d.numpy.name for d in every if d in given]
        if len(named) == len(every) > 2:
            parts.append(f"{named[0]} to {named[-1]}")
        else:
            parts.extend(named)
    return ", ".join(parts) if len(given) < len(ALL_DTYPES) else "all"


def accepted(op: Op) -> list[DType]:
    """The dtypes for whose operands NumPy has a loop, and pytocu code."""
    found: list[DType] = []
    for dtype in ALL_DTYPES:
        operands = (dtype, I32) if op.name == "ldexp" else (dtype,) * (op.arity or 0)
        try:
            inputs, outputs = promote.ufunc_loop(op.numpy, operands)
        except TypeError:
            continue
        if all(d in ALL_DTYPES for d in (*inputs, *outputs)):
            found.append(dtype)
    return found


def _result(op: Op) -> str:
    kinds = {d.kind for d in accepted(op)}
    complex_part = f", complex within {op.complex_ulp:g} ulp" if op.complex_ulp and "c" in kinds else ""
    return _real_result(op, kinds) + complex_part


def _real_result(op: Op, kinds: set[str]) -> str:
    if op.exact:
        return "exact" if op.name not in FORMULAS else f"exact, but for {FORMULAS[op.name]}"
    integers = " (integers exact)" if op.name == "power" and kinds & set("iu") else ""
    absolute = ", of 1 where the result is smaller" if op.name in ABSOLUTE else ""
    return f"within {op.ulp:g} ulp{absolute}{integers}"


def _names(op: Op) -> str:
    outputs = [row for row in elementwise_rows() if row.numpy == op.numpy]
    number = f"[{op.output}]" if len(outputs) > 1 else ""
    names = ", ".join(f"`{name}`" for name in (op.numpy, *op.aliases))
    return f"{names}{number}" + (f" (`{op.symbol}`)" if op.symbol else "")


def _cell(text: str) -> str:
    """A text as it stands in a table: formulas have stars and bars, which mean something in Markdown.

    Examples
    --------
    >>> print(_cell("log2(2**x), not `2**x` of |x|"))
    log2(2\\*\\*x), not `2**x` of \\|x\\|
    """
    stars = re.sub(r"(`+).*?\1|\*", lambda match: match[0] if match[1] else "\\*", text)
    return stars.replace("|", "\\|")


def _summary(handler: Any) -> str:
    """The first line of the docstring, without the call it may begin with."""
    return (handler.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


_DESCRIBED = (
    array_functions, bessel, bits, comparing, convolutions, covariances, diagonals, editing, fitting, flat_positions,
    histograms_2d, interpolation, least_squares, order_statistics, partitions, polynomials, rounding, sets,
    sliding_windows, splitting, windows,
)  # fmt: skip
"""Modules whose functions are listed with a sentence."""


_REDUCING = {n: f for n, f in numpy_calls.FUNCTIONS.items() if numpy_calls.is_reduction(n)}
_REDUCING |= {"dot": products.dot, "inner": products.inner, "vdot": products.vdot}
"""Functions that reduce; of products those of vectors."""


def _lines() -> Iterator[str]:
    yield _HEAD
    for op in elementwise_rows():
        yield f"| {_cell(_names(op))} | {_cell(op.doc)} | {dtype_ranges(accepted(op))} | {_result(op)} |\n"
    yield "\n`divmod` gives `floor_divide` and `remainder`. "
    yield "The arguments `out=`, `dtype=`, `signature=`, `casting=`, `subok=` and `order=` are NumPy's, and `where=` "
    yield "together with `out=`; `where=` without an array for what it leaves out is refused.\n\n"
    yield "Refused:\n\n"
    for name, reason in REFUSED_UFUNCS.items():
        yield f"* `{name}`: {reason}\n"
    yield f"* `at` of ufuncs with masks, and but for {_listed(histograms.AT)}\n"
    yield "* ufuncs of strings and of dates: there are no such dtypes here\n"
    yield "\n## Functions\n\n| function | meaning |\n|---|---|\n"
    described = {n: _summary(h) for module in _DESCRIBED for n, h in module.FUNCTIONS.items()}
    described["piecewise"] = _summary(piecewise.piecewise)
    described |= {name: _summary(caller.function) for name, caller in calls.CALLERS.items()}
    described |= {f"{name}[...]": _summary(handler) for name, handler in index_tricks.OBJECTS.items()}
    for name in sorted(described):
        yield f"| `{name}` | {_cell(described[name])} |\n"
    others = set(numpy_calls.FUNCTIONS) - set(described) - set(_REDUCING)
    yield f"\nAlso {_listed(others)}, and on values known while compiling {_listed(numpy_calls.COMPILE_TIME)}. "
    yield f"The scalar types (`np.float32(x)`) convert.\n{_ARGUMENTS}\nRefused by name:\n\n"
    alike: dict[str, list[str]] = {}
    for name, instead in sorted(REFUSED.items()):
        alike.setdefault(instead, []).append(name)
    for instead, names in alike.items():
        yield f"* {_listed(names)}: {instead}\n"
    yield from _reductions()
    yield from _library()
    yield "\n## Arrays and NumPy scalars\n\n"
    yield f"Methods: {_listed(m for m in attributes.METHODS if m[0] != '_')}. "
    yield f"Attributes: {_listed(attributes.ATTRIBUTES)}.\n"
    yield "\n## Python\n\n"
    names = [f.__name__ for f in BUILTINS if getattr(builtins, getattr(f, "__name__", ""), None) is f]
    yield f"Builtins with a meaning on run-time values: {_listed(names)}.\n\n"
    yield f"Methods of Python numbers: {_listed(python_methods.NUMBER_METHODS)}; and their attributes.\n\n"
    yield "`raise` and `assert` with texts that show numbers, NumPy scalars, shapes and arrays of up to 16 elements of a run, "
    yield "as `f''`, `%`, `str.format`, `format`, `str` and `repr` do; `warnings.warn` with such texts, as a statement outside "
    yield "of vectorized functions.\n\n"
    yield f"`itertools`: {_listed([f.__name__ for f in iterators.handlers()])}; `product`, `pairwise` and "
    yield "`combinations` of two to six also of ranges and arrays whose lengths only a run knows, `count` and `repeat` in "
    yield "loops of any length, `islice` also of arrays, the others of members that are known.\n\n"
    compiled = [f.__name__ for f in math_calls.MATH if f.__name__ not in math_calls.REFUSED]
    # What newer versions of Python have is compiled where there is such a version.
    steady = [name for name in compiled if name not in ("fma", "sumprod")]
    yield f"`math` on Python scalars, computed on the host with Python's exceptions: {_listed(['prod', *steady])}. Refused:"
    yield f" {_listed(math_calls.REFUSED)}. A NumPy scalar becomes Python's"
    yield " number first, as `float(x)` does; of arrays use NumPy's functions.\n\n"
    in_kernels = sorted({row.removeprefix("math_").partition("_")[0] for row in FUNCTIONS if row.startswith("math_")})
    yield "In a vectorized function, and of what depends on a loop beside arrays, a kernel computes them, and what Python "
    yield f"raises is required: {_listed(in_kernels)}.\n\n"
    yield "`and`, `or`, `not`, chained comparisons and conditional expressions of run-time scalars evaluate both sides "
    yield "where neither may raise an error, and are branches otherwise. A number that is Python's on one side and NumPy's "
    yield "on the other is returned as what it is; what is computed of it has to have one dtype for both. So is an int on one "
    yield "side and a float on the other (`max(0, 1 - h)`), below 2\\*\\*53; beside float32 write `max(0.0, 1 - h)`. "
    yield "In a vectorized function they are branches, and [numbers of two kinds become one](scalar-functions.md).\n"
    yield _CAUGHT
    yield _WARNINGS
    yield "\n## Where an error stands for NumPy's answer\n\n"
    for name, limit in LIMITS.items():
        yield f"* `{name}`: {limit}\n"
    yield "\n## Where the answer is a formula\n\nNumPy's own answer depends on the layout, the length or the processor:\n\n"
    for name, formula in (FORMULAS | FORMULAS_OF_FUNCTIONS).items():
        yield f"* `{name}`: {formula}\n"
    yield "\n"
    for name in FORMULAS:
        formula = OPS[name].expand
        expand = formula.function if isinstance(formula, Formula) else formula
        if expand is not None and expand.__doc__:
            yield f"`{name}` is {_summary(expand)}. "
    yield "\n"


_ARGUMENTS = """
Arguments are NumPy's, by name and by position, with its errors. Refused, with the argument's name and what to write instead:

* orders of results of products; `order='A'` of ufuncs, and `order='K'` and `order='A'` of `ravel`, `flatten` and `reshape`,
  where the order in memory does not follow from the arguments
* `casting='same_value'` of `astype`; `ndmax` of `array`
* `weights` of quantiles; `bins` of histograms that are found in the data
* `mode` of `pad` where it is a function; `reflect_type='odd'` with a border longer than what is reflected
* `p` of `linalg.cond` other than None, 2 and -2; `mode` of `linalg.qr` by its old names
* `out` of `round` with another dtype; of `concatenate` and `stack` where it is one of the arrays
"""


_REDUCTIONS = """
## Reductions

The arguments are NumPy's: `axis` (None, an integer, a tuple), `dtype`, `out`, `keepdims`, `initial`, `where`, `ddof`,
`correction` and `mean`, where the function has them; `axis` and `keepdims` are known while compiling. Integers add up in 64
bits and are exact. Sums and products of floats are trees whose shape depends on the lengths alone: the same bits on every
run and every machine of a kind, but not NumPy's bits. float16 adds up in float32. Everything around the sums (the division
by the number of elements, squared distances, roots) is NumPy's formula in NumPy's dtypes. Of `np.cov` and `np.corrcoef`
these sums are the means and `dot(X, X.T)`, which NumPy leaves to its BLAS: where distances from a mean cancel each other, as
they do in covariances near 0, the last digits differ more than those of a mean do. Of equal zeros `min` and `max`
may return either; NumPy's warnings about empty slices and degrees of freedom are not given, the NaN is.

| function | meaning |
|---|---|
"""


def _reductions() -> Iterator[str]:
    yield _REDUCTIONS
    names: dict[Any, list[str]] = {}
    for name, handler in _REDUCING.items():
        names.setdefault(handler, []).append(name)
    for handler, aliases in sorted(names.items(), key=lambda item: item[1]):
        yield f"| {', '.join(f'`{n}`' for n in aliases)} | {_cell(_summary(handler))} |\n"
    yield f"\n`ufunc.reduce` of {_listed(reductions.reducible())} is a reduction by several threads. Of the others "
    yield "(`subtract`, `divide`, `power`, comparisons and so on) the order matters: one thread goes along the axis, for "
    yield "each position of the other axes, and combines from the left to the right, as NumPy does; so it is with "
    yield "`accumulate`, and with `reduceat` of all. NumPy 2.4 and 2.5 combine only the first and the last float of a row "
    yield "by `power` and `arctan2` on a CPU with AVX-512; pytocu combines them all. float16 of `subtract` and `divide` "
    yield "is reduced in float32, as NumPy does along a row; along a column NumPy rounds every step. Refused: `axis`, "
    yield "`keepdims` and `ord` that are known only at run time.\n\n"
    yield "Cumulative functions and `ufunc.accumulate` of the ufuncs that are reductions are scans. Integers, extremes "
    yield "and bits are exact. "
    yield "On a CPU a row of up to 65536 elements, and a column of up to 4096, is added up in NumPy's order and has NumPy's "
    yield "bits; longer ones are cut into pieces by their lengths unless there are many. A GPU's columns are walked so too, "
    yield "its rows are scanned by several threads: a sum of n elements of a row has n / 128 + 32 roundings at most, where "
    yield "NumPy's has n. The bits are the same on every run. float16 adds up in float32 and is rounded once an element, where "
    yield "NumPy rounds every sum.\n\n"
    yield "Python's `sum` of an array adds in the dtype of `0 + x[0]`, and is a number of that dtype for no elements too; "
    yield "`min` and `max` are of vectors of integers, because of floats the answer depends on where NaN stands.\n"


_LIBRARY = """
## Masks and compaction

`x[mask] = e`, `x[mask] *= e`, and `sum`, `prod`, `mean`, `var`, `std`, `min`, `max`, `any`, `all` and `count_nonzero` of
`x[mask]` work on the whole array beside the mask: nothing is taken out. What is computed element by element of values of
one mask stays with them. `x[mask] = rows`, one row for each chosen one, compares the numbers of both before it writes, and
on a CPU copies these rows alone. Where the chosen elements themselves are needed (returned, concatenated, indexed, `len`),
and for `np.where(c)`, `nonzero`, `flatnonzero`, `argwhere`, `compress` and `extract`, a scan counts, the host waits for the
number, and a kernel writes the elements in order.

## Lengths of run time

An int of run time may be a length (`np.zeros(n)`, `x[:n]`), Python's or NumPy's, for which the host waits
(`np.zeros(labels.max() + 1)`), and so may a number of chosen elements. Lengths of
arguments that are 1 broadcast; a length that only the call knows does not: where it meets another length it has to be equal
to it. If it happens to be 1, and NumPy would repeat the element, the statement raises an UnsupportedError that says so, before
anything is written; `y[0]`, which has no axis, is what to write for a single element.

## Arrays whose lengths steps change

An array whose length the steps of a loop change (`x = x[x > p]`, `x = x[1:]`, `x = np.append(x, v)`, an array that a step
returns, too) has room in the loop for as many elements as there can be: those it begins with, and what each step appends, in a
loop over numbers. Where the lengths before a step alone say how long arrays are behind it (`x = np.concatenate([x, x])`,
`m = np.kron(m, k)`), the steps are counted through for the lengths first, and in a `while` on lengths (`while len(x) < n`) the
condition says how long they can get. Refused, with the line: arrays that grow in a `while` that asks data. Where a run alone
knows how long a step leaves the array (`x = y[:k]`), the step in which there is no room raises, and where a step may end a
loop over numbers (`break`), a run in which an axis could get longer than 67,108,864 does.

## Names of one array or another

A name that a branch or loop binds to one array or another (`z = x if c else y`, `u, v = v, u` in a time loop) is that array:
what is written through it is written there, arguments hold what NumPy leaves in them, and where it is returned the argument
itself is. A loop in which arrays take each other's places begins with copies of them and ends with copies back, so that its
steps are those of arrays of its own. Where several arrays may be meant by a name, a change of it is one of all of them, each
where it is meant. So is a name of an argument that a step changes and binds to a new array, always or in some steps
(`if t > i: v = v * 0.75`, then `v[:i] += b[i, i]`): the argument holds what its name left in it, also of a loop without a
step, and is returned where the name still has it. So is an argument that a step of a loop returns (`return x`). Copies where
NumPy returns the argument or a view of it: a part of it (`return x[1:]`), or one of two arguments, that a step of a loop
returns, a name that only a loop without a step leaves as it was where nothing is changed behind it, and a name that stands for
an argument or for what a side makes and has given another name, too. Refused, with the line: such arrays that are read or
changed under another name in the loop, that get a name of what a step makes or of a part, parts of one array that take turns,
and arguments that overlap.

## The order of results in memory

New arrays lie in memory as NumPy's do: results of element operations, `where`, conversions, sums and cumulative sums along
an axis, joins, copies and `zeros_like` in the order of their operands (`x.T + 1` of a row-major array is column-major;
where operands differ, row-major wins between two axes), elements that are chosen by positions with the axes of these first
(`x[:, i]` of a row-major array is column-major), and others in row-major order, or in the one that is asked for. What NumPy
returns as a view of a new array is a new array without gaps, in the order of that view. Always in row-major order, where
NumPy's may be in another one, are results of library calls (`sort`, `fft`), of loops and branches of the host that do not
have one order on every way through them, and of reshapes that are views for some lengths only; those of arguments `f32[n,
m; S]` of code that is compiled ahead, which are taken to be row-major with gaps; and of `np.pad`, `np.round`, `imag`,
`isreal` and `packbits`, which look whether an array is in column-major order, of views of reversed arguments, of arguments that
share memory with other ones of which one is changed, and of arrays without elements.

## Reshapes that are views or copies

`reshape`, `ravel`, `ascontiguousarray` and their like are views where NumPy's are, which lengths and strides decide. Where
both kinds are possible, nothing depends on it until one of the two arrays is changed and the other one read, or the caller
sees the change in an argument. Then a copy is made, and a call with lengths and strides of which NumPy makes a view is an
UnsupportedError that says so; so is a function where they do not tell, as for a result of elements in an unknown order.
Write `.copy()` behind it, or a form that always is a view. `y.shape = ...` of an array that the function makes is such a view
for each name that holds it; refused where it may be a copy, of an argument, and in a function that is called.

A view of an argument is returned as a view, in the argument's library, unless it repeats elements (`np.broadcast_to`),
begins at a position that is computed of data (`x[np.argmax(y)]`) or has elements of another size (`x.view(np.uint8)` of
floats): these are arrays of their own. A view with elements of another size, or what it is of, may not be changed behind it.
What NumPy lets nobody write (diagonals, `np.broadcast_to`, windows, the imaginary part of real numbers) is read-only here too.
A view of an array that the function makes is returned as an array of its own, also beside that array: what the caller writes
into one of them later does not show in the other one, as it would in NumPy. One array that is returned twice is one.

## Assignment at positions

`x[i] = e` and `x[i, j] += e` with integer arrays, also beside masks (`x[i, m] = e`), `np.put` and `np.put_along_axis` leave
what NumPy leaves: of several values for one element the last, and `+=` reads each element once. On a CPU one thread writes the
values in order, also in the steps of a native loop. On a GPU each element is given the number of the last position that names
it, which is the library call `last_position`, and takes that value; so a call takes as long as all of the array, however few
positions there are. A position outside of the array raises an IndexError as in a gather, and is never written.

## Library calls

The closed list of what NumPy (for NumPy arrays), CuPy or PyTorch (for theirs) computes, as a step of the plan between
kernels. Everything else is compiled. Products of two matrices of float32, float64 and complex numbers are library calls
unless the inner axis has at most 16 elements, or there are at most 4 rows or columns: these, products with vectors, and
those of integers and float16 are sums of products in the kernels around them. Arrays of other libraries are refused.

| function | meaning |
|---|---|
"""


_CAUGHT = """
## Exceptions that the program catches

`try` with `except`, `else` and `finally` is compiled where it is known, when the code is made, which way the program takes:

* What NumPy or Python raises for these types, ranks and known values (an unpacking that does not fit, an attribute, a dtype
  without a loop, a missing key, a function that is called and raises) goes to the clause that catches its class. What the
  program did before it stays done.
* Whether the lengths of arguments fit together, and positions exist that they decide on (`x[3]`), is decided for each call, as
  its ranks are: calls that take another way are another specialisation.
* `raise` and `assert` under a condition of run time are branches, if they stand in the `try` itself: in no loop inside of it,
  and in no function that it calls.
* `raise` in a clause raises again what it caught. The text of an exception is a value (`str(e)`) where it shows nothing that
  only a run knows. What nobody catches is raised as everywhere else.

Refused, with the line, is a `try` in which a run may raise what one of its clauses would catch: positions that data state,
divisions of Python's numbers, `np.linalg` on a matrix that may be singular, ints that may not fit their dtype. So is a
`finally` that does more than bind names, behind something that a run may raise, one that leaves by `return` or `break`, and
`except*`. A call with a read-only array, which the `try` writes, is an UnsupportedError where a clause would catch NumPy's
ValueError. What pytocu itself refuses is never caught, nor is a lack of memory, an int of more than 64 bits, or a warning that
filters make an exception.
"""


_WARNINGS = """
## Warnings

NumPy's RuntimeWarnings (division by zero, overflow, invalid values, means of nothing) are not given, nor are its warnings of
what it deprecates: compiled code looks for no floating-point errors. The results are NumPy's, so `np.isfinite(y).all()` tells.
`with np.errstate(...)` is accepted where it silences.

## What an exception leaves

A run raises the exception that it comes to first, but for those of lengths and of Python's numbers, which are known before any
kernel runs: `x + y` of two lengths that differ is an error in front of `assert x[0] > 0`. Nothing behind a `raise` or `assert`
that is met has changed an argument, and on a CPU neither has the statement whose index is outside of an array. What stands in
front of an exception may not have changed an argument yet, and what stands behind an index outside of its array, or behind an
error of a library call, may have. Elements that no result needs are not computed, and positions among the data that only they
need are not looked at: `x[i].shape` raises nothing, nor does `v = x[i]` in front of a `raise` that does not need `v`.
Errors of dtypes come before those of data, too: `np.less.reduceat(x, i)` has the TypeError also where NumPy would name the
index of `i` that is outside. Of several positions outside of an axis the smallest one is named, by NumPy the first.
Whether an argument that a statement writes is read-only is looked at before anything runs, whether a run comes to the statement
or not: `if flag: x += 1` needs an `x` that may be written also where `flag` is false.
"""


def _library() -> Iterator[str]:
    yield _LIBRARY
    for row in LIBRARY.values():
        yield f"| `{row.name}` | {_cell(row.doc)} |\n"
    yield "\n`dot`, `inner`, `tensordot` and `einsum` are made of `matmul`, `unique` of `sort`. "
    yield "`searchsorted` is compiled. On a GPU complex numbers are sorted by three stable sorts of their parts, so that NaN "
    yield "stand as in NumPy. Of equal zeros `unique` may keep the other one. "
    yield "`einsum` of three operands or more multiplies the first one with the first of the others that shares a letter "
    yield "with it, and so on, with or without `optimize`: NumPy adds up over all operands at once or, with `optimize`, "
    yield "goes by a path that depends on lengths, which code here does not. So the last digits differ as those of sums "
    yield "do. Of what is added up with `optimize` results are row-major, where NumPy's order in memory depends on that path; "
    yield "`ravel('K')` and other functions that look at the order refuse them.\n"


def page() -> str:
    """The whole page."""
    return "".join(_lines()).rstrip() + "\n"


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.support [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.support", description=main.__doc__)
    parser.add_argument("--write", type=Path, help="where to write the page; printed otherwise")
    options = parser.parse_args(argv)
    if options.write:
        options.write.write_text(page())
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
