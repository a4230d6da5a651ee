"""A band-pass filter over many channels: each sample needs the two before, so one thread walks along a channel.

Run: python examples/filter.py
"""

import numpy as np

import pytocu


@pytocu.jit
def band_pass(signals, b0, a1, a2):
    """A recursive filter of second order, forwards over the samples (the last axis)."""
    out = np.empty_like(signals)
    out[:, :2] = 0
    for t in range(2, signals.shape[1]):
        out[:, t] = b0 * (signals[:, t] - signals[:, t - 2]) - a1 * out[:, t - 1] - a2 * out[:, t - 2]
    return out


PROGRAM = band_pass


def arguments(size, random):
    """Noise in some channels, and the coefficients of a narrow band."""
    random = random or np.random.default_rng(0)
    signals = random.standard_normal((size, 4 * size)).astype(np.float32)
    width, angle = 0.01, 0.3
    a2 = np.float32(1 - width)
    return signals, np.float32(width / 2), np.float32(-2 * np.sqrt(1 - width) * np.cos(angle)), a2


if __name__ == "__main__":
    given = arguments(256, None)
    out = band_pass(*given)
    print(f"power in the band: {(out[:, 200:] ** 2).mean() / (given[0] ** 2).mean():.4f}")
    print(f"the same bits as NumPy: {np.array_equal(out, band_pass.__wrapped__(*given))}")
