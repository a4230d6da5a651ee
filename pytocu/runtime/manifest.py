"""From a function and a call to a finished plan on disk, with no compiler loaded.

A manifest is an entry of the cache whose key follows from the function's code, the types of the
arguments, the options, the target and the versions of pytocu, NumPy and Python.  It lists
specialisations: what each captured, how to find that again, the plan, and the key of its binary,
which is an entry of its own because several plans may share it.  One whose captured values are
not those of this process is passed over.  As in :mod:`pytocu.runtime.cache`, JSON is loaded where it is needed.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu import config
from pytocu.deferred import Deferred
from pytocu.errors import Loc
from pytocu.guards import Guard, Static, argument_key, guard, reader, static_key
from pytocu.record import Record
from pytocu.runtime import cache, plan_json, toolchain
from pytocu.runtime.fingerprint import NotWritable, Writer, code_digest, write_values
from pytocu.runtime.plan import Plan
from pytocu.runtime.plan_json import plan_from_json, plan_to_json
from pytocu.runtime.signature import Call

_host = Deferred("pytocu.runtime.host_cpu", "host")

_VERSION = 2
"""Of the text of a manifest."""

MOST = 16
"""Specialisations kept under one key; those used longest ago are dropped."""

refusals: dict[str, str] = {}
"""Functions this process could not keep, and why."""


class Kept(Record):
    """A specialisation from the disk."""

    plan: Plan
    guards: tuple[Guard, ...]
    binary: bytes


class Made(Record):
    """A specialisation that was compiled just now.

    Attributes
    ----------
    plan : Plan
    guards : sequence of Guard
    callees : sequence of (function, path or None)
        The functions that were read, and how another process finds them.
    backend : str
    code : str
        The key of the binary in the cache; empty where there are no kernels.
    """

    plan: Plan
    guards: Sequence[Guard]
    callees: Sequence[tuple[types.FunctionType, Any]]
    backend: str
    code: str


def key(function: types.FunctionType, call: Call, options: config.Options, target: str) -> str:
    """The key of the manifest for calls of this kind.

    Raises
    ------
    NotWritable
        The value of a static argument cannot be compared in another process.
    """
    writer = Writer()
    parameters: list[Any] = []
    for name, parameter in call.parameters:
        known = isinstance(parameter, Static)
        parameters.append([name, "static", writer.write(parameter.value)] if known else [name, str(parameter)])
    if target == "cpu":
        # Another machine may have the same name for its kind.
        target = _host()
        if not target:
            raise NotWritable("code for a CPU whose features cannot be read")
    python = f"{sys.implementation.cache_tag} {sys.flags.optimize}"
    versions = [str(_VERSION), str(plan_json.VERSION), config.build(), np.__version__, python]
    about = [*versions, target, options.backend or "", *options.fastmath, options.elements, options.trees]
    if config.enabled("lineinfo"):
        about.append("lineinfo")
    return cache.key(("manifest", code_digest(function.__code__), repr(about), repr(parameters)))


def load(key: str, function: types.FunctionType, call: Call) -> Iterator[Kept]:
    """The kept specialisations whose captured values are those of this process.

    Whether their facts about lengths hold is for the caller to see.
    """
    for kept in _specializations(cache.load(key)):
        if not _holds(kept, function, call):
            continue
        code = cache.load(kept["code"]) if kept["code"] else None
        if kept["code"] and code is None:
            continue
        functions = [function, *(reader(p, function)(call.values) for p in kept["callees"])]
        locs = {position: _read_loc(loc, functions) for position, loc in kept["locs"]}
        guards = tuple(_read_guard(g, function, call.values) for g in kept["guards"])
        yield Kept(plan_from_json(kept["plan"])._replace(locs=locs), guards, code.binary if code else b"")


def _specializations(entry: cache.Entry | None) -> list[dict[str, Any]]:
    if entry is None or entry.kind != "manifest":
        return []
    import json

    return json.loads(entry.text)


def _holds(kept: Mapping[str, Any], function: types.FunctionType, call: Call) -> bool:
    """Whether the compiler is the same, or there is none, and what was captured is what is there now."""
    if toolchain.installed(kept["backend"]) not in ("", kept["toolchain"]):
        return False
    paths = [*(path for _, _, path in kept["guards"]), *kept["callees"]]
    try:
        if write_values(paths, function, call.values) != kept["values"]:
            return False
        return _files([function, *(reader(p, function)(call.values) for p in kept["callees"])]) == kept["files"]
    except NotWritable:
        return False


def _files(functions: Sequence[types.FunctionType]) -> list[list[Any]]:
    """Where functions stand, if the code says so."""
    if not config.enabled("lineinfo"):
        return []
    return [[f.__code__.co_filename, f.__code__.co_firstlineno] for f in functions]


def _read_guard(kept: Sequence[Any], function: types.FunctionType, arguments: Sequence[Any]) -> Guard:
    name, kind, path = kept
    read = reader(path, function)
    return guard(name, read(arguments), read, argument_key if kind == "argument" else static_key, path)


def store(key: str, function: types.FunctionType, call: Call, made: Made, meta: Mapping[str, str]) -> None:
    """Keep a specialisation, in front of those under the same key.

    Raises
    ------
    NotWritable
        Something it depends on cannot be found or compared in another process.
    """
    for one in made.guards:
        if one.path is None:
            raise NotWritable(f"captured {one.name}, to which no name leads")
    for callee, path in made.callees:
        if path is None:
            raise NotWritable(f"the function {callee.__qualname__}, to which no name leads")
    functions = [function, *(callee for callee, _ in made.callees)]
    guards = [(g.name, "argument" if g.key_of is argument_key else "static", g.path) for g in made.guards]
    callees = [path for _, path in made.callees]
    kept = {
        "guards": guards,
        "callees": callees,
        "values": write_values([*(g.path for g in made.guards), *callees], function, call.values),
        "backend": made.backend,
        "toolchain": toolchain.installed(made.backend),
        "files": _files(functions),
        "plan": plan_to_json(made.plan),
        "locs": [(position, _written_loc(loc, functions)) for position, loc in made.plan.locs.items()],
        "code": made.code,
    }
    import json

    # Read back as JSON has it, with lists for tuples.
    kept = json.loads(json.dumps(kept))
    others = [k for k in _specializations(cache.load(key)) if k != kept]
    text = json.dumps([kept, *others[: MOST - 1]], separators=(",", ":"))
    cache.store(key, cache.Entry("manifest", dict(meta), text))


def refuse(name: str, reason: NotWritable) -> None:
    """Remember why a function is not kept."""
    if len(refusals) < 1000:
        refusals[name] = str(reason)


# Places in the source: lines count from the beginning of the function they are in.


def _written_loc(loc: Loc | None, functions: Sequence[types.FunctionType]) -> Any:
    if loc is None:
        return None
    owner = _owner(loc, functions)
    line = loc.line - functions[owner].__code__.co_firstlineno
    return [owner, line, loc.column, loc.end_column, loc.function, _written_loc(loc.caller, functions)]


def _owner(loc: Loc, functions: Sequence[types.FunctionType]) -> int:
    best, size = -1, 0
    for number, function in enumerate(functions):
        code = function.__code__
        last = _last_line(code)
        if code.co_filename == loc.file and code.co_firstlineno <= loc.line <= last:
            lines = last - code.co_firstlineno + 1
            # A function may stand inside another one.
            if best < 0 or lines < size:
                best, size = number, lines
    if best < 0:
        raise NotWritable(f"line {loc.line}, which is in none of the functions that were read")
    return best


def _last_line(code: types.CodeType) -> int:
    lines = [line for *_, line in code.co_lines() if line is not None]
    inner = [_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return max([code.co_firstlineno, *lines, *inner])


def _read_loc(kept: Any, functions: Sequence[types.FunctionType]) -> Loc:
    owner, line, column, end_column, name, caller = kept
    code = functions[owner].__code__
    outer = None if caller is None else _read_loc(caller, functions)
    return Loc(code.co_filename, code.co_firstlineno + line, column, end_column, name, outer)


__all__ = ["Kept", "Made", "NotWritable", "key", "load", "refusals", "refuse", "store"]
