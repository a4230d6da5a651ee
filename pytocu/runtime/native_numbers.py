"""Numbers, lengths and addresses that differ from step to step of a native loop, as operations of `pytocu.backend.cpu_steps`.

In: a loop as a tree of steps (`pytocu.runtime.loop_trees`).  Out: records in the order in which they are gone through: what is
computed, where kernels read it, launches, and jumps that make the loops and branches.  What does not differ from step to
step of a loop is computed before it.  Python's ints have no bounds and some of its operations raise, and lengths may not fit
together: where a number is none of int64 or Python would raise, the native function stops, and Python makes the step.  So
what a step computes stands before its launches; where it has loops or branches, each part between these begins anew.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from pytocu.errors import NOTHING
from pytocu.ir.dims import DimLike, symbols
from pytocu.runtime.host_loops import Resumed
from pytocu.runtime.loop_trees import Loop, Numbers, bounds_of, made_by, period_of
from pytocu.runtime.native_cells import (
    AGAIN,
    BYTE_AT,
    COMPARED,
    ENDS,
    INTEGERS,
    MOST,
    OF_LENGTHS,
    UNLESS,
    WORD_AT,
    Cells,
    Fetch,
    Launch,
    Node,
    Operation,
    bounded,
    copied,
)
from pytocu.runtime.plan import KernelSpec, Step

_MOST_WRITTEN = 512
"""What stands in the steps of a period, where these are written one behind the other."""


class Written(Cells):
    """The records of a loop, and memory for its numbers.

    Parameters
    ----------
    numbers : Numbers
    kernels : sequence of KernelSpec
        Of the plan.
    kinds : sequence of type
        The classes of what the program knows before a step, as `Numbers.given`.
    on_gpu : bool
        Whether kernels, and what is read, are a GPU's.

    Attributes
    ----------
    records : list
        Operations, numbers of launches, and what is fetched from a GPU.
    status : int
        The cell of what the driver answered last.
    """

    def __init__(self, numbers: Numbers, kernels: Sequence[KernelSpec], kinds: Sequence[type], on_gpu: bool = False):
        self._root = Node(numbers.loop, None, 0, 0)
        super().__init__(self._root, kernels, on_gpu)
        self.status = self.spare()
        self._numbers = numbers
        self.fixed = {slot: number for number, slot in enumerate(numbers.fixed)}
        self._kinds.update(zip(numbers.given, kinds, strict=True))
        self.usable = all(kind in (int, float, bool) for kind in kinds)
        self._places.update((slot, self.spare()) for slot in (*numbers.given, *numbers.memory))
        self._given_lengths = {name: self.spare() for name in numbers.lengths}
        self._lengths.update(self._given_lengths)
        self._rooms = [self.spare() for _ in numbers.rooms]
        self._roomy: set[int] = set()
        self._step, self._steps_to_make = self.spare(), 0
        # Where kernels note what is wrong with the data.
        self._noted = dict.fromkeys((step[1], step[2]) for step in numbers.loop.steps() if step[0] == "failed")
        self.records: list[Operation | int | Fetch] = []
        self._points: list[tuple[Node, int, int]] = []
        if self.usable:
            self._write(self._root)
        if self.usable:
            self._lay(self._root, None)

    def _write(self, node: Node) -> None:
        """One loop, the last one that is open."""
        loop, depth, is_root = node.loop, len(self._open), node is self._root
        after = dict(zip(loop.params, loop.yielded, strict=True))
        turns = self._turns(loop)
        for param, start in zip(loop.params, loop.starts, strict=True):
            if is_root and param not in self._places:
                # A number of the program's own.
                continue
            is_memory = param in loop.memory
            moves = after[param] != param and (turns == 1 or not is_memory)
            if is_root:
                self._levels[self._places[param]] = depth * moves
            else:
                begin = self._places[param] = self._places[start]
                if not is_memory:
                    self._kinds[param] = self._kinds[start]
                if moves:
                    self._places[param] = self.spare(depth)
                    node.before.append((-1, copied(self._places[param], begin)))
            node.params.append((param, self._places[param], is_memory))
        node.left = self.spare(depth)
        if loop.counter >= 0:
            self._kinds[loop.counter], self._places[loop.counter] = int, self.spare(depth)
            step = self._step if is_root else self._count(node)
        else:
            step = self._constant(1)
            if not is_root:
                node.before.append((-1, copied(node.left, self._constant(0))))
            self.usable = self.usable and self._kinds[loop.params[0]] is not float
        up = node.left if loop.counter < 0 else self._places[loop.counter]
        # Where memory lies in each step of a period, and behind the last one again where it was.
        places = [{param: place for param, place, is_memory in node.params if is_memory}]
        places += [{p: places[0][p] for p in places[0]} for _ in range(turns)]
        known = self._recalled(depth)
        for turn in range(turns):
            places[turn + 1] = {p: places[turn][after[p] if turns > 1 else p] for p in places[0]}
            if turn:
                self._recall(known, places[turn])
            self._steps(node, loop.body)
            node.body.extend((len(node.inner), operation) for operation in self._next(node, after, turns == 1))
            node.body.append((len(node.inner), (INTEGERS["add"], up, up, step, 0, 0)))
            node.body.append((len(node.inner), None))
        self._places.update(places[0])
        if is_root:
            return
        moved = [p for p in places[0] if turns > 1 and after[p] != p]
        found = {p: self.spare(depth - 1) for p in moved}
        node.before.extend((-1, copied(place, places[0][p])) for p, place in found.items())
        node.leaving.extend([copied(place, each[p]) for p, place in found.items()] for each in places[1:-1])
        for result, (param, place, is_memory) in zip(loop.results, node.params, strict=True):
            # Behind the loop it is what the last step has left there.
            self._places[result] = found.get(param, place)
            self._levels[place] = min(self._levels[place], depth - 1)
            if not is_memory:
                self._kinds[result] = self._kinds[param]

    def _turns(self, loop: Loop) -> int:
        """How many steps are written one behind the other: so many that memories which change places are where they were."""
        period = period_of(loop.moves) if loop.launches and not loop.inner else 1
        return period if period * len(loop.body) <= _MOST_WRITTEN else 1

    def _recalled(self, depth: int) -> tuple[Any, ...]:
        """What is known in front of a step."""
        return dict(self._places), dict(self._lengths), set(self._roomy), depth

    def _recall(self, known: tuple[Any, ...], memory: dict[int, int]) -> None:
        """Know no more than in front of a step, and what does not differ from step to step; classes are the same everywhere."""
        places, lengths, roomy, depth = known
        self._places = {**places, **memory}
        self._lengths, self._roomy = dict(lengths), set(roomy)
        self._known = {dim: place for dim, place in self._known.items() if self._levels[place] < depth}

    def _count(self, node: Node) -> int:
        """How many steps a loop in a step has; the cell of the step of its numbers."""
        first, last, step = (self._places[slot] for slot in node.loop.bounds)
        self.usable = self.usable and all(self._kinds[slot] is int for slot in node.loop.bounds)
        number = next((value for value, place in self._constants.items() if place == step), 0)
        if number in (1, -1):
            steps = self._emit(INTEGERS["subtract"], *((last, first) if number == 1 else (first, last)))
        else:
            down = self._emit(INTEGERS["floor_divide"], self._emit(INTEGERS["subtract"], first, last), step)
            steps = self._emit(INTEGERS["subtract"], self._constant(0), down)
        node.total = self._emit(OF_LENGTHS["max"], steps, self._constant(0))
        # The number behind the last one is one of int64, too: where it is not, nothing is begun.
        self._emit(INTEGERS["add"], first, self._emit(INTEGERS["multiply"], node.total, step))
        node.before.append((-1, copied(node.left, node.total)))
        node.before.append((-1, copied(self._places[node.loop.counter], first)))
        return step

    def _branch(self, node: Node) -> None:
        """A branch, the last one that is open: each side ends with what is handed on, in the same cells."""
        loop, depth, least = node.loop, len(self._open), self._least
        (test,) = loop.bounds
        node.test = self._places[test]
        self.usable = self.usable and self._kinds[test] is not float
        cells = [self.spare(depth - 1) for _ in loop.handed]
        self._least, known = depth, self._recalled(depth)
        kinds: list[list[type | None]] = []
        for number, steps in enumerate((loop.body, loop.other)):
            if number:
                self._recall(known, {})
                node.first = len(node.inner)
            self._steps(node, steps)
            values = [sides[number] for _, *sides, _ in loop.handed]
            self.usable = self.usable and all(map(self.knows, values))
            if not self.usable:
                return
            node.body += [(len(node.inner), copied(cell, self._places[v])) for cell, v in zip(cells, values, strict=True)]
            node.body.append((len(node.inner), None))
            kinds.append([self._kinds.get(value) for value in values])
        self._recall(known, {})
        self._least = least
        # Python's numbers of two classes have no cell.
        self.usable = kinds[0] == kinds[1]
        for (result, *_), cell, kind in zip(loop.handed, cells, kinds[0], strict=True):
            self._places[result] = cell
            if kind is not None:
                self._kinds[result] = kind

    def _steps(self, node: Node, steps: Sequence[Any]) -> None:
        """What stands in a step, cut where loops that launch kernels stand."""
        part: list[Any] = []
        for step in steps:
            if not isinstance(step, Loop) or not step.launches:
                part.append(step)
                continue
            self._part(node, part)
            if not self.usable:
                return
            inner = self._inner(step)
            node.inner.append(inner)
            part = []
        self._part(node, part)

    def _inner(self, loop: Loop) -> Node:
        """A loop in a step of the one that is open."""
        outer = self._open[-1]
        node = Node(loop, outer, outer.first, len(outer.inner))
        self._open.append(node)
        if loop.branches:
            self._branch(node)
        else:
            self._write(node)
        self._open.pop()
        outer.body.append((len(outer.inner), node))
        return node

    def _part(self, node: Node, steps: Sequence[Any]) -> None:
        """Steps between loops: first what says that they are not to be made, and what kernels read."""
        waiting = [_Launched(self, step) if step[0] == "launch" else step for step in steps]
        while waiting and self.usable:
            left = []
            for step in waiting:
                if isinstance(step, _Launched):
                    step.prepare()
                elif step[0] not in ("read", "read_length", "failed") and self._is_ready(step):
                    self._pure(step)
                    continue
                left.append(step)
            if node is self._root:
                self._compare_rooms()
            while left and self.usable:
                step = left.pop(0)
                if isinstance(step, _Launched):
                    self.usable = step.prepare()
                    node.body.append((len(node.inner), step.number))
                    self._ask_driver(node)
                elif step[0] == "failed":
                    # On a GPU nobody waits for that.
                    if not self.on_gpu:
                        self._read(step)
                else:
                    self.usable = self.usable and step[0] in ("read", "read_length")
                    if self.usable:
                        self._read(step)
                    # What is computed of it comes before other launches.
                    break
            waiting = left

    def _is_ready(self, step: Any) -> bool:
        """Whether what a step is made of has been computed."""
        slots, dims = _operands(step)
        return slots <= self._places.keys() and all(self._lengths.keys() >= set(symbols(dim)) for dim in dims)

    def _pure(self, step: Any) -> None:
        """A step that computes."""
        match step:
            case Loop():
                self._inner(step)
            case ("python", made, name, sources):
                self._compute(made, name, sources)
            case ("const", made, value, _):
                self._kinds[made] = type(value)
                self._places[made] = self._double(value) if isinstance(value, float) else self._constant(int(value))
            case ("dim", made, dim):
                self._kinds[made], self._places[made] = int, self._dim(dim)
            case ("convert", made, source, *_):
                self._kinds[made], self._places[made] = self._kinds[source], self._places[source]
            case ("bind", slot, names, length):
                self.usable = self.usable and self._kinds[slot] is int
                self._bind(self._places[slot], names, length)
            case ("check", *_):
                for dim, least, most in bounds_of(step):
                    self._bound(self._dim(dim), least, MOST if most is None else most)

    def _read(self, step: Step) -> None:
        """A step that reads memory."""
        match step:
            case ("read", made, memory):
                self._kinds[made], self._places[made] = bool, self._word(BYTE_AT, memory, 0)
            case ("read_length", memory, name, limit):
                place = self._lengths[name] = self._word(WORD_AT, memory, 0)
                self._bound(place, 0, limit if isinstance(limit, int) else MOST)
            case ("failed", memory, at, *_):
                self._bound(self._word(WORD_AT, memory, at), NOTHING, NOTHING)

    def _word(self, code: int, memory: int, at: int) -> int:
        """A word of memory, which every step reads."""
        made, place = self.spare(len(self._open)), self._places[memory]
        if not self.on_gpu:
            self.put(len(self._open), (code, made, place, place, 8 * at, 0))
            return made
        node = self._open[-1]
        node.body.append((len(node.inner), Fetch(place, made, 8 * at, 8 if code == WORD_AT else 1)))
        self._ask_driver(node)
        for found, word in self._noted:
            # What kernels noted stands in the host's memory, and they have ended.
            look = self.spare()
            node.body.append((len(node.inner), (WORD_AT, look, self._places[found], self._places[found], 8 * word, 0)))
            node.body.append((len(node.inner), bounded(self.spare(), look, NOTHING, NOTHING)))
        return made

    def _ask_driver(self, node: Node) -> None:
        """Nothing goes on behind what the driver has refused."""
        if self.on_gpu:
            node.body.append((len(node.inner), bounded(self.spare(), self.status, 0, 0)))

    def _compare_rooms(self) -> None:
        """Where there is less memory than a step needs, Python makes it."""
        for place, (slot, dim) in zip(self._rooms, self._numbers.rooms, strict=True):
            if slot not in self._roomy and self._lengths.keys() >= set(symbols(dim)):
                self._roomy.add(slot)
                self._bound(self._emit(COMPARED["less_equal"], self._dim(dim), place), 1, 1)

    def _next(self, node: Node, after: dict[int, int], memory: bool) -> list[Operation]:
        """What the next step begins with: all is read before it is written."""
        moves: list[tuple[int, int]] = []
        for param, place, is_memory in node.params:
            value = after[param]
            if value != param and not is_memory:
                self.usable = self.usable and self._kinds.get(value) is self._kinds[param]
            if value != param and self.usable and (memory or not is_memory):
                moves.append((place, self._places[value]))
        written = {place for place, value in moves if place != value}
        kept = {value: self.spare() for _, value in moves if value in written}
        copies = [copied(spare, value) for value, spare in kept.items()]
        return [*copies, *(copied(place, kept.get(value, value)) for place, value in moves if place != value)]

    # Laying it out.

    def _lay(self, node: Node, around: tuple[Node, int, int] | None) -> None:
        """The records of a loop or branch; `around` is where Python begins anew, where it does not in the loop itself."""
        first = 0

        def add(part: int, item: Any) -> int:
            if isinstance(item, Node):
                self._lay(item, None if item.loop.launches else around or (node, first, part))
                return -1
            if isinstance(item, int):
                self.launches[item].record = len(self.records)
            self.records.append(item)
            self._points.append(around or (node, first, part))
            return len(self.records) - 1

        if node.loop.branches:
            zero, leaves = self._constant(0), -1
            asks = add(0, ())
            for part, item in node.body:
                if item is not None:
                    add(part, item)
                elif leaves < 0:
                    leaves, first = add(part, ()), node.first
                    self.records[asks] = _jump(UNLESS, node.test, len(self.records))
            self.records[leaves] = _jump(UNLESS, zero, len(self.records))
            return
        counted, is_root = node.loop.counter >= 0, node is self._root
        for part, item in node.before:
            add(part, item)
        asked = node.left if counted else node.params[0][1]
        ask = -1 if is_root else add(-1, _jump(UNLESS, asked, -1))
        begin = len(self.records) - (not is_root and not counted)
        last, turns, leaving = len(node.inner), sum(item is None for _, item in node.body), list(node.leaving)
        zero, ends, asks = self._constant(0), [], []
        for part, item in node.body:
            if item is not None:
                add(part, item)
                continue
            turns -= 1
            if counted:
                left = leaving.pop(0) if turns and leaving else []
                more = len(left) + 1
                add(last, _jump(AGAIN, node.left, len(self.records) + 1 + more if turns else begin))
                for operation in left:
                    add(last, operation)
                if is_root:
                    add(last, (ENDS, zero, zero, zero, 0, 0))
                elif turns:
                    ends.append(add(last, ()))
            elif turns:
                asks.append(add(last, ()))
            elif is_root:
                asks.append(add(last, ()))
                add(last, _jump(UNLESS, zero, begin))
            else:
                add(last, _jump(UNLESS, zero, begin))
        for each in asks:
            # It leaves the loop there.
            self.records[each] = _jump(UNLESS, asked, len(self.records))
            for operation in leaving.pop(0) if leaving else []:
                add(last, operation)
            if is_root:
                add(last, (ENDS, zero, zero, zero, 0, 0))
            else:
                ends.append(add(last, ()))
        for each in ends:
            self.records[each] = _jump(UNLESS, zero, len(self.records))
        if not is_root:
            self.records[ask] = _jump(UNLESS, asked, len(self.records))

    def allocate(self) -> None:
        """Make the memory, when all operations have been asked for."""
        self._memory = (ctypes.c_int64 * self._size)()
        self.address = ctypes.addressof(self._memory)
        for value, place in self._constants.items():
            self._memory[place] = value

    def start(self, values: Sequence[Any], rooms: Sequence[int], counter: range | None) -> bool:
        """State what the program knows before a step, how much memory there is, and the counter; whether int64 holds all."""
        first, step, behind = (0, 0, 0) if counter is None else (counter[0], counter.step, counter[-1] + counter.step)
        numbers = self._numbers
        given, rest = values[: len(numbers.given)], values[len(numbers.given) :]
        memory, lengths = rest[: len(numbers.memory)], rest[len(numbers.memory) : len(numbers.memory) + len(numbers.lengths)]
        if any(type(value) is int and not -MOST <= value <= MOST for value in (*given, *lengths, first, step, behind)):
            return False
        for slot, value in zip((*numbers.given, *numbers.memory), (*given, *memory), strict=True):
            if self._kinds.get(slot) is float:
                ctypes.c_double.from_buffer(self._memory, 8 * self._places[slot]).value = value
            else:
                self._memory[self._places[slot]] = value
        for name, value in zip(numbers.lengths, lengths, strict=True):
            self._memory[self._given_lengths[name]] = value
        for place, size in zip(self._rooms, rooms, strict=True):
            self._memory[place] = size
        self._steps_to_make = 0 if counter is None else len(counter)
        self._memory[self._root.left] = self._steps_to_make
        if counter is not None:
            self._memory[self._places[numbers.loop.counter]], self._memory[self._step] = first, step
        return True

    def number(self, place: int) -> int:
        """What a cell holds."""
        return self._memory[place]

    def made(self) -> int:
        """How many steps have been made."""
        return abs(self._steps_to_make - self._memory[self._root.left])

    def carried(self) -> tuple[Any, ...]:
        """The numbers that the next step begins with, as Python's."""
        return tuple(self._as_python(param, self._places[param]) for param, _ in self._numbers.carried)

    def _as_python(self, slot: int, place: int) -> Any:
        if self._kinds[slot] is float:
            return ctypes.c_double.from_buffer(self._memory, 8 * place).value
        return self._kinds[slot](self._memory[place])

    def resumed(self, record: int) -> Resumed | None:
        """Where Python goes on in a step of which a part has been made, behind a record; None where it begins a step."""
        node, first, part = self._points[record]
        state, outer = None, node
        while outer is not None:
            inner = [self._behind(one) for one in outer.inner[first : max(part, first)]]
            inner += [state] if state is not None else []
            for one in inner[-1:]:
                one.last = True
            found = {one.position: one for one in inner}
            if outer.loop.branches:
                state = Resumed(outer.loop.position, inner=found)
            else:
                state = self._behind(outer, found) if part >= 0 else Resumed(outer.loop.position)
            outer, first, part = outer.parent, outer.begin, outer.place
        return state if state is not None and not state.launching else None

    def _behind(self, node: Node, inner: dict[int, Resumed] | None = None) -> Resumed:
        """A loop of which some steps have been made, or a branch that has been."""
        if node.loop.branches:
            # Python goes through the side once more.
            made = Resumed(node.loop.position, 1, inner={one.loop.position: self._behind(one) for one in node.inner})
            made.launching = False
            return made
        left = self._memory[node.left]
        made = left if node.loop.counter < 0 else self._memory[node.total] - left if node.total >= 0 else self.made()
        numbers = tuple(self._as_python(slot, place) for slot, place, is_memory in node.params if not is_memory)
        return Resumed(node.loop.position, made, made % period_of(node.loop.moves), numbers, inner)

    def cut(self, launch: Launch, iterations: int) -> None:
        """State how many iterations a piece of a launch has."""
        memory = self._memory
        memory[launch.less], memory[launch.size] = iterations - 1, iterations
        # Some of the records that make pieces of them may be behind already.
        memory[launch.rounded] = memory[launch.work] + iterations - 1
        memory[launch.pieces] = memory[launch.rounded] // iterations


class _Launched:
    """A launch while its record is written: parameters are stored as soon as they are known."""

    def __init__(self, cells: Written, step: Step):
        _, kernel, slots = step
        self._cells, self._spec = cells, cells.kernels[kernel]
        self.number = len(cells.launches)
        self._launch = Launch(kernel, self._spec, cells.spare(), cells.spare())
        cells.launches.append(self._launch)
        self._left = dict(enumerate(slots))

    def prepare(self) -> bool:
        """Store what is known now; whether that is all."""
        cells, spec = self._cells, self._spec
        for position, slot in list(self._left.items()):
            if cells.knows(slot):
                word = spec.parameters[position]
                # A GPU reads as many bytes of an index as the code has.
                word = "i32" if word == "index" and cells.on_gpu and spec.index_bits == 32 else word
                cells.store(slot, word, ("slots", self.number, position))
            elif slot in cells.fixed:
                self._launch.fixed.append((position, cells.fixed[slot]))
            else:
                continue
            del self._left[position]
        if self._launch.work < 0 and all(map(cells.measures, (spec.work, spec.cost, *spec.grid))):
            cells.share(self._launch)
        return not self._left and self._launch.work >= 0 and cells.usable


def _operands(step: Any) -> tuple[set[int], list[DimLike]]:
    """The slots and the lengths that a step is made of."""
    match step:
        case Loop():
            slots, dims = {*step.bounds, *step.starts, *(slot for _, yes, no, _ in step.handed for slot in (yes, no))}, []
            made = {slot for one in step.loops() for slot in (one.counter, *one.made)}
            for one in step.steps():
                more, lengths = _operands(one)
                slots |= more
                dims += lengths
                made.add(made_by(one) or 0)
            named = {name for one in step.steps() if one[0] == "bind" for name in one[2]}
            return slots - made, [dim for dim in dims if named.isdisjoint(symbols(dim))]
        case ("python", _, _, sources):
            return {*sources}, []
        case ("convert", _, source, *_):
            return {source}, []
        case ("dim", _, dim):
            return set(), [dim]
        case ("bind", slot, _, dim):
            return {slot}, [dim or 0]
        case ("check", *_):
            return set(), [dim for dim, _, _ in bounds_of(step)]
    return set(), []


def _jump(code: int, place: int, record: int) -> Operation:
    return code, place, place, place, record, 0
