"""Edges of an image: Sobel's filter, and pixels that a mask chooses.

Run: python examples/edges.py
"""

import numpy as np

import pytocu


@pytocu.jit
def edges(image, threshold):
    """Steep places are white, flat ones black, and others as they are."""
    p = np.pad(image, 1, mode="edge").astype(np.int32)
    smooth = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    lean = p[:-2] + 2 * p[1:-1] + p[2:]
    steep = np.abs(smooth[2:] - smooth[:-2]) + np.abs(lean[:, 2:] - lean[:, :-2])
    result = image.copy()
    result[steep > threshold] = 255
    result[steep < threshold // 4] = 0
    return result, (steep > threshold).sum()


PROGRAM = edges


def arguments(size, random):
    """Blobs, and how steep an edge is."""
    x = np.arange(size)
    image = 100 + 60 * np.sin(x / 9)[:, None] * np.cos(x[: size - 1] / 7) + random.random((size, size - 1)) * 20
    return image.astype(np.uint8), 80


if __name__ == "__main__":
    given = arguments(512, np.random.default_rng(0))
    result, count = edges(*given)
    print(f"{count} pixels are steep")
    print(f"the same as NumPy: {np.array_equal(result, edges.__wrapped__(*given)[0])}")
