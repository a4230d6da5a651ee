"""Poisson's equation by Jacobi's method: a loop that ends when the data say so.

Run: python examples/jacobi.py
"""

import numpy as np

import pytocu


@pytocu.jit
def solve(charge, tolerance):
    """The potential of a charge on a grid with grounded borders."""
    potential = np.zeros_like(charge)
    change = np.abs(charge).max() + tolerance
    while change > tolerance:
        new = potential.copy()
        new[1:-1, 1:-1] = 0.25 * (
            potential[2:, 1:-1] + potential[:-2, 1:-1] + potential[1:-1, 2:] + potential[1:-1, :-2] + charge[1:-1, 1:-1]
        )
        change = np.abs(new - potential).max()
        potential = new
    return potential


PROGRAM = solve


def arguments(size, random):
    """A few charges, and the change that is small enough."""
    charge = np.zeros((size, size))
    charge[size // 3, size // 4] = 1.0
    charge[size // 2, size // 2] = -1.0
    return charge, 1e-4


if __name__ == "__main__":
    charge, tolerance = arguments(64, None)
    potential = solve(charge, tolerance)
    print(f"from {potential.min():.3f} to {potential.max():.3f}")
    print(f"the same bits as NumPy: {np.array_equal(potential, solve.__wrapped__(charge, tolerance))}")
