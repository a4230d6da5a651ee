"""The Mandelbrot set: a loop of run time whose state stays in registers, one kernel however many steps.

Run: python examples/mandelbrot.py
"""

import numpy as np

import pytocu


@pytocu.jit
def escape_times(x0, y0, steps):
    """How many steps each point stays within a distance of 2."""
    x = np.zeros_like(x0)
    y = np.zeros_like(y0)
    count = np.zeros(x0.shape, np.int32)
    for _ in range(steps):
        inside = x * x + y * y <= 4
        x, y = np.where(inside, x * x - y * y + x0, x), np.where(inside, 2 * x * y + y0, y)
        count += inside
    return count


PROGRAM = escape_times


def arguments(size, random):
    """Points of the plane, and the steps."""
    x, y = np.meshgrid(np.linspace(-2, 0.6, size), np.linspace(-1.2, 1.2, size + 1))
    return x, y, 60


if __name__ == "__main__":
    given = arguments(400, None)
    count = escape_times(*given)
    print(f"{(count == given[2]).mean():.1%} of the points stay for {given[2]} steps")
    print(f"the same as NumPy: {np.array_equal(count, escape_times.__wrapped__(*given))}")
    print(f"kernels: {len(escape_times.lower(*given).kernels)}")
