"""Views of arguments in programs: shape, strides and offset as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytocu.deferred import DeferredModule
from pytocu.errors import InternalError
from pytocu.ir.types import dtype_named
from pytocu.runtime.program_text import Text

view_part = DeferredModule("pytocu.runtime.plan_views")
"""Views of arguments as results, loaded for plans that have some."""


class Views:
    """The views of a program by their slots.

    Attributes
    ----------
    parts : dict
        The argument, and the names of shape, strides and offset.
    dtypes : dict
        Of views that are of another dtype than their argument.
    """

    def __init__(self) -> None:
        self.parts: dict[int, tuple[int, str, str, str]] = {}
        self.dtypes: dict[int, str] = {}

    def made(self, text: Text, slot: int) -> str:
        """The view as an expression."""
        argument, shape, strides, offset = self.parts[slot]
        dtype = dtype_named(self.dtypes[slot]) if slot in self.dtypes else None
        make_view = text.constant(view_part().make_view(text.plan.parameters[argument].name, dtype), "make_view")
        return f"{make_view}(v{argument}, {shape}, {strides}, {offset})"

    def add(self, text: Text, slot: int, source: int, op: str, attrs: Mapping[str, Any]) -> None:
        """Write what a view of an argument, or of a view, is."""
        shape, strides, offset = f"shape{slot}", f"strides{slot}", f"offset{slot}"
        if source in self.parts:
            argument, base_shape, base_strides, base_offset = self.parts[source]
        else:
            argument, base_offset = source, "0"
            base_shape, base_strides = text.read(text.access.shape, source), text.read(text.access.strides, source)
        dims = {k: tuple(text.dim(d) for d in v) for k, v in attrs.items() if k in ("start", "step", "size")}
        arguments = [base_shape, base_strides, base_offset]
        if source in self.dtypes:
            self.dtypes[slot] = self.dtypes[source]
        match op:
            case "view":
                self.dtypes[slot] = attrs["dtype"]
                call = f"({', '.join(arguments)})"
            case "newaxis":
                call = f"view_newaxis({', '.join(arguments)}, {attrs['axis']})"
            case "transpose":
                call = f"view_transpose({', '.join(arguments)}, {attrs['axes']})"
            case "slice":
                parts = ", ".join(f"({', '.join(dims[k])},)" for k in ("start", "step", "size"))
                call = f"view_slice({', '.join(arguments)}, {parts})"
            case "index":
                call = f"view_index({', '.join(arguments)}, {attrs['axis']}, {text.dim(attrs['at'])})"
            case "diagonal":
                call = f"view_diagonal({', '.join(arguments)}, {attrs['offset']}, {text.dim(attrs['length'])})"
            case "reshape":
                call = f"view_reshape({', '.join(arguments)}, {text.dims(attrs['shape'])})"
            case "real" | "imag":
                word = dtype_named(self.dtypes.get(source, text.plan.parameters[argument].dtype)).word
                self.dtypes[slot] = word.name
                # The imaginary part is the second word of an element.
                call = f"({base_shape}, {base_strides}, {base_offset} + {word.itemsize if op == 'imag' else 0})"
            case _:
                raise InternalError(f"{op} is no view of an argument")
        text.globals.update(view_part().VIEWS)
        text.early.append(f"{shape}, {strides}, {offset} = {call}")
        self.parts[slot] = (argument, shape, strides, offset)
