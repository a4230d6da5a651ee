"""A graph as SVG: layers from top to bottom, boxes in the order that crosses the fewest edges.

The text is drawn with a fixed-width font, so its width is known without a browser.  Colours are classes that the
page's style sheet gives values, for light and dark screens.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence

from pytocu.record import Mutable, fresh
from pytocu.report.graph import Graph, Node

CHARACTER = 7.3
"""Width of a character, in pixels."""
LINE = 18
GAP, LAYER_GAP, MARGIN = 34, 74, 16
MOST_CHARACTERS = 64
ORDERINGS, STRAIGHTENINGS = 24, 8


class _Box(Mutable):
    """A node with its place, or a bend of an edge that passes a layer (no node)."""

    node: int
    layer: int
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    above: list[int] = fresh(default_factory=list)
    below: list[int] = fresh(default_factory=list)

    @property
    def center(self) -> float:
        return self.x + self.width / 2


def layers_of(graph: Graph) -> list[int]:
    """The layer of each node: below everything it depends on, and below kernels that are launched before its own.

    Examples
    --------
    >>> from pytocu.report.graph import Edge
    >>> nodes = [Node("argument", "x", ""), Node("kernel", "f", "", 0), Node("result", "out", "")]
    >>> layers_of(Graph(nodes, [Edge(0, 1, ""), Edge(1, 2, "")]))
    [0, 1, 2]
    """
    layer = [0] * len(graph.nodes)
    # Nodes stand in order of computation, so what an edge comes from has its layer already.
    for number in range(len(graph.nodes)):
        before = [layer[e.source] + 1 for e in graph.edges if e.target == number]
        layer[number] = max(before, default=0)
    # An argument stands right above the first kernel that reads it.
    for number, node in enumerate(graph.nodes):
        after = [layer[e.target] - 1 for e in graph.edges if e.source == number]
        if node.kind == "argument" and after:
            layer[number] = min(after)
    return layer


def draw(graph: Graph) -> str:
    """The graph as an ``<svg>`` element."""
    boxes, paths = _boxes(graph)
    layers: list[list[int]] = [[] for _ in range(max((b.layer for b in boxes), default=-1) + 1)]
    for number, box in enumerate(boxes):
        layers[box.layer].append(number)
    _order(layers, boxes)
    _place(layers, boxes)
    left = min((b.x for b in boxes), default=0.0)
    for box in boxes:
        box.x += MARGIN - left
    width = max((b.x + b.width for b in boxes), default=0.0) + MARGIN
    height = max((b.y + b.height for b in boxes), default=0.0) + MARGIN
    lines, labels = _edges(graph, boxes, paths)
    nodes = [_node(number, node, boxes[number]) for number, node in enumerate(graph.nodes)]
    title = html.escape(", ".join(f"{n.kind} {n.title}" for n in graph.nodes))
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img">'
    return "\n".join([head, f"<title>The plan: {title}</title>", *lines, *nodes, *labels, "</svg>"])


def _size(node: Node) -> tuple[float, float]:
    texts = [node.title if node.kind != "kernel" else f"{node.title} ({node.detail})", *node.lines]
    texts += [node.detail] if node.kind != "kernel" else []
    longest = max(len(_cut(text)) for text in texts)
    return longest * CHARACTER + 28, (len(texts)) * LINE + 14


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _boxes(graph: Graph) -> tuple[list[_Box], list[list[int]]]:
    """The boxes of nodes and bends, and for each edge the boxes it passes."""
    layer = layers_of(graph)
    ends = [*(("out", e.source, e.label) for e in graph.edges), *(("in", e.target, e.label) for e in graph.edges)]
    room: dict[tuple[str, int], float] = {}
    for side, node, label in ends:
        room[side, node] = room.get((side, node), 0.0) + len(label) * CHARACTER + 20
    boxes: list[_Box] = []
    for number, node in enumerate(graph.nodes):
        width, height = _size(node)
        if node.kind == "kernel":
            # The labels of its edges stand beside each other.
            width = max(width, room.get(("in", number), 0.0), room.get(("out", number), 0.0))
        boxes.append(_Box(number, layer[number], width, height))
    paths: list[list[int]] = []
    for edge in graph.edges:
        path = [edge.source]
        for between in range(layer[edge.source] + 1, layer[edge.target]):
            boxes.append(_Box(-1, between, 10.0, 10.0))
            path.append(len(boxes) - 1)
        path.append(edge.target)
        for upper, lower in itertools.pairwise(path):
            boxes[upper].below.append(lower)
            boxes[lower].above.append(upper)
        paths.append(path)
    return boxes, paths


def _order(layers: list[list[int]], boxes: Sequence[_Box]) -> None:
    """Sort each layer by the mean place of the neighbours, downwards and upwards in turn."""
    for sweep in range(ORDERINGS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            place = {number: float(n) for members in layers for n, number in enumerate(members)}

            def wanted(number: int, down: bool = down, place: dict[int, float] = place) -> float:
                near = boxes[number].above if down else boxes[number].below
                return sum(place[n] for n in near) / len(near) if near else place[number]

            layer.sort(key=wanted)


def _place(layers: Sequence[Sequence[int]], boxes: Sequence[_Box]) -> None:
    y = float(MARGIN)
    for layer in layers:
        height = max(boxes[n].height for n in layer)
        x = 0.0
        for number in layer:
            box = boxes[number]
            box.x, box.y = x, y
            if box.node < 0:
                box.height = height
            x += box.width + GAP
        y += height + LAYER_GAP
    for sweep in range(STRAIGHTENINGS):
        for layer in layers if sweep % 2 == 0 else list(reversed(layers)):
            _straighten(layer, boxes)


def _straighten(layer: Sequence[int], boxes: Sequence[_Box]) -> None:
    """Move boxes below and above their neighbours, keeping the order and the gaps."""
    wanted: list[float] = []
    for number in layer:
        near = [*boxes[number].above, *boxes[number].below]
        center = sum(boxes[n].center for n in near) / len(near) if near else boxes[number].center
        wanted.append(center - boxes[number].width / 2)
    right = float("-inf")
    placed: list[float] = []
    for number, x in zip(layer, wanted, strict=True):
        placed.append(max(x, right))
        right = placed[-1] + boxes[number].width + GAP
    # What was pushed to the right moves back as one.
    shift = sum(w - p for w, p in zip(wanted, placed, strict=True)) / len(layer)
    for number, x in zip(layer, placed, strict=True):
        boxes[number].x = x + shift


def _edges(graph: Graph, boxes: Sequence[_Box], paths: Sequence[Sequence[int]]) -> tuple[list[str], list[str]]:
    leaving: dict[int, list[int]] = {}
    entering: dict[int, list[int]] = {}
    for number, path in enumerate(paths):
        leaving.setdefault(path[0], []).append(number)
        entering.setdefault(path[-1], []).append(number)
    for edges in leaving.values():
        edges.sort(key=lambda n: boxes[paths[n][1]].center)
    for edges in entering.values():
        edges.sort(key=lambda n: boxes[paths[n][-2]].center)
    lines: list[str] = []
    labels: list[str] = []
    for number, (edge, path) in enumerate(zip(graph.edges, paths, strict=True)):
        first, last = boxes[path[0]], boxes[path[-1]]
        x, y = _port(first, leaving[path[0]], number), first.y + first.height
        text = f"M{x:.1f} {y:.1f}"
        for step, place in enumerate(path[1:], 1):
            box = boxes[place]
            end = step == len(path) - 1
            to_x = _port(last, entering[path[-1]], number) if end else box.center
            to_y = box.y - 6 if end else box.y
            half = (y + to_y) / 2
            text += f" C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
            x, y = to_x, to_y if end else box.y + box.height
            # A bend passes its layer straight down.
            text += "" if end else f" L{x:.1f} {y:.1f}"
        kernel = max(graph.nodes[edge.source].kernel, graph.nodes[edge.target].kernel)
        color = f"k{kernel % 8}" if kernel >= 0 else "called"
        lines.append(f'<path class="edge {color}" d="{text}"/>')
        tip = f"M{x - 4:.1f} {y - 2:.1f} L{x:.1f} {y + 5:.1f} L{x + 4:.1f} {y - 2:.1f}Z"
        lines.append(f'<path class="tip {color}" d="{tip}"/>')
        labels.append(_label(edge.label, x, y - 17))
    return lines, labels


def _label(text: str, x: float, y: float) -> str:
    width = len(text) * CHARACTER + 8
    back = f'<rect class="back" x="{x - width / 2:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="18"/>'
    return f'{back}<text class="bytes" x="{x:.1f}" y="{y + 4:.1f}">{html.escape(text)}</text>'


def _port(box: _Box, edges: Sequence[int], edge: int) -> float:
    """Where an edge meets a box that has several."""
    share = min(box.width / len(edges), 150) if len(edges) > 1 else 0
    return box.center + (edges.index(edge) - (len(edges) - 1) / 2) * share


def _node(number: int, node: Node, box: _Box) -> str:
    is_kernel = node.kind == "kernel"
    kind = f"kernel k{node.kernel % 8}" if is_kernel else node.kind
    focus = f' tabindex="0" data-kernel="{node.kernel}"' if is_kernel else ""
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    shape = f'<rect {place} rx="{6 if is_kernel else 14}"/>'
    texts = [("title", f"{node.title} ({node.detail})" if is_kernel else node.title)]
    texts += [] if is_kernel else [("detail", node.detail)]
    texts += [("detail", line) for line in node.lines]
    x = box.x + 14 if is_kernel else box.center
    written = [
        f'<text class="{style}" x="{x:.1f}" y="{box.y + 20 + LINE * row:.1f}">{html.escape(_cut(text))}</text>'
        for row, (style, text) in enumerate(texts)
    ]
    return f'<g class="node {kind}" data-node="{number}"{focus}>{shape}{"".join(written)}</g>'
