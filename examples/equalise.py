"""Histogram equalisation of an image: counts, a running sum, and a table that is looked up.

Run: python examples/equalise.py
"""

import numpy as np

import pytocu


@pytocu.jit
def equalise(image):
    """The image with all grey values about as frequent."""
    counts = np.bincount(image.ravel(), minlength=256)
    total = np.cumsum(counts)
    first = np.where(counts > 0, total, image.size).min()
    table = ((total - first) * 255 // np.maximum(image.size - first, 1)).astype(np.uint8)
    return table[image]


PROGRAM = equalise


def arguments(size, random):
    """A dark image."""
    return (((random.random((size, size + 5)) ** 3) * 200).astype(np.uint8),)


if __name__ == "__main__":
    (image,) = arguments(512, np.random.default_rng(0))
    result = equalise(image)
    print(f"the middle value was {int(np.median(image))}, it is {int(np.median(result))}")
    print(f"the same as NumPy: {np.array_equal(result, equalise.__wrapped__(image))}")
