"""Heat spreads over a plate: a stencil from slices, one kernel a time step.

Run: python examples/heat.py
"""

import numpy as np

import pytocu


@pytocu.jit
def rate(u, diffusivity, spacing):
    """Change of temperature a second at each inner point."""
    inner = u[1:-1, 1:-1]
    return diffusivity * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner) / spacing**2


if __name__ == "__main__":
    plate = np.zeros((257, 257), np.float32)
    plate[:, 0] = 100.0
    compared = plate.copy()
    for _ in range(2000):
        plate[1:-1, 1:-1] += 0.2 * rate(plate, 1.0, 1.0)
        compared[1:-1, 1:-1] += 0.2 * rate.__wrapped__(compared, 1.0, 1.0)
    print(f"temperature near the hot edge: {plate[128, 16]:.3f}")
    print(f"the same bits as NumPy: {np.array_equal(plate, compared)}")
    print(f"compiled {len(rate.specializations)} time for 2000 calls")
