"""The language: types, dimensions, instructions, the op table, text, verifier, interpreter."""
