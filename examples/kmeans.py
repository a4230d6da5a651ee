"""k-means: distances to all centres, the nearest, and means of what a mask chooses.

Run: python examples/kmeans.py
"""

import numpy as np

import pytocu


@pytocu.jit
def kmeans(points, centres, rounds):
    """The centres after some rounds, and which of them each point is nearest to."""
    labels = np.zeros(points.shape[0], np.int64)
    for _ in range(rounds):
        gap = points[:, np.newaxis, :] - centres
        labels = (gap * gap).sum(axis=2).argmin(axis=1)
        chosen = labels[:, np.newaxis] == np.arange(centres.shape[0])
        sums = np.where(chosen[:, :, np.newaxis], points[:, np.newaxis, :], 0).sum(axis=0)
        centres = sums / np.maximum(chosen.sum(axis=0), 1)[:, np.newaxis]
    return centres, labels


PROGRAM = kmeans
WITHIN = 1e-12


def arguments(size, random):
    """Points around three places, the first centres, and the rounds."""
    points = random.normal(size=(size, 2)) + np.array([[0, 0], [6, 1], [2, 7]])[np.arange(size) % 3]
    return points, points[:3].copy(), 10


if __name__ == "__main__":
    given = arguments(10_000, np.random.default_rng(0))
    centres, labels = kmeans(*given)
    print(centres.round(2).tolist())
    print(f"as NumPy: {np.allclose(centres, kmeans.__wrapped__(*given)[0])}")
