"""From a host function to its plan: the same steps as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytocu.backend.names import kernel_names
from pytocu.errors import BackendError
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.dims import DimLike, Fact, as_symbol, ends_of, greatest, is_number, product, symbols
from pytocu.ir.regions import HEADS, carried_count, given, parameters, step_name
from pytocu.ir.types import ArrayType, IndexType, PointerType, ScalarType, Type, WeakType, element, shape_of
from pytocu.passes.infer_shapes import bound_symbols
from pytocu.runtime.plan import KernelSpec, Parameter, Plan, Step


def launches(host: Function) -> tuple[Inst, ...]:
    """The launch instructions of a host function."""
    return tuple(i for i in walk(host.body) if i.op.name == "launch")


def kernel_function(host: Function, launch: Inst) -> Function:
    """The loop-level function inside a launch."""
    facts = [("index_bits", host.fact("index_bits", 32))]
    if launch.attr("block"):
        facts.append(("block", launch.attr("block")))
    if launch.attr("resident"):
        facts.append(("resident", launch.attr("resident")))
    if launch.attr("several"):
        facts.append(("several", launch.attr("several")))
    if host.fact("target") == "cuda":
        waiting, followed = _in_order(host)
        if launch.attr("name") in waiting:
            facts.append(("waits", True))
        elif launch.attr("name") in followed:
            facts.append(("followed", True))
    return Function(launch.attr("name"), "loop", launch.regions[0], tuple(facts))


def _in_order(host: Function) -> tuple[set[str], set[str]]:
    """The names of kernels that may begin while the launch before them ends, and of those that such a one follows.

    These are launched in the steps of loops, or behind another kernel of the plan with no library's between them.
    """
    loops = [inst for inst in walk(host.body) if inst.op.name in ("for_loop", "while_loop")]
    inside = (inst for loop in loops for region in loop.regions for inst in walk(region))
    waiting = {inst.attr("name") for inst in inside if inst.op.name == "launch"}
    followed: set[str] = set()
    before = ""
    for inst in host.body.insts:
        if inst.op.name == "launch":
            if before:
                waiting.add(inst.attr("name"))
                followed.add(before)
            before = inst.attr("name")
        elif inst.op.name == "library" or inst.regions:
            before = ""
    return waiting, followed


def kernel_functions(host: Function) -> tuple[Function, ...]:
    """The functions that launches call, each once."""
    found: dict[str, Function] = {}
    for launch in launches(host):
        if launch.attr("name") not in found:
            found[launch.attr("name")] = kernel_function(host, launch)
    return tuple(found.values())


def names_in_module(functions: Sequence[Function], target: str) -> dict[str, str]:
    """What each function is called in the compiled module, by its name."""
    names = kernel_names(functions) if target == "cuda" else [f.name for f in functions]
    return {f.name: name for f, name in zip(functions, names, strict=True)}


def written_arguments(function: Function) -> tuple[int, ...]:
    """The numbers of the parameters that a function changes."""
    changed = {i.args[0] for i in function.body.insts if i.op.name == "writable"}
    return tuple(n for n, param in enumerate(function.params) if param in changed)


def make_plan(host: Function) -> Plan:
    """The plan of a host function: the same steps as data."""
    return _PlanWriter(host).write()


class _PlanWriter:
    def __init__(self, host: Function):
        self.host = host
        self.slots: dict[Value, int] = {}
        self.steps: list[Step] = []
        self.kernels: list[KernelSpec] = []
        self.assumptions: list[Any] = []
        self.locs: dict[int, Any] = {}
        self.names: dict[str, str] = {}
        self.tree: Any = None
        self.waiting, _ = _in_order(host)

    def write(self) -> Plan:
        host = self.host
        self.names = names_in_module(kernel_functions(host), host.fact("target"))
        parameters = tuple(_parameter(p) for p in host.params)
        for param in host.params:
            self.slots[param] = len(self.slots)
        for inst in host.body.insts:
            self.write_inst(inst)
        symbols = tuple((name, number, axis) for name, (number, axis) in bound_symbols(host).items())
        steps, kernels, assumptions = tuple(self.steps), tuple(self.kernels), tuple(self.assumptions)
        sharing = tuple((kind, tuple(numbers)) for kind, *numbers in host.fact("sharing", ()))
        written = written_arguments(host)
        return Plan(host.name, parameters, symbols, steps, kernels, self.tree, assumptions, written, sharing, self.locs)

    def make_before(self, loop: Inst) -> None:
        """Memory that a step makes for itself is made once, and every step has the same."""
        inside = [*_inside(loop)]
        read = {inst.attr("name") for inst, _ in inside if inst.op.name == "read_length"}
        bound = {name for step in self.steps if step[0] == "bind" for name in step[2]}
        shown = {a for inst, _ in inside if inst.op.name != "launch" for a in inst.args}
        for inst, steps in inside:
            if inst.op.name != "allocate" or inst.result in self.slots:
                # Others are no memory, or it stands before a loop around this one.
                continue
            shape = shape_of(inst.types[0])
            names = {name for dim in shape for name in symbols(dim)}
            if names & read:
                continue
            if not any(map(is_number, names)):
                self.write_inst(inst)
                continue
            # Kernels know where elements lie in it, so it may be longer than a step needs.
            ends = ends_of(product(shape), steps) if inst.result not in shown else None
            if ends is not None and all(name in bound or not is_number(name) for end in ends for name in symbols(end)):
                (made,) = self.new_slots(inst.results)
                self.add(("allocate", made, element(inst.types[0]).name, (greatest(ends),), "C", False), inst)

    def write_inst(self, inst: Inst) -> None:
        """The steps of an instruction."""
        if inst.op.name == "allocate" and inst.result in self.slots:
            # It stands before the loop.
            return
        if inst.op.kind == "region":
            self.region(inst)
            return
        step = self.step(inst)
        if step is not None:
            self.add(step, inst)

    def add(self, step: Step, inst: Inst) -> None:
        """A step and where it comes from."""
        self.locs[len(self.steps)] = inst.loc
        self.steps.append(step)

    def new_slots(self, values: Sequence[Value]) -> tuple[int, ...]:
        """Slots of their own."""
        for value in values:
            # A second number would be that of another value.
            assert value not in self.slots
            self.slots[value] = len(self.slots)
        return tuple(self.slots[v] for v in values)

    def region(self, inst: Inst) -> None:
        """A loop or a branch: its steps between those that begin and end it."""
        if inst.op.name != "if_else":
            self.make_before(inst)
        head = tuple(self.slots[a] for a in inst.args[: HEADS[inst.op.name]])
        count = carried_count(inst)
        starts = tuple(self.slots[a] for a in given(inst)[:count])
        results = self.new_slots(inst.results)
        for number, region in enumerate(inst.regions):
            params = parameters(inst, region)
            for param, argument in list(zip(params, given(inst), strict=True))[count:]:
                self.slots[param] = self.slots[argument]
            if inst.op.name == "if_else":
                self.add(("else",) if number else ("if", *head), inst)
            elif inst.op.name == "while_loop":
                self.add(("while", self.new_slots(params[:count]), starts), inst)
            else:
                counter = self.new_slots(region.params[:1])[0]
                self.add(("for", counter, head, self.new_slots(params[:count]), starts), inst)
                if step_name(inst) is not None:
                    self.add(("bind", counter, (step_name(inst),), None), inst)
            for inner in region.insts[:-1]:
                self.write_inst(inner)
            yielded = tuple(self.slots[a] for a in region.terminator.args)
            if inst.op.name != "if_else":
                carried = tuple(self.slots[p] for p in params[:count])
                self.add(("next", carried, yielded), inst)
                self.add(("hand on", results, carried), inst)
            else:
                self.add(("hand on", results, yielded), inst)
        if inst.op.name == "if_else":
            self.add(("end",), inst)

    def step(self, inst: Inst) -> Step | None:
        used = [self.slots[a] for a in inst.args]
        for result in inst.results:
            self.slots[result] = len(self.slots)
        made = self.slots[inst.results[0]] if inst.results else -1
        match inst.op.name:
            case "return":
                self.tree = _tree_of_slots(inst.attr("tree"), used)
                return None
            case "assume":
                self.assumptions.append(Fact(inst.attr("dim"), inst.attr("relation"), inst.attr("number")))
                return None
            case "check" if inst.attr("kind") == "warn":
                return ("warn", inst.attr("dims"), *inst.attr("shapes")[:4])
            case "check":
                return ("check", inst.attr("kind"), inst.attr("dims"), inst.attr("shapes"))
            case "allocate":
                type = inst.types[0]
                layout = type.layout if isinstance(type, ArrayType) else "C"
                return ("allocate", made, element(type).name, shape_of(type), layout, isinstance(type, ScalarType))
            case "failures":
                return ("failures", made, shape_of(inst.types[0])[0])
            case "failed":
                numbers, said = 1 + len(inst.attr("dims")), inst.attr("said", ())
                return ("failed", used[0], inst.attr("at"), inst.attr("error"), inst.attr("sentence"), numbers, said)
            case "writable":
                return ("writable", used[0], inst.attr("what"), *(("caught",) if inst.attr("caught", False) else ()))
            case "strides":
                return ("strides", used[0], inst.attr("names"))
            case "memory":
                return ("memory", made, tuple(used), as_symbol(shape_of(inst.types[0])[0]))
            case "library":
                options = dict(inst.attr("options", ()))
                slots = tuple(self.slots[r] for r in inst.results)
                types = tuple((element(t).name, shape_of(t)) for t in inst.types)
                return ("library", slots, inst.attr("function"), tuple(used), options, types)
            case "bind":
                return ("bind", used[0], inst.attr("names"), inst.attr("length"))
            case "read_length":
                return ("read_length", used[0], inst.attr("name"), inst.attr("limit"))
            case "offset":
                return ("offset", made, *used)
            case "dim":
                return ("dim", made, inst.attr("value"))
            case "read":
                return ("read", made, used[0])
            case "stride":
                return ("stride", made, used[0], inst.attr("axis"))
            case "convert":
                return ("convert", made, used[0], element(inst.types[0]).name, inst.attr("wrap", False))
            case "part":
                return ("part", made, used[0], inst.attr("which"))
            case "const":
                dtype = None if isinstance(inst.types[0], WeakType | IndexType) else element(inst.types[0]).name
                return ("const", made, inst.attr("value"), dtype)
            case "launch":
                self.kernels.append(self.kernel(inst))
                return ("launch", len(self.kernels) - 1, tuple(used))
            case "view":
                return ("view", made, used[0], "view", {"dtype": element(inst.types[0]).name})
            case name if inst.op.kind == "view":
                return ("view", made, used[0], name, dict(inst.attrs))
            case name if inst.op.python is not None and isinstance(inst.types[0], WeakType):
                return ("python", made, name, tuple(used))
        raise BackendError(f"{inst.op.name} has no place in a plan")

    def kernel(self, launch: Inst) -> KernelSpec:
        params = launch.regions[0].params
        words = tuple(_word(p.type) for p in params)
        written, read = set[Value](), set[Value]()
        for inst in walk(launch.regions[0]):
            stores = inst.op.name in ("store", "atomic_minimum")
            written.update(inst.args[:stores])
            # Whether an address is aligned says nothing of what is there.
            read.update(inst.args[stores:] if inst.op.name != "aligned" else ())
        pointers = [(number, param) for number, param in enumerate(params) if words[number] == "pointer"]
        return KernelSpec(
            self.names[launch.attr("name")],
            words,
            launch.attr("schedule"),
            launch.attr("work"),
            launch.attr("cost", 1),
            launch.attr("block", 0),
            self.host.fact("index_bits", 32),
            launch.attr("each", 1),
            launch.attr("grid", ()),
            self.host.fact("target") == "cuda" and launch.attr("name") in self.waiting,
            tuple(number for number, param in pointers if param in written),
            tuple(number for number, param in pointers if param in read),
        )


def _inside(loop: Inst, around: tuple[Any, ...] = ()) -> Iterator[tuple[Inst, tuple[tuple[str, DimLike, bool], ...]]]:
    """What stands in a loop, each with the loops around it whose steps have numbers, as :func:`ends_of` takes them."""
    steps = around if loop.attr("numbers") is None else (*around, loop.attr("numbers"))
    for inst in (inst for region in loop.regions for inst in region.insts):
        yield inst, steps
        yield from _inside(inst, steps)


def _tree_of_slots(tree: Any, slots: Sequence[int]) -> Any:
    match tree:
        case int():
            return slots[tree]
        case ("tuple" | "list" | "if" | "read-only" | "either" | "zip" as kind, *members):
            return (kind, *(_tree_of_slots(m, slots) for m in members))
        case ("members", member, kind):
            return ("members", slots[member], kind)
        case ("named", path, *members):
            return ("named", path, *(_tree_of_slots(m, slots) for m in members))
        case ("dict", *items):
            return ("dict", *((key, _tree_of_slots(m, slots)) for key, m in items))
        case _:
            return tree


def _word(type: Type) -> str:
    match type:
        case PointerType():
            return "pointer"
        case IndexType():
            return "index"
        case _:
            return element(type).name


def _parameter(param: Value) -> Parameter:
    match param.type:
        case ArrayType(dtype, shape, layout):
            return Parameter(param.name, "array", dtype.name, shape, layout)
        case WeakType(kind):
            return Parameter(param.name, "weak", kind)
        case _:
            return Parameter(param.name, "scalar", element(param.type).name)
