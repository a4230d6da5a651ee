"""Dynamic time warping of many pairs of series: a table of distances, each entry the least of three before it.

Run: python examples/time_warping.py
"""

import numpy as np

import pytocu


@pytocu.jit
def distances(x, y):
    """The cost of the cheapest way to align each row of x with the same row of y."""
    pairs, n, m = x.shape[0], x.shape[1], y.shape[1]
    table = np.full((n + 1, m + 1, pairs), np.inf, x.dtype)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = np.abs(x[:, i - 1] - y[:, j - 1])
            best = np.minimum(table[i - 1, j - 1], np.minimum(table[i - 1, j], table[i, j - 1]))
            table[i, j] = cost + best
    return table[n, m]


PROGRAM = distances


def arguments(size, random):
    """Walks, and the same walks at another pace."""
    random = random or np.random.default_rng(0)
    x = np.cumsum(random.standard_normal((size, 24)), axis=1).astype(np.float32)
    return x, np.repeat(x[:, ::2], 2, axis=1)[:, :20].copy()


if __name__ == "__main__":
    given = arguments(512, None)
    found = distances(*given)
    print(f"mean distance: {found.mean():.3f}")
    print(f"the same bits as NumPy: {np.array_equal(found, distances.__wrapped__(*given))}")
