"""The plan of a function as a graph: memory and the kernels that read and write it.

In: the host function after the whole pipeline.  Out: nodes and edges.  A kernel that changes memory gives it a new
node, so the graph has no cycle and reads from the arguments down to the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytocu.ir.core import Function, Inst, Value, walk, written_pointers
from pytocu.ir.dims import DimLike, product
from pytocu.ir.library_names import numpy_name
from pytocu.ir.regions import bindings, is_region
from pytocu.ir.types import ArrayType, PointerType, ScalarType, Type
from pytocu.planning import launches
from pytocu.record import Mutable, Record, fresh


class Node(Mutable):
    """Memory at one moment, a kernel, or a call of the caller's library.

    Attributes
    ----------
    kind : str
        ``argument``, ``temporary``, ``result``, ``kernel`` or ``library``.
    title, detail : str
        Its name, and its type.
    kernel : int
        The number of the kernel, in order of launch; -1 of memory.
    lines : list of str
        What is said of it below.
    """

    kind: str
    title: str
    detail: str
    kernel: int = -1
    lines: list[str] = fresh(default_factory=list)


class Edge(Record):
    """What moves between memory and a kernel; the nodes by number."""

    source: int
    target: int
    label: str


class Graph(Record):
    """Nodes in order of computation, and the edges between them."""

    nodes: list[Node]
    edges: list[Edge]


def bytes_of(type: Type) -> DimLike:
    """How many bytes an array or a scalar has.

    Examples
    --------
    >>> from pytocu.ir.types import parse_type
    >>> print(bytes_of(parse_type("f32[n, 3]")), bytes_of(parse_type("f64")))
    12*n 8
    """
    match type:
        case ArrayType(dtype, shape):
            return product(shape) * dtype.itemsize
        case ScalarType(dtype):
            return dtype.itemsize
        case _:
            return 0


def bytes_text(count: DimLike) -> str:
    """Bytes as people read them; an expression of lengths stays one.

    Examples
    --------
    >>> bytes_text(640), bytes_text(4_000_000)
    ('640 bytes', '4.0 MB')
    """
    if not isinstance(count, int):
        return f"{count} bytes"
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def plan_graph(host: Function, amounts: Mapping[tuple[str, str], str] = MappingProxyType({})) -> Graph:
    """The graph of a host function.

    Parameters
    ----------
    host : Function
        After the whole pipeline.
    amounts : mapping
        What moves, as text, by the names of a kernel and of what it reads or writes; elsewhere the bytes of the array.

    Examples
    --------
    >>> import pytocu
    >>> graph = plan_graph(pytocu.jit(lambda x, y: x + y).lower("f32[n]", "f32[n]").host())
    >>> [(node.kind, node.title) for node in graph.nodes]
    [('argument', 'x'), ('argument', 'y'), ('kernel', 'lambda_'), ('result', 'out')]
    >>> [(graph.nodes[e.source].title, graph.nodes[e.target].title, e.label) for e in graph.edges]
    [('x', 'lambda_', '4*n bytes'), ('y', 'lambda_', '4*n bytes'), ('lambda_', 'out', '4*n bytes')]
    """
    regions = [inst for inst in walk(host.body) if is_region(inst)]
    writer = _Writer(amounts, {param: argument for inst in regions for param, argument in bindings(inst)})
    for param in host.params:
        if isinstance(param.type, ArrayType):
            writer.memory(param, "argument")
    for inst in walk(host.body):
        if inst.op.name == "allocate":
            writer.allocated.add(inst.result)
    numbers = {launch: number for number, launch in enumerate(launches(host))}
    for inst in walk(host.body):
        if inst in numbers:
            writer.launch(numbers[inst], inst)
        elif inst.op.name == "library":
            writer.library(inst)
    for value in host.body.terminator.args:
        node = writer.now.get(writer.base(value))
        if node is not None and writer.nodes[node].kind == "temporary":
            writer.nodes[node].kind = "result"
    used = {number for edge in writer.edges for number in (edge.source, edge.target)}
    kept = [n for n, node in enumerate(writer.nodes) if n in used or node.kind in ("kernel", "library")]
    place = {old: new for new, old in enumerate(kept)}
    edges = [Edge(place[e.source], place[e.target], e.label) for e in writer.edges]
    return Graph([writer.nodes[n] for n in kept], edges)


def _is_noted(memory: Value) -> bool:
    """Whether memory holds nothing of the program's: what kernels note that went wrong."""
    return memory.inst is not None and memory.inst.op.name == "failures"


class _Writer:
    def __init__(self, amounts: Mapping[tuple[str, str], str], outer: Mapping[Value, Value]) -> None:
        self.amounts = amounts
        # What parameters of the host's loops and branches stand for (at first, where it is carried).
        self.outer = outer
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.now: dict[Value, int] = {}
        self.allocated: set[Value] = set()

    def base(self, value: Value) -> Value:
        """The memory that a view is of; of what a loop or branch hands on, that of its last step or first side."""
        while value not in self.allocated and value not in self.now:
            if value in self.outer:
                value = self.outer[value]
            elif is_region(value.inst):
                assert value.inst is not None
                value = value.inst.regions[0].terminator.args[value.inst.results.index(value)]
            elif value.inst is not None and value.inst.args:
                value = value.inst.args[0]
            else:
                break
        return value

    def memory(self, value: Value, kind: str) -> int:
        self.now[value] = len(self.nodes)
        self.nodes.append(Node(kind, value.name or "value", str(value.type)))
        return self.now[value]

    def launch(self, number: int, launch: Inst) -> None:
        (region,) = launch.regions
        read = {i.args[0] for i in walk(region) if i.op.name == "load"}
        written = written_pointers(region)
        pairs = zip(region.params, launch.args, strict=True)
        pointers = [(p, self.base(a), a) for p, a in pairs if isinstance(p.type, PointerType)]
        kernel = len(self.nodes)
        self.nodes.append(Node("kernel", launch.attr("name"), launch.attr("schedule"), number))
        for param, memory, array in pointers:
            if param in read:
                source = self.now.get(memory)
                source = self.memory(memory, "temporary") if source is None else source
                self.edge(source, kernel, self.amount(launch, param, array))
        for param, memory, array in pointers:
            if param in written and not _is_noted(memory):
                changed = "result" if memory not in self.allocated else "temporary"
                self.edge(kernel, self.memory(memory, changed), self.amount(launch, param, array))

    def library(self, call: Inst) -> None:
        """What the caller's library computes."""
        number = len(self.nodes)
        self.nodes.append(Node("library", f"np.{numpy_name(call.attr('function'))}", "computed by the library"))
        for array in call.args:
            memory = self.base(array)
            source = self.now.get(memory)
            source = self.memory(memory, "temporary") if source is None else source
            self.edge(source, number, bytes_text(bytes_of(array.type)))
        for result in call.results:
            self.edge(number, self.memory(result, "temporary"), bytes_text(bytes_of(result.type)))

    def amount(self, launch: Inst, param: Value, array: Value) -> str:
        known = self.amounts.get((launch.attr("name"), param.name))
        return known or bytes_text(bytes_of(array.type))

    def edge(self, source: int, target: int, label: str) -> None:
        """One edge for each pair: an array that is given twice is one memory."""
        if not any((e.source, e.target) == (source, target) for e in self.edges):
            self.edges.append(Edge(source, target, label))
