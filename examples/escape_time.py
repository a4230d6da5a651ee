"""The burning ship: a function of one point with a loop that it leaves when it likes, over a picture of points.

Run: python examples/escape_time.py
"""

import numpy as np

import pytocu


@pytocu.vectorize
def escape_time(x0, y0, steps):
    """How many steps a point stays within a distance of 2."""
    x = y = 0.0
    for step in range(steps):
        if x * x + y * y > 4:
            return step
        x, y = x * x - y * y + x0, 2 * abs(x * y) + y0
    return steps


@pytocu.jit
def picture(x, y, steps):
    """Steps of the points of a grid, and how many points are left behind each."""
    count = escape_time(x, y[:, np.newaxis], steps)
    return count, (count == steps).sum(axis=1)


PROGRAM = picture


def arguments(size, random):
    """Columns and rows of the picture, and the steps."""
    return np.linspace(-1.8, -1.7, size), np.linspace(-0.09, 0.02, size + 1), 60


if __name__ == "__main__":
    given = arguments(400, None)
    count, left = picture(*given)
    print(f"{left.sum() / count.size:.1%} of the points stay for {given[2]} steps")
    small = arguments(40, None)
    x, y, steps = small
    expected = [[escape_time.__wrapped__(a, b, steps) for a in x] for b in y]
    print(f"the same as Python and NumPy: {np.array_equal(picture(*small)[0], expected)}")
    print(f"kernels: {len(picture.lower(*given).kernels)}")
