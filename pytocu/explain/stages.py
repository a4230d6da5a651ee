"""A function at every stage of the road, as text: IR after each pass, the plan, the code of each backend.

In: a :class:`Subject`, which is a Python function that was lowered, or IR that was read from a file.
Nothing here needs a GPU or reads the cache.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pytocu.config import BACKENDS, DEFAULT_OPTIONS, Options
from pytocu.driver import Compiled, Lowered, choose_backend
from pytocu.errors import InternalError, PytocuError, closest, source_excerpt
from pytocu.explain.plan_text import plan_text
from pytocu.ir.core import Function, Inst, walk
from pytocu.ir.printer import print_function
from pytocu.ir.verifier import STAGE_RULES, verify
from pytocu.passes.context import PassContext, Target, parse_target
from pytocu.passes.pipeline import PIPELINE, History, pass_names, run_pipeline
from pytocu.planning import kernel_function, launches
from pytocu.record import Record

FIRST = "lower"
"""The step before every pass: what the front end made."""

FRONT_END = "The front end reads the Python source."

EMIT: dict[str, tuple[str, tuple[str, ...]]] = {
    "ir": ("", ("cuda:sm_90", "cpu")),
    "plan": ("", ("cuda:sm_90", "cpu")),
    "cuda": ("cuda_c", ("cuda:sm_90",)),
    "nvvm": ("nvvm", ("cuda:sm_90",)),
    "ptx": ("", ("cuda:sm_90",)),
    "llvm": ("llvm", ("cpu",)),
    "asm": ("", ("cpu", "cuda:sm_90")),
    "resources": ("", ("cuda:sm_90",)),
}
"""What can be printed: the backend that writes it, empty for the target's own, and the targets, the default first."""


class Subject(Record):
    """What is looked at.

    Attributes
    ----------
    function : Function
        As it stands before the pass `start`.
    options : Options
    name : str
        The user's name of the function.
    sizes : mapping
        Lengths that choose size classes.
    start : str
        The first pass to run; empty where none is left.
    first : str
        What made the function: ``lower``, or ``text`` for IR that was read.
    """

    function: Function
    options: Options
    name: str
    sizes: dict[str, int]
    start: str
    first: str = FIRST

    def context(self, target: Target, index_bits: int = 32) -> PassContext:
        """What passes know besides the function."""
        return PassContext(target, self.options.fastmath, index_bits, self.sizes)


class Stage(Record):
    """The function behind one pass.

    Attributes
    ----------
    name : str
        The pass, or ``lower``.
    sentence : str
        What the pass does.
    function : Function
    milliseconds : float
        Time of the pass.
    changed : bool
        Whether the pass made another function.
    names : mapping
        What kernels are called here that had a name of their own before launches of the same code got one.
    """

    name: str
    sentence: str
    function: Function
    milliseconds: float = 0.0
    changed: bool = True
    names: Mapping[str, str] = MappingProxyType({})


def subject_of(lowered: Lowered) -> Subject:
    """A lowered Python function as a subject."""
    return Subject(lowered.function, lowered.options, lowered.name, dict(lowered.sizes), pass_names()[0])


def subject_of_text(function: Function, start: str | None = None, options: Options = DEFAULT_OPTIONS) -> Subject:
    """IR that was read from a text as a subject.

    Parameters
    ----------
    start : str, optional
        The first pass to run; by default the first one whose work the text does not show.

    Raises
    ------
    PytocuError
        The IR breaks a rule of its level, or one that `start` relies on.
    """
    chosen = next_pass(function) if start is None else start
    if start and start in passes_behind(function):
        raise PytocuError(f"the function is behind the pass {start}: {next_in_words(function)}")
    rules: list[str] = []
    for name, step in zip(pass_names(), PIPELINE, strict=True):
        if name == chosen:
            break
        rules.extend(step.establishes)
    try:
        verify(function, rules)
    except InternalError as error:
        excerpt = source_excerpt(error.loc) if error.loc is not None else ""
        said = error.args[0] if excerpt else str(error)
        lines = [f"{said} (the pass {chosen} relies on it)" if start else said, *([excerpt] if excerpt else [])]
        raise PytocuError("\n".join(lines)) from None
    return Subject(function, options, function.name, {}, chosen, "text")


def next_in_words(function: Function) -> str:
    """Which pass is the first one whose work a function does not show."""
    following = next_pass(function)
    return f"{following} is the next one" if following else "none is left"


def passes_behind(function: Function) -> tuple[str, ...]:
    """The passes that take no function like this one any more: those before it got memory, and before it was scheduled."""
    names = pass_names()
    if function.level == "loop":
        return names
    if function.level == "array":
        return ()
    return names[: names.index("schedule" if function.fact("target") is None else "lower-loops")]


def next_pass(function: Function) -> str:
    """The first pass whose work cannot be seen in a function; empty where all is done.

    Examples
    --------
    >>> import pytocu
    >>> low = pytocu.jit(lambda x: x + 1).lower("f32[n]")
    >>> next_pass(low.function), next_pass(low.history(stop="schedule").records[-1].function)
    ('rooms', 'lower-loops')
    """
    if function.level == "array":
        return "bufferize" if any(i.op.name == "kernel" for i in function.body.insts) else pass_names()[0]
    if function.level == "loop":
        return ""
    if function.fact("target") is None:
        return "schedule"
    for step in PIPELINE[[s.name for s in PIPELINE].index("lower-loops") :]:
        if not all(STAGE_RULES[rule](inst) for rule in step.establishes for inst in walk(function.body)):
            return step.name
    return ""


def stages(
    subject: Subject, target: Target, index_bits: int = 32, stop: str = "", check: bool = True
) -> Iterator[Stage]:
    """The function as it came, and behind every pass up to `stop`; each verified, if `check` says so.

    A pass that fails raises behind the stages before it.
    """
    yield Stage(subject.first, FRONT_END if subject.first == FIRST else "As the text states it.", subject.function)
    if not subject.start or stop == subject.first:
        return
    names = pass_names()
    function = subject.function
    sentences = dict(zip(names, (p.doc for p in PIPELINE), strict=True))
    own: list[str] = []
    for name in names[names.index(subject.start) :]:
        history = History()
        run_pipeline(function, subject.context(target, index_bits), history, check=check, start=name, stop=name)
        (outcome,) = history.records
        function = outcome.function
        now = [launch.attr("name") for launch in launches(function)]
        own = own if len(own) == len(now) else now
        renamed = {old: new for old, new in zip(own, now, strict=True) if old != new}
        yield Stage(name, sentences[name], function, outcome.milliseconds, outcome.changed, renamed)
        if name == stop:
            return


def kernels_of(function: Function) -> dict[str, Inst]:
    """The kernels of a function by name, those in loops and branches of the host too; none before the pass ``fuse``.

    Kernels in loops of the host exist from the pass ``stages`` on.
    """
    found: dict[str, Inst] = {}
    for inst in walk(function.body):
        if inst.op.name in ("kernel", "launch"):
            found.setdefault(inst.attr("name"), inst)
    return found


def stage_text(function: Function, kernel: str = "", locs: bool = False) -> str:
    """The IR as text, of one kernel alone where it is named.

    Raises
    ------
    PytocuError
        There is no such kernel.
    """
    if not kernel:
        return print_function(function, locs)
    if function.level == "loop" and function.name == kernel:
        return print_function(function, locs)
    found = kernels_of(function)
    if kernel not in found:
        raise NoKernelError(no_kernel(kernel, list(found)))
    made = kernel_function(function, found[kernel])
    lowered = found[kernel].op.name == "launch" and all(STAGE_RULES["loops"](i) for i in function.body.insts)
    return print_function(Function(made.name, "loop" if lowered else "array", made.body, made.facts if lowered else ()), locs)


class NoKernelError(PytocuError):
    """A function has no kernel of this name; the text says which it has."""


def no_kernel(kernel: str, known: Sequence[str]) -> str:
    """The sentence about a kernel that does not exist."""
    if not known:
        return f"there is no kernel {kernel!r} here: kernels exist from the pass fuse on, and the function may have none"
    close = closest(kernel, known)
    return f"there is no kernel {kernel!r}: " + (f"did you mean {close}?" if close else f"choose from {', '.join(known)}")


def difference(before: str, after: str, names: tuple[str, str] = ("before", "after")) -> str:
    """A unified diff of two texts, with all lines.

    Examples
    --------
    >>> print(difference("a\\nb", "a\\nc", ("fold", "cse")))
    --- fold
    +++ cse
     a
    -b
    +c
    """
    old, new = before.splitlines(), after.splitlines()
    lines = difflib.unified_diff(old, new, *names, n=max(len(old), len(new)), lineterm="")
    return "\n".join(line for line in lines if not line.startswith("@@"))


def compiled(subject: Subject, target: Target, backend: str | None = None, index_bits: int = 32, kernel: str = "") -> Compiled:
    """Code for a target, or for one kernel of it.

    Raises
    ------
    PytocuError
        There is no such kernel (`NoKernelError`) or backend, or the IR is not at a level that has a plan.
    """
    if subject.function.level == "loop":
        raise PytocuError("a function at loop level is the inside of a kernel: it has no plan and is not compiled alone")
    *_, last = stages(subject, target, index_bits)
    host = last.function
    kernel = last.names.get(kernel, kernel)
    if kernel and kernel not in kernels_of(host):
        raise NoKernelError(no_kernel(kernel, list(kernels_of(host))))
    own = subject.options.backend
    chosen = choose_backend(target, backend or (own if own in BACKENDS[target.kind] else None))
    return Compiled(host, target, chosen, subject.name, kernel)


def code_text(made: Compiled, emit: str) -> str:
    """One form of the code: ``plan``, ``cuda``, ``nvvm``, ``llvm``, ``ptx``, ``asm`` or ``resources``.

    Raises
    ------
    BackendError
        A compiler or disassembler is missing.
    """
    match emit:
        case "plan":
            return plan_text(made.plan)
        case "ptx":
            return made.assembly.rstrip()
        case "asm":
            return (made.assembly if made.target.kind == "cpu" else made.sass).rstrip()
        case "resources":
            found = dict(zip(made.kernel_names, made.resources, strict=True))
            return "\n".join(f"{name}: {taken}" for name, taken in found.items())
        case _:
            return made.source.rstrip()


__all__ = [
    "EMIT", "FIRST", "FRONT_END", "NoKernelError", "Stage", "Subject", "code_text", "compiled", "difference", "kernels_of",
    "next_pass", "no_kernel", "parse_target", "stage_text", "stages", "subject_of", "subject_of_text",
]  # fmt: skip
