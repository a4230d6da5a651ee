"""An option on the mean price, by paths of given random numbers.

Run: python examples/monte_carlo.py
"""

import numpy as np

import pytocu


@pytocu.jit
def asian_option(normal, price, strike, rate, volatility, years):
    """Its value and the standard error; `normal` has a row a path and a column a step."""
    dt = years / normal.shape[1]
    growth = (rate - 0.5 * volatility**2) * dt + volatility * dt**0.5 * normal
    mean = (price * np.exp(np.cumsum(growth, axis=1))).mean(axis=1)
    payoff = np.exp(-rate * years) * np.maximum(mean - strike, 0)
    return payoff.mean(), payoff.std() / normal.shape[0] ** 0.5


PROGRAM = asian_option
WITHIN = 1e-12


def arguments(size, random):
    """Random numbers, and the option."""
    return random.normal(size=(size, 32)), 100.0, 101.0, 0.03, 0.25, 1.0


if __name__ == "__main__":
    given = arguments(20_000, np.random.default_rng(0))
    value, error = asian_option(*given)
    print(f"{value:.3f} +- {error:.3f}")
    print(f"as NumPy: {np.allclose([value, error], asian_option.__wrapped__(*given))}")
