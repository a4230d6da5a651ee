"""Makes an :class:`~pytocu.explain.model.Explanation` of a lowered function."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType

from pytocu import config
from pytocu.driver import Compiled, Lowered, choose_backend
from pytocu.errors import BackendError
from pytocu.explain import schedules
from pytocu.explain.dtypes import as_in_source, wide_values
from pytocu.explain.lengths import below_zero, ints_of, shown_with
from pytocu.explain.loops import loops_in_words, reasons
from pytocu.explain.model import Access, Around, Bytes, Edge, Explanation, Kernel, LibraryCall, Refusal, SourceLine, Taken
from pytocu.explain.raised import raised_in_words
from pytocu.explain.repeated import MOVES, repeated
from pytocu.explain.source import indented, line_of
from pytocu.explain.stages import Stage, stages, subject_of
from pytocu.explain.traffic import added, bytes_of, bytes_read, memory_of, number_of, split_arguments
from pytocu.explain.work import MANY, is_count, unknown_loops
from pytocu.guards import Guard, Identity
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.dims import Dim, Fact, symbol, symbols
from pytocu.ir.library_names import numpy_name
from pytocu.ir.regions import bindings
from pytocu.ir.types import ArrayType, VectorType
from pytocu.passes import fuse
from pytocu.passes.context import Target, parse_target
from pytocu.planning import launches
from pytocu.trees import places_of


def explanation(
    lowered: Lowered,
    target: str | Target = "cuda:sm_90",
    backend: str | None = None,
    index_bits: int = 32,
    found: Mapping[str, Stage] | None = None,
) -> Explanation:
    """All there is to say about a function for a target; nothing is run.

    Parameters
    ----------
    lowered : Lowered
        Lengths of real arguments, or numbers in type texts, make numbers of bytes.
    target : str
        ``cpu``, or ``cuda:sm_90``, which needs no GPU.
    found : mapping, optional
        The function behind each pass for this target, where somebody has it.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> low = pytocu.jit(lambda x, y: np.hypot(x, y) * 2).lower("f32[1000]", "f32[1000]")
    >>> told = explanation(low)
    >>> told.kernels[0].bytes.number, told.kernels[0].schedule, told.refused
    (12000, 'pointwise', ())
    """
    parsed = parse_target(target)
    if parsed.kind == "cuda" and not parsed.arch:
        parsed = Target("cuda", "sm_90")
    chosen = choose_backend(parsed, backend or lowered.options.backend)
    if found is None:
        found = {s.name: s for s in stages(subject_of(lowered), parsed, index_bits, check=config.enabled("check"))}
    *_, last = found.values()
    made = Compiled(last.function, parsed, chosen, lowered.name)
    scheduled = found["schedule"].function
    taken, notes = _taken(made)
    ways = taken or [None] * len(launches(scheduled))
    around = _around(scheduled.body)
    sizes = {**lowered.sizes, **below_zero(scheduled)}
    finished = {i.attr("name"): i for i in launches(last.function)}
    kernels: tuple[Kernel, ...] = ()
    for launch, way in zip(launches(scheduled), ways, strict=True):
        code = last.names.get(launch.attr("name"), "")
        made_of = finished.get(code or launch.attr("name"), launch)
        kernel = _kernel(launch, parsed.kind, sizes, way, around.get(launch, ()), made_of)
        kernels += (kernel._replace(code=code),)
    kernels, calls, edges = _edges(scheduled, kernels, sizes)
    plan = made.plan
    told = Explanation(
        lowered.name,
        lowered.function.body.terminator.loc.file,
        tuple(f"{p.name}: {p.type}" for p in lowered.function.params),
        str(parsed),
        chosen,
        kernels,
        edges,
        _refused(found, kernels, edges, parsed),
        as_in_source(wide_values(lowered.function), lowered.options.trees),
        None,
        (*map(str, narrowest(plan.assumptions)), *(f"captured {g.name}" for g in lowered.guards if not _of_libraries(g))),
        None,
        (*raised_in_words(lowered.function), *notes),
        calls,
        loops_in_words(plan, parsed.kind == "cuda"),
        reasons(_before(found, "stages").function),
        repeated(scheduled, sizes),
        tuple((part, place) for part, place in places_of(lowered.options.trees) if part != place),
    )
    return shown_with(told, ints_of(scheduled))


def _of_libraries(guard: Guard) -> bool:
    """Whether a captured value is ``np``, ``range``, ``np.roll`` or the like, or code of a function, which nobody changes."""
    value = guard.key.object if isinstance(guard.key, Identity) else guard.same
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    return isinstance(value, (CodeType, ModuleType)) or (callable(value) and home in ("builtins", "numpy", "math"))


def _before(found: Mapping[str, Stage], name: str) -> Stage:
    """What the pass `name` was given."""
    before = next(iter(found.values()))
    for own, stage in found.items():
        if own == name:
            break
        before = stage
    return before


def narrowest(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Of what is known of one length that which says most, in their order.

    Examples
    --------
    >>> from pytocu.ir.dims import parse_dim, symbol
    >>> n = symbol("n")
    >>> [str(f) for f in narrowest([Fact(n, "<=", 64), Fact(n, "<=", 1024), Fact(n, ">", 4)])]
    ['n is at most 64', 'n is above 4']
    >>> [str(f) for f in narrowest([Fact(n, "!=", 1), Fact(n, "==", 3)])]
    ['n is 3']
    >>> text = "max(min(n, 2) - 1, 0)"
    >>> [str(f) for f in narrowest([Fact(parse_dim(text), "==", 1), Fact(n, "!=", 1)])]
    ['n is above 1']
    """
    facts = _plain(facts)
    kept: dict[tuple[Dim, str, int], Fact] = {}
    known = {(str(f.dim), f.relation, f.number) for f in facts}
    fixed = {fact.dim for fact in facts if fact.relation == "=="}
    for fact in facts:
        if fact.dim in fixed and fact.relation != "==":
            continue
        text = str(fact.dim)
        # Of a length that is above 0 what is known of `n - 1` is known of `max(n - 1, 0)`.
        if fact.number > 0 and text.startswith("max(") and (text[4:].removesuffix(", 0)"), fact.relation, fact.number) in known:
            continue
        bound = fact.relation in ("<=", ">")
        key = (fact.dim, fact.relation, 0 if bound else fact.number)
        other = kept.get(key)
        if other is None or (fact.number < other.number) == (fact.relation == "<="):
            kept[key] = fact
    return tuple(kept.values())


def _plain(facts: Sequence[Fact]) -> list[Fact]:
    """Facts about formulas of one length, as those that gradients and slices make, said of the length itself where one can."""
    about: dict[str, list[Fact]] = {}
    for fact in facts:
        names = symbols(fact.dim)
        if len(names) == 1 and fact.number <= _SHORT and "%" not in str(fact.dim):
            about.setdefault(*names, []).append(fact)
    said = list(facts)
    for name, own in about.items():
        length = symbol(name)
        if all(fact.dim == length for fact in own):
            continue
        holds = [n for n in (*range(4 * _SHORT), *_FAR) if all(fact.holds({name: n}) for fact in own)]
        least = len(_FAR) + 4 * _SHORT - len(holds)
        if len(holds) == 1:
            plain = [Fact(length, "==", holds[0])]
        elif holds[: len(holds) - len(_FAR)] == list(range(least, 4 * _SHORT)):
            plain = [Fact(length, ">", least - 1)] if least else []
        else:
            continue
        place = said.index(own[0])
        said = [f for f in said[:place] if f not in own] + plain + [f for f in said[place:] if f not in own]
    return said


_SHORT = 64
_FAR = (1 << 20, (1 << 20) + 1, (1 << 31) - 1)


def _taken(made: Compiled) -> tuple[list[Taken], tuple[str, ...]]:
    """What each launch takes of a GPU, or why that is not known."""
    if made.target.kind == "cpu":
        return [], ()
    try:
        return [Taken(*taken) for taken in made.resources], ()
    except BackendError as error:
        return [], (f"registers are not known: {error}",)


_BEGINS = "it puts what a loop begins with into memory of its own, which the steps change"


def _around(block: Block, outer: tuple[Around, ...] = ()) -> dict[Inst, tuple[Around, ...]]:
    """The loops and branches of the host that launches are in."""
    found: dict[Inst, tuple[Around, ...]] = {}
    for inst in block.insts:
        if inst.op.name == "launch":
            found[inst] = outer
        elif inst.op.kind == "region":
            at = line_of(inst.loc)
            for number, region in enumerate(inst.regions):
                holds = number == 0 if inst.op.name == "if_else" else None
                # A branch of the compiler's, as for an odd number of steps, has the line of its loop.
                own = holds is not None and at.text.startswith(("for ", "while "))
                found |= _around(region, outer if own else (*outer, Around(at.file, at.line, at.text, holds)))
    return found


def _has_vectors(launch: Inst) -> bool:
    return any(isinstance(v.type, VectorType) for i in walk(launch.regions[0]) for v in i.results)


def _kernel(
    launch: Inst,
    kind: str,
    sizes: Mapping[str, int],
    taken: Taken | None,
    within: tuple[Around, ...],
    finished: Inst,
) -> Kernel:
    region, name = launch.regions[0], launch.attr("name")
    each, rows, block = finished.attr("each", 1), bool(finished.attr("grid")), finished.attr("block", 0)
    inputs, outputs = split_arguments(launch)
    reads = tuple(
        Access(_array_name(value), param.name, str(param.type), bytes_read(region, param, sizes))
        for value, param in inputs
        if isinstance(param.type, ArrayType)
    )
    writes = tuple(Access(_array_name(v), memory_of(v).name or "out", str(v.type), bytes_of(v.type, sizes)) for v in outputs)
    moved = added([a.bytes for a in (*reads, *writes)])
    share, limit, supposed, many = None, "", "", 0
    loops = tuple(map(line_of, unknown_loops(launch.regions[0].insts))) if kind == "cuda" else ()
    if kind == "cuda":
        lengths = schedules.long_lengths(moved.formula, sizes) if moved.number is None else sizes
        names = [name for name in lengths if name not in sizes]
        supposed = " = ".join((*names, str(*{lengths[name] for name in names}))) if names else ""
        computed = schedules.operations(launch)
        other = max(lengths.values(), default=1)
        known = {**dict.fromkeys(symbols(computed), other), **lengths, **sizes}
        # An int of the call that is a length as well counts elements, and no steps.
        counts = [name for name in symbols(computed) if is_count(name) and loops]
        work = number_of(finished.attr("work") or 0, known)
        threads = None if work is None else work // each
        amount = number_of(moved.formula, known)

        def limited(steps: int) -> tuple[float | None, str]:
            return schedules.expected(amount, number_of(computed, known | dict.fromkeys(counts, steps)), threads)

        share, limit = limited(1)
        if counts and limit != "arithmetic":
            many = 1 + bisect.bisect_left(range(1, MANY), True, key=lambda steps: limited(steps)[1] == "arithmetic")
    return Kernel(
        name,
        _lines(launch),
        reads,
        writes,
        moved,
        launch.attr("schedule"),
        schedules.how(launch, kind, each, rows, _has_vectors(finished), block),
        schedules.why(launch, kind, sizes),
        _BEGINS if _only_begins(launch) else launch.attr("why", ""),
        launch.attr("work") or 0,
        taken,
        share,
        limit,
        supposed if share is not None else "",
        within,
        loops=loops,
        steps=many,
    )


def _only_begins(launch: Inst) -> bool:
    """Whether a kernel does nothing but copy, for a loop."""
    moves = all(i.op.kind in ("const", "control") or i.op.name in MOVES for i in launch.regions[0].insts)
    moves = moves and "copies" not in launch.attr("why", "")
    return moves and bool(launch.loc.line) and line_of(launch.loc).text.startswith(("for ", "while "))


def _lines(launch: Inst) -> tuple[SourceLine, ...]:
    """The lines of the user's own function and of those it calls, in order."""
    insts = list(walk(launch.regions[0]))
    # What only leads from memory to memory stands for a result, whose line says nothing of what is computed.
    computing = [i for i in insts if i.op.kind not in ("control", "const", "index") and i.op.name not in ("as_array", "dim")]
    found = {(loc.file, loc.line, loc.function) for i in computing or insts for loc in i.loc.chain() if loc.line}
    return indented(sorted(found))


def _array_name(value: Value) -> str:
    memory = memory_of(value)
    return memory.name or ("argument" if memory.inst is None else "out")


def _edges(
    scheduled: Function, kernels: tuple[Kernel, ...], sizes: Mapping[str, int]
) -> tuple[tuple[Kernel, ...], tuple[LibraryCall, ...], tuple[Edge, ...]]:
    """What flows between arguments, kernels, library calls and results, and the kernels and calls with where they read."""
    last: dict[Value, str] = {p: f"argument {p.name}" for p in scheduled.params}
    outer = {p: a for inst in walk(scheduled.body) if inst.op.kind == "region" for p, a in bindings(inst)}

    def base(value: Value) -> Value:
        """The memory, outside of the loops and branches that it is handed to."""
        found = memory_of(value)
        while found in outer and found not in last:
            found = memory_of(outer[found])
        return found

    edges: list[Edge] = []
    known: list[Kernel] = []
    calls: list[LibraryCall] = []
    described = iter(kernels)
    for launch in walk(scheduled.body):
        if launch.op.name == "library":
            name = numpy_name(launch.attr("function"))
            operands: list[Access] = []
            for value in launch.args:
                source = last.get(base(value), "")
                operands.append(Access(_array_name(value), value.name, str(value.type), bytes_of(value.type, sizes), source))
                if source:
                    node = f"library {len(calls)}"
                    edges.append(Edge(source, node, value.name, str(value.type), operands[-1].bytes))
            calls.append(LibraryCall(name, line_of(launch.loc), tuple(operands), tuple(str(v.type) for v in launch.results)))
            last.update(dict.fromkeys(launch.results, f"library {len(calls) - 1}"))
        if launch.op.name != "launch":
            continue
        kernel = next(described)
        node = f"kernel {kernel.name}"
        inputs, outputs = split_arguments(launch)
        arrays = [(value, param) for value, param in inputs if isinstance(param.type, ArrayType)]
        reads: list[Access] = []
        for (value, param), access in zip(arrays, kernel.reads, strict=True):
            source = last.get(base(value))
            reads.append(access._replace(source=source or ""))
            if source is not None:
                edges.append(Edge(source, node, access.name, str(param.type), access.bytes))
        known.append(kernel._replace(reads=tuple(reads)))
        for value in outputs:
            last[memory_of(value)] = node
    for number, value in enumerate(scheduled.body.terminator.args):
        source = last.get(memory_of(value))
        if source is not None:
            edges.append(Edge(source, f"result {number}", value.name, str(value.type), bytes_of(value.type, sizes)))
    return tuple(known), tuple(calls), tuple(edges)


def _refused(
    found: Mapping[str, Stage], kernels: tuple[Kernel, ...], edges: tuple[Edge, ...], target: Target
) -> tuple[Refusal, ...]:
    """The pairs of kernels that share bytes and are not one."""
    names = list(found)
    before = found[names[names.index("fuse") - 1]].function
    reasons = {(first, second): reason for first, second, reason in fuse.refusals(before, target)}
    by_name = {k.name: k for k in kernels}
    for one, two in itertools.pairwise(kernels):
        # Kernels that came after fusing: copies, and what keeps contents that would be lost.
        if two.why and one.within == two.within and not any(two.name in pair for pair in reasons):
            reasons[one.name, two.name] = _apart(one, two)
    refused: list[Refusal] = []
    for (first, second), reason in reasons.items():
        if first in by_name and second in by_name:
            cost = _cost(by_name[first], by_name[second], edges)
            refused.append(Refusal(first, second, reason, cost))
    # Loops and branches of the host are fused apart.
    for one, two in itertools.combinations(kernels, 2):
        if one.within and one.within == two.within and (one.name, two.name) not in reasons and two.why:
            refused.append(Refusal(one.name, two.name, _apart(one, two), _cost(one, two, edges)))
    return tuple(refused)


def _apart(one: Kernel, two: Kernel) -> str:
    """Why kernels of one loop or branch are two, as far as what is said of the second tells."""
    calls = [{a.source for a in kernel.reads if a.source.startswith("library ")} for kernel in (one, two)]
    reduced = [not kernel.why_schedule.startswith("nothing is reduced") for kernel in (one, two)]
    if calls[0] & calls[1] and reduced[0] != reduced[1]:
        return "one of them reduces or scans rows, which are shared by threads, and the other one goes element by element"
    return two.why


def _cost(first: Kernel, second: Kernel, edges: tuple[Edge, ...]) -> Bytes:
    """What one kernel would not move: what passes between them alone, and what both read."""
    parts: list[Bytes] = []
    for edge in edges:
        if (edge.source, edge.target) != (f"kernel {first.name}", f"kernel {second.name}"):
            continue
        parts.append(edge.bytes)
        written = next((w for w in first.writes if w.type == edge.type), None)
        readers = [e for e in edges if e.source == edge.source and e.type == edge.type]
        if written is not None and len(readers) == 1:
            # Nobody else reads it, so it would not be written.
            parts.append(written.bytes)
    for edge in edges:
        if edge.target != f"kernel {first.name}":
            continue
        twin = next((e for e in edges if e.source == edge.source and e.target == f"kernel {second.name}"), None)
        if twin is not None:
            parts.append(twin.bytes)
    return added(parts)
