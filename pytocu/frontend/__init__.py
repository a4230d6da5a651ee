"""Python source to array IR.  The user's function is read, never run."""

from pytocu.frontend.guards import Guard
from pytocu.frontend.lower import lower

__all__ = ["Guard", "lower"]
