"""Conway's Game of Life on a torus: a time loop of run time, one kernel a generation.

Run: python examples/life.py
"""

import numpy as np

import pytocu


@pytocu.jit
def life(board, generations):
    """The board so many generations later."""
    for _ in range(generations):
        rows = np.roll(board, 1, 0).astype(np.int8) + board + np.roll(board, -1, 0)
        neighbours = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1) - board
        board = (neighbours == 3) | (board & (neighbours == 2))
    return board


PROGRAM = life


def arguments(size, random):
    """A board of which a third lives, and the generations."""
    return random.random((size, size + 3)) < 0.33, 20


if __name__ == "__main__":
    board, generations = arguments(512, np.random.default_rng(0))
    result = life(board, generations)
    print(f"{board.sum()} cells live, after {generations} generations {result.sum()}")
    print(f"the same as NumPy: {np.array_equal(result, life.__wrapped__(board, generations))}")
