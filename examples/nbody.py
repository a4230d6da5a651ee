"""Stars that attract each other: all pairs in one kernel, leapfrog steps.

Run: python examples/nbody.py
"""

import numpy as np

import pytocu


def pull(position, mass):
    """Accelerations; a compiled function calls it, so it is compiled with it."""
    gap = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    square = (gap * gap).sum(axis=2) + 1e-2
    return (gap * (mass / (square * np.sqrt(square)))[:, :, np.newaxis]).sum(axis=1)


@pytocu.jit
def orbit(position, velocity, mass, steps, dt):
    """Positions and velocities after some steps."""
    for _ in range(steps):
        velocity = velocity + 0.5 * dt * pull(position, mass)
        position = position + dt * velocity
        velocity = velocity + 0.5 * dt * pull(position, mass)
    return position, velocity


PROGRAM = orbit
WITHIN = 1e-10


def arguments(size, random):
    """Places, velocities, masses, the steps and the time of one."""
    return random.normal(size=(size, 3)), random.normal(size=(size, 3)) * 0.1, random.random(size) / size, 5, 0.01


if __name__ == "__main__":
    given = arguments(256, np.random.default_rng(0))
    position, _ = orbit(*given)
    print(f"as NumPy: {np.allclose(position, orbit.__wrapped__(*given)[0])}")
