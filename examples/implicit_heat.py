"""Heat along many rods, implicitly: a tridiagonal solve of each rod in every step, forwards and backwards.

Run: python examples/implicit_heat.py
"""

import numpy as np

import pytocu


@pytocu.jit
def diffuse(rods, steps, ratio):
    """Temperatures after some steps; `ratio` is diffusivity * time step / spacing**2, the ends are kept."""
    u = rods.copy()
    upper = np.zeros_like(u)
    n = u.shape[1]
    for _ in range(steps):
        upper[:, 0] = 0
        for j in range(1, n - 1):
            pivot = 1 + 2 * ratio + ratio * upper[:, j - 1]
            upper[:, j] = -ratio / pivot
            u[:, j] = (u[:, j] + ratio * u[:, j - 1]) / pivot
        for j in range(n - 2, 0, -1):
            u[:, j] -= upper[:, j] * u[:, j + 1]
    return u


PROGRAM = diffuse


def arguments(size, random):
    """Rods that are hot at one end, the steps, and the ratio."""
    rods = np.zeros((size, 2 * size), np.float32)
    rods[:, 0] = np.linspace(1, 2, size)
    return rods, 20, np.float32(3)


if __name__ == "__main__":
    given = arguments(256, None)
    rods = diffuse(*given)
    print(f"half way along: {rods[-1, rods.shape[1] // 16]:.4f}")
    print(f"the same bits as NumPy: {np.array_equal(rods, diffuse.__wrapped__(*given))}")
