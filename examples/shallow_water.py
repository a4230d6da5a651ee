"""Waves on shallow water: three fields on staggered grids, changed in slices, many steps without Python between them.

Run: python examples/shallow_water.py
"""

import numpy as np

import pytocu


@pytocu.jit
def waves(height, steps, ratio):
    """The height after some steps; `ratio` is the time step over the spacing of the grid."""
    h = height.copy()
    u = np.zeros((h.shape[0] - 1, h.shape[1]), h.dtype)
    v = np.zeros((h.shape[0], h.shape[1] - 1), h.dtype)
    for _ in range(steps):
        u = u - ratio * (h[1:] - h[:-1])
        v = v - ratio * (h[:, 1:] - h[:, :-1])
        across = np.zeros_like(h)
        across[1:-1] = u[1:] - u[:-1]
        along = np.zeros_like(h)
        along[:, 1:-1] = v[:, 1:] - v[:, :-1]
        h = h - ratio * (across + along)
    return h


PROGRAM = waves


def arguments(size, random):
    """A drop in a basin, the steps, and the ratio."""
    x = np.linspace(-1, 1, size, dtype=np.float32)
    return np.exp(-20 * (x[:, None] ** 2 + x**2)), 50, 0.3


if __name__ == "__main__":
    given = arguments(256, None)
    height = waves(*given)
    print(f"from {height.min():.3f} to {height.max():.3f}")
    print(f"the same bits as NumPy: {np.array_equal(height, waves.__wrapped__(*given))}")
