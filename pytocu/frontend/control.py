"""Loops and branches whose course is known only at run time: instructions with regions.

A body is read once for all steps, with a parameter for everything that goes from one step to the next: names
that it binds again, and memory that it changes.  Which these are is found by reading; the body is read again
until none is missing.  ``break``, ``continue`` and ``return`` become flags: what follows a branch that may
leave is read as part of the side that goes on, so every way ends in one of them, and what a branch hands on says in
which (`Flow`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError
from pytocu.frontend.aliases import note_unnamed
from pytocu.frontend.flags import condition, negated
from pytocu.frontend.frames import Flag, Flow, Frame, Raised, Returned
from pytocu.frontend.marks import ranks_of_sides
from pytocu.frontend.merging import Merge, Side, merge_flows, merge_memories, merge_names, note_choices
from pytocu.frontend.operators import truth
from pytocu.frontend.perhaps import telling
from pytocu.frontend.raising import reached, refuse, refuse_if, shows_data
from pytocu.frontend.ranges import Facts, facts_of, knowing, names_given, note, outside_of
from pytocu.frontend.state import State, wanted_at
from pytocu.frontend.values import Context, Masked, as_strong, as_value, decides
from pytocu.ir import regions
from pytocu.ir.core import OPS, Inst, Value, make_attrs, named, walk
from pytocu.ir.dims import Dim, DimLike, is_number, symbols
from pytocu.ir.types import WEAK_BOOL, Type, WeakType, shape_of

_begin = Deferred("pytocu.frontend.counted", "begin")
_order_of = Deferred("pytocu.frontend.layouts", "order_of")
_renumbered = Deferred("pytocu.sentences", "renumbered")


def choice(frame: Frame, test: Flag, yes: Callable[[], Any], no: Callable[[], Any], what: str) -> Any:
    """``yes if test else no``, of which only one is computed; `what` names it."""
    if isinstance(test, bool):
        return yes() if test else no()
    signal = branch(frame, test, lambda: Returned(yes(), what=what), lambda: Returned(no(), what=what))
    assert isinstance(signal, Returned)
    return note_unnamed(frame.context, signal.value)


def connected(frame: Frame, word: str, first: Value, rest: Callable[[], Any]) -> Any:
    """The truth of ``first and rest()`` or ``first or rest()``; the rest is computed only where Python looks at it."""
    context = frame.context
    kinds: list[Type] = []

    asked = [condition(context, first)]
    implied: list[tuple[Facts, Facts]] = [facts_of(context, asked[0])]

    def others() -> Any:
        value = rest()
        made = condition(context, value) if decides(value) else as_value(context, truth(context, value, f"'{word}'"))
        if not isinstance(first.type, WeakType):
            # Computed where the first one is: the host would have to read that to know which one it is.
            made = as_strong(context, made)
        kinds.append(made.type)
        implied.append(facts_of(context, made))
        asked[1:] = [made]
        return made

    def known() -> Any:
        if not kinds:
            # The rest raises where Python looks at it.
            return word == "or"
        made = context.builder.const(word == "or", WEAK_BOOL)
        return made if kinds[-1] == WEAK_BOOL else as_strong(context, made)

    if word == "and":
        made = choice(frame, first, others, known, f"'{word}'")
        facts = ((*implied[0][0], *implied[-1][0]), ())
    else:
        made = choice(frame, as_value(context, negated(context, condition(context, first))), others, known, f"'{word}'")
        facts = ((), (*implied[0][1], *implied[-1][1]))
    if isinstance(made, Value):
        context.implied[made] = facts
        parts = tuple((part, word == "and") for part in asked)
        context.parts_of[made] = (parts, ()) if word == "and" else ((), parts)
    return made


def branch(frame: Frame, test: Value, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """Read both sides of a branch, each of which gives a signal; the signal of the whole."""
    context = frame.context
    builder = context.builder
    loc = builder.loc
    test = condition(context, test)
    if (lists := wanted_at(frame, loc, branch=True)) and not context.counting:
        # A branch of a step that is written before a loop is read in the loop as well.
        _begin(frame, lists)
    before = State(frame)
    sides: dict[bool, Side] = {}
    asked: list[Masked] = []
    gained: dict[bool, dict[int, tuple[Any, ...]]] = {}
    facts_of_sides = facts_of(context, test)
    # A side that was found to raise is read first, so that the other one is read once.
    for taken in (False, True) if loc in context.raising else (True, False):
        with builder.nested() as insts, knowing(context, facts_of_sides[not taken]), telling(context, test, taken):
            flow, found = reached(context, yes if taken else no)
            builder.loc = loc
            if found is None:
                gained[taken] = before.gained()
                before.refuse_changed_containers("a branch", gained[taken])
            else:
                before.restore_containers()
            side = Side(insts, flow, State(frame, before))
        asked += before.asked()
        before.go_back()
        if found is not None and context.elements is not None:
            assert found.failing is not None
            side = Side(insts, Flow(returned=True, value=found.failing, loc=found.failing.loc), State(frame, before))
        elif found is not None and not asked:
            if not taken:
                context.raising.add(loc)
            with builder.at(loc):
                _refuse(frame, test, taken, insts, found)
            # There is no other way from here on, and so the condition is known.
            note(context, facts_of_sides[taken])
            flow, last = reached(context, no if taken else yes)
            if last is None:
                return flow.signal()
            if not last.written:
                refuse(context, last)
            raise Raised(last.error, last.failing, last.stated, written=True)
        sides[taken] = side
    if asked:
        with builder.at(loc):
            for value in asked:
                as_value(context, value)
        return branch(frame, test, yes, no)
    with builder.at(loc):
        _refuse_other_keys(before, gained)
        return _joined(frame, test, before, [sides[True], sides[False]])


def _refuse_other_keys(before: State, gained: Mapping[bool, Mapping[int, tuple[Any, ...]]]) -> None:
    """Refuse that a dict gets keys on one side of a branch, or others than on the other side, or in another order."""
    for keys in gained.values():
        for number, own in keys.items():
            if any(other.get(number) != own for other in (gained.get(True, {}), gained.get(False, {}))):
                before.containers[number][0].update(dict.fromkeys(own))
                before.refuse_changed_containers("a branch")


def _refuse(frame: Frame, test: Value, taken: bool, insts: list[Inst], found: Raised) -> None:
    """Let the program raise an exception where a condition is `taken`, behind what that side does before it raises."""
    context = frame.context
    if not any(map(may_fail, insts)) and not shows_data(found, insts):
        # What the text of the exception shows.
        context.builder.insts.extend(_of_the_host(insts))
        refuse_if(context, test, taken, found)
        return
    if not found.written:
        known = list(context.read)
        with context.builder.behind(insts):
            refuse(context, found)
        # What the text shows is read on that side only.
        context.read = known
    here = State(frame)
    sides = [Side(insts, Flow(), here), Side([], Flow(), State(frame, here))]
    _joined(frame, test, here, sides if taken else sides[::-1])


def _of_the_host(insts: Sequence[Inst]) -> list[Inst]:
    """What is computed of Python's numbers, and of none that is read from memory."""
    found: list[Inst] = []
    gone: set[Value] = set()
    names: set[str] = set()
    for inst in insts:
        stays = inst.op.name != "read_length" and all(isinstance(type, WeakType) for type in inst.types)
        if stays and gone.isdisjoint(inst.args) and names.isdisjoint(n for _, value in inst.attrs for n in named(value)):
            found.append(inst)
        else:
            gone.update(inst.results)
            names.update(names_given(inst))
    return found


def _joined(frame: Frame, test: Value, before: State, sides: list[Side]) -> Any:
    """The instruction for two sides; names and memories are what they are behind it."""
    context = frame.context
    for side in sides:
        side.insts[:] = _block_parts(context, side)
    merge = Merge(context, test, sides)
    try:
        merge_names(merge, before, sides)
        merge_memories(merge, before, sides)
        signal = merge_flows(merge, test, sides)
    except CompileError:
        # Names wait for results that there are none of, and what stands behind the branch is read for what is wrong in it.
        before.go_back()
        raise
    first, second = (_block_parts(context, side) for side in sides)
    if not merge.pairs and context.elements is None and any(may_fail(inst) for side in sides for inst in side.insts):
        # Nobody uses what the sides compute, but they may not be able to.
        nothing = context.builder.const(True, WEAK_BOOL)
        merge.add([(nothing, nothing)], "", lambda results: None)
    pairs = merge.pairs
    # Writes into the sides, as long as they are no regions yet.
    ranks = ranks_of_sides(context, pairs, (first, second))
    yielded = [[p[k] for p in (*pairs, *ranks.values())] for k in (0, 1)]
    shared: dict[Value, None] = {}
    for insts, results in zip((first, second), yielded, strict=True):
        shared.update(dict.fromkeys(regions.captured(insts, (), results)))
    if not pairs:
        return signal() if callable(signal) else signal
    builder = context.builder
    blocks = [
        regions.closed(insts, (), results, list(shared), builder.loc)
        for insts, results in zip((first, second), yielded, strict=True)
    ]
    types = [regions.bare(a.type) for a, _ in (*pairs, *ranks.values())]
    attrs = {"marks": tuple((k, len(pairs) + place) for place, k in enumerate(ranks))} if ranks else {}
    made = builder.whole("if_else", (test,), list(shared), attrs, types, blocks)
    for result, name in zip(made.results, merge.names, strict=False):
        result.name = name if name.isidentifier() else ""
    for put in merge.put:
        put(list(made.results))
    _hand_orders(merge, made, pairs)
    # Results are what memories hold behind the branch: the changes in it are none of theirs.
    builder.may_be(merge.memories())
    note_choices(merge)
    return signal() if callable(signal) else signal


def _hand_orders(merge: Merge, made: Inst, pairs: Sequence[tuple[Value, Value]]) -> None:
    """State in which order new arrays of a branch lie, where that is the same on both sides.

    What the front end stated of arrays on a side does not follow from the instructions of the side.
    """
    context, builder = merge.context, merge.context.builder
    for result, pair in zip(made.results, pairs, strict=False):
        if shape_of(result.type) and result not in builder.memory_of:
            looked_at = [value for value in pair if value not in merge.blanks] or pair
            (ranks, taken), (other, others) = (_order_of(context, value) for value in (looked_at[0], looked_at[-1]))
            same = ranks is not None and ranks == other
            builder.orders.setdefault(result, (ranks, taken | others) if same else (None, frozenset()))


def may_fail(inst: Inst) -> bool:
    """Whether Python may raise where an instruction stands, or lengths are compared, now or when it is known which meet."""
    compared = inst.op.name == "check" or sum(bool(shape_of(a.type)) for a in inst.args) > 1
    return compared or regions.raises(inst) or regions.requires(inst) or bool(inst.regions)


def _block_parts(context: Context, side: Side) -> list[Inst]:
    """The instructions of a side, with what is checked there: a side that is not taken raises nothing."""
    stays = checks_of(context, side.insts)
    return hoist(context, side.insts, {r for i in side.insts for r in i.results}, stays=stays)


def checks_of(context: Context, insts: Sequence[Inst]) -> set[Inst]:
    """The checks that stay in a region, which may not be run; lengths that elements meet are the call's."""
    checks = (i for i in insts if i.op.name == "check")
    return {i for i in checks if context.elements is None or i.attr("kind") == "index" or any(map(is_number, mentioned(i)))}


def hoist(
    context: Context,
    insts: Sequence[Inst],
    own: set[Value],
    steps: tuple[str, DimLike, bool] | None = None,
    stays: Set[Inst] = frozenset(),
    once: DimLike | None = None,
) -> list[Inst]:
    """Put what the call checks, and names of numbers, before a region; what is left.

    Parameters
    ----------
    insts : sequence of Inst
        Of the region.
    own : set of Value
        What is made in the region, and its parameters.
    steps : (str, DimLike, bool), optional
        Of a loop: the name of a step's number, how many there are, and whether the last comes first.
        Every index is compared in as many steps as there are.
    stays : set of Inst
        What is left in any case.
    once : int or Dim, optional
        Of a loop: 1 where it has a step, and 0 where it has none.  Lengths that meet are compared before it then, too.
    """
    inside: list[Inst] = []
    met: set[tuple[DimLike, DimLike]] = set()
    names: set[str] = set() if steps is None else {steps[0]}
    for inst in insts:
        index = inst.op.name == "check" and inst.attr("kind") == "index"
        if index and steps is not None and inst not in stays:
            attrs = dict(inst.attrs) | {"shapes": (steps, *inst.attr("shapes"))}
            counted = Inst(inst.op, (), make_attrs(attrs), (), (), inst.loc)
            # What is known in the region only keeps it there.
            if names & mentioned(counted):
                inside.append(inst)
            else:
                context.builder.insts.append(counted)
            continue
        first = inst.op.name in ("check", "assume", "writable") and not names & mentioned(inst)
        # Each step gives its warning.
        first = first and inst.attr("kind", "") != "warn"
        # Whether an exception is raised is asked where the program does.
        ahead = inst.op.name == "bind" and not names & named(inst.attr("length"))
        if ahead and not inst.attr("names")[0].startswith(regions.RAISES):
            with context.builder.at(inst.loc):
                number = outside_of(context, inst.args[0], own, names)
                if number is not None:
                    context.builder.inst("bind", (number,), dict(inst.attrs))
                    continue
        if not first or inst in stays:
            if once is not None and context.elements is None:
                # In the order of the program, which says what a run raises.
                compared = [check for check in _met(inst, met) if not names & mentioned(check)]
                context.builder.insts.extend(made for check in compared for made in _only(check, once))
            inside.append(inst)
            # A name that a side of a branch gives is known behind it, too.
            inner = (one for region in inst.regions for one in walk(region))
            names |= {name for one in (inst, *inner) for name in names_given(one)}
            continue
        context.builder.insts.extend(_only(inst, 1 if once is None else once))
        if inst.op.name == "writable":
            context.builder.written[inst.args[0]] = None
    return inside


def _met(inst: Inst, known: set[tuple[DimLike, DimLike]]) -> list[Inst]:
    """What is compared of numbers of run time that meet other lengths, or each other; pairs are known from there on."""
    if inst.op.name == "check":
        return []
    made: list[Inst] = []
    for pair in regions.meetings(inst):
        if any(map(is_number, named(pair))) and pair not in known:
            known |= {pair, (pair[1], pair[0])}
            made.append(regions.comparison(inst, pair))
    return made


def _only(inst: Inst, once: DimLike) -> list[Inst]:
    """A check that holds where `once` is 0; what is not about numbers of run time is no such check."""
    if once == 1 or inst.op.name != "check" or not any(map(is_number, mentioned(inst))):
        return [inst]
    attrs = dict(inst.attrs)
    first, *others = inst.attr("dims")
    made: list[Inst] = []
    match inst.attr("kind"):
        case "index":
            attrs["dims"] = (first * once, others[0] * once + 1 - once, *others[1:])
        case "equal" | "fits" | "meets":
            error, sentence, *parts = inst.attr("shapes")
            # The sentence tells of the lengths themselves, behind what is compared.
            attrs["shapes"] = (error, _renumbered(sentence, 2), *parts)
            attrs["dims"] = (first * once, others[0] * once, first, *others)
        case str(kind) if kind == "squeeze" or kind.startswith("empty "):
            attrs["dims"] = (first * once + 1 - once,)
        case _:
            attrs["dims"] = (first * once, others[0] * once)
    for dim in (dim for pair in regions.meetings(inst) for dim in pair):
        # What meets another length may not be 1, and what is compared no longer says so.
        if isinstance(dim, Dim) and not any(map(is_number, symbols(dim))):
            made.append(Inst(OPS["assume"], (), make_attrs({"dim": dim, "relation": "!=", "number": 1}), (), (), inst.loc))
    return [*made, Inst(inst.op, (), make_attrs(attrs), (), (), inst.loc)]


def mentioned(inst: Inst) -> set[str]:
    """The names of numbers that a check depends on, without those of steps that it goes over."""
    found = {name for _, value in inst.attrs for name in named(value)}
    over = inst.attr("shapes") if inst.op.name == "check" and inst.attr("kind") == "index" else ()
    return found - {name for name, _, _ in over}
