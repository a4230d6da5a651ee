"""Python source to array IR.  The user's function is read, never run."""

from pytocu.frontend.lower import lower
from pytocu.guards import Guard

__all__ = ["Guard", "lower"]
