"""Bundles: functions compiled ahead of time, in a directory that needs neither compiler nor source.

``bundle.json`` says what the functions take and holds their plans; each binary is a file of its
own.  What a function captured was read when the bundle was built, and is part of its code.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytocu import config
from pytocu.errors import BackendError, Loc, UnsupportedError
from pytocu.guards import Static, argument_key, may_hold
from pytocu.ir.python_functions import FILE_MODULE
from pytocu.ir.types import parse_type
from pytocu.record import Record
from pytocu.runtime import host_cpu
from pytocu.runtime.cache import sha256
from pytocu.runtime.dispatcher import Dispatcher, Entry, Specialization
from pytocu.runtime.executable import Executable
from pytocu.runtime.plan import Plan
from pytocu.runtime.plan_json import plan_from_json, plan_to_json
from pytocu.runtime.signature import Call
from pytocu.trees import Layout, layout, settle, take_apart

INDEX = "bundle.json"
_VERSION = 4
_EMPTY: Mapping[str, Any] = {"functions": {}, "calls": {}, "steps": {}}


class Built(Record):
    """One specialisation that goes into a bundle.

    Attributes
    ----------
    call : Call
        What it was compiled for.
    arch : str
        ``sm_90``; empty for the CPU.
    plan : Plan
    binary : bytes
    held : tuple of (str, str)
        How arguments hold what the code was compiled for: :func:`pytocu.trees.layout`.
    """

    call: Call
    arch: str
    plan: Plan
    binary: bytes
    held: Layout = ()


class BundledFunction(Dispatcher):
    """A function of a bundle: called as the function it was built from, for the types that were built.

    Attributes
    ----------
    specializations : tuple of Specialization
        What was built.
    """

    __name__: str

    def __init__(
        self, name: str, signature: inspect.Signature, device: str | None, static: Sequence[str], calls: _Binaries | None = None
    ):
        super().__init__(name, signature, device, static)
        self.__name__ = name
        self._native = calls
        self._by_layout: dict[Layout, BundledFunction] = {}
        self._folder = ""

    def __reduce__(self) -> Any:
        # By reference: another process reads the bundle, which is at the same place.
        return _function_of, (self._folder, self.__name__)

    def __repr__(self) -> str:
        return f"<bundled {self._name}{self._signature}>"

    def _knows_default(self, name: str) -> bool:
        parameters = [text for _, entry in self._made for text in entry.types if text.startswith(f"{name}: ")]
        return any(text.startswith(f"{name}: static ") for text in parameters)

    def _call_code(self) -> bytes | None:
        return self._native.of_machine() if self._native is not None else None

    def _general(self, values: tuple[Any, ...]) -> Any:
        apart = take_apart(self._names, values, self._static) if any(map(may_hold, values)) else None
        if apart is None:
            return super()._general(values)
        found = layout(apart[0])
        if found not in self._by_layout:
            known = [*([()] if self._made else []), *self._by_layout]
            has = "\n    ".join(map(_layout_text, known))
            help = f"build it too, with --args; the bundle has\n    {has}"
            raise UnsupportedError(f"the bundle has no code for {self._name} where {_layout_text(found)}", None, help)
        return settle(self._by_layout[found](*apart[1]), apart[0], values)

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """What was built."""
        return (*super().specializations, *(one for made in self._by_layout.values() for one in made.specializations))

    def add(self, kept: Mapping[str, Any], folder: str, steps: _Binaries) -> None:
        """Put one specialisation of the index into the table; `steps` make loops of launches on a GPU."""
        held: Layout = tuple((name, text) for name, text in kept["held"])
        if held:
            kind = inspect.Parameter.POSITIONAL_ONLY
            parts = inspect.Signature([inspect.Parameter(name, kind) for name, _, _ in kept["parameters"]])
            if held not in self._by_layout:
                made = BundledFunction(self._name, parts, self._device, tuple(self._static), self._native)
                made._own_arguments = False
                self._by_layout[held] = made
            return self._by_layout[held].add({**kept, "held": ()}, folder, steps)
        kind = kept["kind"]
        parameters = [(name, Static(ast.literal_eval(t)) if known else parse_type(t)) for name, known, t in kept["parameters"]]
        call = Call((), on_gpu=kind == "cuda")
        for name, parameter in parameters:
            call.parameters.append((name, parameter))
            call.keys.append(argument_key(parameter.value) if isinstance(parameter, Static) else parameter)
        locs = {position: _read_loc(loc) for position, loc in kept["locs"]}
        plan = plan_from_json(kept["plan"])._replace(locs=locs)
        binaries = _Binaries(self._name, folder, kept["binaries"], kept["host"])
        width = plan.kernels[0].index_bits if plan.kernels else 32
        self._add(call.key, width, Entry(Executable(self._name, kind, plan, binaries, steps.of_machine), (), call.shown()))

    def _missing(self, call: Call) -> Entry:
        lines: list[str] = []
        for one in self.specializations:
            facts = [f for f in one.facts if not f.startswith("offsets fit")]
            lines.append(f"{one.target} ({', '.join(one.types)})" + (f" where {', '.join(facts)}" if facts else ""))
        lengths = ", ".join(f"{i.name} has the shape {i.shape}" for i in call.infos.values())
        asked = f"{self._name}({', '.join(call.shown())}) on {call.target}" + (f" where {lengths}" if lengths else "")
        raise UnsupportedError(
            f"the bundle has no code for {asked}",
            None,
            "build it too, with --args and --target; the bundle has\n    " + "\n    ".join(dict.fromkeys(lines)),
        )


def _layout_text(held: Layout) -> str:
    return ", ".join(f"{name} = {text}" for name, text in held) or "no argument holds others"


class Bundle:
    """The functions of a bundle, by name: ``bundle.f(x)`` or ``bundle["f"](x)``."""

    def __init__(self, folder: str, functions: Mapping[str, BundledFunction]):
        self._folder = folder
        self._functions = dict(functions)

    def __getitem__(self, name: str) -> BundledFunction:
        return self._functions[name]

    def __getattr__(self, name: str) -> BundledFunction:
        functions = self.__dict__.get("_functions", {})
        if name not in functions:
            raise AttributeError(f"the bundle has no function {name!r}; it has {', '.join(functions) or 'none'}")
        return functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __reduce__(self) -> Any:
        return load, (os.path.abspath(self._folder),)

    def __repr__(self) -> str:
        return f"<pytocu bundle {self._folder!r}: {', '.join(self._functions)}>"


class _Binaries:
    """Reads and checks a binary of a bundle when it is first needed."""

    def __init__(self, name: str, folder: str, files: Mapping[str, Sequence[str]], host: str):
        self.name, self.folder, self.files, self.host = name, folder, files, host

    def of_machine(self) -> bytes | None:
        """What was built for machines of this kind."""
        machine = platform.machine()
        return self(machine) if machine in self.files else None

    def __call__(self, arch: str) -> bytes:
        if not arch:
            missing = host_cpu.missing(self.host)
            if missing:
                listed = ", ".join(missing)
                raise BackendError(f"{self.name} was built for a CPU with {listed}, which this one lacks: build it here")
        chosen = arch if arch in self.files else _compatible(arch, self.files)
        if chosen is None:
            listed = ", ".join(self.files)
            raise BackendError(f"the bundle has {self.name} for {listed}, and this GPU is {arch}: build it for that")
        file, digest = self.files[chosen]
        data = _read(os.path.join(self.folder, file))
        if sha256(data).hexdigest() != digest:
            raise BackendError(f"{os.path.join(self.folder, file)} is damaged: build the bundle again")
        return data


def _compatible(arch: str, built: Mapping[str, Any]) -> str | None:
    """The newest architecture that was built and whose code a GPU runs: of its generation, and not above it."""
    number = _number(arch)
    known = [a for a in built if a.startswith("sm_") and a[3:].isdigit()]
    older = [a for a in known if _number(a) // 10 == number // 10 and _number(a) <= number]
    return max(older, key=_number, default=None)


def _number(arch: str) -> int:
    return int(arch.removeprefix("sm_").rstrip("af"))


def load(folder: str | os.PathLike[str]) -> Bundle:
    """Functions that ``pytocu build`` compiled ahead of time.

    Needs neither the compilers' packages nor the functions' source.  A bundle holds machine code
    that runs as you: take one only from somebody whose programs you would run.

    Parameters
    ----------
    folder : path
        What ``pytocu build -o`` wrote.

    Returns
    -------
    Bundle
        ``load(folder).f`` is the function `f`.

    Raises
    ------
    BackendError
        There is no bundle, it is damaged, or another version of pytocu built it.

    Examples
    --------
    >>> import pytocu
    >>> functions = pytocu.load("nowhere")
    Traceback (most recent call last):
    ...
    pytocu.errors.BackendError: this is no bundle: nowhere/bundle.json cannot be read (No such file or directory)
    """
    place = os.fspath(folder)
    functions: dict[str, BundledFunction] = {}
    index = _index(place)
    calls = _Binaries("the code of calls", place, index["calls"], "")
    steps = _Binaries("the code of loops", place, index["steps"], "")
    for name, about in index["functions"].items():
        kinds = inspect.Parameter
        parameters = [
            kinds(p, getattr(kinds, kind), default=kinds.empty if default is None else ast.literal_eval(default))
            for p, kind, default in about["signature"]
        ]
        function = BundledFunction(name, inspect.Signature(parameters), about["device"], about["static"], calls)
        for kept in about["specializations"]:
            function.add(kept, place, steps)
        function._folder = os.path.abspath(place)
        functions[name] = function
    return Bundle(place, functions)


def _function_of(folder: str, name: str) -> BundledFunction:
    """The function of a pickle; one object for all such pickles, until the bundle is built again."""
    return getattr(_loaded(folder, _read(os.path.join(folder, INDEX))[:64]), name)


@lru_cache(maxsize=16)
def _loaded(folder: str, digest: bytes) -> Bundle:
    return load(folder)


def _index(folder: str) -> dict[str, Any]:
    file = os.path.join(folder, INDEX)
    text = _read(file)
    digest, _, content = text.partition(b"\n")
    if digest.decode("ascii", "replace") != sha256(content).hexdigest():
        raise BackendError(f"{file} is damaged: build the bundle again")
    index = json.loads(content)
    if (index["format"], index["pytocu"]) != (_VERSION, config.VERSION):
        raise BackendError(f"{file} was built by pytocu {index['pytocu']}, and this is {config.VERSION}: build it again")
    return index


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise BackendError(f"this is no bundle: {file} cannot be read ({error.strerror})") from None


# Writing.


def write(
    folder: str | os.PathLike[str],
    name: str,
    signature: inspect.Signature,
    device: str | None,
    static: Sequence[str],
    built: Sequence[Built],
    calls: bytes | None,
    steps: bytes | None = None,
) -> int:
    """Add a function to a bundle, in place of one with its name; returns the bytes of its binaries.

    `calls` is this machine's native function that begins calls, `steps` are those that make loops of launches on a GPU.

    Raises
    ------
    UnsupportedError
        A static argument is no Python literal, so that a call could not be compared with it.
    BackendError
        The directory cannot be written, or holds something else.
    """
    place = os.fspath(folder)
    try:
        os.makedirs(place, exist_ok=True)
        index = _index(place) if os.path.exists(os.path.join(place, INDEX)) else _EMPTY
        functions, codes = dict(index["functions"]), {kind: dict(index[kind]) for kind in ("calls", "steps")}
        specializations, size = _written(place, built)
        functions[name] = {
            "signature": [[p.name, p.kind.name, _literal(p.default)] for p in signature.parameters.values()],
            "device": device,
            "static": sorted(static),
            "specializations": specializations,
        }
        for kind, code in (("calls", calls), ("steps", steps)):
            if code is not None:
                codes[kind][platform.machine()] = _write_binary(place, code)
        index = {"format": _VERSION, "pytocu": config.VERSION, "functions": functions, **codes}
        content = json.dumps(index, indent=1, sort_keys=True).encode()
        _replace(os.path.join(place, INDEX), sha256(content).hexdigest().encode() + b"\n" + content)
        used = {file for f in functions.values() for s in f["specializations"] for file, _ in s["binaries"].values()}
        used |= {file for of_machines in codes.values() for file, _ in of_machines.values()}
        for file in os.listdir(place):
            if file.endswith(".bin") and file not in used:
                os.unlink(os.path.join(place, file))
    except OSError as error:
        raise BackendError(f"the bundle {place} cannot be written: {error.strerror}") from None
    return size


def _written(place: str, built: Sequence[Built]) -> tuple[list[dict[str, Any]], int]:
    found: dict[str, dict[str, Any]] = {}
    size = 0
    for one in built:
        parameters = [_parameter(name, p) for name, p in one.call.parameters]
        plan = plan_to_json(one.plan._replace(tree=_importable(one.plan.tree)))
        kind = "cuda" if one.arch else "cpu"
        host = "" if one.arch else host_cpu.host()
        new = {"kind": kind, "held": one.held, "parameters": parameters, "plan": plan, "host": host, "binaries": {}}
        # Architectures share a plan where it is the same.
        entry = found.setdefault(json.dumps([kind, one.held, parameters, plan]), new)
        entry["locs"] = [(position, _written_loc(loc)) for position, loc in one.plan.locs.items()]
        if one.plan.kernels:
            entry["binaries"][one.arch] = _write_binary(place, one.binary)
            size += len(one.binary)
    return list(found.values()), size


def _write_binary(place: str, binary: bytes) -> tuple[str, str]:
    """The name of its file, and its digest."""
    digest = sha256(binary).hexdigest()
    _replace(os.path.join(place, f"{digest[:32]}.bin"), binary)
    return f"{digest[:32]}.bin", digest


def _importable(tree: Any) -> Any:
    """How results are arranged, with classes by the modules that programs import."""
    match tree:
        case ("named", "pytocu.trees:Made", ("str", path), *members):
            return ("named", "pytocu.trees:Made", ("str", path.removeprefix(FILE_MODULE)), *map(_importable, members))
        case ("named", path, *members):
            return ("named", path.removeprefix(FILE_MODULE), *map(_importable, members))
        case tuple():
            return tuple(map(_importable, tree))
        case _:
            return tree


def _replace(file: str, data: bytes) -> None:
    temporary = f"{file}.{os.urandom(4).hex()}.tmp"
    with open(temporary, "wb") as opened:
        opened.write(data)
    os.replace(temporary, file)


def _parameter(name: str, parameter: Any) -> tuple[str, bool, str]:
    if not isinstance(parameter, Static):
        return name, False, str(parameter)
    text = _literal(parameter.value)
    if text is None:
        help = "numbers, strings, None, and tuples, lists and dicts of these can be compared with a later call's"
        raise UnsupportedError(f"the value of {name} is {parameter.value!r}, which a bundle cannot hold", None, help)
    return name, True, text


def _literal(value: Any) -> str | None:
    """The text of a Python literal; None for anything else."""
    text = repr(value)
    try:
        same = argument_key(ast.literal_eval(text)) == argument_key(value)
    except (ValueError, SyntaxError):
        return None
    return text if same else None


# Places in the source: the name of the file, without the folder of the machine it was built on.


def _written_loc(loc: Loc) -> Any:
    outer = None if loc.caller is None else _written_loc(loc.caller)
    return [os.path.basename(loc.file), loc.line, loc.column, loc.end_column, loc.function, outer]


def _read_loc(kept: Any) -> Loc:
    file, line, column, end_column, function, outer = kept
    # A file of that name here is another one, and angle brackets keep its lines from being shown.
    return Loc(f"<{file}>", line, column, end_column, function, None if outer is None else _read_loc(outer))


__all__ = ["Built", "Bundle", "BundledFunction", "load", "write"]
