"""Calls of the C math library for rare arguments, in loops that stay vector code.

A loop with a branch in it is not vectorised, and a library function has no vector form.  So the
code calls a function that is declared with vector variants and not yet defined; LLVM vectorises the
loop, calling a variant; then the definitions here are linked and inlined: one comparison, one test
whether any lane is rare, and behind that the library's function for each of those lanes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytocu.backend.llvm_dialect import Dialect, literal
from pytocu.ir.expand import FRACTIONS
from pytocu.ir.expand_trigonometric import LARGEST
from pytocu.ir.types import F32, F64, DType

PREFIX = "large."
"""Stands before the name of a C math function in that of the guarded one."""

LANES = {F32: (4, 8, 16, 32), F64: (2, 4, 8, 16, 32)}
"""Sizes of the vector variants."""

_ATTRIBUTES = "nounwind willreturn memory(none)"


_PARAMETERS = {"fmod": ("x", "y")}
"""Those of functions that have not one."""


def vector_type(dtype: DType, lanes: int) -> str:
    """A vector of floats, or one float."""
    element = "float" if dtype is F32 else "double"
    return element if lanes == 1 else f"<{lanes} x {element}>"


def _magnitude(dtype: DType, lanes: int) -> str:
    return f"llvm.fabs.{dtype.name}" if lanes == 1 else f"llvm.fabs.v{lanes}{dtype.name}"


def _variant(name: str, lanes: int) -> str:
    return f"{PREFIX}{name}" if lanes == 1 else f"{PREFIX}{name}.{lanes}"


def _parameters(function: str) -> tuple[str, ...]:
    return _PARAMETERS.get(function.removesuffix("f"), ("x",))


def declare(function: str, dtype: DType) -> tuple[list[str], str, str]:
    """Declarations of a guarded function, its name, and the attributes of a call.

    Parameters
    ----------
    function : str
        The C library's name for float64, such as ``sin``.
    dtype : DType
        float32 or float64.
    """
    name = f"{function}f" if dtype is F32 else function
    count = len(_parameters(function))
    types = {n: vector_type(dtype, n) for n in (1, *LANES[dtype])}
    lines = [f"declare {t} @{_variant(name, n)}({', '.join([t] * count)}) {_ATTRIBUTES}" for n, t in types.items()]
    table = ",".join(f"_ZGV_LLVM_N{n}{'v' * count}_{_variant(name, 1)}({_variant(name, n)})" for n in LANES[dtype])
    return lines, _variant(name, 1), f'{_ATTRIBUTES} "vector-function-abi-variant"="{table}"'


def declared(names: Iterable[str]) -> list[str]:
    """The guarded functions that some of these names are, or are a variant of."""
    found = {match[0] for name in names if (match := re.match(rf"{re.escape(PREFIX)}\w+", name))}
    return sorted(found)


def keep(declarations: set[str]) -> str:
    """A line that keeps the vector variants among the declarations until the loops are vectorised."""
    names = re.findall(r"^declare .* @(\w+\.\w+\.\d+)\(.* memory\(none\)$", "\n".join(sorted(declarations)), re.M)
    if not names:
        return ""
    items = ", ".join(f"ptr @{name}" for name in names)
    return f'@llvm.compiler.used = appending global [{len(names)} x ptr] [{items}], section "llvm.metadata"'


def definitions(names: list[str], dialect: Dialect) -> str:
    """The module that defines functions which :func:`declare` declared, for linking.

    Parameters
    ----------
    names : list of str
        Names of the functions without a variant's number, such as ``large.sinf``.
    dialect : Dialect
        Names the library's functions.
    """
    parts: list[str] = []
    # Several functions share these.
    declarations: set[str] = set()
    for name in names:
        function = name.removeprefix(PREFIX)
        dtype = F32 if function.endswith("f") else F64
        element = vector_type(dtype, 1)
        library = dialect.library.format(name=function)
        taken = ", ".join(f"{element} %{p}" for p in _parameters(function))
        declarations.add(f"declare {element} @{library}({', '.join([element] * len(_parameters(function)))}) {_ATTRIBUTES}")
        for lanes in (1, *LANES[dtype]):
            declarations.add(f"declare {vector_type(dtype, lanes)} @{_magnitude(dtype, lanes)}({vector_type(dtype, lanes)})")
        parts.append(
            f"""define internal {element} @{name}.one({taken}) {_ATTRIBUTES} noinline {{
{_rare(function, dtype, 1)}
  br i1 %rare, label %call, label %done
call:
  %value = call {element} @{library}({taken}) nobuiltin {_ATTRIBUTES}
  br label %done
done:
  %result = phi {element} [ %value, %call ], [ {literal(0.0, dtype)}, %0 ]
  ret {element} %result
}}
define available_externally {element} @{name}({taken}) alwaysinline {_ATTRIBUTES} {{
  %result = call {element} @{name}.one({taken})
  ret {element} %result
}}"""
        )
        parts += [_variant_definition(name, function, dtype, lanes) for lanes in LANES[dtype]]
    parts += sorted(declarations)
    parts.append('!0 = !{!"branch_weights", i32 1, i32 1000000}')
    return "\n".join(parts) + "\n"


def _rare(function: str, dtype: DType, lanes: int) -> str:
    """Lines that compute which lanes are rare."""
    vector, size = vector_type(dtype, lanes), _magnitude(dtype, lanes)
    lines = [f"%size = call {vector} @{size}({vector} %x)"]
    if function.removesuffix("f") == "fmod":
        lines += [
            f"%divisor = call {vector} @{size}({vector} %y)",
            f"%bound = fmul {vector} %divisor, {_all(2.0 ** FRACTIONS[dtype], dtype, lanes)}",
            # Also where a number is NaN.
            f"%rare = fcmp uge {vector} %size, %bound",
        ]
    else:
        lines.append(f"%rare = fcmp ogt {vector} %size, {_all(LARGEST, dtype, lanes)}")
    return "\n".join(f"  {line}" for line in lines)


def _all(value: float, dtype: DType, lanes: int) -> str:
    """A number, in every lane."""
    one = literal(value, dtype)
    return one if lanes == 1 else f"<{', '.join([f'{vector_type(dtype, 1)} {one}'] * lanes)}>"


def _variant_definition(name: str, function: str, dtype: DType, lanes: int) -> str:
    """All lanes at once: the way out for rare ones is a function, so that it costs the loop no registers."""
    element, vector = vector_type(dtype, 1), vector_type(dtype, lanes)
    parameters = _parameters(function)
    taken = ", ".join(f"{vector} %{p}" for p in parameters)
    each: list[str] = []
    total = "zeroinitializer"
    for lane in range(lanes):
        each += [f"  %{p}{lane} = extractelement {vector} %{p}, i32 {lane}" for p in parameters]
        each += [
            f"  %r{lane} = call {element} @{name}.one({', '.join(f'{element} %{p}{lane}' for p in parameters)})",
            f"  %v{lane} = insertelement {vector} {total}, {element} %r{lane}, i32 {lane}",
        ]
        total = f"%v{lane}"
    return "\n".join(
        [
            f"define internal {vector} @{name}.each.{lanes}({taken}) noinline cold {_ATTRIBUTES} {{",
            *each,
            f"  ret {vector} {total}",
            "}",
            f"define available_externally {vector} @{name}.{lanes}({taken}) alwaysinline {_ATTRIBUTES} {{",
            _rare(function, dtype, lanes),
            f"  %mask = bitcast <{lanes} x i1> %rare to i{lanes}",
            f"  %any = icmp ne i{lanes} %mask, 0",
            "  br i1 %any, label %some, label %done, !prof !0",
            "some:",
            f"  %found = call {vector} @{name}.each.{lanes}({taken})",
            "  br label %done",
            "done:",
            f"  %result = phi {vector} [ %found, %some ], [ zeroinitializer, %0 ]",
            f"  ret {vector} %result",
            "}",
        ]
    )
