"""The language: types, dimensions, instructions, the op table, text, verifier, interpreter."""

# Fills the table, without which neither the builder nor the parser knows an operation.
from pytocu.ir import ops as ops
