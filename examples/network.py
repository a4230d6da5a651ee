"""A small neural network learns: its products have few columns, so they are sums in the kernels around them.

Run: python examples/network.py
"""

import numpy as np

import pytocu


@pytocu.jit
def train(x, target, first, second, rounds, speed):
    """Two layers of weights after some rounds of gradient descent, and the last loss."""
    loss = ((x[:, 0] - target) ** 2).mean()
    for _ in range(rounds):
        hidden = np.tanh(x @ first)
        gap = (hidden @ second)[:, 0] - target
        loss = (gap * gap).mean()
        back = (2 / x.shape[0]) * gap[:, np.newaxis]
        grad_second = hidden.T @ back
        grad_first = x.T @ ((back @ second.T) * (1 - hidden * hidden))
        first = first - speed * grad_first
        second = second - speed * grad_second
    return first, second, loss


PROGRAM = train
WITHIN = 1e-9


def arguments(size, random):
    """Points, what is to be learnt, weights, the rounds, and how far each step goes."""
    x = random.normal(size=(size, 2))
    first, second = random.normal(size=(2, 24)), random.normal(size=(24, 1)) * 0.1
    return x, np.sin(2 * x[:, 0]) * x[:, 1], first, second, 20, 0.05


if __name__ == "__main__":
    given = arguments(2000, np.random.default_rng(0))
    _, _, loss = train(*given[:4], 300, 0.05)
    print(f"loss {loss:.4f}")
    print(f"as NumPy: {np.allclose(train(*given)[2], train.__wrapped__(*given)[2])}")
