"""The first example: a mask broadcast over points, on the CPU, and every stage of its way to a GPU.

Run: python examples/mask_out.py
"""

import numpy as np

import pytocu


@pytocu.jit
def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    points = random.normal(size=(1_000_000, 3)).astype(np.float32)
    mask = random.random(1_000_000) < 0.1

    result = mask_out(points, mask)
    expected = mask_out.__wrapped__(points, mask)
    print(f"{result.dtype}{result.shape}, the same as NumPy: {np.array_equal(result, expected)}")

    lowered = mask_out.lower("f32[n, 3]", "bool[n]")
    print("\nAs the front end reads it:\n" + lowered.ir("lower"))
    print("\nWith NumPy's types:\n" + lowered.ir("infer-types"))
    (kernel,) = lowered.kernels
    print(f"\nOne kernel, {kernel.name}: reads {', '.join(kernel.reads)}; writes {', '.join(kernel.writes)}")
    print("\nCUDA C:\n" + lowered.compile("cuda:sm_90", "cuda_c").source)
