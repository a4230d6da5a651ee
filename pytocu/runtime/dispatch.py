"""The first look at a call: from the arguments to the code that is ready for them.

A function is written for each jitted function, with its parameters, and it looks up the classes
of the arguments.  For each list of classes that is called often (arrays of one library, with
scalars and static values) another is written that takes what identifies an *exact signature*
(dtypes, shapes, strides, devices), finds the ready program in one table and runs it.  Where the
exact signature is new, what identifies the *class of sizes* (dtypes, numbers of axes, layouts)
finds programs that were used before, and the one whose facts hold for the new sizes is
remembered.  Everything that had to be decided for the signature was decided when the entry was
made; what may change without changing the signature (captured values) is looked at again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from pytocu.errors import PytocuError
from pytocu.guards import Default
from pytocu.record import Record
from pytocu.runtime.libraries import is_array_class, key_globals, library_of, templates_of
from pytocu.runtime.program import Program
from pytocu.runtime.results import no_memory

TABLE_SIZE = 4096
"""Exact signatures remembered for one list of argument classes; a full table starts anew."""

SCALARS = (bool, int, float, complex)
"""Classes of Python scalars, whose values are no part of a signature."""


def write_entry(
    name: str,
    qualname: str,
    signature: inspect.Signature,
    find: Callable[[tuple[type, ...]], Callable[..., Any] | None],
    general: Callable[[tuple[Any, ...]], Any],
    keeps_traceback: Callable[[PytocuError], bool],
    known_defaults: bool,
) -> Callable[..., Any]:
    """What a jitted function runs when it is called: same parameters, so Python itself binds arguments.

    Parameters
    ----------
    name, qualname : str
        The user's names of the function; Python names the second when arguments are missing.
    signature : inspect.Signature
        Its parameters, none of them variadic.
    find : callable
        ``find(classes)``: the function for these classes, or None.
    general : callable
        ``general(arguments)``: the way that works for every call.
    keeps_traceback : callable
        Whether frames of pytocu stay in the traceback of an error.
    known_defaults : bool
        Whether a number that is left out is a :class:`Default`.
    """
    parameters = list(signature.parameters.values())
    taken = {p.name for p in parameters}

    def free(word: str) -> str:
        return free(f"{word}_") if word in taken else word

    words = ("find", "general", "call", "type", "error", "Error", "keeps_traceback", "MemoryErrors", "no_memory")
    names = {n: free(n) for n in words}
    listed = ", ".join(p.name for p in parameters)
    classes = "".join(f"{names['type']}({p.name}), " for p in parameters)
    lines = [
        f"def entry({_parameter_list(parameters)}):",
        "    try:",
        f"        {names['call']} = {names['find']}(({classes}))",
        f"        if {names['call']} is None:",
        f"            return {names['general']}(({listed}{',' if listed else ''}))",
        f"        return {names['call']}({listed})",
        f"    except {names['Error']} as {names['error']}:",
        f"        if {names['keeps_traceback']}({names['error']}):",
        "            raise",
        f"        raise {names['error']}.with_traceback(None) from None",
        f"    except {names['MemoryErrors']} as {names['error']}:",
        f"        raise {names['no_memory']}({names['error']})",
    ]
    values = {"find": find, "general": general, "type": type, "Error": PytocuError, "keeps_traceback": keeps_traceback}
    # PyTorch's error derives from RuntimeError.
    values |= {"MemoryErrors": (MemoryError, RuntimeError), "no_memory": no_memory}
    namespace = {names[n]: value for n, value in values.items()}
    exec(compile("\n".join(lines), f"<pytocu entry of {name}>", "exec"), namespace)
    entry = namespace["entry"]
    entry.__name__, entry.__qualname__ = name, qualname
    entry.__defaults__, entry.__kwdefaults__ = _defaults(parameters, known_defaults)
    return entry


def _parameter_list(parameters: Sequence[inspect.Parameter]) -> str:
    words: list[str] = []
    for number, parameter in enumerate(parameters):
        after = parameters[number + 1] if number + 1 < len(parameters) else None
        starts_keywords = parameter.kind is parameter.KEYWORD_ONLY
        if starts_keywords and (not number or parameters[number - 1].kind is not parameter.KEYWORD_ONLY):
            words.append("*")
        words.append(parameter.name)
        if parameter.kind is parameter.POSITIONAL_ONLY and (after is None or after.kind is not parameter.POSITIONAL_ONLY):
            words.append("/")
    return ", ".join(words)


def _defaults(parameters: Sequence[inspect.Parameter], known: bool) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
    given = [(p, left_out(p.default) if known else p.default) for p in parameters if p.default is not p.empty]
    positional = tuple(default for p, default in given if p.kind is not p.KEYWORD_ONLY)
    return positional or None, {p.name: default for p, default in given if p.kind is p.KEYWORD_ONLY} or None


def left_out(default: Any) -> Any:
    """What stands for an argument that is left out: Python's numbers tell that they are."""
    return Default(default) if type(default) in SCALARS else default


class Ready(Record):
    """A program that may run.

    Attributes
    ----------
    program : Program
        See `runtime.program`.
    holds : tuple of callable
        ``holds(arguments)``: the guards on what the code captured.
    counted : callable
        ``counted(run, key, table, holds)``: what stands in the table for a signature that was not called yet; see
        `runtime.native_calls`.
    """

    program: Program
    holds: tuple[Callable[[Sequence[Any]], bool], ...] = ()
    counted: Callable[..., Callable[..., Any]] = lambda run, key, table, holds: run


CALLS_BEFORE = 100
"""Calls of one signature by Python before native code may make them."""


def count_calls(
    promote: Callable[[Any, Sequence[Any]], None], run: Callable[..., Any], key: Any, table: dict[Any, Any], holds: Any
) -> Callable[..., Any]:
    """`run` as it stands in the table until it has been called often; then ``promote(key, given)`` is."""
    left = CALLS_BEFORE

    def counted(*given: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            if key in table:
                table[key] = run, holds
            promote(key, given)
        return run(*given)

    return counted


class Dispatch(Record):
    """The written function for one list of classes, and its tables.

    Attributes
    ----------
    keys : callable
        The exact signature of arguments, the class of sizes, and what a program for them is called with.
    exact : dict
        From the exact signature to the function that runs the program for it, and the guards.
    classes : dict
        From the class of sizes to the programs, the newest first.
    """

    library: str
    call: Callable[..., Any]
    keys: Callable[..., tuple[Any, Any, tuple[Any, ...]]]
    exact: dict[Any, tuple[Callable[..., Any], tuple[Callable[[Sequence[Any]], bool], ...]]]
    classes: dict[Any, tuple[Ready, ...]]

    def remember(self, arguments: Sequence[Any], ready: Ready) -> Callable[[], Any] | None:
        """Keep the program for the class of these arguments' signature, in front of others.

        Returns
        -------
        callable or None
            Makes the call; None where the program has refused it before or does so now, which the general way puts into words.
        """
        exact, facts, given = self.keys(*arguments)
        refused = self.exact.pop(exact, None)
        if len(self.classes) >= TABLE_SIZE:
            self.classes.clear()
        others = tuple(r for r in self.classes.get(facts, ()) if r.program is not ready.program)
        self.classes[facts] = (ready, *others)
        run = None if refused else ready.program.bind(*given)
        if run is None:
            # The next call takes the first program of the class that holds.
            return None
        if len(self.exact) >= TABLE_SIZE:
            self.exact.clear()
        self.exact[exact] = ready.counted(run, exact, self.exact, ready.holds), ready.holds
        return partial(run, *given)


def write_dispatch(
    classes: Sequence[type],
    static: Sequence[bool],
    slow: Callable[[tuple[Any, ...]], Any],
    key_of: Callable[[Any], Any],
    alone: bool = False,
    settle: Callable[[Any, tuple[Any, ...]], Any] | None = None,
) -> Dispatch | None:
    """The function for a list of argument classes; None where every call goes the general way.

    Parameters
    ----------
    classes : sequence of type
        Exact classes of the arguments.
    static : sequence of bool
        Which arguments the code is compiled for the value of.
    slow : callable
        ``slow(arguments)``: the general way, which may remember what it finds.
    key_of : callable
        What identifies a static value.
    alone : bool
        Whether no argument is an array, so that results are NumPy's.
    settle : callable, optional
        ``settle(result, arguments)``: the result with the arguments in it that are returned.
    """
    library = "numpy" if alone else library_of(classes)
    if library is None:
        return None
    templates = templates_of(library)
    made = _Parts(tuple(f"a{n}" for n in range(len(classes))))
    for n, (one, fixed) in enumerate(zip(classes, static, strict=True)):
        if not fixed and is_array_class(one):
            made.array(templates, n)
        elif fixed and one is not type(None) and one is not Default:
            made.keys.append(f"key_of(a{n})")
            made.facts.append(f"key_of(a{n})")
            made.settles = made.settles or (settle is not None and one not in SCALARS and one is not str)
        elif not fixed and one not in SCALARS and not issubclass(one, np.generic):
            # An array that only the general way can read.
            return None
        elif one is int:
            # Larger Python ints are constants of the code, so they identify a specialisation.
            made.judge.append(f"not -9223372036854775808 <= a{n} < 9223372036854775808")
        if not fixed:
            made.passed.append(f"a{n}")
            made.passed.extend(made.given.get(n, ()))
    # A full table is emptied and not thinned out: which entries are in use is not recorded.
    table: dict[Any, Any] = {}
    known: dict[Any, tuple[Ready, ...]] = {}
    namespace: dict[str, Any] = {
        "table": table,
        "find": table.get,
        "known": known.get,
        "slow": slow,
        "key_of": key_of,
        "settle": settle,
        **key_globals(library),
    }
    exec(_code_of(made.text()), namespace)
    return Dispatch(library, namespace["call"], namespace["keys"], table, known)


@lru_cache(maxsize=256)
def _code_of(text: str) -> CodeType:
    """Functions of arguments of the same classes are dispatched by the same text."""
    return compile(text, "<pytocu dispatch>", "exec")


class _Parts:
    """The pieces of a dispatching function."""

    def __init__(self, names: tuple[str, ...]):
        self.listed = f"{', '.join(names)}{',' if names else ''}"
        self.judge: list[str] = []
        self.reads: list[str] = []
        self.keys: list[str] = []
        self.facts: list[str] = []
        self.passed: list[str] = []
        self.given: dict[int, list[str]] = {}
        self.settles = False

    def array(self, library: Any, n: int) -> None:
        if library.judge:
            self.judge.append(library.judge.format(n=n))
        self.reads.extend(template.format(n=n) for template in library.reads)
        self.keys.extend(template.format(n=n) for template in library.exact)
        self.facts.extend(template.format(n=n) for template in library.facts)
        self.given[n] = [template.format(n=n) for template in library.given]

    def text(self) -> str:
        key, facts = (f"({''.join(f'{part}, ' for part in parts)})" for parts in (self.keys, self.facts))
        listed, passed = f"({self.listed})", ", ".join(self.passed)
        given = f"({passed},)" if passed else "()"
        judge = [f"    if {' or '.join(self.judge)}: return slow({listed})"] if self.judge else []
        reads = [f"    {line}" for line in self.reads]
        result = f"settle(result, {listed})" if self.settles else "result"
        return "\n".join(
            [
                f"def keys{listed}:",
                *reads,
                f"    return {key}, {facts}, {given}",
                "",
                f"def call{listed}:",
                *judge,
                *reads,
                f"    key = {key}",
                "    found = find(key)",
                "    if found is None:",
                f"        for ready in known({facts}, ()):",
                f"            if ready.program.suits({passed}) and all([h({listed}) for h in ready.holds]):",
                f"                run = ready.program.bind({passed})",
                f"                if run is None: return slow({listed})",
                f"                if len(table) >= {TABLE_SIZE}: table.clear()",
                "                found = table[key] = ready.counted(run, key, table, ready.holds), ready.holds",
                "                break",
                "        else:",
                f"            return slow({listed})",
                "    run, guards = found",
                "    for holds in guards:",
                f"        if not holds({listed}):",
                f"            return slow({listed})",
                f"    result = run({passed})",
                f"    return slow({listed}) if result is NotImplemented else {result}",
            ]
        )
